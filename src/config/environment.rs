//! A snapshot of environment variables, so that nothing reads the process's own behind a test's back.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

/// Environment variables as they were at one moment.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Environment(BTreeMap<OsString, OsString>);

impl Environment {
    /// The variables of this process.
    #[must_use]
    pub fn of_this_process() -> Self {
        Self(std::env::vars_os().collect())
    }

    /// The value of `name`, where it is set.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&OsStr> {
        self.0.get(OsStr::new(name)).map(OsString::as_os_str)
    }

    /// The value of `name`, where it is set, not empty and valid Unicode.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.get(name).and_then(OsStr::to_str).filter(|value| !value.is_empty())
    }

    /// Every variable, ordered by name.
    pub fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.0.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }
}

impl<K: Into<OsString>, V: Into<OsString>> FromIterator<(K, V)> for Environment {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> Self {
        Self(pairs.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }
}

impl std::fmt::Debug for Environment {
    /// Names only: values may be secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_not_in_the_debug_form() {
        let environment = Environment::from_iter([("OPENAI_API_KEY", "sk-secret")]);
        assert_eq!(format!("{environment:?}"), r#"{"OPENAI_API_KEY"}"#);
        assert_eq!(environment.text("OPENAI_API_KEY"), Some("sk-secret"));
    }

    #[test]
    fn an_empty_variable_counts_as_unset_text() {
        let environment = Environment::from_iter([("A", "")]);
        assert_eq!(environment.text("A"), None);
        assert!(environment.get("A").is_some());
    }
}
