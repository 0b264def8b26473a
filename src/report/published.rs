//! The verdict of a session, when it is the one on record.

use serde::Deserialize;

use crate::findings::ReviewVerdict;
use crate::ids::{FormatVersion, Sha256Hash};
use crate::session::{Event, Layout, Record};
use crate::verdict::{TaskVerdict, Verdict};

/// What there is of a verdict. Only of a published one may models be named.
#[derive(Debug, Clone)]
pub(super) enum Published {
    /// None was published yet.
    None,
    /// One was, and what lies there is another, or cannot be read.
    Changed,
    /// One was, by a newer program.
    Newer(FormatVersion),
    /// This one, on answers.
    Verdict(Box<Verdict>),
    /// This one, on a task.
    Task(Box<TaskVerdict>),
    /// This one, on what reviewers found.
    Review(Box<ReviewVerdict>),
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
    struct Head {
        version: FormatVersion,
        /// Only of a vote on a task.
        threshold: Option<serde::de::IgnoredAny>,
        /// Only of a review.
        #[serde(rename = "failOn")]
        fail_on: Option<serde::de::IgnoredAny>,
    }
    let Ok(bytes) = crate::fs::read_plain(layout.verdict_json()) else { return Published::Changed };
    if Sha256Hash::of(&bytes) != recorded {
        return Published::Changed;
    }
    let read = match serde_json::from_slice::<Head>(&bytes) {
        Ok(Head { version, .. }) if version > FormatVersion::CURRENT => return Published::Newer(version),
        Ok(Head { threshold: Some(_), .. }) => {
            serde_json::from_slice(&bytes).map(|task| Published::Task(Box::new(task)))
        }
        Ok(Head { fail_on: Some(_), .. }) => {
            serde_json::from_slice(&bytes).map(|review| Published::Review(Box::new(review)))
        }
        _ => serde_json::from_slice(&bytes).map(|verdict| Published::Verdict(Box::new(verdict))),
    };
    read.unwrap_or(Published::Changed)
}
