//! What a session took, folded from its record.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;

use super::events::{Event, Record};
use super::slot::{Reason, SlotState};
use crate::ids::SlotId;

/// Numbers of one folder's record. What is unknown is `None`, never zero.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Statistics {
    /// How many attempts were begun.
    pub attempts: u32,
    /// How often a request was made again within an attempt.
    pub retries: u32,
    /// How many slots and attempts ended in each state.
    pub ends: BTreeMap<SlotState, u32>,
    /// How often each reason was given.
    pub reasons: BTreeMap<Reason, u32>,
    /// Bytes of complete answers.
    pub answer_bytes: u64,
    /// Tokens of prompts, of the attempts that say so and, where they are sealed, as the newest verdict tells them.
    pub input_tokens: Option<u64>,
    /// Tokens of output, likewise.
    pub output_tokens: Option<u64>,
    /// The time of all attempts together, by the clock of the record.
    pub busy: Duration,
    /// How many conversations were opened.
    pub conversations: u32,
    /// How many decisions a person was asked for, and how many were made.
    pub decisions: (u32, u32),
}

impl Statistics {
    /// Folds a record.
    #[must_use]
    pub fn of(records: &[Record]) -> Self {
        let mut sum = Self::default();
        let mut running: BTreeMap<SlotId, Timestamp> = BTreeMap::new();
        let mut told = None;
        for record in records {
            match &record.event {
                Event::SlotStarted { slot, .. } => {
                    sum.attempts += 1;
                    running.insert(*slot, record.at);
                }
                Event::SlotRetry { .. } => sum.retries += 1,
                Event::SlotEnded { slot, end } => {
                    *sum.ends.entry(end.state).or_default() += 1;
                    if let Some(error) = &end.error {
                        *sum.reasons.entry(error.reason).or_default() += 1;
                    }
                    if end.state == SlotState::Completed {
                        sum.answer_bytes += end.output_size.unwrap_or_default();
                    }
                    let usage = end.usage.unwrap_or_default();
                    add(&mut sum.input_tokens, usage.input_tokens);
                    add(&mut sum.output_tokens, usage.output_tokens);
                    let took = running.remove(slot).map(|began| record.at.duration_since(began));
                    sum.busy += took.and_then(|took| Duration::try_from(took).ok()).unwrap_or_default();
                }
                Event::Verdict { usage, .. } => told = Some(usage),
                Event::ConversationOpened { .. } => sum.conversations += 1,
                Event::DecisionAwaited { .. } => sum.decisions.0 += 1,
                Event::Decided { .. } => sum.decisions.1 += 1,
                _ => {}
            }
        }
        // Records of before say it openly, and a verdict over them says it again.
        let is_open = sum.input_tokens.or(sum.output_tokens).is_some();
        for usage in told.filter(|_| !is_open).into_iter().flat_map(BTreeMap::values) {
            add(&mut sum.input_tokens, usage.input_tokens);
            add(&mut sum.output_tokens, usage.output_tokens);
        }
        sum
    }
}

fn add(sum: &mut Option<u64>, more: Option<u64>) {
    if let Some(more) = more {
        *sum = Some(sum.unwrap_or_default() + more);
    }
}
