//! What a report tells, as data.

use std::collections::BTreeSet;

use serde::Serialize;

use super::review::Reviewed;
use crate::ids::SlotId;

/// All that a report of one session tells. Texts of models are as they were written: who shows them makes them harmless.
#[derive(Debug, Clone, Serialize)]
pub struct Sheet {
    /// The session's id.
    pub session: String,
    /// What it is about, in a few words of the user's.
    pub target: String,
    /// How it stands.
    pub state: &'static str,
    /// The living owner, in words.
    pub owner: Option<String>,
    /// When it began (UTC).
    pub started: String,
    /// When it ended.
    pub ended: Option<String>,
    /// How long it took, or has taken so far.
    pub took: String,
    /// When the report was made.
    pub made: String,
    /// The program that made it.
    pub tool: String,
    /// What every slot was asked.
    pub task: Option<Quoted>,
    /// The first thing to read.
    pub headline: Headline,
    /// What was decided on the answers; only with a published verdict.
    pub decided: Option<Decided>,
    /// What a panel decided on a task; only with a published verdict.
    pub voted: Option<Voted>,
    /// A review or a fix: what was found, and what was made of it.
    pub reviewed: Option<Reviewed>,
    /// Every slot: by rank, then by number.
    pub answers: Vec<Answer>,
    /// When each slot and judge was at work, and what it used.
    pub timeline: Timeline,
    /// Slots and judges that did not complete.
    pub failures: Vec<Failure>,
    /// What kept slots apart when the session began, as its self-test found it.
    pub isolation: Option<String>,
    /// What the check of the folder found.
    pub integrity: Integrity,
}

impl Sheet {
    /// Whether models may be named: the vote is over.
    #[must_use]
    pub fn is_named(&self) -> bool {
        let reviewed = self.reviewed.as_ref().is_some_and(|reviewed| reviewed.decided);
        self.decided.is_some() || self.voted.is_some() || reviewed
    }
}

/// A text from the folder.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Quoted {
    /// Its file, relative to the session's folder.
    pub file: String,
    /// The text, or as much of it as is shown.
    pub text: String,
    /// The size of the whole in bytes.
    pub bytes: u64,
    /// What of it is left out, in words.
    pub cut: Option<String>,
}

/// A slot or a judge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Seat {
    /// Its id.
    pub id: SlotId,
    /// Its model, once the vote is over.
    pub name: Option<String>,
}

/// How a session came out, at a glance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Standing {
    /// Somebody won, or the task is approved.
    Won,
    /// It was judged, and nobody won; or the task is not approved.
    Undecided,
    /// There is no verdict.
    Open,
}

/// The first thing to read.
#[derive(Debug, Clone, Serialize)]
pub struct Headline {
    /// What must be known before the line is read.
    pub first: Vec<String>,
    /// How it came out.
    pub standing: Standing,
    /// One line.
    pub line: String,
    /// What is missing of the panel.
    pub banner: Option<String>,
    /// What cannot be concluded, or what to do next.
    pub sentence: String,
}

/// A published verdict.
#[derive(Debug, Clone, Serialize)]
pub struct Decided {
    /// Which round it is of, from 1.
    pub round: u32,
    /// The answers, best first.
    pub ranking: Vec<RankRow>,
    /// Whether each judge was asked twice.
    pub two_passes: bool,
    /// Whether ranks are by comparisons of two, and scores are win rates.
    pub by_pairs: bool,
    /// Who voted how.
    pub matrix: Matrix,
    /// The judges.
    pub judges: Vec<JudgeRow>,
    /// How far they agree, in words with N.
    pub agreement: String,
    /// Whether longer answers scored higher, in words with N.
    pub length: String,
    /// Disagreement, one line for each answer.
    pub dissent: Vec<String>,
    /// Faults that judges named, the most frequent first.
    pub issues: Vec<Issue>,
    /// What a reader should know about replies of judges.
    pub notes: Vec<String>,
    /// The rules, each with its value.
    pub rules: Vec<(&'static str, String)>,
}

/// A published verdict on a task.
#[derive(Debug, Clone, Serialize)]
pub struct Voted {
    /// The members, by number.
    pub members: Vec<MemberRow>,
    /// The bar and the counts, each with its value.
    pub rules: Vec<(&'static str, String)>,
    /// Members against the most, in words.
    pub dissent: Option<String>,
    /// Faults that members named, the most frequent first.
    pub issues: Vec<Issue>,
    /// What a reader should know about replies.
    pub notes: Vec<String>,
}

/// One member of a panel that voted on a task.
#[derive(Debug, Clone, Serialize)]
pub struct MemberRow {
    /// Which.
    pub seat: Seat,
    /// How it ended.
    pub state: &'static str,
    /// What it says.
    pub kind: CellKind,
    /// Its sign.
    pub sign: &'static str,
    /// The sign in words.
    pub words: &'static str,
    /// `8`, or `-`.
    pub confidence: String,
    /// Its reason, or why there is no vote.
    pub reason: String,
}

/// One answer in the ranking.
#[derive(Debug, Clone, Serialize)]
pub struct RankRow {
    /// Whose.
    pub seat: Seat,
    /// `1`, `2 (shared)`, `-`.
    pub rank: String,
    /// Approvals, or comparisons won.
    pub approvals: u32,
    /// Rejections, or comparisons lost.
    pub rejections: u32,
    /// Abstentions, or comparisons that nobody won.
    pub abstentions: u32,
    /// Votes that flipped between two passes.
    pub flipped: u32,
    /// Votes that are missing.
    pub missing: u32,
    /// `67 %`, or why there is none.
    pub score: String,
    /// The same from 0 to 1000, to draw it.
    pub score_mille: Option<u32>,
    /// `21 to 94 %`.
    pub interval: String,
    /// Its bounds from 0 to 1000.
    pub interval_mille: Option<(u32, u32)>,
    /// Mean confidence.
    pub confidence: String,
    /// Whether it won.
    pub won: bool,
}

/// Who voted how: a row for each judge, a column for each answer.
#[derive(Debug, Clone, Serialize)]
pub struct Matrix {
    /// The columns.
    pub answers: Vec<Seat>,
    /// The rows.
    pub rows: Vec<MatrixRow>,
}

/// One judge's votes.
#[derive(Debug, Clone, Serialize)]
pub struct MatrixRow {
    /// The judge.
    pub judge: Seat,
    /// A cell for each answer.
    pub cells: Vec<Cell>,
}

/// What a judge says of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CellKind {
    /// It approves.
    Approve,
    /// It rejects.
    Reject,
    /// It cannot tell.
    Abstain,
    /// Its two passes differ.
    Flipped,
    /// There is no valid vote.
    Missing,
    /// It was not shown the answer.
    Unseen,
}

impl CellKind {
    /// Every kind, in the order of a legend.
    pub const ALL: [Self; 6] = [Self::Approve, Self::Reject, Self::Abstain, Self::Flipped, Self::Missing, Self::Unseen];

    /// The word in files and forms.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Reject => "reject",
            Self::Abstain => "abstain",
            Self::Flipped => "flipped",
            Self::Missing => "missing",
            Self::Unseen => "unseen",
        }
    }

    /// What the judge does.
    #[must_use]
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Approve => "approves",
            Self::Reject => "rejects",
            Self::Abstain => "abstains",
            Self::Flipped => "flipped between two passes: no vote",
            Self::Missing => "no valid vote",
            Self::Unseen => "was not shown this answer",
        }
    }

    /// One sign, told apart without colour.
    #[must_use]
    pub const fn sign(self) -> &'static str {
        match self {
            Self::Approve => "✓",
            Self::Reject => "✗",
            Self::Abstain => "○",
            Self::Flipped => "⇄",
            Self::Missing => "?",
            Self::Unseen => "·",
        }
    }
}

/// One judge on one answer.
#[derive(Debug, Clone, Serialize)]
pub struct Cell {
    /// The answer.
    pub answer: SlotId,
    /// What it says.
    pub kind: CellKind,
    /// Its sign.
    pub sign: &'static str,
    /// The sign in words.
    pub words: &'static str,
    /// 1 to 10.
    pub confidence: Option<u8>,
    /// The answer's place in the judge's prompt (`3`), or in both (`3, 1`).
    pub places: Option<String>,
    /// The judge's reason, or why there is no vote.
    pub reason: Option<String>,
}

/// One judge.
#[derive(Debug, Clone, Serialize)]
pub struct JudgeRow {
    /// Which.
    pub seat: Seat,
    /// How it ended.
    pub state: &'static str,
    /// The answers in the order of its prompt; a second line for a second pass.
    pub orders: Vec<String>,
    /// Approvals that count.
    pub approvals: u32,
    /// Rejections that count.
    pub rejections: u32,
    /// `2`, or `-` with one pass.
    pub flips: String,
    /// Its lean to a place, in words, or `-`.
    pub lean: String,
}

/// A fault that judges named.
#[derive(Debug, Clone, Serialize)]
pub struct Issue {
    /// How many votes name it.
    pub count: u32,
    /// In the words of the first judge that did.
    pub text: String,
    /// The answers it was named for.
    pub answers: String,
    /// The judges that named it.
    pub judges: String,
}

/// One slot and its answer.
#[derive(Debug, Clone, Serialize)]
pub struct Answer {
    /// Which.
    pub seat: Seat,
    /// How it ended.
    pub state: &'static str,
    /// Its rank, where there is one.
    pub rank: Option<String>,
    /// Whether it won.
    pub won: bool,
    /// The kinds of votes that it got.
    pub votes: BTreeSet<CellKind>,
    /// The same with their numbers, in words.
    pub tally: String,
    /// The size of the answer, in words.
    pub size: Option<String>,
    /// The answer.
    pub text: Option<Quoted>,
    /// Why it is not shown although it is complete.
    pub problem: Option<String>,
    /// What each judge that was shown it says.
    pub said: Vec<Said>,
}

/// What one judge says of an answer.
#[derive(Debug, Clone, Serialize)]
pub struct Said {
    /// The judge.
    pub judge: Seat,
    /// Its vote.
    pub cell: Cell,
}

/// Which side of the panel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// It answers.
    Slot,
    /// It votes.
    Judge,
    /// It reviews.
    Reviewer,
    /// It repairs.
    Fixer,
}

impl Side {
    /// The word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Slot => "slot",
            Self::Judge => "judge",
            Self::Reviewer => "reviewer",
            Self::Fixer => "fixer",
        }
    }
}

/// When everybody was at work.
#[derive(Debug, Clone, Serialize)]
pub struct Timeline {
    /// From the session's start to the last end, in milliseconds.
    pub total_ms: u64,
    /// The same in words.
    pub total: String,
    /// Slots, then judges, then their further turns.
    pub rows: Vec<TimeRow>,
    /// All tokens that were reported, in words; `None` before the verdict or without any.
    pub tokens: Option<String>,
    /// What it cost, in words; `None` before the verdict.
    pub cost: Option<String>,
}

/// One slot or judge in one turn.
#[derive(Debug, Clone, Serialize)]
pub struct TimeRow {
    /// Which.
    pub seat: Seat,
    /// On which side.
    pub side: Side,
    /// Which review or round of repairs it is of, and of a further turn its name.
    pub turn: Option<String>,
    /// How it ended.
    pub state: &'static str,
    /// Its attempts.
    pub spans: Vec<Span>,
    /// When the first began, from the session's start, in words.
    pub began: String,
    /// How long the last took, in words.
    pub took: String,
    /// How often a request was made again.
    pub retries: u32,
    /// Tokens in and out, `unknown` where not reported.
    pub input_tokens: String,
    /// Tokens of the output.
    pub output_tokens: String,
    /// What it cost.
    pub cost: String,
}

/// One attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Span {
    /// Milliseconds from the session's start.
    pub from_ms: u64,
    /// The same of its end, or of now.
    pub to_ms: u64,
    /// Start in thousandths of the whole.
    pub from_mille: u64,
    /// Length in thousandths of the whole, at least 2 to be seen.
    pub length_mille: u64,
    /// How it ended.
    pub state: &'static str,
}

/// A slot or judge without a result.
#[derive(Debug, Clone, Serialize)]
pub struct Failure {
    /// Which.
    pub seat: Seat,
    /// On which side.
    pub side: Side,
    /// Which review or round of repairs it is of, and of a further turn its name.
    pub turn: Option<String>,
    /// How it ended.
    pub state: &'static str,
    /// Why, one word of the closed set.
    pub reason: Option<&'static str>,
    /// Why, in words.
    pub detail: String,
    /// What to do about it.
    pub next_step: String,
    /// Its log.
    pub log: Option<Quoted>,
    /// What it had written.
    pub partial: Option<Quoted>,
}

/// What the check of the folder found. The check itself is not made here.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Integrity {
    /// Whether everything is as it was recorded.
    pub verified: bool,
    /// The head of the session's record.
    pub head: Option<String>,
    /// What was read, in words.
    pub checked: String,
    /// What does not hold.
    pub mismatches: Vec<String>,
    /// What a reader should know besides.
    pub notes: Vec<String>,
    /// The files that are not as they were recorded; none of them is shown.
    #[serde(skip)]
    pub suspects: BTreeSet<String>,
}

impl Integrity {
    /// Whether `file` is, or lies in, what is not as it was recorded.
    pub(super) fn is_suspect(&self, file: &str) -> bool {
        let mut parts = std::path::Path::new(file).ancestors();
        parts.any(|part| part.to_str().is_some_and(|part| self.suspects.contains(part)))
    }
}
