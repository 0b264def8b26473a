//! Votes, and why there is none.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::SlotId;

/// What a judge says of one answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum VoteVerdict {
    /// Good enough to be used as it stands.
    Approve,
    /// Not good enough.
    Reject,
    /// Cannot tell; counted apart.
    Abstain,
}

impl VoteVerdict {
    /// The word of the ballot.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Approve => "APPROVE",
            Self::Reject => "REJECT",
            Self::Abstain => "ABSTAIN",
        }
    }
}

impl fmt::Display for VoteVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One vote of one judge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CastVote {
    /// The answer.
    pub answer: SlotId,
    /// The vote.
    pub verdict: VoteVerdict,
    /// 1 to 10; `None` when the judge gave none that can be read.
    #[schemars(range(min = 1, max = 10))]
    pub confidence: Option<u8>,
    /// Its reason, in its own words.
    pub summary: String,
    /// The faults it names, in its own words.
    pub key_issues: Vec<String>,
}

/// An answer that the judge saw and did not validly vote on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Missing {
    /// The answer.
    pub answer: SlotId,
    /// Why there is no vote.
    pub reason: MissingReason,
}

/// Why there is no vote. A missing vote is shown, never guessed, never counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum MissingReason {
    /// The judge itself did not complete.
    JudgeFailed,
    /// The reply holds no ballot at all.
    NoBallot,
    /// The reply holds ballots, none for this answer.
    NotVoted,
    /// The ballot's verdict is absent or not one of the three words.
    UnclearVerdict,
    /// Two ballots for this answer differ.
    Contradiction,
    /// The judge completed its first pass only.
    SecondPassFailed,
}

impl MissingReason {
    /// The reason in words.
    #[must_use]
    pub const fn describe(self) -> &'static str {
        match self {
            Self::JudgeFailed => "the judge did not complete",
            Self::NoBallot => "no ballot in the reply",
            Self::NotVoted => "no vote on this answer",
            Self::UnclearVerdict => "no clear verdict",
            Self::Contradiction => "two different votes",
            Self::SecondPassFailed => "the judge did not complete its second pass",
        }
    }
}

/// Something about a reply that a reader should know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Note {
    /// What it is.
    pub kind: NoteKind,
    /// The answer concerned, where there is one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub answer: Option<SlotId>,
    /// The judge's own words, shortened, where they explain it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub text: Option<String>,
}

/// What a [`Note`] is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum NoteKind {
    /// A ballot under a name that this judge was not given; ignored.
    UnknownAlias,
    /// A ballot without a name, or with two; ignored.
    UnclearAlias,
    /// A ballot inside another fence, so quoted; ignored.
    QuotedBallot,
    /// The same vote was given more than once; counted once.
    Repeated,
    /// No confidence, or none that can be read.
    NoConfidence,
    /// A confidence outside 1 to 10, taken as the nearest bound, or a fraction, rounded down.
    ConfidenceAdjusted,
    /// A ballot in JSON that cannot be read.
    BadJson,
    /// A very long text or list was shortened.
    Shortened,
    /// The judge was asked once more for what its ballot lacked.
    AskedAgain,
    /// A ballot that names an answer, in a vote on the task itself; ignored.
    NamesAnswer,
}

impl NoteKind {
    /// What it is in words.
    #[must_use]
    pub const fn describe(self) -> &'static str {
        match self {
            Self::UnknownAlias => "a ballot under an unknown name was ignored",
            Self::UnclearAlias => "a ballot without a clear name was ignored",
            Self::QuotedBallot => "a quoted ballot was ignored",
            Self::Repeated => "the same vote was given more than once and counted once",
            Self::NoConfidence => "no confidence given",
            Self::ConfidenceAdjusted => "a confidence was adjusted to 1 to 10",
            Self::BadJson => "a ballot in JSON could not be read",
            Self::Shortened => "a long text was shortened",
            Self::AskedAgain => "was asked once more for what the ballot lacked; votes that came of it",
            Self::NamesAnswer => "a ballot on an answer, not on the task, was ignored",
        }
    }
}

/// A vote on the task itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskVote {
    /// The vote.
    pub verdict: VoteVerdict,
    /// 1 to 10; `None` when the member gave none that can be read.
    #[schemars(range(min = 1, max = 10))]
    pub confidence: Option<u8>,
    /// Its reason, in its own words.
    pub summary: String,
    /// The faults it names, in its own words.
    pub key_issues: Vec<String>,
}

/// All that the reply of a member says that was asked to vote on the task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskBallot {
    /// The vote, or why there is none.
    pub vote: Result<TaskVote, MissingReason>,
    /// What a reader should know.
    pub notes: Vec<Note>,
}

/// All that one judge's reply says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ballot {
    /// The valid votes, in the order in which the answers were shown.
    pub votes: Vec<CastVote>,
    /// The answers without one, in the same order.
    pub missing: Vec<Missing>,
    /// What a reader should know.
    pub notes: Vec<Note>,
}
