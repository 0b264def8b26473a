//! Going on with a panel whose owner died or ended it before everything was done: what was finished is recognised by its
//! file and hash, what ran is lost, what is left is opened for a new attempt.

use fs_err as files;
use jiff::Timestamp;

use super::SessionError;
use super::events::{Event, SlotEnd, SlotError};
use super::life::Why;
use super::panel::PanelFolder;
use super::slot::{Reason, SlotState};
use crate::fault::{self, Point};
use crate::fs;
use crate::ids::{Sha256Hash, SlotId};

/// How to go on.
#[derive(Debug, Clone, Copy)]
pub struct TakeUp<'a> {
    /// Whether slots that ended with an error of their own are asked again.
    pub failed: bool,
    /// What is not as it was when the session began, and was accepted.
    pub drift: &'a [String],
    /// What happens to a panel that had ended and in which nobody is left to ask.
    pub ended: Ended,
}

/// What happens to a panel that had ended and in which nobody is left to ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// It stays as it is.
    StaysClosed,
    /// It goes on all the same: what comes after the slots is not done.
    GoesOn,
}

impl PanelFolder {
    /// Fails when the answers on disk are not those of the record: a completed one that is missing or changed, or one of
    /// a slot that never wrote it. Writes nothing.
    pub fn check_answers(&self) -> Result<(), SessionError> {
        for (slot, entry) in &self.status().models {
            match entry.state {
                SlotState::Completed => {
                    entry.read_answer(self.layout(), *slot).map_err(|error| match error {
                        SessionError::Io(source) if source.kind() == std::io::ErrorKind::NotFound => {
                            SessionError::Missing(self.layout().response(*slot))
                        }
                        error => error,
                    })?;
                }
                // It may have been complete when its owner died.
                SlotState::Running => {}
                SlotState::Pending
                | SlotState::Empty
                | SlotState::Failed
                | SlotState::Timeout
                | SlotState::Cancelled
                | SlotState::Lost => {
                    let path = self.layout().response(*slot);
                    if path.symlink_metadata().is_ok() {
                        return Err(SessionError::Unrecorded(path));
                    }
                }
            }
        }
        Ok(())
    }

    /// The slots that would be asked if the panel were taken up now.
    #[must_use]
    pub fn left(&self, failed: bool) -> Vec<SlotId> {
        // What was asked once more was complete then: nobody comes in from behind.
        if self.records().iter().any(|record| matches!(record.event, Event::TurnOpened { .. })) {
            return Vec::new();
        }
        let mut left = self.status().left(failed);
        left.retain(|slot| {
            let runs = self.status().models.get(slot).is_some_and(|entry| entry.state == SlotState::Running);
            !(runs && self.layout().response(*slot).is_file())
        });
        left
    }

    /// Takes the panel up for its new owner, who holds the session's lock: checks its answers, records what became of the
    /// slots that ran, and opens a new attempt for those that are left.
    pub fn take_up(&mut self, how: TakeUp<'_>, now: Timestamp) -> Result<(), SessionError> {
        self.check_answers()?;
        let slots = self.left(how.failed);
        let interrupted = self.status().state.is_active();
        if interrupted {
            self.record(Event::Interrupted, now)?;
            fault::reach(Point::InterruptRecorded);
        }
        self.end_lost(now)?;
        let unfinished = interrupted || self.status().state == super::SessionState::Interrupted;
        if unfinished || !slots.is_empty() || how.ended == Ended::GoesOn {
            let failed = how.failed && !slots.is_empty();
            self.record(Event::Reopened { why: Why::Resume, slots, failed, drift: how.drift.to_vec() }, now)?;
            self.settle()?;
            fault::reach(Point::ReopenRecorded);
        }
        self.write_status()
    }

    /// Records the end of every attempt that ran when the owner before died.
    pub fn end_lost(&mut self, now: Timestamp) -> Result<(), SessionError> {
        let running = self.status().models.iter().filter(|(_, entry)| entry.state == SlotState::Running);
        let running: Vec<(SlotId, u32)> = running.map(|(slot, entry)| (*slot, entry.attempts)).collect();
        for (slot, attempt) in running {
            let end = self.end_of(slot, attempt)?;
            self.record(Event::SlotEnded { slot, end: Box::new(end) }, now)?;
            fault::reach(Point::LostRecorded);
        }
        self.remove_leftovers()
    }

    /// How the attempt of a slot ended whose owner died. An answer has its name only when it is complete and durable.
    fn end_of(&self, slot: SlotId, attempt: u32) -> Result<SlotEnd, SessionError> {
        let answer = self.layout().response(slot);
        match files::read(&answer) {
            Ok(bytes) => return Ok(SlotEnd::with_answer(attempt, bytes.len() as u64, Sha256Hash::of(&bytes))),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(error.into()),
        }
        let part = self.layout().response_part(slot);
        if part.metadata().is_ok_and(|part| part.len() > 0) {
            fs::ensure_dir(&self.layout().errors())?;
            fs::publish(&part, &self.layout().partial(slot))?;
        }
        let detail = "the process that ran this slot died before the answer was complete";
        Ok(SlotEnd::without_answer(attempt, SlotError::new(Reason::OwnerDied, detail)))
    }

    /// Removes what was only half written when the owner died.
    fn remove_leftovers(&self) -> Result<(), SessionError> {
        for folder in [self.layout().root().to_owned(), self.layout().errors()] {
            let entries = match files::read_dir(&folder) {
                Ok(entries) => entries,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error.into()),
            };
            for entry in entries {
                let entry = entry?;
                let name = entry.file_name();
                let name = name.to_string_lossy();
                let half = name.starts_with(".tmp-") || name.starts_with('.') && name.ends_with(".part");
                if half && entry.file_type()?.is_file() {
                    fs::remove_if_exists(&entry.path())?;
                }
            }
        }
        Ok(())
    }
}
