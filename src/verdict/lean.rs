//! Whether a judge leans to a place in its prompt.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::SlotId;
use crate::judging::{JudgeVotes, Outcome, VoteVerdict};

use super::exact::{RankSums, sign_test};
use super::ranks::rank_biserial;
use super::statistics::rounded;

/// What is to know about one judge's voting.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct JudgeRecord {
    /// The judge.
    pub judge: SlotId,
    /// Approvals that count.
    pub approvals: u32,
    /// Rejections that count.
    pub rejections: u32,
    /// Answers on which its two passes differ; `None` with one pass.
    pub flips: Option<u32>,
    /// Whether it leans to a place; `None` where its votes cannot tell.
    pub lean: Option<Lean>,
}

/// A lean to early or late places in the prompt.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Lean {
    /// How it was found.
    pub method: LeanMethod,
    /// From -1 (approves what stands late) to 1 (approves what stands early).
    pub effect: f64,
    /// How many votes, or with two passes how many flips, it is computed from.
    pub n: u32,
    /// How likely so strong a lean is where there is none; `None` where no exact test was made.
    pub p: Option<f64>,
}

/// How a lean is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum LeanMethod {
    /// One pass: places of approvals against those of rejections (rank-biserial correlation, exact rank-sum test). What
    /// stands early may be better by chance.
    RankSum,
    /// Two passes: of the answers approved in one order and rejected in the other, how many were approved at the earlier
    /// place (sign test). Quality plays no part, for it is the same answer.
    SignTest,
}

/// The record of `judge`.
pub(super) fn record(judge: &JudgeVotes, sums: &mut RankSums) -> JudgeRecord {
    let (mut approvals, mut rejections, mut flips) = (0, 0, 0);
    for (_, outcome) in judge.outcomes() {
        match outcome {
            Outcome::Vote { vote, .. } => match vote.verdict {
                VoteVerdict::Approve => approvals += 1,
                VoteVerdict::Reject => rejections += 1,
                VoteVerdict::Abstain => {}
            },
            Outcome::Inconsistent { .. } => flips += 1,
            Outcome::Missing(_) => {}
        }
    }
    let passes = judge.by_place();
    let (flips, lean) = match passes.as_slice() {
        [first, second] => (Some(flips), of_two_passes(first, second)),
        [first] => (None, of_one_pass(first, sums)),
        _ => (None, None),
    };
    JudgeRecord { judge: judge.id, approvals, rejections, flips, lean }
}

type Placed = (SlotId, u32, VoteVerdict);

fn of_one_pass(votes: &[Placed], sums: &mut RankSums) -> Option<Lean> {
    let valid: Vec<VoteVerdict> =
        votes.iter().map(|vote| vote.2).filter(|verdict| *verdict != VoteVerdict::Abstain).collect();
    let approved: Vec<usize> =
        valid.iter().zip(1..).filter(|(verdict, _)| **verdict == VoteVerdict::Approve).map(|(_, rank)| rank).collect();
    let effect = rank_biserial(&approved, valid.len())?;
    let p = sums.p_value(&approved, valid.len());
    Some(Lean { method: LeanMethod::RankSum, effect, n: u32::try_from(valid.len()).unwrap_or(u32::MAX), p })
}

fn of_two_passes(first: &[Placed], second: &[Placed]) -> Option<Lean> {
    let (mut early, mut late) = (0_u32, 0_u32);
    for (answer, place, verdict) in first {
        let Some((_, other_place, other)) = second.iter().find(|(id, ..)| id == answer) else { continue };
        let approved_at = match (verdict, other) {
            (VoteVerdict::Approve, VoteVerdict::Reject) => place.cmp(other_place),
            (VoteVerdict::Reject, VoteVerdict::Approve) => other_place.cmp(place),
            _ => continue,
        };
        match approved_at {
            std::cmp::Ordering::Less => early += 1,
            std::cmp::Ordering::Greater => late += 1,
            // The middle of an odd number: no place was the earlier one.
            std::cmp::Ordering::Equal => {}
        }
    }
    let p = sign_test(early, late)?;
    let n = early + late;
    let effect = rounded((f64::from(early) - f64::from(late)) / f64::from(n));
    Some(Lean { method: LeanMethod::SignTest, effect, n, p: Some(p) })
}
