//! The end of a session, and going on after it: the one close path, and the checked ways back.

use std::collections::BTreeMap;
use std::path::PathBuf;

use jiff::Timestamp;

use super::SessionError;
use super::decision::waiting;
use super::events::{Event, Record};
use super::layout::{Layout, Round};
use super::life::{SessionMove, Why, session_transition};
use super::meta::{Artifact, EventsSeal, SessionState};
use super::owner::Session;
use super::panel::PanelFolder;
use super::slot::SlotState;
use super::take_up::TakeUp;
use crate::fault::{self, Point};
use crate::fs;

impl Session {
    /// Goes on with a session that had ended, for a new round of votes.
    pub fn reopen(&mut self, why: Why, now: Timestamp) -> Result<(), SessionError> {
        self.allows(SessionMove::Reopen(why))?;
        self.unseal()?;
        let reopened = Event::Reopened {
            why,
            slots: Vec::new(),
            failed: false,
            drift: Vec::new(),
            accepted: BTreeMap::new(),
            isolation: None,
        };
        self.panel.record(reopened, now)?;
        self.panel.settle()?;
        fault::reach(Point::ReopenRecorded);
        self.panel.write_status()
    }

    /// Goes on with a session whose owner died, or that ended before everything was done.
    pub fn take_up(&mut self, how: TakeUp<'_>, now: Timestamp) -> Result<(), SessionError> {
        self.panel.check_answers()?;
        self.unseal()?;
        self.panel.take_up(how, now)
    }

    /// The seal is that of a closed record, and this one goes on. It goes first: a record that is longer than its seal
    /// would look changed if this process ended in between.
    pub(super) fn unseal(&mut self) -> Result<(), SessionError> {
        self.meta.status = SessionState::InProgress;
        self.meta.completed_at = None;
        self.meta.events = None;
        Ok(fs::replace_json(&self.layout.meta(), &self.meta)?)
    }

    /// Fails where the session's life has no such move, before anything is written.
    pub(super) fn allows(&self, by: SessionMove) -> Result<SessionState, SessionError> {
        let illegal = |source| SessionError::Move { session: self.id().to_owned(), source };
        session_transition(self.panel.status().state, by).map_err(illegal)
    }

    /// Ends the session: settles the record, publishes status and meta. Every step is tried; the first error is given
    /// back after all of them, else the record's last line.
    ///
    /// One that waits for a decision stays so, whatever is asked for: it is closed as `awaiting_decision`. One that has
    /// ended is left as it is.
    pub fn close(&mut self, state: SessionState, now: Timestamp) -> Result<Record, SessionError> {
        let last =
            |panel: &PanelFolder| panel.last().cloned().ok_or_else(|| SessionError::Missing(panel.layout().events()));
        if !self.panel.status().state.is_active() && self.panel.status().state != SessionState::Interrupted {
            self.finish_close()?;
            return last(&self.panel);
        }
        let state = if waiting(self.panel.records()).is_some() { SessionState::AwaitingDecision } else { state };
        self.allows(SessionMove::Close(state))?;
        let mut errors = Vec::new();
        if state != SessionState::AwaitingDecision {
            // What waits for a decision goes on with the same conversations.
            errors.extend(self.seal_conversations(now));
        }
        let now = self.panel.not_before(now);
        self.meta.status = state;
        self.meta.completed_at = Some(now);
        self.meta.artifacts = self.artifacts();
        let digest = self.meta.digest().map_err(|error| errors.push(SessionError::Io(error))).ok();
        errors.extend(self.panel.close(state, digest, now));
        self.meta.events = self.panel.head().map(|head| EventsSeal { count: self.panel.count(), head });
        errors.extend(fs::replace_json(&self.layout.meta(), &self.meta).err().map(SessionError::Io));
        fault::reach(Point::SessionClosed);
        match errors.into_iter().next() {
            Some(error) => Err(error),
            None => last(&self.panel),
        }
    }

    /// Whether everything that a close writes was written.
    #[must_use]
    pub const fn is_sealed(&self) -> bool {
        !self.panel.status().state.is_active() && self.meta.events.is_some()
    }

    /// Writes what the close of a session lacks whose record says that it was closed.
    pub fn finish_close(&mut self) -> Result<(), SessionError> {
        if self.is_sealed() {
            return Ok(());
        }
        self.panel.write_status()?;
        self.meta.status = self.panel.status().state;
        self.meta.completed_at = self.panel.status().completed_at;
        self.meta.artifacts = self.artifacts();
        self.meta.events = self.panel.head().map(|head| EventsSeal { count: self.panel.count(), head });
        Ok(fs::replace_json(&self.layout.meta(), &self.meta)?)
    }

    fn artifacts(&self) -> BTreeMap<String, Artifact> {
        let mut artifacts = BTreeMap::new();
        let mut one = |name: &str, path: PathBuf| {
            if let (true, Ok(path)) = (path.is_file(), path.strip_prefix(self.layout.root())) {
                artifacts.insert(name.to_owned(), Artifact::One(path.display().to_string()));
            }
        };
        one("input", self.layout.input());
        one("task", self.layout.task());
        one("events", self.layout.events());
        one("manifest", self.layout.manifest());
        one("status", self.layout.status());
        one("verdict", self.layout.verdict_md());
        one("verdict_json", self.layout.verdict_json());
        let completed = self.panel.status().models.iter().filter(|(_, slot)| slot.state == SlotState::Completed);
        let responses: Vec<String> = completed.map(|(slot, _)| Layout::response_name(*slot)).collect();
        artifacts.insert("responses".to_owned(), Artifact::Many(responses));
        let rounds: Vec<String> = self.layout.rounds().into_iter().map(Round::folder).collect();
        if !rounds.is_empty() {
            artifacts.insert("rounds".to_owned(), Artifact::Many(rounds));
        }
        artifacts
    }
}
