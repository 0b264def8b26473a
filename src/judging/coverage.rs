//! How many judges each answer has.

use crate::config::OwnAnswers;
use crate::ids::SlotId;

use super::{Answer, AssignError, Assignment, Judge, may_vote};

/// The number of judges of each answer, in the order of ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coverage {
    judges: Vec<(SlotId, usize)>,
}

impl Coverage {
    /// What the rule about own answers allows, before anything is asked.
    #[must_use]
    pub fn allowed(answers: &[Answer], judges: &[Judge], rule: OwnAnswers) -> Self {
        Self::count(answers.iter().map(|answer| {
            let count = judges.iter().filter(|judge| may_vote(rule, judge, answer)).count();
            (answer.id, count)
        }))
    }

    /// What the assignments in use hold.
    #[must_use]
    pub fn assigned(answers: &[Answer], assignments: &[Assignment]) -> Self {
        Self::count(answers.iter().map(|answer| {
            let count = assignments.iter().filter(|assignment| assignment.alias_of(answer.id).is_some()).count();
            (answer.id, count)
        }))
    }

    fn count(judges: impl Iterator<Item = (SlotId, usize)>) -> Self {
        let mut judges: Vec<_> = judges.collect();
        judges.sort();
        Self { judges }
    }

    /// How many judges `answer` has.
    #[must_use]
    pub fn of(&self, answer: SlotId) -> usize {
        self.judges.iter().find(|(id, _)| *id == answer).map_or(0, |(_, count)| *count)
    }

    /// The answers that have exactly `count` judges.
    #[must_use]
    pub fn with(&self, count: usize) -> Vec<SlotId> {
        self.judges.iter().filter(|(_, judges)| *judges == count).map(|(id, _)| *id).collect()
    }

    /// What the start says when an answer will have one judge only. It names no answer: whose judge is missing tells
    /// whose answer it is.
    #[must_use]
    pub fn forecast(&self) -> Option<String> {
        self.one_judge("answer")
    }

    /// The same after a run of which some slots have no answer: of all slots, for of the answers it would tell whose are
    /// missing.
    #[must_use]
    pub fn forecast_of_slots(&self) -> Option<String> {
        self.one_judge("slot")
    }

    fn one_judge(&self, noun: &str) -> Option<String> {
        let (one, all) = (self.with(1).len(), self.judges.len());
        let who = match one {
            0 => return None,
            _ if one == all => format!("each {noun} has"),
            1 => format!("1 of {all} {noun}s has"),
            _ => format!("{one} of {all} {noun}s have"),
        };
        Some(format!("{who} one judge only: a single vote cannot make a winner"))
    }

    /// What the verdict says when an answer had one judge only, or none.
    #[must_use]
    pub fn note(&self) -> Option<String> {
        let (none, one) = (self.with(0), self.with(1));
        let mut parts = Vec::new();
        if !none.is_empty() {
            parts.push(format!("{} no judge at all", subject(&none, self.judges.len())));
        }
        if !one.is_empty() {
            parts.push(format!(
                "{} one judge only: a single vote cannot make a winner",
                subject(&one, self.judges.len())
            ));
        }
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}

fn subject(ids: &[SlotId], all: usize) -> String {
    match ids {
        [id] => format!("answer {id} has"),
        _ if ids.len() == all => "each answer has".to_owned(),
        _ => format!("answers {} have", list(ids)),
    }
}

fn list(ids: &[SlotId]) -> String {
    ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// Checks, before a run, that every answer of the `panel` would have a judge.
///
/// `panel` holds what the run would answer with if no slot failed; its ids may be provisional as long as the seats of
/// the judges use the same ones.
///
/// # Errors
/// [`AssignError::Uncovered`] when an answer would have no judge, [`AssignError::NoJudges`] without any judge.
pub fn check_panel(panel: &[Answer], judges: &[Judge], rule: impl Into<OwnAnswers>) -> Result<Coverage, AssignError> {
    let rule = rule.into();
    if judges.is_empty() {
        return Err(AssignError::NoJudges);
    }
    let coverage = Coverage::allowed(panel, judges, rule);
    let uncovered = coverage.with(0);
    if uncovered.is_empty() {
        Ok(coverage)
    } else {
        Err(AssignError::Uncovered { answers: uncovered, of: panel.len(), rule })
    }
}
