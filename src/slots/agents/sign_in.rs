//! Whether a program is signed in, as far as that is to be seen without asking it.

use std::path::{Path, PathBuf};

use super::{claude, claudish, codex, gemini, llm, opencode};
use crate::config::{AgentKind, Environment};

/// What was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignIn {
    /// There is a key or a sign-in.
    Found,
    /// There is none; with what to do.
    Missing(&'static str),
    /// It may be kept where nobody looked.
    Unknown,
}

/// Looks for the sign-in of `agent`, asked for `model`, in `environment` and in its own folder.
#[must_use]
pub fn sign_in(agent: AgentKind, model: Option<&str>, environment: &Environment) -> SignIn {
    match agent {
        AgentKind::Claude => claude::sign_in(environment),
        AgentKind::Codex => codex::sign_in(environment),
        AgentKind::Gemini => gemini::sign_in(environment),
        AgentKind::Opencode => opencode::sign_in(environment),
        AgentKind::Claudish => claudish::sign_in(model, environment),
        AgentKind::Llm => llm::sign_in(model, environment),
        AgentKind::Custom => SignIn::Unknown,
    }
}

/// Whether any of the variables is set.
pub(super) fn any_variable(environment: &Environment, names: &[&str]) -> bool {
    names.iter().any(|name| environment.text(name).is_some())
}

/// Whether Claude Code is where claudish, which runs it, looks for it.
#[must_use]
pub fn claudish_finds_claude(environment: &Environment) -> bool {
    claudish::finds_claude(environment)
}

/// Whether `file` is in the folder that `variable` names, else in `below_home` of HOME.
pub(super) fn has_file(environment: &Environment, variable: &str, below_home: &str, file: &str) -> bool {
    let named = environment.get(variable).map(PathBuf::from);
    let usual = || Some(Path::new(environment.get("HOME")?).join(below_home));
    named.or_else(usual).is_some_and(|folder| folder.join(file).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_in_is_seen_in_variables_and_in_files() {
        let home = tempfile::tempdir().unwrap();
        let base = [("HOME", home.path().to_str().unwrap())];
        let nothing: Environment = base.into_iter().collect();
        assert!(matches!(sign_in(AgentKind::Claude, None, &nothing), SignIn::Missing(_)));
        assert!(matches!(sign_in(AgentKind::Codex, None, &nothing), SignIn::Missing(_)));
        let key: Environment = base.into_iter().chain([("ANTHROPIC_API_KEY", "k")]).collect();
        assert_eq!(sign_in(AgentKind::Claude, None, &key), SignIn::Found);
        assert!(matches!(sign_in(AgentKind::Codex, None, &key), SignIn::Missing(_)));
        crate::fs::create_dir_all(&home.path().join(".codex")).unwrap();
        crate::fs::replace(&home.path().join(".codex/config.toml"), b"").unwrap();
        assert_eq!(sign_in(AgentKind::Codex, None, &nothing), SignIn::Unknown);
        crate::fs::replace(&home.path().join(".codex/auth.json"), b"{}").unwrap();
        assert_eq!(sign_in(AgentKind::Codex, None, &nothing), SignIn::Found);
        for (agent, model) in [(AgentKind::Claudish, "oai@gpt-5"), (AgentKind::Llm, "gpt-4o")] {
            let openai: Environment = base.into_iter().chain([("OPENAI_API_KEY", "k")]).collect();
            assert_eq!(sign_in(agent, Some(model), &openai), SignIn::Found);
            assert!(matches!(sign_in(agent, Some(model), &key), SignIn::Missing(_)), "another vendor's key is none");
            assert_eq!(sign_in(agent, Some("own"), &nothing), SignIn::Unknown);
        }
        for file in [".claudish/config.json", ".config/io.datasette.llm/keys.json"] {
            let file = home.path().join(file);
            crate::fs::create_dir_all(file.parent().unwrap()).unwrap();
            crate::fs::replace(&file, b"{}").unwrap();
        }
        assert_eq!(sign_in(AgentKind::Claudish, Some("oai@gpt-5"), &nothing), SignIn::Unknown);
        assert_eq!(sign_in(AgentKind::Llm, Some("gpt-4o"), &nothing), SignIn::Unknown);
    }

    #[test]
    fn claudish_finds_claude_where_it_looks_for_it() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().to_str().unwrap();
        let nothing: Environment = [("HOME", path), ("PATH", path)].into_iter().collect();
        // A machine may have it where everybody finds it.
        let anyway = ["/usr/local/bin/claude", "/opt/homebrew/bin/claude"].iter().any(|path| Path::new(path).is_file());
        assert_eq!(claudish_finds_claude(&nothing), anyway);
        crate::fs::replace(&home.path().join("c"), b"").unwrap();
        let named: Environment = [("CLAUDE_PATH", home.path().join("c"))].into_iter().collect();
        assert!(claudish_finds_claude(&named));
        crate::fs::create_dir_all(&home.path().join(".claude/local")).unwrap();
        crate::fs::replace(&home.path().join(".claude/local/claude"), b"").unwrap();
        assert!(claudish_finds_claude(&nothing));
    }
}
