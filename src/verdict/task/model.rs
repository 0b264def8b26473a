//! `verdict.json` of a vote on a task.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::TaskDecision;
use crate::config::Threshold;
use crate::ids::{FormatVersion, Sha256Hash, SlotId};
use crate::judging::{MissingReason, Note, TaskVote};
use crate::session::slot::SlotState;

/// What a panel decided about a task, and everything that it was computed from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskVerdict {
    /// The format.
    pub version: FormatVersion,
    /// The hash of the text that was voted on, `task.md`.
    pub task: Sha256Hash,
    /// What the votes decide.
    pub decision: TaskDecision,
    /// The bar.
    pub threshold: Threshold,
    /// Of the valid votes there are, how many reach the bar.
    pub needed: u32,
    /// The valid votes without which nothing is decided.
    pub quorum: u32,
    /// How many votes there are.
    pub votes: TaskCount,
    /// The configured panel, by number.
    pub members: Vec<TaskMember>,
    /// Faults that members named, the most frequent first.
    pub key_issues: Vec<TaskIssue>,
    /// Members whose valid vote is not that of the most; all of them where there are as many on either side.
    pub dissent: Vec<SlotId>,
}

impl TaskVerdict {
    /// Whether a member of the configured panel has no vote; an abstention is one.
    #[must_use]
    pub const fn is_partial(&self) -> bool {
        self.votes.missing > 0
    }
}

/// How many votes there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskCount {
    /// The configured panel.
    pub panel: u32,
    /// Valid votes: approvals and rejections.
    pub valid: u32,
    /// Approvals.
    pub approvals: u32,
    /// Rejections.
    pub rejections: u32,
    /// Abstentions, which count to nothing.
    pub abstentions: u32,
    /// Members without a vote.
    pub missing: u32,
}

/// One member of the panel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskMember {
    /// Its id.
    pub id: SlotId,
    /// How it ended.
    pub state: SlotState,
    /// The hash of its reply, where that is complete.
    pub response_sha256: Option<Sha256Hash>,
    /// The vote in its reply.
    pub vote: Option<TaskVote>,
    /// Why there is none.
    pub missing: Option<MissingReason>,
    /// What a reader should know about its reply.
    pub notes: Vec<Note>,
    /// What came of asking it once more, where its complete reply has no vote that can be read.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub repair: Option<TaskRepair>,
}

impl TaskMember {
    /// The vote that counts.
    #[must_use]
    pub fn counted(&self) -> Option<&TaskVote> {
        self.vote.as_ref().or_else(|| self.repair.as_ref()?.vote.as_ref())
    }
}

/// What came of asking a member once more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskRepair {
    /// How it ended.
    pub state: SlotState,
    /// The hash of its reply, where that is complete.
    pub response_sha256: Option<Sha256Hash>,
    /// The vote in its reply.
    pub vote: Option<TaskVote>,
    /// Why there is none.
    pub missing: Option<MissingReason>,
    /// What a reader should know about its reply.
    pub notes: Vec<Note>,
}

/// One fault, in the words of the first member that named it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskIssue {
    /// The words.
    pub text: String,
    /// How many members name it.
    pub count: u32,
    /// Which.
    pub raised_by: Vec<SlotId>,
}
