//! Waiting decisions: what a session waits for a person to decide, and with what it then goes on. Read from its record
//! alone: the question, the choices and the checkpoint are one event, the decision another, so that neither is ever half there.

use jiff::Timestamp;

use super::SessionError;
use super::events::{Event, Record};

/// What is to be decided.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Question {
    /// The question, without names.
    pub text: String,
    /// The choices; none where any words will do.
    pub choices: Vec<String>,
    /// What is needed to go on from here.
    pub checkpoint: Option<serde_json::Value>,
}

/// A decision that is waited for.
#[derive(Debug, Clone, PartialEq)]
pub struct Waiting {
    /// Its number, from 1.
    pub decision: u32,
    /// Since when.
    pub since: Timestamp,
    /// What is to be decided.
    pub question: Question,
}

/// The decision that the session of this record waits for.
#[must_use]
pub fn waiting(records: &[Record]) -> Option<Waiting> {
    records.iter().rev().find_map(|record| match &record.event {
        Event::Decided { .. } => Some(None),
        Event::DecisionAwaited { decision, question, choices, checkpoint } => Some(Some(Waiting {
            decision: *decision,
            since: record.at,
            question: Question {
                text: question.clone(),
                choices: choices.clone(),
                checkpoint: checkpoint.as_deref().cloned(),
            },
        })),
        _ => None,
    })?
}

/// The event by which the session `id` begins to wait.
pub(super) fn awaited(id: &str, records: &[Record], question: Question) -> Result<Event, SessionError> {
    if let Some(Waiting { decision, .. }) = waiting(records) {
        return Err(SessionError::Waits { session: id.to_owned(), decision });
    }
    let before = records.iter().filter(|record| matches!(record.event, Event::DecisionAwaited { .. })).count();
    let Question { text, choices, checkpoint } = question;
    let decision = u32::try_from(before).unwrap_or(u32::MAX).saturating_add(1);
    Ok(Event::DecisionAwaited { decision, question: text, choices, checkpoint: checkpoint.map(Box::new) })
}

/// The event by which what the session `id` waits for is decided, and what it waited for.
pub(super) fn decided(
    id: &str,
    records: &[Record],
    choice: &str,
    note: Option<&str>,
) -> Result<(Event, Waiting), SessionError> {
    let waits = waiting(records).ok_or_else(|| SessionError::NothingToDecide(id.to_owned()))?;
    let choices = &waits.question.choices;
    if choice.trim().is_empty() || !choices.is_empty() && !choices.iter().any(|known| known == choice) {
        let error = SessionError::NoChoice {
            session: id.to_owned(),
            choice: choice.to_owned(),
            choices: choices.iter().map(|known| format!("`{known}`")).collect(),
        };
        return Err(error);
    }
    let event = Event::Decided { decision: waits.decision, choice: choice.to_owned(), note: note.map(str::to_owned) };
    Ok((event, waits))
}
