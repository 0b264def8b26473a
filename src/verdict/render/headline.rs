//! One line that says who won, or that nobody did and why.

use crate::ids::SlotId;
use crate::verdict::{AnswerResult, MissingSeat, NoWinner, PairResult, Verdict};

use super::Names;
use super::escape::terminal;

/// The line for a terminal, with the model's name.
#[must_use]
pub fn summary(verdict: &Verdict, names: &Names) -> String {
    let name = |id: SlotId| names.slots.get(&id).map_or_else(|| "unknown".to_owned(), |name| terminal(name, 80));
    let mut line = match winner(verdict) {
        Some(answer) => format!("answer {} ({}) wins: {}", answer.id, name(answer.id), outcome(verdict, answer, &name)),
        None => format!("nobody wins: {}", no_winner(verdict, &name)),
    };
    if let Some(banner) = banner(verdict) {
        line.push_str(" [");
        line.push_str(&banner);
        line.push(']');
    }
    line
}

/// What is missing of the configured panel, `None` when it is whole.
#[must_use]
pub fn banner(verdict: &Verdict) -> Option<String> {
    let seats = |missing: &[MissingSeat], of: u32, one: &str, many: &str| {
        (!missing.is_empty()).then(|| {
            let ids: Vec<String> = missing.iter().map(|seat| seat.id.to_string()).collect();
            let noun = if ids.len() == 1 { one } else { many };
            format!("{} of {of} {} missing ({noun} {})", ids.len(), many, ids.join(", "))
        })
    };
    let parts: Vec<String> = [
        seats(&verdict.missing_slots, verdict.panel.slots, "slot", "slots"),
        seats(&verdict.missing_judges, verdict.panel.judges, "judge", "judges"),
        (!verdict.left_out.is_empty()).then(|| {
            let (answers, whose) =
                if verdict.left_out.len() == 1 { ("answer", "its author") } else { ("answers", "their authors") };
            format!("{answers} {} left out for naming {whose}", list(&verdict.left_out))
        }),
    ]
    .into_iter()
    .flatten()
    .collect();
    (!parts.is_empty()).then(|| format!("partial panel: {}", parts.join(", ")))
}

pub(super) fn winner(verdict: &Verdict) -> Option<&AnswerResult> {
    let id = verdict.winner?;
    verdict.answers.iter().find(|answer| answer.id == id)
}

/// How the winner stands against the next.
pub(super) fn outcome(verdict: &Verdict, winner: &AnswerResult, name: &Name) -> String {
    let mut text = match pair_of(verdict, winner.id) {
        Some(pair) => format!("wins {} of its {}", rate(pair), comparisons(pair)),
        None => format!("approved in {}", share(winner)),
    };
    if let Some(next) = verdict.answers.iter().find(|answer| answer.rank.is_some_and(|rank| rank > 1)) {
        let equals = verdict.answers.iter().filter(|answer| answer.rank == next.rank).map(|answer| answer.id);
        let ids: Vec<SlotId> = equals.collect();
        let (are, each) = if ids.len() == 1 { ("is", "") } else { ("are", " each") };
        text.push_str(&format!(
            "; next {are} {} with {:.0} %{each}",
            named(&ids, name),
            next.score.unwrap_or(0.0) * 100.0
        ));
    }
    text
}

fn pair_of(verdict: &Verdict, answer: SlotId) -> Option<&PairResult> {
    verdict.pairs.as_ref()?.iter().find(|pair| pair.answer == answer)
}

fn rate(pair: &PairResult) -> String {
    format!("{:.0} %", pair.rate.unwrap_or(0.0) * 100.0)
}

fn comparisons(pair: &PairResult) -> String {
    let count = pair.comparisons();
    format!("{count} comparison{}", if count == 1 { "" } else { "s" })
}

fn share(answer: &AnswerResult) -> String {
    let all = answer.approvals + answer.rejections;
    format!("{} of {all} {}", answer.approvals, if all == 1 { "vote" } else { "votes" })
}

/// Why nobody won, in words.
pub(super) fn no_winner(verdict: &Verdict, name: &Name) -> String {
    let first: Vec<&AnswerResult> = verdict.answers.iter().filter(|answer| answer.rank == Some(1)).collect();
    let ids: Vec<SlotId> = first.iter().map(|answer| answer.id).collect();
    let needed = verdict.votes_needed;
    match (verdict.no_winner, first.first()) {
        (Some(NoWinner::NoAnswers), _) => "no answer is complete".to_owned(),
        (Some(NoWinner::OneAnswer), _) => "only one answer is complete, so there is nothing to compare".to_owned(),
        (Some(NoWinner::NotApproved), Some(answer)) if ids.len() == 1 => match pair_of(verdict, answer.id) {
            Some(pair) => {
                format!(
                    "answer {} is first, but wins {} of its {} only",
                    named(&ids, name),
                    rate(pair),
                    comparisons(pair)
                )
            }
            None => format!("answer {} is first, but approved in {} only", named(&ids, name), share(answer)),
        },
        (Some(NoWinner::NotApproved), Some(_)) => {
            format!("answers {} share the first rank, and none has more approvals than rejections", named(&ids, name))
        }
        (Some(NoWinner::Tie), Some(answer)) => {
            let score = answer.score.unwrap_or(0.0) * 100.0;
            format!("answers {} share the first rank with {score:.0} % each", named(&ids, name))
        }
        (Some(NoWinner::TooFewVotes), _) if verdict.pairs.is_some() => {
            format!("no answer is first with {needed} comparisons")
        }
        (Some(NoWinner::TooFewVotes), Some(answer)) if ids.len() == 1 => {
            let cast = answer.approvals + answer.rejections;
            format!("answer {} is first with {cast} valid vote, and {needed} are needed", named(&ids, name))
        }
        (Some(NoWinner::TooFewVotes), _) => format!("no answer has {needed} valid votes"),
        (Some(NoWinner::NoVotes | NoWinner::NotApproved | NoWinner::Tie) | None, _) => {
            "there is no valid vote".to_owned()
        }
    }
}

/// An answer's model, escaped for where it is shown.
pub(super) type Name<'a> = dyn Fn(SlotId) -> String + 'a;

/// Answers beyond these are counted: the table below names all.
const MOST_NAMED: usize = 4;

fn named(ids: &[SlotId], name: &Name) -> String {
    if ids.len() > MOST_NAMED {
        return list(ids);
    }
    join(ids.iter().map(|id| format!("{id} ({})", name(*id))).collect())
}

pub(super) fn list(ids: &[SlotId]) -> String {
    join(ids.iter().map(ToString::to_string).collect())
}

fn join(words: Vec<String>) -> String {
    match words.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => "none".to_owned(),
    }
}
