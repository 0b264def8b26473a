//! What approvals and rejections decide, in whole numbers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::Threshold;
use crate::error::ExitCode;

/// What a panel decides about a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum TaskDecision {
    /// The approvals reach the bar, the rejections do not.
    Approved,
    /// The rejections reach the bar, the approvals do not.
    Rejected,
    /// Neither reach it, or both do.
    Split,
    /// There are fewer valid votes than the quorum.
    Inconclusive,
}

impl TaskDecision {
    /// The word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Approved => "APPROVED",
            Self::Rejected => "REJECTED",
            Self::Split => "SPLIT",
            Self::Inconclusive => "INCONCLUSIVE",
        }
    }

    /// The exit code of a command that ends with it.
    #[must_use]
    pub const fn exit_code(self) -> ExitCode {
        match self {
            Self::Approved => ExitCode::DONE,
            Self::Rejected => ExitCode::BAR_NOT_MET,
            Self::Split | Self::Inconclusive => ExitCode::NO_DECISION,
        }
    }
}

/// What `approvals` and `rejections` decide. Abstentions and missing votes are neither: they count to nothing.
#[must_use]
pub const fn decide_task(threshold: Threshold, quorum: u32, approvals: u32, rejections: u32) -> TaskDecision {
    let valid = approvals + rejections;
    if valid < quorum {
        return TaskDecision::Inconclusive;
    }
    let needed = threshold.needed(valid);
    match (approvals >= needed, rejections >= needed) {
        (true, false) => TaskDecision::Approved,
        (false, true) => TaskDecision::Rejected,
        (false, false) | (true, true) => TaskDecision::Split,
    }
}

/// The valid votes that a panel of `members` needs where nothing else is asked for: two, and more than half of it.
#[must_use]
pub const fn default_quorum(members: u32) -> u32 {
    let half = members / 2 + 1;
    if half < 2 { 2 } else { half }
}
