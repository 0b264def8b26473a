//! The steps of a fix, as its session's record keeps them: what was done cannot be done again.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A step of a fix. Commits are full hashes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "step", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum FixStep {
    /// The work began.
    Begun {
        /// The commit that the change is compared with.
        from: String,
        /// The commit that repairs begin at.
        head: String,
    },
    /// A panel has looked at a commit.
    Reviewed {
        /// The number of the panel.
        review: u32,
        /// What it looked at.
        commit: String,
        /// How much of it.
        extent: ReviewExtent,
        /// How many sustained findings at or above the bar are open.
        open: u32,
        /// How many reviewers gave a review that can be read.
        usable: u32,
    },
    /// An attempt at a repair ended.
    Attempted {
        /// The round, from 1.
        round: u32,
        /// The attempt, from 1.
        attempt: u32,
        /// How it ended.
        #[serde(flatten)]
        end: AttemptEnd,
        /// What of the user's own files changed meanwhile, in words, where nothing kept the fixer from them.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        touched: Option<String>,
    },
    /// A repair was committed.
    Committed {
        /// The round.
        round: u32,
        /// The commit.
        commit: String,
        /// The findings that it is said to mend.
        findings: Vec<String>,
    },
    /// A round of repairs ended without one.
    GivenUp {
        /// The round.
        round: u32,
        /// Why.
        why: GivenUp,
    },
    /// The user consented beforehand to repairs that a person would be asked about.
    Consented {
        /// The findings.
        findings: Vec<String>,
    },
    /// It is over.
    Stopped {
        /// Why, as a word.
        reason: String,
    },
    /// The user's repository has a new branch.
    Published {
        /// Its name.
        branch: String,
        /// What it names.
        commit: String,
    },
}

/// How much of a change a panel looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReviewExtent {
    /// All of it.
    Full,
    /// What the last repairs changed.
    Delta,
}

/// How an attempt at a repair ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "end", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum AttemptEnd {
    /// Nothing was changed.
    Nothing,
    /// Whoever was asked did not come to an end.
    Failed {
        /// Why, without names.
        why: String,
    },
    /// What was done does not count.
    Flawed {
        /// Why.
        flaws: Vec<String>,
    },
    /// What was done did not pass the checks.
    Unsound {
        /// Which checks, and how they ended.
        checks: Vec<String>,
    },
    /// It can be committed.
    Sound {
        /// As what.
        commit: String,
        /// Which checks passed.
        checks: Vec<String>,
    },
}

/// Why a round of repairs ended without one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GivenUp {
    /// Nothing was changed.
    Nothing,
    /// What was done did not count, or did not pass the checks.
    Refused,
}
