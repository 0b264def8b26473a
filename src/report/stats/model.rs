//! What is counted over sessions; as JSON, the output of `team stats --json`.

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::{DateTime, FormatVersion};
use crate::verdict::Interval;

/// What many sessions say about models.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Stats {
    /// The version of this format.
    pub version: FormatVersion,
    /// Only sessions that began then or later.
    #[schemars(with = "Option<DateTime>")]
    pub since: Option<Timestamp>,
    /// Only sessions that began before then.
    #[schemars(with = "Option<DateTime>")]
    pub until: Option<Timestamp>,
    /// Only sessions of this kind of task.
    pub context: Option<String>,
    /// What sessions are grouped by.
    pub by: Option<By>,
    /// Sessions that count.
    pub sessions: u32,
    /// Sessions that do not, by the reason.
    pub skipped: BTreeMap<Skipped, u32>,
    /// The groups in their order, those of imported votes last. One group of all sessions where none was asked for.
    pub groups: Vec<Group>,
}

/// What sessions are grouped by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// The kind of task that chose the panel.
    Context,
    /// The day on which they began (UTC).
    Day,
    /// The ISO week.
    Week,
    /// The month.
    Month,
}

impl By {
    /// Every way.
    pub const ALL: [Self; 4] = [Self::Context, Self::Day, Self::Week, Self::Month];

    /// The word on the command line.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Context => "context",
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
        }
    }
}

/// Why a folder does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Skipped {
    /// It is at work, or its process died.
    Unfinished,
    /// It ended without a verdict.
    NoVerdict,
    /// It failed.
    Failed,
    /// It was stopped.
    Cancelled,
    /// Its verdict, or who is who, is not as it was recorded.
    Changed,
    /// A file that is needed is gone or cannot be read.
    Broken,
    /// It is a review or a fix, whose replies are findings and no answers.
    Review,
    /// A newer program wrote it.
    Newer,
    /// The same session was counted from another folder.
    Copy,
}

impl Skipped {
    /// The reason in words.
    #[must_use]
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Unfinished => "at work or interrupted",
            Self::Review => "reviews and fixes",
            Self::NoVerdict => "without a verdict",
            Self::Failed => "failed",
            Self::Cancelled => "stopped",
            Self::Changed => "not as recorded",
            Self::Broken => "broken",
            Self::Newer => "of a newer format",
            Self::Copy => "counted from another folder",
        }
    }
}

/// Sessions of one kind.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Group {
    /// Which, such as `debug` or `2026-02`; `null` for all sessions, or those of no kind.
    pub name: Option<String>,
    /// Whether their votes were imported.
    pub imported: bool,
    /// How many there are.
    pub sessions: u32,
    /// The models that took part, those that won most first.
    pub models: Vec<ModelStats>,
}

/// One model over the sessions of a group.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelStats {
    /// What it is: driver, program or provider, and model.
    pub model: String,
    /// The names that it was asked by.
    pub names: Vec<String>,
    /// Sessions that it took part in, as a slot or as a judge.
    pub sessions: u32,
    /// Seats with a complete answer, of those that were asked.
    pub answered: Share,
    /// Seats that ended with an error, a limit or an empty answer, of those that were asked. The rest was stopped.
    pub failed: Share,
    /// Answers that won, of its answers that were judged.
    pub won: Share,
    /// Approvals, of the valid votes on its answers; of comparisons of two, wins with ties as half, rounded down.
    pub approved: Share,
    /// Its votes that agree with most of the others' votes on the same answer or task, of its votes where most of the
    /// others agree. Its own vote is no part of that majority.
    pub agreed: Share,
    /// How long its complete answers took, in seconds.
    pub seconds: Spread,
    /// Tokens of the prompts of its answers.
    pub input_tokens: Sum,
    /// Tokens of its answers.
    pub output_tokens: Sum,
    /// What asking it for answers cost.
    pub cost_usd: Cost,
}

/// A part of a whole.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Share {
    /// How many.
    pub count: u32,
    /// Of how many (N).
    pub of: u32,
    /// The quotient, 0 to 1; `null` of none.
    pub share: Option<f64>,
    /// Its 95 % score interval (E. B. Wilson 1927), as if seats and votes were independent of each other.
    pub interval: Option<Interval>,
}

/// Values of which the middle one is told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Spread {
    /// How many there are (N).
    pub of: u32,
    /// The median; the mean of the two in the middle of an even number. `null` without any.
    pub median: Option<f64>,
    /// The smallest.
    pub least: Option<f64>,
    /// The largest.
    pub most: Option<f64>,
}

/// A sum of the costs that are known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Cost {
    /// Of how many seats it is known (N); of the others no price is.
    pub of: u32,
    /// The sum in US dollars; `null` where it is known of none.
    pub total: Option<f64>,
}

/// A sum of what is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Sum {
    /// Of how many answers it is known (N); the others did not report it.
    pub of: u32,
    /// The sum; `null` where it is known of none.
    pub total: Option<u64>,
}
