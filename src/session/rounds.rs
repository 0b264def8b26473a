//! How far the newest round of votes is, as the session's own record tells.

use std::collections::BTreeSet;

use super::events::{Event, Record};
use super::layout::Round;
use super::life::Why;
use super::slot::SlotState;

/// The newest round of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoundStand {
    /// Its number.
    pub round: Round,
    /// Whether its verdict is the session's.
    pub published: bool,
    /// Whether an answer was completed after it was opened, so that it is not about all of them.
    pub is_outdated: bool,
    /// For what the session was opened after it, of which no round was made.
    pub judged_again: Option<Why>,
}

impl RoundStand {
    /// From the session's record; `None` where no round was opened. Of those that were opened only the ones count that
    /// were `made`: in the others nobody could be asked.
    #[must_use]
    pub fn newest(records: &[Record], made: impl Fn(Round) -> bool) -> Option<Self> {
        let opening = |record: &Record| match record.event {
            Event::RoundOpened { round } if made(round) => Some(round),
            _ => None,
        };
        let (opened, round) = records.iter().enumerate().rev().find_map(|(at, record)| Some((at, opening(record)?)))?;
        let since = &records[opened..];
        let completes =
            |event: &Event| matches!(event, Event::SlotEnded { end, .. } if end.state == SlotState::Completed);
        Some(Self {
            round,
            published: since.iter().any(|record| matches!(record.event, Event::Verdict { .. })),
            is_outdated: since.iter().any(|record| completes(&record.event)),
            judged_again: opened_again(since),
        })
    }
}

/// For what the session was opened after the round that was opened by the first of these records had ended.
///
/// One whose folder was left unmade is made when the session is opened for the next: then that is this one.
fn opened_again(since: &[Record]) -> Option<Why> {
    let ends = |record: &Record| matches!(record.event, Event::RoundClosed { .. } | Event::Verdict { .. });
    let last = since.iter().rposition(ends)?;
    opened_for(&since[last..])
}

/// For which kind of round a session was opened last; `None` where it was not.
#[must_use]
pub fn opened_for(records: &[Record]) -> Option<Why> {
    records.iter().rev().find_map(|record| match record.event {
        Event::Reopened { why: why @ (Why::Judge | Why::Import), .. } => Some(why),
        _ => None,
    })
}

/// The rounds that were held, as the session's record tells: they have ended, or their verdict is the session's.
pub(super) fn held(records: &[Record]) -> BTreeSet<Round> {
    let mut opened = None;
    let held = records.iter().filter_map(|record| match record.event {
        Event::RoundOpened { round } => {
            opened = Some(round);
            None
        }
        Event::RoundClosed { round, .. } => Some(round),
        Event::Verdict { .. } => opened,
        _ => None,
    });
    held.collect()
}
