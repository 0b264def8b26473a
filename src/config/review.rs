//! `[review]`: who reviews and who votes on what they find, and when that stops a change.

use std::num::{NonZeroU32, NonZeroU64};

use serde::{Deserialize, Serialize};

use super::FailOn;

/// The most bytes that a review sends of what it looks at, where nothing else is said.
const MAX_BYTES: u64 = 256 * 1024;

/// `[review]`, one layer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReviewEntry {
    /// Who reviews; the default panel where absent.
    pub panel: Option<Vec<String>>,
    /// Who votes on the findings; the reviewers themselves where absent.
    pub judges: Option<Vec<String>>,
    /// From which severity, and by which consensus, a finding stops the change: `high`, or `high:majority`.
    pub fail_on: Option<FailOn>,
    /// The fewest reviewers whose findings can be read.
    pub quorum: Option<NonZeroU32>,
    /// The most bytes that are sent of what is looked at.
    pub max_bytes: Option<NonZeroU64>,
    /// Patterns of files that nobody needs to look at.
    pub ignore: Option<Vec<String>>,
}

impl ReviewEntry {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// What holds of `[review]` when all layers are put together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewSettings {
    /// Who reviews, where `[review]` says so.
    pub panel: Vec<String>,
    /// Who votes on the findings, where `[review]` says so.
    pub judges: Vec<String>,
    /// What stops the change.
    pub fail_on: FailOn,
    /// The fewest reviewers whose findings can be read.
    pub quorum: Option<NonZeroU32>,
    /// The most bytes that are sent of what is looked at.
    pub max_bytes: u64,
    /// Patterns of files that nobody needs to look at.
    pub ignore: Vec<String>,
}

impl ReviewSettings {
    /// Puts built-in values where `entry` has none.
    pub(super) fn of(entry: ReviewEntry) -> Self {
        Self {
            panel: entry.panel.unwrap_or_default(),
            judges: entry.judges.unwrap_or_default(),
            fail_on: entry.fail_on.unwrap_or_default(),
            quorum: entry.quorum,
            max_bytes: entry.max_bytes.map_or(MAX_BYTES, NonZeroU64::get),
            ignore: entry.ignore.unwrap_or_default(),
        }
    }
}

/// What is wrong with the values of one layer: the key, what is wrong, what to do.
pub(super) fn wrong_with(entry: &ReviewEntry) -> Vec<(&'static str, String, &'static str)> {
    let mut wrong = Vec::new();
    for (key, names, instead) in [
        ("panel", &entry.panel, "name models, or leave `panel` out for the default panel"),
        ("judges", &entry.judges, "name models, or leave `judges` out: then the reviewers vote"),
    ] {
        if names.as_ref().is_some_and(Vec::is_empty) {
            wrong.push((key, "is empty".to_owned(), instead));
        }
    }
    for pattern in entry.ignore.iter().flatten() {
        if let Err(error) = globset::Glob::new(pattern) {
            let why = error.kind().to_string();
            wrong.push(("ignore", format!("has the pattern `{pattern}`: {why}"), "write it like `*.lock` or `gen/**`"));
        }
    }
    wrong
}
