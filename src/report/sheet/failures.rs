//! Slots and judges that did not complete, with what they left.

use super::collect::Part;
use super::model::{Failure, Seat};
use super::reading::Reader;
use crate::ids::SlotId;
use crate::secrets::reveal;
use crate::session::SlotStatus;
use crate::session::slot::SlotState;

/// The most of one log, or of one partial answer, that a report holds, in bytes.
const LONGEST_LOG: u64 = 64 << 10;

pub(super) fn of(parts: &[Part], reader: &mut Reader<'_>) -> Vec<Failure> {
    let mut failures = Vec::new();
    for part in parts {
        let failed = part.status.models.iter().filter(|(_, entry)| {
            !matches!(entry.state, SlotState::Completed | SlotState::Pending | SlotState::Running)
        });
        failures.extend(failed.map(|(id, entry)| failure(part, *id, entry, reader)));
    }
    failures
}

fn failure(part: &Part, id: SlotId, entry: &SlotStatus, reader: &mut Reader<'_>) -> Failure {
    // What would have named a slot while the vote was open names it now.
    let told = |text: &str| match &part.manifest {
        Some(manifest) => reveal(text, |placeholder| manifest.name_for(placeholder)),
        None => text.to_owned(),
    };
    let mut file = |name: &str| {
        let quoted = reader.both_ends_if_any(&format!("{}errors/{name}", part.prefix), LONGEST_LOG);
        quoted.map(|mut quoted| {
            quoted.text = told(&quoted.text);
            quoted
        })
    };
    let log = file(&format!("{id}.log"));
    let partial = file(&format!("{id}.partial.md"));
    let error = entry.error.as_ref();
    Failure {
        seat: Seat { id, name: part.name_of(id) },
        side: part.side,
        turn: part.turn_told(),
        state: entry.state.as_str(),
        reason: error.map(|error| error.reason.as_str()),
        detail: error.map(|error| told(&error.detail)).unwrap_or_default(),
        next_step: error.map(|error| error.next_step.clone()).unwrap_or_default(),
        log,
        partial,
    }
}
