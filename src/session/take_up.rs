//! Going on with a panel whose owner died or ended it before everything was done: what was finished is recognised by its
//! file and hash, what ran is lost, what is left is opened for a new attempt.

use std::collections::BTreeMap;

use fs_err as files;
use jiff::Timestamp;

use super::SessionError;
use super::child::Child;
use super::events::Event;
use super::layout::Turn;
use super::life::Why;
use super::panel::PanelFolder;
use super::recorded::isolation;
use super::slot::{Reason, SlotEnd, SlotError, SlotState};
use crate::error::NotPlain;
use crate::fault::{self, Point};
use crate::fs;
use crate::ids::{Sha256Hash, SlotId};

/// What is not as it was when a session began.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Drift {
    /// Each difference, in words.
    pub differences: Vec<String>,
    /// The files that differ: path relative to the session's folder, and the hash that it has now.
    pub files: BTreeMap<String, Sha256Hash>,
}

impl Drift {
    /// Nothing differs.
    pub const NONE: Self = Self { differences: Vec::new(), files: BTreeMap::new() };
}

/// How to go on.
#[derive(Debug, Clone, Copy)]
pub struct TakeUp<'a> {
    /// Whether slots that ended with an error of their own are asked again.
    pub failed: bool,
    /// What is not as it was when the session began, and was accepted.
    pub drift: &'a Drift,
    /// What keeps slots apart now; `None` where nobody is asked.
    pub isolation: Option<&'a str>,
    /// What happens to a panel that had completed and in which nobody is left to ask.
    pub ended: Ended,
}

/// What happens to a panel that had completed and in which nobody is left to ask. One that was stopped always goes on:
/// what comes after its slots is not done.
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
                SlotState::Running => {
                    let path = self.layout().response(*slot);
                    if path.symlink_metadata().is_ok_and(|found| !found.is_file()) {
                        return Err(std::io::Error::other(NotPlain(path)).into());
                    }
                }
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
        self.check_children()
    }

    /// The slots that would be asked if the panel were taken up now.
    #[must_use]
    pub fn left(&self, failed: bool) -> Vec<SlotId> {
        // Judges of a round that were asked once more were complete then: nobody comes in from behind.
        let of_round = matches!(
            self.records().first().map(|first| &first.event),
            Some(Event::Created { parent: Some(parent), .. }) if !parent.is_inner()
        );
        if of_round && self.records().iter().any(|record| matches!(record.event, Event::TurnOpened { .. })) {
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
        let slots = self.left(how.failed);
        self.take_up_slots(slots, how, now)
    }

    /// The same where nobody is asked any more, however their slots ended.
    pub(super) fn take_up_settled(&mut self, how: TakeUp<'_>, now: Timestamp) -> Result<(), SessionError> {
        self.take_up_slots(Vec::new(), how, now)
    }

    fn take_up_slots(&mut self, slots: Vec<SlotId>, how: TakeUp<'_>, now: Timestamp) -> Result<(), SessionError> {
        self.check_answers()?;
        let interrupted = self.status().state.is_active();
        if interrupted {
            self.record(Event::Interrupted, now)?;
            fault::reach(Point::InterruptRecorded);
        }
        self.end_lost(now)?;
        let unfinished = interrupted || self.status().state != super::SessionState::Completed;
        if unfinished || !slots.is_empty() || how.ended == Ended::GoesOn {
            let failed = how.failed && !slots.is_empty();
            let Drift { differences: drift, files: accepted } = how.drift.clone();
            let isolation = how.isolation.filter(|now| isolation(self.records()) != Some(now)).map(str::to_owned);
            self.record(Event::Reopened { why: Why::Resume, slots, failed, drift, accepted, isolation }, now)?;
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
        match crate::fs::read_plain(&answer) {
            Ok(bytes) => return Ok(SlotEnd::with_answer(attempt, bytes.len() as u64, Sha256Hash::of(&bytes))),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(error.into()),
        }
        let part = self.layout().response_part(slot);
        let detail = "the process that ran this slot died before the answer was complete";
        let mut end = SlotEnd::without_answer(attempt, SlotError::new(Reason::OwnerDied, detail));
        if part.symlink_metadata().is_ok_and(|part| part.is_file() && part.len() > 0) {
            let partial = self.layout().partial(slot);
            fs::ensure_dir(&self.layout().errors())?;
            fs::publish(&part, &partial)?;
            let name = partial.strip_prefix(self.layout().root()).unwrap_or(&partial).display().to_string();
            end.kept.insert(name, Sha256Hash::of(&crate::fs::read_plain(&partial)?));
        }
        Ok(end)
    }

    /// Removes what was only half written when the owner died.
    fn remove_leftovers(&self) -> Result<(), SessionError> {
        fs::remove_dir_all(&self.layout().workspace_part())?;
        if !self.records().iter().any(|record| matches!(record.event, Event::WorkspaceTaken { .. })) {
            // Named and not recorded: nobody has worked in it, and another is taken.
            fs::remove_dir_all(&self.layout().workspace())?;
        }
        // The folder of a round or a turn is made right before its opening is recorded.
        let rounds = self.layout().rounds().into_iter().map(|round| (Child::Round(round), self.layout().round(round)));
        let turns = Turn::ALL.into_iter().map(|turn| (Child::Turn(turn), self.layout().turn(turn)));
        for (child, layout) in rounds.chain(turns) {
            if !self.records().iter().any(|record| child.is_opened_by(&record.event)) {
                // One with something in it is not ours to judge here: `verify` tells it.
                fs::remove_empty_dir(layout.root()).ok();
            }
        }
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

#[cfg(test)]
mod tests {
    use super::super::testing::model;
    use super::super::{NewSession, Session, SessionKind};
    use super::*;

    /// A session of three: the first slot ran when its owner died, the second has failed, the third had not begun.
    fn cut_off(base: &std::path::Path) -> Session {
        let new = NewSession {
            base,
            kind: SessionKind::Team,
            title: "x",
            input: b"x",
            task: None,
            models: vec![model("a"), model("b"), model("c")],
            isolation: "none".to_owned(),
            prompts: BTreeMap::new(),
            plan: None,
            judges: None,
            pipeline: None,
        };
        let now = Timestamp::now();
        let mut session = Session::create(new, now, &mut rand::rng()).unwrap();
        let [first, second, _] = slots(&session);
        let panel = session.panel_mut();
        for slot in [first, second] {
            panel.record(Event::SlotStarted { slot, attempt: 1 }, now).unwrap();
        }
        let end = SlotEnd::without_answer(1, SlotError::new(Reason::Auth, "no key"));
        panel.record(Event::SlotEnded { slot: second, end: Box::new(end) }, now).unwrap();
        session
    }

    fn slots(session: &Session) -> [SlotId; 3] {
        let slots: Vec<SlotId> = session.panel().status().models.keys().copied().collect();
        slots.try_into().unwrap()
    }

    fn take_up(session: &mut Session, failed: bool) {
        session
            .take_up(TakeUp { failed, drift: &Drift::NONE, isolation: None, ended: Ended::GoesOn }, Timestamp::now())
            .unwrap();
    }

    #[test]
    fn an_answer_with_its_name_is_complete_and_is_not_left() {
        let dir = tempfile::tempdir().unwrap();
        let mut session = cut_off(dir.path());
        let [first, _, third] = slots(&session);
        fs::replace(&session.layout().response(first), b"all of it").unwrap();
        assert_eq!(session.panel().left(false), [third]);
        take_up(&mut session, false);
        let entry = &session.panel().status().models[&first];
        assert_eq!((entry.state, entry.sha256), (SlotState::Completed, Some(Sha256Hash::of(b"all of it"))));
    }

    #[test]
    fn an_answer_without_its_name_is_kept_as_partial_text_and_asked_for_again() {
        let dir = tempfile::tempdir().unwrap();
        let mut session = cut_off(dir.path());
        let [first, second, third] = slots(&session);
        let layout = session.layout().clone();
        fs::replace(&layout.response_part(first), b"half of").unwrap();
        fs::replace(&layout.root().join(".tmp-left"), b"x").unwrap();
        fs::create_dir_all(&layout.workspace_part().join("deep")).unwrap();
        take_up(&mut session, false);
        assert_eq!(fs_err::read_to_string(layout.partial(first)).unwrap(), "half of");
        let kept = session.panel().records().iter().find_map(|record| match &record.event {
            Event::SlotEnded { end, .. } if end.state == SlotState::Lost => Some(end.kept.clone()),
            _ => None,
        });
        let hash = Sha256Hash::of(b"half of");
        assert_eq!(kept, Some(BTreeMap::from([(format!("errors/{first}.partial.md"), hash)])));
        assert!(!layout.response_part(first).exists() && !layout.root().join(".tmp-left").exists());
        assert!(!layout.workspace_part().exists());
        let state = |slot| session.panel().status().models[&slot].state;
        assert_eq!([first, second, third].map(state), [SlotState::Pending, SlotState::Failed, SlotState::Pending]);
        assert_eq!(session.panel().status().models[&first].attempts, 1);
    }

    #[test]
    fn what_failed_is_left_only_on_request_and_what_is_reopened_can_start() {
        let dir = tempfile::tempdir().unwrap();
        let mut session = cut_off(dir.path());
        let [first, second, third] = slots(&session);
        assert_eq!(session.panel().left(true), [first, second, third]);
        take_up(&mut session, true);
        let now = Timestamp::now();
        session.panel_mut().record(Event::SlotStarted { slot: second, attempt: 2 }, now).unwrap();
        let end = SlotEnd::without_answer(2, SlotError::new(Reason::Auth, "no key"));
        session.panel_mut().record(Event::SlotEnded { slot: second, end: Box::new(end) }, now).unwrap();
        let again = session.panel_mut().record(Event::SlotStarted { slot: second, attempt: 3 }, now);
        assert!(matches!(again, Err(SessionError::Transition { .. })), "not without being reopened");
    }
}
