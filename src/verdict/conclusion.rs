//! What cannot be concluded from so few votes, in one sentence.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::SlotId;

use super::exact::{fisher_exact, sign_test};
use super::pairs::HeadToHead;
use super::{AnswerResult, Decision, PairResult};

/// Above this a difference is one that chance makes often enough.
const LEVEL: f64 = 0.05;

/// What the votes do not show.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Conclusion {
    /// For people, without names of models.
    pub sentence: String,
    /// The first against the next, where there are both.
    pub comparison: Option<Comparison>,
}

/// The first rank against the next.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Comparison {
    /// The first.
    pub first: SlotId,
    /// Its valid votes.
    pub first_votes: u32,
    /// The best of the next rank, the lowest number where several share it.
    pub next: SlotId,
    /// Its valid votes.
    pub next_votes: u32,
    /// Of votes, Fisher's exact test; of judgements of two, the sign test on those between these two. Two-sided; what one
    /// judge says of both is taken as independent.
    pub p: f64,
}

/// What the ranked `answers` do not show.
pub(super) fn conclude(decision: Decision, answers: &[AnswerResult]) -> Conclusion {
    let cast = |answer: &AnswerResult| answer.approvals + answer.rejections;
    let votes: u32 = answers.iter().map(cast).sum();
    let noun = if votes == 1 { "vote" } else { "votes" };
    let plain = |sentence: String| Conclusion { sentence, comparison: None };
    let ranked: Vec<&AnswerResult> = answers.iter().filter(|answer| answer.rank.is_some()).collect();
    let firsts: Vec<&AnswerResult> = ranked.iter().copied().filter(|answer| answer.rank == Some(1)).collect();
    let first = match (decision, firsts.as_slice()) {
        (Decision::NoDecision, _) | (_, []) => {
            return plain(format!(
                "With {votes} valid {noun} nothing can be concluded, neither for nor against any answer."
            ));
        }
        (_, [first]) => *first,
        (_, several) => {
            return plain(format!(
                "With {votes} valid {noun} the {} answers of the first rank cannot be told apart, which does not show \
                 that they are equally good.",
                several.len()
            ));
        }
    };
    let Some(next) = ranked.iter().find(|answer| answer.rank > Some(1)) else {
        return plain(format!("Only answer {} has valid votes, so it was compared with no other.", first.id));
    };
    let counts = |answer: &AnswerResult| (answer.approvals, answer.rejections);
    let Some(p) = fisher_exact(counts(first), counts(next)) else {
        return plain(format!("With {votes} valid {noun} nothing can be concluded."));
    };
    let comparison = Comparison { first: first.id, first_votes: cast(first), next: next.id, next_votes: cast(next), p };
    let of = format!("N = {} and {} votes", comparison.first_votes, comparison.next_votes);
    let sentence = if p > LEVEL {
        format!(
            "That answer {} is better than {} cannot be concluded: were they equally good, votes would differ as much \
             or more in {:.0} % of such rounds (Fisher's exact test, {of}).",
            first.id,
            next.id,
            p * 100.0
        )
    } else {
        format!(
            "Answer {} leads {} by more than chance makes likely (Fisher's exact test, p = {p:.3}, {of}), but this is \
             one question and these judges: nothing follows for other tasks.",
            first.id, next.id
        )
    };
    Conclusion { sentence, comparison: Some(comparison) }
}

/// What the win rates in `results` do not show; `between` gives how one did against the other.
pub(super) fn conclude_pairs(
    decision: Decision,
    results: &[PairResult],
    between: impl Fn(SlotId, SlotId) -> HeadToHead,
) -> Conclusion {
    let plain = |sentence: String| Conclusion { sentence, comparison: None };
    let all = results.iter().map(PairResult::comparisons).sum::<u32>() / 2;
    let noun = if all == 1 { "comparison" } else { "comparisons" };
    let firsts: Vec<&PairResult> = results.iter().filter(|result| result.rank == Some(1)).collect();
    let next = results.iter().find(|result| result.rank > Some(1));
    let (first, next) = match (decision, firsts.as_slice(), next) {
        (Decision::Ranking, [first], Some(next)) => (*first, next),
        (Decision::Ranking, [_, _, ..], _) => {
            return plain(format!(
                "With {all} {noun} the {} answers of the first rank cannot be told apart, which does not show that they \
                 are equally good.",
                firsts.len()
            ));
        }
        _ => return plain(format!("With {all} {noun} nothing can be concluded, neither for nor against any answer.")),
    };
    let met = between(first.answer, next.answer);
    let decided = met.wins + met.losses;
    let Some(p) = sign_test(met.wins, met.losses) else {
        return plain(format!(
            "Answers {} and {} have no decided comparison with each other, so which of the two is better cannot be \
             concluded (N = {} ties).",
            first.answer, next.answer, met.ties
        ));
    };
    let comparison =
        Comparison { first: first.answer, first_votes: met.wins, next: next.answer, next_votes: met.losses, p };
    let of = format!("sign test, N = {decided} decided of {} comparisons with each other", decided + met.ties);
    let sentence = if p > LEVEL {
        format!(
            "That answer {} is better than {} cannot be concluded: were they equally good, a split as uneven as {} to {} \
             or more would come in {:.0} % of such rounds ({of}).",
            first.answer,
            next.answer,
            met.wins,
            met.losses,
            p * 100.0
        )
    } else if met.wins > met.losses {
        format!(
            "Answer {} beats {} more often than chance makes likely (p = {p:.3}; {of}), but this is one question and \
             these judges: nothing follows for other tasks.",
            first.answer, next.answer
        )
    } else {
        format!(
            "Answer {} has the higher rate over all and still loses to {} more often than chance makes likely (p = \
             {p:.3}; {of}), so which of the two is better cannot be concluded.",
            first.answer, next.answer
        )
    };
    Conclusion { sentence, comparison: Some(comparison) }
}
