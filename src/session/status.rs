//! `status.json`: the state of each slot, a fold of the record plus what is live. Owner: [`super`].

use std::collections::BTreeMap;
use std::path::Path;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::events::{Event, Parent, Record};
use super::layout::Layout;
use super::life::{SessionMove, Why, session_transition};
use super::meta::{Phase, SessionState};
use super::slot::{Reason, SlotError, SlotMove, SlotState, Usage, transition};
use super::{SessionError, read};
use crate::ids::{DateTime, FormatVersion, Sha256Hash, SlotId};

/// The contents of `status.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// The version of this format.
    pub version: FormatVersion,
    /// The session's id.
    pub session: String,
    /// How it stands.
    pub state: SessionState,
    /// What is being done.
    pub phase: Phase,
    /// When it began.
    #[schemars(with = "DateTime")]
    pub started_at: Timestamp,
    /// When it ended.
    #[schemars(with = "Option<DateTime>")]
    pub completed_at: Option<Timestamp>,
    /// Each slot (or judge, in a round).
    pub models: BTreeMap<SlotId, SlotStatus>,
}

/// One slot as it stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SlotStatus {
    /// The state.
    pub state: SlotState,
    /// The program's exit code.
    pub exit_code: Option<i32>,
    /// The signal that ended the program.
    pub signal: Option<i32>,
    /// When the last attempt began.
    #[schemars(with = "Option<DateTime>")]
    pub started_at: Option<Timestamp>,
    /// When it ended.
    #[schemars(with = "Option<DateTime>")]
    pub completed_at: Option<Timestamp>,
    /// The size of the complete answer in bytes; `null` while there is none.
    pub output_size: Option<u64>,
    /// The hash of the complete answer.
    pub sha256: Option<Sha256Hash>,
    /// How many attempts were begun.
    pub attempts: u32,
    /// Whether the answer was cut and accepted all the same.
    pub truncated: bool,
    /// What is going on now; only while RUNNING.
    #[serde(flatten)]
    pub live: Option<Live>,
    /// Tokens of the last attempt, where reported; `null` before the verdict.
    pub usage: Option<Usage>,
    /// Why there is no answer.
    pub error: Option<SlotError>,
}

/// What exists only while a slot is RUNNING.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Live {
    /// What the slot is doing.
    pub activity: String,
    /// Bytes of the answer so far.
    pub live_bytes: u64,
    /// Whole seconds since the last byte of any kind.
    pub idle_seconds: u64,
}

impl SlotStatus {
    fn pending() -> Self {
        Self {
            state: SlotState::Pending,
            exit_code: None,
            signal: None,
            started_at: None,
            completed_at: None,
            output_size: None,
            sha256: None,
            attempts: 0,
            truncated: false,
            live: None,
            usage: None,
            error: None,
        }
    }

    /// The answer of `slot`, checked against its hash on record; `None` when there is no complete one.
    pub fn read_answer(&self, layout: &Layout, slot: SlotId) -> Result<Option<Vec<u8>>, SessionError> {
        if self.state != SlotState::Completed {
            return Ok(None);
        }
        let path = layout.response(slot);
        let bytes = crate::fs::read_plain(&path)?;
        if Some(Sha256Hash::of(&bytes)) == self.sha256 { Ok(Some(bytes)) } else { Err(SessionError::Changed(path)) }
    }

    fn apply(&mut self, slot: SlotId, by: SlotMove) -> Result<(), SessionError> {
        self.state = transition(self.state, by).map_err(|source| SessionError::Transition { slot, source })?;
        Ok(())
    }
}

impl Status {
    /// The status after the first event.
    #[must_use]
    pub fn new(session: String, slots: &[SlotId], phase: Phase, now: Timestamp) -> Self {
        Self {
            version: FormatVersion::CURRENT,
            session,
            state: SessionState::InProgress,
            phase,
            started_at: now,
            completed_at: None,
            models: slots.iter().map(|slot| (*slot, SlotStatus::pending())).collect(),
        }
    }

    /// Reads `status.json`.
    pub fn read(path: &Path) -> Result<Self, SessionError> {
        read::json(path)
    }

    /// The same of the bytes of the file at `path`.
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<Self, SessionError> {
        read::parse(path, bytes)
    }

    /// Computes the status from a whole record.
    pub fn fold(session: String, records: &[Record]) -> Result<Self, SessionError> {
        let mut status = match records.first() {
            Some(Record { event: Event::Created { slots, parent, .. }, at, .. }) => {
                let phase = parent.as_ref().map_or(Phase::Init, Parent::phase);
                Self::new(session, slots, phase, *at)
            }
            _ => Self::new(session, &[], Phase::Init, Timestamp::UNIX_EPOCH),
        };
        records.iter().try_for_each(|record| status.apply(record))?;
        Ok(status)
    }

    /// Takes one event into account; an impossible move is an error and changes nothing.
    pub fn apply(&mut self, record: &Record) -> Result<(), SessionError> {
        match &record.event {
            Event::PhaseStarted { phase } => self.phase = *phase,
            Event::SlotStarted { slot, attempt } => {
                let entry = self.slot_mut(*slot)?;
                entry.apply(*slot, SlotMove::Start)?;
                *entry = SlotStatus {
                    state: entry.state,
                    started_at: Some(record.at),
                    attempts: *attempt,
                    ..SlotStatus::pending()
                };
            }
            Event::SlotEnded { slot, end } => {
                let entry = self.slot_mut(*slot)?;
                entry.apply(*slot, SlotMove::End(end.state))?;
                entry.live = None;
                entry.exit_code = end.exit_code;
                entry.signal = end.signal;
                entry.completed_at = Some(record.at);
                entry.output_size = end.output_size;
                entry.sha256 = end.sha256;
                entry.truncated = end.truncated;
                entry.usage = end.usage;
                entry.error.clone_from(&end.error);
            }
            Event::RoundOpened { .. } => self.phase = Phase::Judge,
            Event::Verdict { usage, .. } => {
                self.phase = Phase::Verdict;
                for (slot, usage) in usage {
                    self.slot_mut(*slot)?.usage = Some(*usage);
                }
            }
            Event::Interrupted => self.go(SessionMove::Interrupt)?,
            Event::Reopened { why, slots, failed, .. } => {
                let by = SlotMove::Reopen { failed: *failed };
                for slot in slots {
                    let state = self.slot_mut(*slot)?.state;
                    transition(state, by).map_err(|source| SessionError::Transition { slot: *slot, source })?;
                }
                self.go(SessionMove::Reopen(*why))?;
                for slot in slots {
                    let entry = self.slot_mut(*slot)?;
                    *entry = SlotStatus { attempts: entry.attempts, ..SlotStatus::pending() };
                }
                self.completed_at = None;
            }
            Event::Closed { state, .. } => {
                self.go(SessionMove::Close(*state))?;
                self.completed_at = Some(record.at);
            }
            Event::Decided { .. } => {
                // A living owner is answered while it is at work.
                if !self.state.is_active() {
                    self.go(SessionMove::Reopen(Why::Decision))?;
                    self.completed_at = None;
                }
            }
            Event::Created { .. }
            | Event::WorkspaceTaken { .. }
            | Event::ConversationOpened { .. }
            | Event::ConversationSealed { .. }
            | Event::DecisionAwaited { .. }
            | Event::SlotRetry { .. }
            | Event::StopRequested { .. }
            | Event::RoundClosed { .. }
            | Event::TurnOpened { .. }
            | Event::TurnClosed { .. }
            | Event::PromptWritten { .. }
            | Event::PanelOpened { .. }
            | Event::PanelClosed { .. }
            | Event::FileWritten { .. }
            | Event::LedgerWritten { .. }
            | Event::Fix { .. }
            | Event::Imported { .. }
            | Event::Ballot { .. }
            | Event::FindingsRead { .. }
            | Event::Remarked { .. }
            | Event::Revealed => {}
        }
        Ok(())
    }

    fn go(&mut self, by: SessionMove) -> Result<(), SessionError> {
        let illegal = |source| SessionError::Move { session: self.session.clone(), source };
        self.state = session_transition(self.state, by).map_err(illegal)?;
        Ok(())
    }

    /// The slots that a later run asks, each in a new attempt: those that did not end or were stopped, and with `failed`
    /// those that ended with an error of their own.
    #[must_use]
    pub fn left(&self, failed: bool) -> Vec<SlotId> {
        let reopens = |entry: &SlotStatus| {
            // What runs without an owner is lost.
            let state = if entry.state == SlotState::Running { SlotState::Lost } else { entry.state };
            transition(state, SlotMove::Reopen { failed }).is_ok()
        };
        self.models.iter().filter(|(_, entry)| reopens(entry)).map(|(slot, _)| *slot).collect()
    }

    /// The same status as it must be shown when no living process owns the session: nothing runs any more.
    #[must_use]
    pub fn without_owner(mut self) -> Self {
        if !self.state.is_active() {
            return self;
        }
        self.state = SessionState::Interrupted;
        for slot in self.models.values_mut().filter(|slot| slot.state == SlotState::Running) {
            slot.state = SlotState::Lost;
            slot.live = None;
            slot.error = Some(SlotError::new(Reason::OwnerDied, "the process that ran this slot is gone"));
        }
        self
    }

    /// How many slots are in `state`.
    #[must_use]
    pub fn count(&self, state: SlotState) -> usize {
        self.models.values().filter(|slot| slot.state == state).count()
    }

    fn slot_mut(&mut self, slot: SlotId) -> Result<&mut SlotStatus, SessionError> {
        let session = self.session.clone();
        self.models.get_mut(&slot).ok_or(SessionError::NoSlot { session, slot })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::slot::SlotEnd;

    fn record(event: Event) -> Record {
        Record { seq: 1, prev: None, at: Timestamp::from_second(5).unwrap(), event }
    }

    fn ended(slot: SlotId, state: SlotState) -> Event {
        let end = SlotEnd {
            attempt: 1,
            state,
            exit_code: Some(0),
            signal: None,
            output_size: Some(3),
            sha256: Some(Sha256Hash::of(b"abc")),
            truncated: false,
            lingered: false,
            usage: None,
            sealed_usage: None,
            sealed_cost: None,
            dropped_settings: Vec::new(),
            kept: BTreeMap::new(),
            turn: None,
            error: None,
        };
        Event::SlotEnded { slot, end: Box::new(end) }
    }

    #[test]
    fn the_first_end_of_an_attempt_wins() {
        let slot = SlotId::panel(1).next().unwrap();
        let mut status = Status::new("s".to_owned(), &[slot], Phase::Run, Timestamp::UNIX_EPOCH);
        status.apply(&record(Event::SlotStarted { slot, attempt: 1 })).unwrap();
        status.apply(&record(ended(slot, SlotState::Completed))).unwrap();
        assert!(status.apply(&record(ended(slot, SlotState::Timeout))).is_err());
        assert_eq!(status.models[&slot].state, SlotState::Completed);
    }

    #[test]
    fn live_fields_exist_only_while_running_and_unknown_numbers_are_null() {
        let slot = SlotId::panel(1).next().unwrap();
        let mut status = Status::new("s".to_owned(), &[slot], Phase::Run, Timestamp::UNIX_EPOCH);
        let json = serde_json::to_value(&status).unwrap();
        assert!(json["models"]["01"]["outputSize"].is_null());
        assert!(json["models"]["01"].get("liveBytes").is_none());
        status.apply(&record(Event::SlotStarted { slot, attempt: 1 })).unwrap();
        status.models.get_mut(&slot).unwrap().live =
            Some(Live { activity: "answering".to_owned(), live_bytes: 7, idle_seconds: 0 });
        let json = serde_json::to_value(&status).unwrap();
        assert_eq!(json["models"]["01"]["liveBytes"], 7);
        assert_eq!(serde_json::from_value::<Status>(json).unwrap(), status);
        status.apply(&record(ended(slot, SlotState::Completed))).unwrap();
        assert!(serde_json::to_value(&status).unwrap()["models"]["01"].get("liveBytes").is_none());
    }

    #[test]
    fn without_an_owner_what_ran_is_lost_and_the_session_interrupted() {
        let slot = SlotId::panel(1).next().unwrap();
        let mut status = Status::new("s".to_owned(), &[slot], Phase::Run, Timestamp::UNIX_EPOCH);
        status.apply(&record(Event::SlotStarted { slot, attempt: 1 })).unwrap();
        let shown = status.without_owner();
        assert_eq!(shown.state, SessionState::Interrupted);
        assert_eq!(shown.models[&slot].state, SlotState::Lost);
        assert_eq!(shown.models[&slot].error.as_ref().unwrap().reason, Reason::OwnerDied);
    }
}
