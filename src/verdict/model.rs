//! `verdict.json`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::{Leaks, Passes, Recuse, SelfVote};
use crate::error::ExitCode;
use crate::ids::{FormatVersion, Sha256Hash, SlotId};
use crate::judging::{Imports, LeakCount, MissingReason, Note, VoteVerdict};
use crate::session::slot::SlotState;

use super::{Conclusion, JudgeRecord, KeyIssue, PairResult};

/// What a round decided, and everything that it was computed from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Verdict {
    /// The format.
    pub version: FormatVersion,
    /// Which round this is, from 1.
    pub round: u32,
    /// The rule about own answers.
    pub self_vote: SelfVote,
    /// The rule about answers of kin.
    pub recuse: Recuse,
    /// What was done about text by which an author names itself.
    pub leaks: Leaks,
    /// How often each judge was asked.
    pub passes: Passes,
    /// Whether there is a ranking.
    pub decision: Decision,
    /// The answer that won.
    pub winner: Option<SlotId>,
    /// Why nobody did.
    pub no_winner: Option<NoWinner>,
    /// Valid votes (approvals and rejections) that an answer needs to win.
    pub votes_needed: u32,
    /// Who was asked and who completed.
    pub panel: PanelCount,
    /// How many votes there are.
    pub ballots: BallotCount,
    /// The complete answers by rank; those without votes last; equals by number.
    pub answers: Vec<AnswerResult>,
    /// Win rates, in a round of judgements of two answers against each other; ranks and the winner are by them, and
    /// the fields of single votes are empty.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub pairs: Option<Vec<PairResult>>,
    /// Where the ballots came from, when nobody was asked for them here.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub imported: Option<Imports>,
    /// How far the judges agree.
    pub agreement: Agreement,
    /// What the votes do not show.
    pub conclusion: Conclusion,
    /// Whether longer answers score higher.
    pub length: LengthEffect,
    /// How each judge voted: flips, and a lean to a place.
    pub judges: Vec<JudgeRecord>,
    /// Votes against the majority of an answer, or all votes on it where there is none.
    pub dissent: Vec<Dissent>,
    /// Faults that judges named, the most frequent first.
    pub key_issues: Vec<KeyIssue>,
    /// Slots of the panel without a complete answer.
    pub missing_slots: Vec<MissingSeat>,
    /// Judges that did not complete.
    pub missing_judges: Vec<MissingSeat>,
    /// Complete answers that were left out of the vote because they name their author.
    pub left_out: Vec<SlotId>,
    /// Votes that do not count because the two passes of a judge differ.
    pub inconsistent_votes: Vec<InconsistentVote>,
    /// Answers shown to a judge who did not validly vote on them.
    pub missing_votes: Vec<MissingVote>,
    /// What a reader should know about replies of judges.
    pub judge_notes: Vec<JudgeNotes>,
}

impl Verdict {
    /// The exit code of a command that ends with this verdict.
    #[must_use]
    pub const fn exit_code(&self) -> ExitCode {
        match self.decision {
            Decision::Ranking => ExitCode::DONE,
            Decision::NoDecision => ExitCode::NO_DECISION,
        }
    }

    /// Whether a slot or a judge of the configured panel is missing.
    #[must_use]
    pub fn is_partial(&self) -> bool {
        !self.missing_slots.is_empty() || !self.missing_judges.is_empty() || !self.left_out.is_empty()
    }
}

/// Whether the votes decide anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Decision {
    /// A ranking exists, ties included.
    Ranking,
    /// Too few answers or votes for a ranking.
    NoDecision,
}

/// Why nobody won.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum NoWinner {
    /// No answer is complete.
    NoAnswers,
    /// Only one answer is complete.
    OneAnswer,
    /// There is no valid vote. Not the same as 0 % approval.
    NoVotes,
    /// The first rank has fewer valid votes than it needs.
    TooFewVotes,
    /// The first rank does not have more approvals than rejections.
    NotApproved,
    /// Several answers share the first rank.
    Tie,
}

/// The configured panel and what was left of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PanelCount {
    /// Slots asked for an answer.
    pub slots: u32,
    /// Of these, complete.
    pub completed_slots: u32,
    /// Judges asked for votes.
    pub judges: u32,
    /// Of these, complete.
    pub completed_judges: u32,
}

/// How many votes there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BallotCount {
    /// Votes that the configured judges could cast on the complete answers.
    pub possible: u32,
    /// Valid votes: approvals and rejections.
    pub cast: u32,
    /// Abstentions.
    pub abstentions: u32,
    /// Votes that flipped between two passes.
    pub inconsistent: u32,
    /// The rest.
    pub missing: u32,
}

/// One answer's result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AnswerResult {
    /// Its id.
    pub id: SlotId,
    /// The hash of the answer that was judged.
    pub sha256: Option<Sha256Hash>,
    /// From 1; shared by equal scores; `None` without votes.
    pub rank: Option<u32>,
    /// Approvals.
    pub approvals: u32,
    /// Rejections.
    pub rejections: u32,
    /// Abstentions, which do not count to the score.
    pub abstentions: u32,
    /// Judges whose vote on it flipped between two passes, so that it is none.
    pub inconsistent: u32,
    /// Judges that could have voted on it and did not.
    pub missing: u32,
    /// Configured judges that could vote on it.
    pub possible: u32,
    /// Approvals of approvals and rejections, 0 to 1; `None` without votes.
    pub score: Option<f64>,
    /// The interval of the score.
    pub interval: Option<Interval>,
    /// Mean confidence of its valid votes that state one, 1 to 10.
    pub confidence: Option<f64>,
    /// The size of the answer in bytes.
    pub bytes: Option<u64>,
    /// How often it names its author.
    pub leaks: LeakCount,
    /// Its valid votes and abstentions, by judge.
    pub votes: Vec<ResultVote>,
}

/// The 95 % score interval of a proportion (Wilson 1927).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Interval {
    /// Lower bound, 0 to 1.
    pub low: f64,
    /// Upper bound, 0 to 1.
    pub high: f64,
}

/// One vote on an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResultVote {
    /// Who voted.
    pub judge: SlotId,
    /// The answer's place in that judge's prompt, from 1; `None` for a judge from elsewhere.
    pub position: Option<u32>,
    /// The same in the second pass, where there was one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub second_position: Option<u32>,
    /// The vote.
    pub verdict: VoteVerdict,
    /// 1 to 10.
    #[schemars(range(min = 1, max = 10))]
    pub confidence: Option<u8>,
    /// The judge's reason.
    pub summary: String,
}

/// Krippendorff's alpha for nominal data, over approvals and rejections.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Agreement {
    /// 1 is full agreement, 0 what chance would give; `None` when it is undefined: no answer has two votes, or all
    /// votes are the same.
    pub alpha: Option<f64>,
    /// How many valid votes it is computed from (those on answers that have two or more).
    pub votes: u32,
    /// How many answers have two or more valid votes.
    pub answers: u32,
}

/// Disagreement on one answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Dissent {
    /// The answer.
    pub answer: SlotId,
    /// What most valid votes say; `None` when they are equal.
    pub majority: Option<VoteVerdict>,
    /// The judges that voted otherwise; all of them when there is no majority.
    pub judges: Vec<SlotId>,
}

/// A slot or judge that did not complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MissingSeat {
    /// Its id.
    pub id: SlotId,
    /// How it ended.
    pub state: SlotState,
}

/// A vote that flipped between two passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InconsistentVote {
    /// The judge.
    pub judge: SlotId,
    /// The answer.
    pub answer: SlotId,
    /// What the first pass says.
    pub first: VoteVerdict,
    /// What the second says.
    pub second: VoteVerdict,
}

/// Spearman's rank correlation of an answer's size and its score.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LengthEffect {
    /// 1 when the longer answer always scores higher, -1 when the shorter does; `None` when it is undefined: fewer than
    /// three answers with votes, or all sizes or scores the same.
    pub rho: Option<f64>,
    /// How many answers it is computed from.
    pub answers: u32,
}

/// A vote that there is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MissingVote {
    /// The judge.
    pub judge: SlotId,
    /// The answer it was shown.
    pub answer: SlotId,
    /// Why.
    pub reason: MissingReason,
}

/// Notes on one judge's reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct JudgeNotes {
    /// The judge.
    pub judge: SlotId,
    /// In the order of the reply.
    pub notes: Vec<Note>,
}
