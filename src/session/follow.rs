//! Following a record that another process writes. Reads only.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read};

use fs_err as fs;

use super::events::Record;
use super::layout::Layout;
use super::slot::SlotState;
use super::status::Status;
use super::{Phase, SessionError};

/// One panel's record and status, as far as they have come.
#[derive(Debug)]
pub struct Follower {
    layout: Layout,
    file: Option<fs::File>,
    /// What was read and is no whole line yet.
    rest: Vec<u8>,
    /// Events that were read and not asked for yet.
    unread: VecDeque<Record>,
    /// How many lines were read.
    lines: u64,
    status: Status,
}

impl Follower {
    /// Follows the panel in `layout`, of the session with this id, from the beginning of its record.
    #[must_use]
    pub fn new(layout: Layout, session: String) -> Self {
        Self {
            layout,
            file: None,
            rest: Vec::new(),
            unread: VecDeque::new(),
            lines: 0,
            status: Status::new(session, &[], Phase::Init, jiff::Timestamp::UNIX_EPOCH),
        }
    }

    /// Takes in what was written since the last look. A record that does not exist yet has nothing new.
    ///
    /// # Errors
    /// The file cannot be read, or a whole line of it is no event.
    pub fn look(&mut self) -> Result<(), SessionError> {
        if self.file.is_none() {
            self.file = match fs::File::open(self.layout.events()) {
                Ok(file) => Some(file),
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
                Err(error) => return Err(error.into()),
            };
        }
        if let Some(file) = &mut self.file {
            file.read_to_end(&mut self.rest)?;
        }
        let whole = self.rest.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        for line in self.rest[..whole].split_inclusive(|byte| *byte == b'\n') {
            self.lines += 1;
            let number = usize::try_from(self.lines).unwrap_or(usize::MAX);
            let chain = |why: String| SessionError::Chain { path: self.layout.events(), line: number, why };
            let record: Record = serde_json::from_slice(line).map_err(|error| chain(error.to_string()))?;
            if record.seq != self.lines {
                return Err(chain(format!("`seq` is {}, expected {}", record.seq, self.lines)));
            }
            self.unread.push_back(record);
        }
        self.rest.drain(..whole);
        Ok(())
    }

    /// The next event that was looked at; [`Self::status`] then has it.
    ///
    /// # Errors
    /// The event cannot follow those before it.
    pub fn next_event(&mut self) -> Result<Option<Record>, SessionError> {
        let Some(record) = self.unread.pop_front() else { return Ok(None) };
        if record.seq == 1 {
            self.status = Status::fold(self.status.session.clone(), std::slice::from_ref(&record))?;
        } else {
            self.status.apply(&record)?;
        }
        Ok(Some(record))
    }

    /// The state after the events so far, without live fields.
    #[must_use]
    pub const fn status(&self) -> &Status {
        &self.status
    }

    /// The same with what the owner last published about the slots that run.
    #[must_use]
    pub fn live_status(&self) -> Status {
        let mut status = self.status.clone();
        if status.count(SlotState::Running) == 0 {
            return status;
        }
        // Published now and then only; what cannot be read now is there the next time.
        let Ok(published) = Status::read(&self.layout.status()) else { return status };
        for (slot, entry) in &mut status.models {
            if let Some(other) = published.models.get(slot)
                && entry.state == SlotState::Running
                && entry.attempts == other.attempts
            {
                entry.live.clone_from(&other.live);
            }
        }
        status
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::io::Write;

    use jiff::Timestamp;

    use super::super::testing::model;
    use super::super::{Event, Live, NewSession, Session, SessionKind};
    use super::*;

    fn session(base: &std::path::Path) -> Session {
        let new = NewSession {
            base,
            kind: SessionKind::Team,
            title: "x",
            input: b"x",
            task: None,
            models: vec![model("a"), model("b")],
            isolation: "none".to_owned(),
            prompts: BTreeMap::new(),
            plan: None,
            judges: None,
            pipeline: None,
        };
        Session::create(new, Timestamp::from_second(7).unwrap(), &mut rand::rng()).unwrap()
    }

    fn names(follower: &mut Follower) -> Vec<String> {
        follower.look().unwrap();
        let mut names = Vec::new();
        while let Some(record) = follower.next_event().unwrap() {
            names.push(serde_json::to_value(&record.event).unwrap()["event"].as_str().unwrap().to_owned());
        }
        names
    }

    #[test]
    fn events_come_once_each_in_order_and_make_the_status() {
        let dir = tempfile::tempdir().unwrap();
        let mut session = session(dir.path());
        let slot = *session.panel().status().models.keys().next().unwrap();
        let mut follower = Follower::new(session.layout().clone(), session.id().to_owned());
        assert_eq!(names(&mut follower), ["created"]);
        assert_eq!(names(&mut follower), [""; 0]);
        assert_eq!(follower.status().started_at, Timestamp::from_second(7).unwrap());
        session.panel_mut().record(Event::SlotStarted { slot, attempt: 1 }, Timestamp::now()).unwrap();
        session.panel_mut().set_live(slot, Live { activity: "answering".to_owned(), live_bytes: 3, idle_seconds: 0 });
        session.panel().write_status().unwrap();
        assert_eq!(names(&mut follower), ["slot_started"]);
        assert_eq!(follower.status().models[&slot].live, None);
        assert_eq!(&follower.live_status(), session.panel().status());
    }

    #[test]
    fn a_line_counts_when_it_is_whole_and_a_broken_one_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let session = session(dir.path());
        let mut follower = Follower::new(session.layout().clone(), session.id().to_owned());
        let mut file = fs::OpenOptions::new().append(true).open(session.layout().events()).unwrap();
        let head = session.panel().head().unwrap();
        let line =
            format!("{{\"seq\":2,\"prev\":\"{head}\",\"at\":\"2026-01-01T00:00:00Z\",\"event\":\"revealed\"}}\n");
        let (start, end) = line.split_at(30);
        file.write_all(start.as_bytes()).unwrap();
        assert_eq!(names(&mut follower), ["created"]);
        file.write_all(end.as_bytes()).unwrap();
        assert_eq!(names(&mut follower), ["revealed"]);
        file.write_all(b"{}\n").unwrap();
        let error = follower.look().unwrap_err();
        assert!(matches!(error, SessionError::Chain { line: 3, .. }), "{error}");
    }

    #[test]
    fn a_record_that_does_not_exist_yet_has_nothing_new() {
        let dir = tempfile::tempdir().unwrap();
        let mut follower = Follower::new(Layout::new(dir.path()), "s".to_owned());
        assert_eq!(names(&mut follower), [""; 0]);
    }
}
