//! The count: a pure function of the votes, whatever order they come in.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use crate::ids::{FormatVersion, SlotId};
use crate::judging::{CastVote, JudgeVotes, VoteVerdict, Votes};
use crate::session::slot::SlotState;

use super::issues::IssueGroups;
use super::reason::{VOTES_NEEDED, decide};
use super::statistics::rounded;
use super::{
    Agreement, AnswerResult, BallotCount, Dissent, JudgeNotes, MissingSeat, MissingVote, PanelCount, ResultVote,
    Verdict, VoteCounts, krippendorff_alpha, wilson_interval,
};

/// Counts the votes of a round.
///
/// A vote counts when its judge is COMPLETED, its answer is COMPLETED and was shown to that judge, and it is the only
/// one of that judge for that answer.
#[must_use]
pub fn tally(votes: &Votes) -> Verdict {
    let mut judges: Vec<&JudgeVotes> = votes.judges.iter().collect();
    judges.sort_by_key(|judge| judge.id);
    let mut results: BTreeMap<SlotId, AnswerResult> = votes
        .candidates
        .iter()
        .filter(|candidate| candidate.state == SlotState::Completed)
        .map(|candidate| {
            let result = AnswerResult {
                id: candidate.id,
                sha256: candidate.sha256,
                rank: None,
                approvals: 0,
                rejections: 0,
                abstentions: 0,
                missing: 0,
                possible: candidate.eligible_judges,
                score: None,
                interval: None,
                confidence: None,
                votes: Vec::new(),
            };
            (candidate.id, result)
        })
        .collect();

    let mut issues = IssueGroups::default();
    for judge in judges.iter().filter(|judge| judge.state == SlotState::Completed) {
        for (answer, (position, vote)) in valid_votes(judge) {
            let Some(result) = results.get_mut(&answer) else { continue };
            match vote.verdict {
                VoteVerdict::Approve => result.approvals += 1,
                VoteVerdict::Reject => result.rejections += 1,
                VoteVerdict::Abstain => result.abstentions += 1,
            }
            vote.key_issues.iter().for_each(|issue| issues.add(judge.id, answer, issue));
            result.votes.push(ResultVote {
                judge: judge.id,
                position,
                verdict: vote.verdict,
                confidence: vote.confidence,
                summary: vote.summary.clone(),
            });
        }
    }

    let mut answers: Vec<AnswerResult> = results.into_values().map(completed).collect();
    rank(&mut answers);
    let (decision, winner) = decide(&answers);
    let mut missing_slots = seats(votes.candidates.iter().map(|candidate| (candidate.id, candidate.state)));
    missing_slots.sort_by_key(|seat| seat.id);
    let missing_judges = seats(judges.iter().map(|judge| (judge.id, judge.state)));
    let completed_judges = judges.len() - missing_judges.len();
    Verdict {
        version: FormatVersion::CURRENT,
        round: votes.round,
        self_vote: votes.self_vote,
        decision,
        winner: winner.ok().map(|answer| answer.id),
        no_winner: winner.err(),
        votes_needed: VOTES_NEEDED,
        panel: PanelCount {
            slots: votes.panel.slots,
            completed_slots: count(answers.len()),
            judges: votes.panel.judges,
            completed_judges: count(completed_judges),
        },
        ballots: ballots(&answers),
        agreement: agreement(&answers),
        dissent: dissent(&answers),
        key_issues: issues.by_frequency(),
        missing_slots,
        missing_judges,
        missing_votes: judges.iter().flat_map(|judge| missing_votes(judge)).collect(),
        judge_notes: judges
            .iter()
            .filter(|judge| judge.state == SlotState::Completed && !judge.notes.is_empty())
            .map(|judge| JudgeNotes { judge: judge.id, notes: judge.notes.clone() })
            .collect(),
        answers,
    }
}

/// The votes of `judge` that count, each with its answer's place in the prompt, by answer.
fn valid_votes(judge: &JudgeVotes) -> BTreeMap<SlotId, (u32, &CastVote)> {
    let places: BTreeMap<SlotId, u32> = judge.order.iter().zip(1..).map(|(answer, place)| (*answer, place)).collect();
    let mut votes = BTreeMap::new();
    let mut repeated = Vec::new();
    for vote in &judge.votes {
        let Some(&place) = places.get(&vote.answer) else { continue };
        if votes.insert(vote.answer, (place, vote)).is_some() {
            repeated.push(vote.answer);
        }
    }
    repeated.iter().for_each(|answer| {
        votes.remove(answer);
    });
    votes
}

fn completed(mut result: AnswerResult) -> AnswerResult {
    let cast = result.approvals + result.rejections;
    result.missing = result.possible.saturating_sub(cast + result.abstentions);
    result.score = (cast > 0).then(|| rounded(f64::from(result.approvals) / f64::from(cast)));
    result.interval = wilson_interval(result.approvals, cast);
    let confidences: Vec<u32> = result
        .votes
        .iter()
        .filter(|vote| vote.verdict != VoteVerdict::Abstain)
        .filter_map(|vote| vote.confidence.map(u32::from))
        .collect();
    result.confidence = (!confidences.is_empty())
        .then(|| rounded(f64::from(confidences.iter().sum::<u32>()) / f64::from(count(confidences.len()))));
    result
}

/// Sorts by score, equals by number, and gives equal scores one rank.
fn rank(answers: &mut [AnswerResult]) {
    answers.sort_by(|a, b| better(fraction(a), fraction(b)).then(a.id.cmp(&b.id)));
    let mut last = None;
    for (answer, place) in answers.iter_mut().zip(1..).filter(|(answer, _)| answer.score.is_some()) {
        let rank = match last {
            Some((rank, previous)) if better(previous, fraction(answer)) == Ordering::Equal => rank,
            _ => place,
        };
        answer.rank = Some(rank);
        last = Some((rank, fraction(answer)));
    }
}

/// Approvals, and approvals and rejections.
fn fraction(answer: &AnswerResult) -> (u64, u64) {
    (u64::from(answer.approvals), u64::from(answer.approvals) + u64::from(answer.rejections))
}

/// The higher fraction first, compared exactly, so that equal means equal; without votes last.
fn better((a, of_a): (u64, u64), (b, of_b): (u64, u64)) -> Ordering {
    match (of_a, of_b) {
        (0, 0) => Ordering::Equal,
        (0, _) => Ordering::Greater,
        (_, 0) => Ordering::Less,
        _ => (b * of_a).cmp(&(a * of_b)),
    }
}

fn ballots(answers: &[AnswerResult]) -> BallotCount {
    answers.iter().fold(BallotCount::default(), |sum, answer| BallotCount {
        possible: sum.possible + answer.possible,
        cast: sum.cast + answer.approvals + answer.rejections,
        abstentions: sum.abstentions + answer.abstentions,
        missing: sum.missing + answer.missing,
    })
}

fn agreement(answers: &[AnswerResult]) -> Agreement {
    let units: Vec<VoteCounts> = answers
        .iter()
        .map(|answer| VoteCounts { approvals: answer.approvals, rejections: answer.rejections })
        .filter(|unit| unit.all() >= 2)
        .collect();
    Agreement {
        alpha: krippendorff_alpha(&units),
        votes: units.iter().map(|unit| unit.all()).sum(),
        answers: count(units.len()),
    }
}

fn dissent(answers: &[AnswerResult]) -> Vec<Dissent> {
    let mut dissent: Vec<Dissent> = answers
        .iter()
        .filter(|answer| answer.approvals > 0 && answer.rejections > 0)
        .map(|answer| {
            let majority = match answer.approvals.cmp(&answer.rejections) {
                Ordering::Greater => Some(VoteVerdict::Approve),
                Ordering::Less => Some(VoteVerdict::Reject),
                Ordering::Equal => None,
            };
            let against = |vote: &&ResultVote| vote.verdict != VoteVerdict::Abstain && Some(vote.verdict) != majority;
            let judges = answer.votes.iter().filter(against).map(|vote| vote.judge).collect();
            Dissent { answer: answer.id, majority, judges }
        })
        .collect();
    dissent.sort_by_key(|dissent| dissent.answer);
    dissent
}

fn seats(all: impl Iterator<Item = (SlotId, SlotState)>) -> Vec<MissingSeat> {
    all.filter(|(_, state)| *state != SlotState::Completed).map(|(id, state)| MissingSeat { id, state }).collect()
}

fn missing_votes(judge: &JudgeVotes) -> Vec<MissingVote> {
    let mut missing: Vec<MissingVote> = judge
        .missing
        .iter()
        .map(|missing| MissingVote { judge: judge.id, answer: missing.answer, reason: missing.reason })
        .collect();
    missing.sort_by_key(|missing| missing.answer);
    missing
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
