//! What votes say of a finding, and what findings say of a review: both in whole numbers, from nothing else.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::FindingId;
use crate::config::{Consensus, FailOn, Severity};
use crate::error::ExitCode;

/// How many say what of one finding.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FindingTally {
    /// The configured panel.
    pub panel: u32,
    /// How many of it raised the finding. They do not vote on it.
    pub raised: u32,
    /// Votes that it is one.
    pub sustain: u32,
    /// Votes that it is none.
    pub reject: u32,
    /// Votes that a person should say. They are told, and are on neither side.
    pub ask: u32,
}

/// What is to be made of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// It is one.
    Sustained,
    /// It is none.
    Rejected,
    /// The votes do not say: it stays open until a person does.
    NeedsPerson,
}

impl Standing {
    /// In words.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sustained => "sustained",
            Self::Rejected => "rejected",
            Self::NeedsPerson => "needs a person",
        }
    }
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FindingTally {
    /// Whether more than half of the panel raised it, which sustains it whatever others say.
    const fn is_common(self) -> bool {
        self.raised as u64 * 2 > self.panel as u64
    }

    /// What is to be made of the finding.
    ///
    /// Sustained: more SUSTAIN than REJECT, or raised by more than half of the panel. Rejected: more REJECT than SUSTAIN
    /// by two voters at least. Everything else, silence too, needs a person.
    #[must_use]
    pub const fn standing(self) -> Standing {
        let voters = self.sustain as u64 + self.reject as u64;
        if self.sustain > self.reject || self.is_common() {
            Standing::Sustained
        } else if self.reject > self.sustain && voters >= 2 {
            Standing::Rejected
        } else {
            Standing::NeedsPerson
        }
    }

    /// How far the voters agree with that. Where more than half of the panel raised it, those who did say so as well:
    /// else what everybody found, and nobody could vote on, would have nobody behind it.
    #[must_use]
    pub const fn consensus(self) -> Consensus {
        let raised = if self.is_common() { self.raised as u64 } else { 0 };
        let sustain = self.sustain as u64 + raised;
        let reject = self.reject as u64;
        match self.standing() {
            Standing::Sustained => Consensus::of(sustain, sustain + reject),
            Standing::Rejected => Consensus::of(reject, sustain + reject),
            Standing::NeedsPerson => Consensus::Divergent,
        }
    }
}

/// A finding as far as the verdict goes by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Judged {
    /// Which.
    pub id: FindingId,
    /// How bad it is.
    pub severity: Severity,
    /// What is to be made of it.
    pub standing: Standing,
    /// How far those who voted agree with that.
    pub consensus: Consensus,
}

/// The seats of a review.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Seats {
    /// The configured panel.
    pub panel: u32,
    /// How many gave a review that can be read.
    pub usable: u32,
    /// Without so many of them nothing is decided.
    pub quorum: u32,
    /// What a seat without one means.
    pub missing: MissingSeats,
}

/// What it means when a reviewer gives nothing that can be read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MissingSeats {
    /// Nothing, as long as there is a quorum.
    #[default]
    Tolerated,
    /// That the whole review is of no use (`--strict`).
    Refused,
}

/// What a review comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReviewDecision {
    /// Nothing is in the way.
    Passed,
    /// A sustained finding meets the bar.
    Blocked,
    /// A finding that could meet the bar is not settled.
    NeedsPerson,
    /// Too few reviewers gave a review that can be read.
    Inconclusive,
    /// None did, or with `--strict` not all.
    NothingUsable,
}

impl ReviewDecision {
    /// Every one.
    pub const ALL: [Self; 5] =
        [Self::Passed, Self::Blocked, Self::NeedsPerson, Self::Inconclusive, Self::NothingUsable];

    /// In words.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Blocked => "blocked",
            Self::NeedsPerson => "needs a person",
            Self::Inconclusive => "inconclusive",
            Self::NothingUsable => "nothing usable",
        }
    }

    /// The exit code of a command that ends with it.
    #[must_use]
    pub const fn exit_code(self) -> ExitCode {
        match self {
            Self::Passed => ExitCode::DONE,
            Self::Blocked => ExitCode::BAR_NOT_MET,
            Self::NeedsPerson | Self::Inconclusive => ExitCode::NO_DECISION,
            Self::NothingUsable => ExitCode::NOTHING_USABLE,
        }
    }
}

/// What a review comes to, and what it follows from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewVerdict {
    /// What it comes to.
    pub decision: ReviewDecision,
    /// The same in one sentence.
    pub sentence: String,
    /// The bar.
    pub fail_on: FailOn,
    /// The seats.
    pub seats: Seats,
    /// The findings that it follows from, by id.
    pub findings: Vec<Judged>,
    /// Those that are in the way.
    pub blocking: Vec<FindingId>,
    /// Those that a person has to settle first, as bad as the bar or worse.
    pub unsettled: Vec<FindingId>,
}

/// What a review comes to: a function of the findings' standings, the bar and the seats, and of nothing else.
///
/// A finding in the way decides before one that is not settled, which could not take it away again.
#[must_use]
pub fn decide_review(mut findings: Vec<Judged>, fail_on: FailOn, seats: Seats) -> ReviewVerdict {
    findings.sort_by_key(|finding| finding.id);
    let of = |wanted: &dyn Fn(&Judged) -> bool| -> Vec<FindingId> {
        findings.iter().filter(|finding| wanted(finding)).map(|finding| finding.id).collect()
    };
    let blocking = of(&|f| f.standing == Standing::Sustained && fail_on.is_met(f.severity, f.consensus));
    // How many agree is not known before it is settled.
    let unsettled = of(&|f| f.standing == Standing::NeedsPerson && f.severity >= fail_on.severity);
    let sustained = findings.iter().filter(|finding| finding.standing == Standing::Sustained).count();
    let Seats { panel, usable, quorum, missing } = seats;
    let gave = format!("{usable} of {panel} reviewers gave a review that can be read");
    let (decision, sentence) = if usable == 0 {
        (ReviewDecision::NothingUsable, format!("nothing usable: {gave}"))
    } else if missing == MissingSeats::Refused && usable < panel {
        (ReviewDecision::NothingUsable, format!("nothing usable: {gave}, and all are asked for"))
    } else if usable < quorum {
        (ReviewDecision::Inconclusive, format!("inconclusive: {gave}, {quorum} are needed"))
    } else if !blocking.is_empty() {
        let told = format!("{} sustained at {fail_on} or above", counted(&blocking));
        (ReviewDecision::Blocked, format!("blocked: {told}"))
    } else if !unsettled.is_empty() {
        let told = format!("{} at {} or above not settled by the votes", counted(&unsettled), fail_on.severity);
        (ReviewDecision::NeedsPerson, format!("a person must decide: {told}"))
    } else if findings.is_empty() {
        (ReviewDecision::Passed, format!("passed: nothing was found; {gave}"))
    } else {
        let told = format!("{sustained} of {} findings sustained, none at {fail_on} or above", findings.len());
        (ReviewDecision::Passed, format!("passed: {told}; {gave}"))
    };
    ReviewVerdict { decision, sentence, fail_on, seats, findings, blocking, unsettled }
}

/// So many ids are named in a sentence.
const NAMED: usize = 10;

fn counted(ids: &[FindingId]) -> String {
    let named: Vec<String> = ids.iter().take(NAMED).map(ToString::to_string).collect();
    let more = if ids.len() > NAMED { format!(" and {} more", ids.len() - NAMED) } else { String::new() };
    let (word, verb) = if ids.len() == 1 { ("finding", "is") } else { ("findings", "are") };
    format!("{} {word} ({}{more}) {verb}", ids.len(), named.join(", "))
}
