//! The verdict of a session, when it is the one on record.

use fs_err as fs;
use serde::Deserialize;

use crate::ids::{FormatVersion, Sha256Hash};
use crate::session::{Event, Layout, Record};
use crate::verdict::Verdict;

/// What there is of a verdict. Only of a published one may models be named.
#[derive(Debug, Clone)]
pub(super) enum Published {
    /// None was published yet.
    None,
    /// One was, and what lies there is another, or cannot be read.
    Changed,
    /// One was, by a newer program.
    Newer(FormatVersion),
    /// This one.
    Verdict(Box<Verdict>),
}

/// The verdict that `records`, the session's own, tell of.
pub(super) fn published(layout: &Layout, records: &[Record]) -> Published {
    let recorded = records.iter().rev().find_map(|record| match &record.event {
        Event::Verdict { verdict_json, .. } => Some(*verdict_json),
        _ => None,
    });
    recorded.map_or(Published::None, |recorded| recorded_as(layout, recorded))
}

/// The verdict in the session at `layout`, when its hash is `recorded`.
pub(super) fn recorded_as(layout: &Layout, recorded: Sha256Hash) -> Published {
    #[derive(Deserialize)]
    struct Versioned {
        version: FormatVersion,
    }
    let Ok(bytes) = fs::read(layout.verdict_json()) else { return Published::Changed };
    if Sha256Hash::of(&bytes) != recorded {
        return Published::Changed;
    }
    match serde_json::from_slice::<Versioned>(&bytes) {
        Ok(Versioned { version }) if version > FormatVersion::CURRENT => Published::Newer(version),
        _ => serde_json::from_slice(&bytes).map_or(Published::Changed, |verdict| Published::Verdict(Box::new(verdict))),
    }
}
