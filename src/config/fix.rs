//! `[fix]`: who repairs what a review found, what its result must pass, and how long that goes on.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Limit;

/// The most rounds where nothing else is said.
const MAX_ROUNDS: u32 = 3;

/// How long one check may take where nothing else is said.
const CHECK_TIMEOUT: Duration = Duration::from_secs(30 * 60);

/// `[fix]`, one layer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FixEntry {
    /// Who repairs.
    pub fixer: Option<String>,
    /// The program that tests a result, and its arguments.
    pub test: Option<Vec<String>>,
    /// The program that looks for bad style in it, and its arguments.
    pub lint: Option<Vec<String>>,
    /// Patterns of files that the fixer may change besides those that are reviewed.
    pub scope: Option<Vec<String>>,
    /// The most rounds of repairs; 0 for none.
    pub max_rounds: Option<u32>,
    /// How long one check may take.
    pub check_timeout: Option<Limit>,
}

impl FixEntry {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// What holds of `[fix]` when all layers are put together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FixSettings {
    /// Who repairs, where `[fix]` says so.
    pub fixer: Option<String>,
    /// The program that tests a result, and its arguments; empty for none.
    pub test: Vec<String>,
    /// The program that looks for bad style in it, and its arguments; empty for none.
    pub lint: Vec<String>,
    /// Patterns of files that the fixer may change besides those that are reviewed.
    pub scope: Vec<String>,
    /// The most rounds of repairs.
    pub max_rounds: u32,
    /// How long one check may take; `None` for no limit.
    pub check_timeout: Option<Duration>,
}

impl FixSettings {
    /// Puts built-in values where `entry` has none.
    pub(super) fn of(entry: FixEntry) -> Self {
        Self {
            fixer: entry.fixer,
            test: entry.test.unwrap_or_default(),
            lint: entry.lint.unwrap_or_default(),
            scope: entry.scope.unwrap_or_default(),
            max_rounds: entry.max_rounds.unwrap_or(MAX_ROUNDS),
            check_timeout: entry.check_timeout.map_or(Some(CHECK_TIMEOUT), Limit::duration),
        }
    }
}

/// What is wrong with the values of one layer: the key, what is wrong, what to do.
pub(super) fn wrong_with(entry: &FixEntry) -> Vec<(&'static str, String, &'static str)> {
    let mut wrong = Vec::new();
    for (key, command) in [("test", &entry.test), ("lint", &entry.lint)] {
        if command.as_ref().is_some_and(|command| command.first().is_none_or(String::is_empty)) {
            wrong.push((key, "is empty".to_owned(), "write the program and its arguments as a list of strings"));
        }
    }
    if entry.fixer.as_ref().is_some_and(|fixer| fixer.trim().is_empty()) {
        wrong.push(("fixer", "is empty".to_owned(), "name one model"));
    }
    for pattern in entry.scope.iter().flatten() {
        if let Err(error) = globset::Glob::new(pattern) {
            let why = error.kind().to_string();
            wrong.push(("scope", format!("has the pattern `{pattern}`: {why}"), "write it like `src/**` or `*.md`"));
        }
    }
    wrong
}
