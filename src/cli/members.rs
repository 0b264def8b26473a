//! Whether each member of the panel can be asked, as far as that is known without asking.

use super::doctor::Finding;
use super::inventory::{self, LocalModel};
use crate::config::{AgentKind, Environment, ProviderEntry, ResolvedModel, Target};
use crate::slots::agents::{SignIn, claudish_finds_claude, locate, sign_in};

/// Looks at one member.
pub(super) async fn look_at(model: &ResolvedModel, environment: &Environment, local: Option<&LocalModel>) -> Finding {
    match &model.target {
        Target::Process { agent, command, model: asked, .. } => {
            let program = command.first().map_or("", String::as_str);
            // A command of the user's may take `--version` for a question, and answer it at a price.
            if *agent == AgentKind::Custom {
                return match locate(program, environment) {
                    Some(_) => Finding::good(format!("`{program}` is there")),
                    None => Finding::failed(format!("`{program}` is not installed, or not in PATH"))
                        .hint(agent.install_hint()),
                };
            }
            let found = inventory::agent(program, environment).await;
            if found.program.is_none() {
                return Finding::failed(format!("`{program}` is not installed, or not in PATH"))
                    .hint(agent.install_hint());
            }
            let version = match (found.version, found.problem, agent) {
                (Some(version), _, _) => version,
                (None, problem, _) => {
                    return Finding::failed(problem.unwrap_or_else(|| format!("`{program}` does not run")));
                }
            };
            if *agent == AgentKind::Claudish && !claudish_finds_claude(environment) {
                return Finding::failed(format!("{version}; the program `claude`, which it runs, is not in PATH"))
                    .hint(AgentKind::Claude.install_hint());
            }
            match sign_in(*agent, asked.as_deref(), environment) {
                SignIn::Missing(hint) => Finding::warned(format!("{version}; no sign-in was found")).hint(hint),
                SignIn::Found | SignIn::Unknown => Finding::good(version),
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

/// What a model certainly lacks: the variable of its key, or its program. A look that starts nothing and asks nobody.
pub(super) fn lack(model: &ResolvedModel, environment: &Environment) -> Option<String> {
    match &model.target {
        Target::Process { agent, command, .. } => {
            let program = command.first().map_or("", String::as_str);
            if locate(program, environment).is_none() {
                let why = if program.contains('/') {
                    "is no program that can be run"
                } else {
                    "is not installed, or not in PATH"
                };
                return Some(format!("`{program}` {why}"));
            }
            let lacks_claude = *agent == AgentKind::Claudish && !claudish_finds_claude(environment);
            lacks_claude.then(|| "`claude`, which `claudish` runs, is not installed, or not in PATH".to_owned())
        }
        Target::Http { provider, .. } => {
            let name = provider.api_key_env.as_deref()?;
            let has_key = environment.text(name).is_some_and(|key| !key.trim().is_empty());
            (!has_key).then(|| format!("{name} is not set"))
        }
        Target::Local { .. } | Target::Replay { .. } => None,
    }
}
