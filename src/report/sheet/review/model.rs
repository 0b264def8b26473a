//! What a report tells of a review or a fix, as data.

use serde::Serialize;

use super::super::model::Seat;

/// A review, or a fix with all of its reviews.
#[derive(Debug, Clone, Serialize)]
pub struct Reviewed {
    /// Whether the verdict is published: before, nobody is named and nobody's findings are told apart.
    pub decided: bool,
    /// What was reviewed, in words.
    pub subject: String,
    /// What it is meant to do, in its author's words.
    pub intent: Option<String>,
    /// What the verdict rests on, each with its value.
    pub rules: Vec<(&'static str, String)>,
    /// The findings, by what became of them.
    pub groups: Vec<FindingGroup>,
    /// Findings beyond those that there is room for.
    pub left_out: usize,
    /// Why findings are not shown although there may be some.
    pub problem: Option<String>,
    /// What it means that there is no finding.
    pub nothing: &'static str,
    /// The reviews that were held, in order.
    pub panels: Vec<PanelRow>,
    /// Who reviewed, by review and seat.
    pub reviewers: Vec<ReviewerRow>,
    /// Who voted, by review and seat.
    pub judges: Vec<FindingJudgeRow>,
    /// What was looked at; `None` where the record does not say.
    pub coverage: Option<Coverage>,
    /// What a reader should know besides.
    pub notes: Vec<String>,
    /// What was repaired; only of a fix.
    pub repairs: Option<Repairs>,
    /// What a person is to decide now (Markdown of ours, with words of models in it).
    pub question: Option<String>,
    /// Files of the session for people, relative to its folder, and what each holds.
    pub files: Vec<(String, &'static str)>,
}

impl Reviewed {
    /// How many findings are shown.
    #[must_use]
    pub fn count(&self) -> usize {
        self.groups.iter().map(|group| group.findings.len()).sum()
    }
}

/// Findings of which the same became.
#[derive(Debug, Clone, Serialize)]
pub struct FindingGroup {
    /// The word in ids and filters.
    pub kind: &'static str,
    /// Its heading.
    pub title: &'static str,
    /// What that means, in a sentence.
    pub told: &'static str,
    /// Whether something is still to be done about them.
    pub open: bool,
    /// The worst first.
    pub findings: Vec<FindingCard>,
}

/// One finding.
#[derive(Debug, Clone, Serialize)]
pub struct FindingCard {
    /// Its id.
    pub id: String,
    /// How bad it is.
    pub severity: &'static str,
    /// What the reviewer says should be done.
    pub action: &'static str,
    /// How it stands.
    pub state: &'static str,
    /// How far the voters agree; nothing where no vote decides.
    pub consensus: Option<String>,
    /// Whether it is in the way of the change.
    pub blocks: bool,
    /// `src/a.rs:12-14`; nothing where it is about no file.
    pub place: Option<String>,
    /// What it is.
    pub title: String,
    /// What is wrong.
    pub description: String,
    /// What shows it.
    pub evidence: String,
    /// What would mend it.
    pub suggestion: String,
    /// Who raised it, in words; which seats that are only with the verdict.
    pub raised: String,
    /// How many say what of it, in words; nothing where no vote was held on it.
    pub counted: Option<String>,
    /// The votes of the last ballot on it.
    pub votes: Vec<FindingVoteRow>,
    /// The last words of a person about it.
    pub note: Option<String>,
    /// The commit of ours that brought it.
    pub caused_by: Option<String>,
    /// What happened to it, in order.
    pub history: Vec<String>,
}

/// One judge on one finding.
#[derive(Debug, Clone, Serialize)]
pub struct FindingVoteRow {
    /// The judge.
    pub judge: Seat,
    /// `sustain`, `reject`, `ask` or `missing`.
    pub kind: &'static str,
    /// One sign, told apart without colour.
    pub sign: &'static str,
    /// What the judge does.
    pub words: &'static str,
    /// 1 to 10.
    pub confidence: Option<u8>,
    /// Its reason, or why there is no vote.
    pub reason: String,
}

/// A review that was held.
#[derive(Debug, Clone, Serialize)]
pub struct PanelRow {
    /// Its number, from 1.
    pub number: u32,
    /// Its folder.
    pub folder: String,
    /// What was looked at, in words.
    pub what: String,
    /// How many reviewers there are.
    pub panel: usize,
    /// How many gave a review that can be read.
    pub usable: usize,
    /// How many findings the reviewers gave, before they were merged.
    pub raised: u32,
    /// Judges with a valid vote, of how many; nothing where no vote was held.
    pub voters: String,
    /// Sustained findings at or above the bar that were open after it; only of a fix.
    pub open: Option<u32>,
}

/// One reviewer in one review.
#[derive(Debug, Clone, Serialize)]
pub struct ReviewerRow {
    /// The number of the review.
    pub panel: u32,
    /// Which.
    pub seat: Seat,
    /// How its turn ended.
    pub state: &'static str,
    /// Whether its review can be read, in words; why not.
    pub told: String,
    /// Whether it can be read.
    pub usable: bool,
    /// Whether it ended, and cannot.
    pub lost: bool,
    /// The findings of it; only with the verdict.
    pub found: Option<String>,
    /// How many of them were sustained.
    pub sustained: Option<usize>,
    /// How many of them were rejected.
    pub rejected: Option<usize>,
}

/// One judge in one review.
#[derive(Debug, Clone, Serialize)]
pub struct FindingJudgeRow {
    /// The number of the review.
    pub panel: u32,
    /// Which.
    pub seat: Seat,
    /// How its turn ended.
    pub state: &'static str,
    /// How many findings it was shown.
    pub shown: usize,
    /// Votes that a finding is one.
    pub sustain: usize,
    /// Votes that it is none.
    pub reject: usize,
    /// Votes that a person should say.
    pub ask: usize,
    /// Findings without a valid vote of its.
    pub missing: usize,
}

/// What was looked at.
#[derive(Debug, Clone, Serialize)]
pub struct Coverage {
    /// `3 of 4 files were looked at`.
    pub line: String,
    /// Files that were not, with the reason.
    pub omitted: Vec<FileRow>,
    /// Those that were.
    pub seen: Vec<FileRow>,
    /// Files beyond those that there is room for.
    pub more: usize,
}

/// One file.
#[derive(Debug, Clone, Serialize)]
pub struct FileRow {
    /// Its path.
    pub path: String,
    /// What became of it.
    pub change: &'static str,
    /// Why it was not looked at, or what is to know about it.
    pub note: Option<String>,
}

/// What was repaired.
#[derive(Debug, Clone, Serialize)]
pub struct Repairs {
    /// Why it ended, in a sentence.
    pub why: Option<String>,
    /// What there is of a result, in a sentence.
    pub result: String,
    /// What can be done with it: a command and what it does.
    pub commands: Vec<(String, &'static str)>,
    /// The checks that are run on a repair.
    pub checks: Vec<String>,
    /// The most rounds that were allowed.
    pub max_rounds: Option<u32>,
    /// The rounds.
    pub rounds: Vec<RepairRow>,
    /// Findings that our own repairs caused.
    pub caused: Vec<CausedRow>,
    /// What people decided.
    pub decisions: Vec<String>,
}

/// A round of repairs.
#[derive(Debug, Clone, Serialize)]
pub struct RepairRow {
    /// Its number, from 1.
    pub number: u32,
    /// How it ended, in words.
    pub end: String,
    /// Its commit, shortened.
    pub commit: Option<String>,
    /// The findings that it is said to mend.
    pub findings: Vec<String>,
    /// The attempts: how each ended, and what is to know about it.
    pub attempts: Vec<(&'static str, Vec<String>)>,
}

/// A finding that a repair caused.
#[derive(Debug, Clone, Serialize)]
pub struct CausedRow {
    /// Its id.
    pub id: String,
    /// The commit, shortened.
    pub commit: String,
    /// How it stands.
    pub state: &'static str,
    /// What it is.
    pub title: String,
}
