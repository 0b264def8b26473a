//! What a record says of a session besides the state of its slots: read from the events alone.

use std::collections::BTreeMap;

use super::events::{Event, Record};
use crate::ids::Sha256Hash;

/// The files that differed from the beginning and were accepted as they were, by path relative to the session's folder:
/// the hash of each by its newest acceptance, and the number of that record, from 0.
#[must_use]
pub fn accepted(records: &[Record]) -> BTreeMap<String, (Sha256Hash, usize)> {
    let mut found = BTreeMap::new();
    for (index, record) in records.iter().enumerate() {
        if let Event::Reopened { accepted, .. } = &record.event {
            found.extend(accepted.iter().map(|(file, hash)| (file.clone(), (*hash, index))));
        }
    }
    found
}

/// What keeps the slots of a folder apart by the newest word of its record.
#[must_use]
pub fn isolation(records: &[Record]) -> Option<&str> {
    records.iter().rev().find_map(|record| of(&record.event))
}

/// What kept slots apart each time that one was started, in order.
pub fn isolations_used(records: &[Record]) -> impl Iterator<Item = &str> {
    let mut now = None;
    records.iter().filter_map(move |record| {
        now = of(&record.event).or(now);
        now.filter(|_| matches!(record.event, Event::SlotStarted { .. }))
    })
}

fn of(event: &Event) -> Option<&str> {
    match event {
        Event::Created { isolation, .. } => Some(isolation),
        Event::Reopened { isolation, .. } => isolation.as_deref(),
        _ => None,
    }
}
