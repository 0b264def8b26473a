//! The count: a pure function of the votes, whatever order they come in.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use crate::ids::{FormatVersion, SlotId};
use crate::judging::{JudgeVotes, Outcome, VoteVerdict, Votes};
use crate::session::slot::SlotState;

use super::conclusion::{conclude, conclude_pairs};
use super::exact::RankSums;
use super::issues::IssueGroups;
use super::lean;
use super::pairs;
use super::ranks::spearman;
use super::reason::{VOTES_NEEDED, decide};
use super::statistics::rounded;
use super::{
    Agreement, AnswerResult, BallotCount, Dissent, InconsistentVote, JudgeNotes, JudgeRecord, LengthEffect,
    MissingSeat, MissingVote, PanelCount, ResultVote, Verdict, VoteCounts, krippendorff_alpha, wilson_interval,
};

/// Counts the votes of a round.
///
/// A vote counts when its judge is COMPLETED in every pass, its answer is COMPLETED and was shown to that judge, it is
/// the only one of that judge for that answer, and both passes agree where there are two.
#[must_use]
pub fn tally(votes: &Votes) -> Verdict {
    let mut judges: Vec<&JudgeVotes> = votes.judges.iter().collect();
    judges.sort_by_key(|judge| judge.id);
    let mut results: BTreeMap<SlotId, AnswerResult> = votes
        .candidates
        .iter()
        .filter(|candidate| candidate.is_judged())
        .map(|candidate| {
            let result = AnswerResult {
                id: candidate.id,
                sha256: candidate.sha256,
                rank: None,
                approvals: 0,
                rejections: 0,
                abstentions: 0,
                inconsistent: 0,
                missing: 0,
                possible: candidate.eligible_judges,
                score: None,
                interval: None,
                confidence: None,
                bytes: candidate.bytes,
                leaks: candidate.leaks,
                votes: Vec::new(),
            };
            (candidate.id, result)
        })
        .collect();

    let mut issues = IssueGroups::default();
    let mut inconsistent_votes = Vec::new();
    let mut missing_votes = Vec::new();
    for judge in &judges {
        let by_answer: BTreeMap<SlotId, Outcome> = judge.outcomes().collect();
        for (answer, outcome) in by_answer {
            let Some(result) = results.get_mut(&answer) else { continue };
            let (vote, positions) = match outcome {
                Outcome::Vote { vote, positions } => (vote, positions),
                Outcome::Inconsistent { first, second } => {
                    result.inconsistent += 1;
                    inconsistent_votes.push(InconsistentVote { judge: judge.id, answer, first, second });
                    continue;
                }
                Outcome::Missing(reason) => {
                    missing_votes.push(MissingVote { judge: judge.id, answer, reason });
                    continue;
                }
            };
            match vote.verdict {
                VoteVerdict::Approve => result.approvals += 1,
                VoteVerdict::Reject => result.rejections += 1,
                VoteVerdict::Abstain => result.abstentions += 1,
            }
            vote.key_issues.iter().for_each(|issue| issues.add(judge.id, answer, issue));
            result.votes.push(ResultVote {
                judge: judge.id,
                position: positions.first().copied().filter(|_| votes.imported.is_none()),
                second_position: positions.get(1).copied(),
                verdict: vote.verdict,
                confidence: vote.confidence,
                summary: vote.summary,
            });
        }
    }

    let mut answers: Vec<AnswerResult> = results.into_values().map(completed).collect();
    rank(&mut answers);
    let pairs = pairs::results(votes);
    let (decision, winner) = match &pairs {
        Some(results) => pairs::decide(results),
        None => {
            let (decision, winner) = decide(&answers);
            (decision, winner.map(|answer| answer.id))
        }
    };
    if let Some(results) = &pairs {
        let place = |answer: &AnswerResult| results.iter().position(|result| result.answer == answer.id);
        answers.sort_by_key(place);
        for answer in &mut answers {
            let result = results.iter().find(|result| result.answer == answer.id);
            (answer.rank, answer.score) = result.map_or((None, None), |result| (result.rank, result.rate));
            answer.interval = result.and_then(|result| result.interval);
        }
    }
    let conclusion = match &pairs {
        Some(results) => conclude_pairs(decision, results, |one, other| pairs::head_to_head(votes, one, other)),
        None => conclude(decision, &answers),
    };
    let mut missing_slots = seats(votes.candidates.iter().map(|candidate| (candidate.id, candidate.state)));
    missing_slots.sort_by_key(|seat| seat.id);
    let missing_judges = seats(judges.iter().map(|judge| (judge.id, judge.state())));
    let mut left_out: Vec<SlotId> =
        votes.candidates.iter().filter(|candidate| candidate.left_out).map(|candidate| candidate.id).collect();
    left_out.sort();
    let mut sums = RankSums::default();
    let completed_judges = judges.len() - missing_judges.len();
    Verdict {
        version: FormatVersion::CURRENT,
        round: votes.round,
        self_vote: votes.self_vote,
        recuse: votes.recuse,
        leaks: votes.leaks,
        passes: votes.passes,
        decision,
        winner: winner.ok(),
        no_winner: winner.err(),
        votes_needed: VOTES_NEEDED,
        panel: PanelCount {
            slots: votes.panel.slots,
            completed_slots: count(answers.len() + left_out.len()),
            judges: votes.panel.judges,
            completed_judges: count(completed_judges),
        },
        ballots: ballots(&answers),
        pairs,
        imported: votes.imported.clone(),
        agreement: agreement(&answers),
        conclusion,
        length: length(&answers),
        judges: judges
            .iter()
            .filter(|judge| judge.state() == SlotState::Completed)
            .map(|judge| lean::record(judge, &mut sums))
            // Places in prompts of elsewhere are not known.
            .map(|record| JudgeRecord { lean: record.lean.filter(|_| votes.imported.is_none()), ..record })
            .collect(),
        dissent: dissent(&answers),
        key_issues: issues.by_frequency(),
        missing_slots,
        missing_judges,
        left_out,
        inconsistent_votes,
        missing_votes,
        judge_notes: judges
            .iter()
            .filter(|judge| judge.state == SlotState::Completed)
            .map(|judge| JudgeNotes { judge: judge.id, notes: judge.all_notes() })
            .filter(|judge| !judge.notes.is_empty())
            .collect(),
        answers,
    }
}

fn completed(mut result: AnswerResult) -> AnswerResult {
    let cast = result.approvals + result.rejections;
    result.missing = result.possible.saturating_sub(cast + result.abstentions + result.inconsistent);
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
        inconsistent: sum.inconsistent + answer.inconsistent,
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

/// Whether longer answers score higher.
fn length(answers: &[AnswerResult]) -> LengthEffect {
    let mut known: Vec<(SlotId, f64, f64)> =
        answers.iter().filter_map(|answer| Some((answer.id, answer.bytes? as f64, answer.score?))).collect();
    known.sort_by_key(|known| known.0);
    let pairs: Vec<(f64, f64)> = known.into_iter().map(|(_, bytes, score)| (bytes, score)).collect();
    LengthEffect { rho: spearman(&pairs), answers: count(pairs.len()) }
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
