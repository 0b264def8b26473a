//! Whether each member of the panel can be asked, as far as that is known without asking.

use std::path::{Path, PathBuf};

use super::doctor::Finding;
use super::inventory::{self, LocalModel};
use crate::config::{AgentKind, Environment, ProviderEntry, ResolvedModel, Target};
use crate::slots::agents::locate;

/// Looks at one member.
pub(super) async fn look_at(model: &ResolvedModel, environment: &Environment, local: Option<&LocalModel>) -> Finding {
    match &model.target {
        Target::Process { agent, command, .. } => {
            let program = command.first().map_or("", String::as_str);
            // A command of the user's may take `--version` for a question, and answer it at a price.
            if *agent == AgentKind::Custom {
                return match locate(program, environment) {
                    Some(_) => Finding::good(format!("`{program}` is there")),
                    None => Finding::failed(format!("`{program}` is not installed, or not in PATH"))
                        .hint("`command` in its `[models.x]` names the program"),
                };
            }
            let found = inventory::agent(program, program, environment).await;
            if found.program.is_none() {
                return Finding::failed(format!("`{program}` is not installed, or not in PATH")).hint(match agent {
                    AgentKind::Claude => "install it: https://code.claude.com",
                    AgentKind::Codex => "install it: https://developers.openai.com/codex",
                    AgentKind::Custom => "`command` in its `[models.x]` names the program",
                });
            }
            let version = match (found.version, found.problem, agent) {
                (Some(version), _, _) => version,
                (None, problem, _) => {
                    return Finding::failed(problem.unwrap_or_else(|| format!("`{program}` does not run")));
                }
            };
            match signed_in(*agent, environment) {
                Some(false) => Finding::warned(format!("{version}; no sign-in was found")).hint(match agent {
                    AgentKind::Codex => "run `codex login`, or set CODEX_API_KEY; `--deep` asks it",
                    AgentKind::Claude | AgentKind::Custom => {
                        "run `claude` once, or set ANTHROPIC_API_KEY; `--deep` asks it"
                    }
                }),
                Some(true) | None => Finding::good(version),
            }
        }
        Target::Http { provider, model } => {
            let entry = ProviderEntry {
                base_url: Some(provider.base_url.clone()),
                api_key_env: provider.api_key_env.clone(),
                ..ProviderEntry::default()
            };
            let found = inventory::endpoint(&provider.name, &entry, environment).await;
            match (&found.api_key_env, found.key_present, found.listening) {
                (Some(name), Some(false), _) => {
                    Finding::failed(format!("{name} is not set")).hint(format!("set it: `export {name}=...`"))
                }
                (_, _, Some(false)) => Finding::failed(format!("nothing listens at {}", found.base_url))
                    .hint(format!("start its server, or set `base_url` in `[providers.{}]`", found.name)),
                (Some(name), _, _) => Finding::good(format!("{name} is set; `{model}` at {}", found.base_url)),
                (None, _, _) => Finding::good(format!("`{model}` at {}", found.base_url)),
            }
        }
        Target::Local { .. } => match local {
            Some(LocalModel::Ready) => Finding::good("ready"),
            Some(LocalModel::OnFirstUse) | None => Finding::good("set up on first use (127 MB)"),
            Some(LocalModel::Unavailable { reason }) => Finding::failed(reason.clone()),
        },
        Target::Replay { file, .. } => Finding::good(format!("a recording, not a model: {}", file.display())),
    }
}

/// Whether a sign-in of a known agent is to be seen; `None` where it may be kept elsewhere.
fn signed_in(agent: AgentKind, environment: &Environment) -> Option<bool> {
    let home = environment.get("HOME").map(PathBuf::from);
    let folder = |variable: &str, below_home: &str| {
        environment.get(variable).map(PathBuf::from).or_else(|| Some(home.as_ref()?.join(below_home)))
    };
    let has =
        |folder: Option<PathBuf>, file: &str| folder.is_some_and(|folder| Path::new(&folder).join(file).is_file());
    match agent {
        AgentKind::Claude => {
            let by_variable = [
                "ANTHROPIC_API_KEY",
                "ANTHROPIC_AUTH_TOKEN",
                "CLAUDE_CODE_OAUTH_TOKEN",
                "CLAUDE_CODE_USE_BEDROCK",
                "CLAUDE_CODE_USE_VERTEX",
            ]
            .iter()
            .any(|name| environment.text(name).is_some());
            if by_variable || has(folder("CLAUDE_CONFIG_DIR", ".claude"), ".credentials.json") {
                return Some(true);
            }
            // Settings may hold a helper that prints the key; on macOS a sign-in is in the keychain.
            let elsewhere = cfg!(target_os = "macos") || has(folder("CLAUDE_CONFIG_DIR", ".claude"), "settings.json");
            if elsewhere { None } else { Some(false) }
        }
        AgentKind::Codex => {
            let by_variable = ["OPENAI_API_KEY", "CODEX_API_KEY"].iter().any(|name| environment.text(name).is_some());
            if by_variable || has(folder("CODEX_HOME", ".codex"), "auth.json") {
                return Some(true);
            }
            // Its configuration may name another provider, with or without a key.
            if has(folder("CODEX_HOME", ".codex"), "config.toml") { None } else { Some(false) }
        }
        AgentKind::Custom => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_in_is_seen_in_variables_and_in_files() {
        let home = tempfile::tempdir().unwrap();
        let base = [("HOME", home.path().to_str().unwrap())];
        let nothing: Environment = base.into_iter().collect();
        assert_eq!(signed_in(AgentKind::Claude, &nothing), Some(false));
        assert_eq!(signed_in(AgentKind::Codex, &nothing), Some(false));
        let key: Environment = base.into_iter().chain([("ANTHROPIC_API_KEY", "k")]).collect();
        assert_eq!(signed_in(AgentKind::Claude, &key), Some(true));
        assert_eq!(signed_in(AgentKind::Codex, &key), Some(false));
        crate::fs::create_dir_all(&home.path().join(".codex")).unwrap();
        crate::fs::replace(&home.path().join(".codex/config.toml"), b"").unwrap();
        assert_eq!(signed_in(AgentKind::Codex, &nothing), None);
        crate::fs::replace(&home.path().join(".codex/auth.json"), b"{}").unwrap();
        assert_eq!(signed_in(AgentKind::Codex, &nothing), Some(true));
    }
}
