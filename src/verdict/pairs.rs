//! Win rates from judgements of two answers against each other.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::SlotId;
use crate::judging::{PairWinner, Votes};
use crate::session::slot::SlotState;

use super::reason::VOTES_NEEDED;
use super::statistics::{rounded, wilson_of};
use super::{Decision, Interval, NoWinner};

/// How one answer did against the others.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PairResult {
    /// The answer.
    pub answer: SlotId,
    /// From 1; shared by equal rates; `None` where it was compared with nothing.
    pub rank: Option<u32>,
    /// Comparisons that it won.
    pub wins: u32,
    /// Comparisons that it lost.
    pub losses: u32,
    /// Comparisons that nobody won.
    pub ties: u32,
    /// Wins, and ties as half, of all its comparisons; `None` where there is none.
    pub rate: Option<f64>,
    /// The 95 % score interval (Wilson 1927) of the rate, as if a tie were half a success.
    pub interval: Option<Interval>,
}

impl PairResult {
    /// How often it was compared.
    #[must_use]
    pub const fn comparisons(&self) -> u32 {
        self.wins + self.losses + self.ties
    }

    /// Twice the wins with ties as half, and twice the comparisons.
    fn fraction(&self) -> (u64, u64) {
        (2 * u64::from(self.wins) + u64::from(self.ties), 2 * u64::from(self.comparisons()))
    }
}

/// Two answers against each other, over all judges.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct HeadToHead {
    pub(super) wins: u32,
    pub(super) losses: u32,
    pub(super) ties: u32,
}

/// The results of a round that has judgements of two, best first; `None` for a round of votes.
pub(super) fn results(votes: &Votes) -> Option<Vec<PairResult>> {
    if votes.judges.iter().all(|judge| judge.pairs.is_empty()) {
        return None;
    }
    let mut results: BTreeMap<SlotId, PairResult> = votes
        .candidates
        .iter()
        .filter(|candidate| candidate.is_judged())
        .map(|candidate| {
            let answer = candidate.id;
            (answer, PairResult { answer, rank: None, wins: 0, losses: 0, ties: 0, rate: None, interval: None })
        })
        .collect();
    for pair in counted(votes) {
        let mut add = |answer: SlotId, own: PairWinner| {
            let Some(result) = results.get_mut(&answer) else { return };
            match pair.winner {
                PairWinner::Tie => result.ties += 1,
                winner if winner == own => result.wins += 1,
                _ => result.losses += 1,
            }
        };
        add(pair.first, PairWinner::First);
        add(pair.second, PairWinner::Second);
    }
    let mut results: Vec<PairResult> = results.into_values().collect();
    for result in &mut results {
        let all = f64::from(result.comparisons());
        let won = f64::from(result.wins) + f64::from(result.ties) / 2.0;
        result.rate = (all > 0.0).then(|| rounded(won / all));
        result.interval = wilson_of(won, all);
    }
    results.sort_by(|a, b| better(a.fraction(), b.fraction()).then(a.answer.cmp(&b.answer)));
    let mut last: Option<(u32, (u64, u64))> = None;
    for (result, place) in results.iter_mut().zip(1..).filter(|(result, _)| result.rate.is_some()) {
        let rank = match last {
            Some((rank, fraction)) if better(fraction, result.fraction()) == Ordering::Equal => rank,
            _ => place,
        };
        result.rank = Some(rank);
        last = Some((rank, result.fraction()));
    }
    Some(results)
}

/// The judgements that count: of judges that completed, on answers that are judged.
fn counted(votes: &Votes) -> impl Iterator<Item = &crate::judging::PairVote> {
    let judged =
        |answer: SlotId| votes.candidates.iter().any(|candidate| candidate.id == answer && candidate.is_judged());
    let judges = votes.judges.iter().filter(|judge| judge.state == SlotState::Completed);
    judges
        .flat_map(|judge| &judge.pairs)
        .filter(move |pair| pair.first != pair.second && judged(pair.first) && judged(pair.second))
}

/// How `one` did against `other`.
pub(super) fn head_to_head(votes: &Votes, one: SlotId, other: SlotId) -> HeadToHead {
    let mut sum = HeadToHead::default();
    for pair in counted(votes) {
        let own = match (pair.first == one && pair.second == other, pair.first == other && pair.second == one) {
            (true, _) => PairWinner::First,
            (_, true) => PairWinner::Second,
            _ => continue,
        };
        match pair.winner {
            PairWinner::Tie => sum.ties += 1,
            winner if winner == own => sum.wins += 1,
            _ => sum.losses += 1,
        }
    }
    sum
}

/// The higher fraction first, compared exactly; without comparisons last.
fn better((a, of_a): (u64, u64), (b, of_b): (u64, u64)) -> Ordering {
    match (of_a, of_b) {
        (0, 0) => Ordering::Equal,
        (0, _) => Ordering::Greater,
        (_, 0) => Ordering::Less,
        _ => (b * of_a).cmp(&(a * of_b)),
    }
}

/// What the rates decide: the winner is the sole first rank with two comparisons and a rate above one half.
pub(super) fn decide(results: &[PairResult]) -> (Decision, Result<SlotId, NoWinner>) {
    match results {
        [] => return (Decision::NoDecision, Err(NoWinner::NoAnswers)),
        [_] => return (Decision::NoDecision, Err(NoWinner::OneAnswer)),
        _ => {}
    }
    let most = results.iter().map(PairResult::comparisons).max().unwrap_or(0);
    if most == 0 {
        return (Decision::NoDecision, Err(NoWinner::NoVotes));
    }
    if most < VOTES_NEEDED {
        return (Decision::NoDecision, Err(NoWinner::TooFewVotes));
    }
    let mut first = results.iter().filter(|result| result.rank == Some(1));
    let winner = match (first.next(), first.next()) {
        (Some(_), Some(_)) => Err(NoWinner::Tie),
        (Some(first), None) if first.comparisons() < VOTES_NEEDED => Err(NoWinner::TooFewVotes),
        (Some(first), None) if first.fraction().0 * 2 <= first.fraction().1 => Err(NoWinner::NotApproved),
        (Some(first), None) => Ok(first.answer),
        (None, _) => Err(NoWinner::NoVotes),
    };
    (Decision::Ranking, winner)
}
