//! How far the newest round of votes is, as the session's own record tells.

use super::events::{Event, Record};
use super::layout::Round;
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
}

impl RoundStand {
    /// From the session's record; `None` where no round was opened.
    #[must_use]
    pub fn newest(records: &[Record]) -> Option<Self> {
        let opened = records.iter().rposition(|record| matches!(record.event, Event::RoundOpened { .. }))?;
        let Event::RoundOpened { round } = records[opened].event else { return None };
        let since = &records[opened..];
        let completes =
            |event: &Event| matches!(event, Event::SlotEnded { end, .. } if end.state == SlotState::Completed);
        Some(Self {
            round,
            published: since.iter().any(|record| matches!(record.event, Event::Verdict { .. })),
            is_outdated: since.iter().any(|record| completes(&record.event)),
        })
    }
}
