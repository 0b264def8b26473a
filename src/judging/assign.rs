//! One assignment per judge: what it sees, in which order, under which names.

use std::collections::HashSet;

use rand::CryptoRng;
use rand::seq::SliceRandom;

use crate::config::{OwnAnswers, Recuse, SelfVote};
use crate::error::Error;
use crate::ids::SlotId;

use super::{Alias, Answer, Judge, Nonce, check_panel, may_vote, order};

/// What one judge sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// The judge.
    pub judge: SlotId,
    /// Answers in the order of its prompt, each with its name there.
    pub shown: Vec<(SlotId, Alias)>,
    /// The code in the fences of its prompt.
    pub nonce: Nonce,
}

impl Assignment {
    /// The name of `answer` in this judge's prompt.
    #[must_use]
    pub fn alias_of(&self, answer: SlotId) -> Option<&Alias> {
        self.shown.iter().find(|(id, _)| *id == answer).map(|(_, alias)| alias)
    }

    /// The same answers in reverse order, under names and with a code of their own.
    #[must_use]
    pub fn reversed<R: CryptoRng + ?Sized>(&self, rng: &mut R) -> Self {
        let mut shown: Vec<(SlotId, Alias)> = Vec::with_capacity(self.shown.len());
        for (answer, old) in self.shown.iter().rev() {
            let alias = std::iter::repeat_with(|| Alias::draw(rng)).find(|alias| {
                alias != old
                    && self.answer_of(alias.as_str()).is_none()
                    && shown.iter().all(|(_, other)| other != alias)
            });
            shown.extend(alias.map(|alias| (*answer, alias)));
        }
        Self { judge: self.judge, shown, nonce: Nonce::draw(rng) }
    }

    /// The answer that is called `alias` in this judge's prompt.
    #[must_use]
    pub fn answer_of(&self, alias: &str) -> Option<SlotId> {
        self.shown.iter().find(|(_, known)| known.as_str() == alias).map(|(id, _)| *id)
    }
}

/// Answers and judges do not make a round.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AssignError {
    /// There is nobody to vote.
    #[error("there is no judge")]
    NoJudges,
    /// There is nothing to compare.
    #[error("{completed} of the answers {} complete; a vote needs two", if *completed == 1 { "is" } else { "are" })]
    TooFewAnswers {
        /// How many are complete.
        completed: usize,
    },
    /// Answers whose every judge is their own author. Which ones is not shown: it would tell who wrote them.
    #[error("{} of {of} answers would have no judge, because no judge votes on {}", answers.len(), unseen(*rule))]
    Uncovered {
        /// The answers.
        answers: Vec<SlotId>,
        /// How many answers there are.
        of: usize,
        /// The rule in force.
        rule: OwnAnswers,
    },
    /// Two answers or two judges share an id.
    #[error("id {0} is used twice")]
    Repeated(SlotId),
}

/// What no judge sees under `rule`.
fn unseen(rule: OwnAnswers) -> String {
    let own = format!("its own answers (`--self-vote {}`)", rule.self_vote);
    match (rule.recuse, rule.self_vote) {
        (Recuse::None, _) => own,
        (Recuse::Vendor, SelfVote::Include) => "answers of its own vendor (`--recuse vendor`)".to_owned(),
        (Recuse::Vendor, _) => format!("{own} nor on those of its own vendor (`--recuse vendor`)"),
    }
}

impl From<AssignError> for Error {
    fn from(error: AssignError) -> Self {
        let message = error.to_string();
        match error {
            AssignError::NoJudges => Self::usage(message).hint("name judges with `--judges`"),
            AssignError::TooFewAnswers { .. } => Self::new(crate::error::ErrorKind::NoDecision, message)
                .hint("`team status` says why the other slots have no answer"),
            AssignError::Uncovered { rule, .. } => {
                let error = match rule.recuse {
                    Recuse::None => Self::usage(message).hint("name judges of another model with `--judges`"),
                    Recuse::Vendor => Self::usage(message)
                        .hint("name judges of another vendor with `--judges`, or leave `--recuse vendor` out"),
                };
                match rule.self_vote {
                    SelfVote::Model if rule.recuse == Recuse::None => {
                        error.hint("or use `--self-vote slot`, so that seats of one model judge each other")
                    }
                    _ => error,
                }
            }
            AssignError::Repeated(_) => Self::internal(message),
        }
    }
}

/// Gives each judge its answers, their order and their names.
///
/// `answers` are the complete ones. A judge that sits on the panel begins after its own seat and goes on cyclically;
/// one that does not, or that sees everything, begins at a place of its own. The result is then evened out
/// (`order::balance`). Names differ over all judges. A judge without an answer to judge gets no assignment.
///
/// # Errors
/// Fewer than two answers, no judge, an answer without a judge, or an id that is used twice.
pub fn assign<R: CryptoRng + ?Sized>(
    answers: &[Answer],
    judges: &[Judge],
    rule: impl Into<OwnAnswers>,
    rng: &mut R,
) -> Result<Vec<Assignment>, AssignError> {
    let rule = rule.into();
    if answers.len() < 2 {
        return Err(AssignError::TooFewAnswers { completed: answers.len() });
    }
    let mut answers = answers.to_vec();
    answers.sort_by_key(|answer| answer.id);
    let mut judges = judges.to_vec();
    judges.sort_by_key(|judge| judge.id);
    repeated(answers.iter().map(|answer| answer.id))?;
    repeated(judges.iter().map(|judge| judge.id))?;
    check_panel(&answers, &judges, rule)?;

    let mut rows: Vec<usize> = (0..judges.len()).collect();
    rows.shuffle(rng);
    let mut orders: Vec<Vec<usize>> = judges
        .iter()
        .zip(rows)
        .map(|(judge, row)| {
            let start = match judge.seat {
                Some(seat) if rule.self_vote != SelfVote::Include => {
                    answers.partition_point(|answer| answer.id <= seat)
                }
                // Own answers are in the row too; a random row keeps them from standing in one place for all.
                _ => row,
            };
            let ring = (0..answers.len()).map(|step| (start + step) % answers.len());
            ring.filter(|&answer| may_vote(rule, judge, &answers[answer])).collect()
        })
        .collect();
    order::balance(&mut orders, answers.len());

    let mut taken = HashSet::new();
    let mut fresh_alias = |rng: &mut R| {
        loop {
            let alias = Alias::draw(rng);
            if taken.insert(alias.clone()) {
                return alias;
            }
        }
    };
    Ok(judges
        .iter()
        .zip(orders)
        .filter(|(_, order)| !order.is_empty())
        .map(|(judge, order)| Assignment {
            judge: judge.id,
            shown: order.into_iter().map(|answer| (answers[answer].id, fresh_alias(rng))).collect(),
            nonce: Nonce::draw(rng),
        })
        .collect())
}

fn repeated(sorted: impl Iterator<Item = SlotId>) -> Result<(), AssignError> {
    let mut last = None;
    for id in sorted {
        if last == Some(id) {
            return Err(AssignError::Repeated(id));
        }
        last = Some(id);
    }
    Ok(())
}
