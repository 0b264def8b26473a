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

/// Looks for the sign-in of `agent` in `environment` and in its own folder.
#[must_use]
pub fn sign_in(agent: AgentKind, environment: &Environment) -> SignIn {
    match agent {
        AgentKind::Claude => claude::sign_in(environment),
        AgentKind::Codex => codex::sign_in(environment),
        AgentKind::Gemini => gemini::sign_in(environment),
        AgentKind::Opencode => opencode::sign_in(environment),
        AgentKind::Claudish => claudish::sign_in(environment),
        AgentKind::Llm => llm::sign_in(environment),
        AgentKind::Custom => SignIn::Unknown,
    }
}

/// Whether any of the variables is set.
pub(super) fn any_variable(environment: &Environment, names: &[&str]) -> bool {
    names.iter().any(|name| environment.text(name).is_some())
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
        assert!(matches!(sign_in(AgentKind::Claude, &nothing), SignIn::Missing(_)));
        assert!(matches!(sign_in(AgentKind::Codex, &nothing), SignIn::Missing(_)));
        let key: Environment = base.into_iter().chain([("ANTHROPIC_API_KEY", "k")]).collect();
        assert_eq!(sign_in(AgentKind::Claude, &key), SignIn::Found);
        assert!(matches!(sign_in(AgentKind::Codex, &key), SignIn::Missing(_)));
        crate::fs::create_dir_all(&home.path().join(".codex")).unwrap();
        crate::fs::replace(&home.path().join(".codex/config.toml"), b"").unwrap();
        assert_eq!(sign_in(AgentKind::Codex, &nothing), SignIn::Unknown);
        crate::fs::replace(&home.path().join(".codex/auth.json"), b"{}").unwrap();
        assert_eq!(sign_in(AgentKind::Codex, &nothing), SignIn::Found);
    }
}
