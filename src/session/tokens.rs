//! The tokens that a folder's record holds, opened with its manifest.

use std::collections::BTreeMap;

use super::events::{Event, Record};
use super::manifest::Manifest;
use super::slot::{SlotEnd, Usage};
use crate::ids::SlotId;

/// The tokens of the attempt that ended with `record`, which holds `end`. Records of before told them openly.
#[must_use]
pub fn usage_at_end(manifest: &Manifest, record: &Record, slot: SlotId, end: &SlotEnd) -> Option<Usage> {
    let sealed = || end.sealed_usage.as_ref()?.open(&manifest.nonce, slot, record.prev);
    end.usage.or_else(sealed)
}

/// The tokens of each slot's last attempt, where it reported any: for when the vote is over.
#[must_use]
pub fn usage_by_slot(manifest: &Manifest, records: &[Record]) -> BTreeMap<SlotId, Usage> {
    let mut told = BTreeMap::new();
    for record in records {
        match &record.event {
            Event::SlotStarted { slot, .. } => {
                told.remove(slot);
            }
            Event::SlotEnded { slot, end } => {
                if let Some(usage) = usage_at_end(manifest, record, *slot, end) {
                    told.insert(*slot, usage);
                }
            }
            _ => {}
        }
    }
    told
}
