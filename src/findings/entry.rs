//! What a line of the ledger says.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::text;
use super::{DeclineOrigin, Finding, FindingId, FindingTally, FindingVote};
use crate::config::Consensus;
use crate::ids::{DateTime, FormatVersion, Sha256Hash, SlotId};

/// One line of `findings.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LedgerLine {
    /// The line's number, from 1.
    pub seq: u64,
    /// The hash of the previous line; absent in the first.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub prev: Option<Sha256Hash>,
    /// When it was written.
    #[schemars(with = "DateTime")]
    pub at: Timestamp,
    /// What it says.
    #[serde(flatten)]
    pub entry: LedgerEntry,
}

/// What happened to a finding. No entry names a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "entry", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum LedgerEntry {
    /// The ledger was begun; always the first line.
    Opened {
        /// The version of this format.
        version: FormatVersion,
        /// The session that it belongs to.
        session: String,
    },
    /// It was found, or found again while it is open.
    Raised {
        /// The finding.
        finding: FindingId,
        /// The round, from 1.
        round: u32,
        /// Who found it: a panel or a person.
        by: Witness,
        /// What was said.
        content: Finding,
        /// The commit of ours that brought it, where one did.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        caused_by: Option<String>,
    },
    /// It is one.
    Sustained(Ruling),
    /// It is none.
    Rejected(Ruling),
    /// The votes do not say.
    NeedsPerson(Ruling),
    /// A commit is said to mend it.
    FixClaimed {
        /// The finding.
        finding: FindingId,
        /// The round.
        round: u32,
        /// The commit.
        commit: String,
    },
    /// It is not there any more.
    Verified {
        /// The finding.
        finding: FindingId,
        /// The round.
        round: u32,
        /// Who looked.
        by: Witness,
    },
    /// A person decided to leave it.
    Declined {
        /// The finding.
        finding: FindingId,
        /// The round.
        round: u32,
        /// What the person said.
        note: Remark,
        /// Where that was decided, if it was in an earlier session of the branch.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        before: Option<DeclineOrigin>,
    },
    /// It is there after all.
    Reopened {
        /// The finding.
        finding: FindingId,
        /// The round.
        round: u32,
        /// Why.
        why: Remark,
    },
}

/// What is to be made of a finding, and who says so.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Ruling {
    /// The finding.
    pub finding: FindingId,
    /// The round.
    pub round: u32,
    /// Who says so: votes or a person.
    pub by: Witness,
    /// How far those who voted agree.
    pub consensus: Consensus,
}

/// Who says something of a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Witness {
    /// Seats of a panel of reviewers.
    Panel {
        /// The panel's folder, relative to the session's.
        folder: String,
        /// Which of its seats.
        slots: Vec<SlotId>,
    },
    /// Judges who voted.
    Votes {
        /// The folder of the vote, relative to the session's.
        folder: String,
        /// The count that decides.
        tally: FindingTally,
        /// The votes.
        votes: Vec<LedgerVote>,
    },
    /// A person.
    Person {
        /// What the person said.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        note: Option<Remark>,
    },
}

/// One vote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LedgerVote {
    /// The judge's id in that vote.
    pub judge: SlotId,
    /// What it says.
    pub verdict: FindingVote,
    /// 1 to 10; `null` when it gave none that can be read.
    #[schemars(range(min = 1, max = 10))]
    pub confidence: Option<u8>,
}

/// A person's words about a finding, bounded and made harmless: they are shown to models in later rounds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Remark(String);

impl Remark {
    /// The most characters that are kept.
    pub const LONGEST: usize = 1000;

    /// Keeps `words`, and of very many the first, with a mark.
    #[must_use]
    pub fn new(words: &str) -> Self {
        Self(text::block(words, Self::LONGEST).text)
    }

    /// The words.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl LedgerEntry {
    /// The finding that it is about; none in the first line.
    #[must_use]
    pub const fn finding(&self) -> Option<FindingId> {
        match self {
            Self::Opened { .. } => None,
            Self::Raised { finding, .. }
            | Self::FixClaimed { finding, .. }
            | Self::Verified { finding, .. }
            | Self::Declined { finding, .. }
            | Self::Reopened { finding, .. } => Some(*finding),
            Self::Sustained(ruling) | Self::Rejected(ruling) | Self::NeedsPerson(ruling) => Some(ruling.finding),
        }
    }

    /// What it does, in words.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Opened { .. } => "opened",
            Self::Raised { .. } => "raised",
            Self::Sustained(_) => "sustained",
            Self::Rejected(_) => "rejected",
            Self::NeedsPerson(_) => "needs a person",
            Self::FixClaimed { .. } => "fix claimed",
            Self::Verified { .. } => "verified",
            Self::Declined { .. } => "declined",
            Self::Reopened { .. } => "reopened",
        }
    }
}
