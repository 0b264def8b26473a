//! The votes on the findings of a round, what they come to, and what a review comes to: the contents of their files.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    FindingAssignment, FindingBallot, FindingCast, FindingId, FindingTally, FindingVote, Identified, Judged,
    ReviewVerdict,
};
use crate::config::Severity;
use crate::ids::{FormatVersion, Sha256Hash, SlotId};
use crate::session::slot::SlotState;

/// The contents of a review's `votes.json`: who could vote on what, and the ballots.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FindingVotes {
    /// The version of this format.
    pub version: FormatVersion,
    /// How many seats the panel has that raised the findings.
    pub panel: u32,
    /// Each finding, and the seats that raised it.
    pub raised: BTreeMap<FindingId, BTreeSet<SlotId>>,
    /// The judges.
    pub judges: Vec<JudgeOnFindings>,
}

/// What one judge says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct JudgeOnFindings {
    /// The judge.
    pub id: SlotId,
    /// How its turn ended.
    pub state: SlotState,
    /// The hash of its reply, where there is one.
    pub response_sha256: Option<Sha256Hash>,
    /// What it was shown.
    pub shown: Vec<FindingId>,
    /// The votes of its first reply.
    pub ballot: FindingBallot,
    /// What came of asking it once more for the votes that its reply lacks.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub repair: Option<FindingRepair>,
}

/// What came of asking a judge for the votes that its reply lacks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FindingRepair {
    /// How the turn ended; only votes of a COMPLETED one count.
    pub state: SlotState,
    /// The hash of its reply, where there is one.
    pub response_sha256: Option<Sha256Hash>,
    /// The findings that it was asked for.
    pub asked: Vec<FindingId>,
    /// The votes of its reply.
    pub ballot: FindingBallot,
}

impl FindingRepair {
    /// A turn about what `assignment` shows that ended as `state`, with what its reply says where it completed.
    #[must_use]
    pub fn new(state: SlotState, assignment: &FindingAssignment, reply: Option<(Sha256Hash, FindingBallot)>) -> Self {
        let asked = assignment.shown.iter().map(|(id, _)| *id).collect();
        let (response_sha256, ballot) = match reply {
            Some((hash, ballot)) => (Some(hash), ballot),
            None => (None, FindingBallot::of_failed(assignment)),
        };
        Self { state, response_sha256, asked, ballot }
    }

    /// The votes that count: of a turn that completed, on what it was asked for.
    fn votes(&self) -> impl Iterator<Item = &FindingCast> {
        let counts = self.state == SlotState::Completed;
        self.ballot.votes.iter().filter(move |vote| counts && self.asked.contains(&vote.finding))
    }
}

impl JudgeOnFindings {
    /// The votes that count: those of its first reply, and on what that has none on, those of the turn after it.
    pub fn votes(&self) -> impl Iterator<Item = &FindingCast> {
        let is_first = |finding| self.ballot.votes.iter().any(|vote| vote.finding == finding);
        let more = self.repair.iter().flat_map(FindingRepair::votes).filter(move |vote| !is_first(vote.finding));
        self.ballot.votes.iter().chain(more)
    }

    /// All that it said, as one ballot: what it lacks still is missing, for the reason that the last turn about it shows.
    #[must_use]
    pub fn said(&self) -> FindingBallot {
        let votes: Vec<FindingCast> = self.votes().cloned().collect();
        let again = self.repair.as_ref().map(|repair| &repair.ballot);
        let missing =
            self.ballot.missing.iter().filter(|missing| votes.iter().all(|vote| vote.finding != missing.finding));
        let missing = missing.map(|missing| {
            let again = again.and_then(|ballot| ballot.missing.iter().find(|again| again.finding == missing.finding));
            again.unwrap_or(missing).clone()
        });
        let missing = missing.collect();
        let notes = self.ballot.notes.iter().chain(again.iter().flat_map(|ballot| &ballot.notes)).cloned().collect();
        FindingBallot { votes, missing, notes }
    }
}

/// The contents of a review's `judging/verdict.json`: what the votes say of each finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FindingStandings {
    /// The version of this format.
    pub version: FormatVersion,
    /// Each finding.
    pub findings: Vec<FindingStanding>,
}

/// What the votes say of one finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FindingStanding {
    /// The finding, and what is to be made of it.
    #[serde(flatten)]
    pub judged: Judged,
    /// How many say what.
    pub tally: FindingTally,
}

impl FindingVotes {
    /// How many say what of `finding`.
    #[must_use]
    pub fn tally(&self, finding: FindingId) -> FindingTally {
        let raised = self.raised.get(&finding).map_or(0, BTreeSet::len);
        let cast = self.judges.iter().flat_map(JudgeOnFindings::votes).filter(|vote| vote.finding == finding);
        let empty = FindingTally {
            panel: self.panel,
            raised: u32::try_from(raised).unwrap_or(u32::MAX),
            ..FindingTally::default()
        };
        cast.fold(empty, |tally, vote| match vote.verdict {
            FindingVote::Sustain => FindingTally { sustain: tally.sustain + 1, ..tally },
            FindingVote::Reject => FindingTally { reject: tally.reject + 1, ..tally },
            FindingVote::Ask => FindingTally { ask: tally.ask + 1, ..tally },
        })
    }

    /// What they say of each of `findings`, by id.
    #[must_use]
    pub fn standings(&self, findings: &BTreeMap<FindingId, Severity>) -> Vec<FindingStanding> {
        let of = |(id, severity): (&FindingId, &Severity)| {
            let tally = self.tally(*id);
            let (standing, consensus) = (tally.standing(), tally.consensus());
            FindingStanding { judged: Judged { id: *id, severity: *severity, standing, consensus }, tally }
        };
        findings.iter().map(of).collect()
    }

    /// The seats that raised each of `findings`.
    #[must_use]
    pub fn raised_of(findings: &[Identified]) -> BTreeMap<FindingId, BTreeSet<SlotId>> {
        findings.iter().map(|found| (found.id, found.merged.raised_by.clone())).collect()
    }

    /// The ballots of nobody: what was found in a review in which no vote was held.
    #[must_use]
    pub fn none(panel: u32, findings: &[Identified]) -> Self {
        Self { version: FormatVersion::CURRENT, panel, raised: Self::raised_of(findings), judges: Vec::new() }
    }
}

/// The contents of `verdict.json` of a review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewResult {
    /// The version of this format.
    pub version: FormatVersion,
    /// The folder of the panel that it is about.
    pub panel: String,
    /// What it comes to.
    #[serde(flatten)]
    pub verdict: ReviewVerdict,
}
