//! Whether there is a ranking, and who won it.

use super::{AnswerResult, Decision, NoWinner};

/// Valid votes that an answer needs to win: one judge's opinion is no verdict of a panel.
pub(super) const VOTES_NEEDED: u32 = 2;

/// What the ranked `answers` decide.
///
/// There is a ranking when two answers are complete and one of them has valid votes from two judges; where no answer
/// could have two, one will do. The winner is the sole first rank with [`VOTES_NEEDED`] votes and more approvals than
/// rejections.
pub(super) fn decide(answers: &[AnswerResult]) -> (Decision, Result<&AnswerResult, NoWinner>) {
    let votes = |answer: &AnswerResult| answer.approvals + answer.rejections;
    match answers {
        [] => return (Decision::NoDecision, Err(NoWinner::NoAnswers)),
        [_] => return (Decision::NoDecision, Err(NoWinner::OneAnswer)),
        _ => {}
    }
    let most_possible = answers.iter().map(|answer| answer.possible).max().unwrap_or(0);
    let most_cast = answers.iter().map(votes).max().unwrap_or(0);
    if most_cast == 0 {
        return (Decision::NoDecision, Err(NoWinner::NoVotes));
    }
    if most_cast < most_possible.min(2) {
        return (Decision::NoDecision, Err(NoWinner::TooFewVotes));
    }
    let mut first_rank = answers.iter().filter(|answer| answer.rank == Some(1));
    let winner = match (first_rank.next(), first_rank.next()) {
        (Some(first), _) if first.approvals <= first.rejections => Err(NoWinner::NotApproved),
        (Some(_), Some(_)) => Err(NoWinner::Tie),
        (Some(first), None) if votes(first) < VOTES_NEEDED => Err(NoWinner::TooFewVotes),
        (Some(first), None) => Ok(first),
        // Votes were cast, so some answer has a rank.
        (None, _) => Err(NoWinner::NoVotes),
    };
    (Decision::Ranking, winner)
}
