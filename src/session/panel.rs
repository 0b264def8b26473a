//! The folder of one panel while its owner works on it: a session's own, or a round of votes.
//!
//! Owns `manifest.json`, `events.jsonl` and `status.json` in it. One task holds it; every change goes through
//! [`PanelFolder::record`].

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rand::CryptoRng;

use super::SessionError;
use super::events::{Event, EventLog, History, Parent, Record};
use super::layout::Layout;
use super::manifest::{Cast, Manifest};
use super::meta::{EventsSeal, Phase, SessionKind, SessionState};
use super::status::Status;
use crate::fault::{self, Point};
use crate::fs;
use crate::ids::{FormatVersion, Sha256Hash, SlotId};
use crate::model::ResolvedModel;

/// What a new panel's folder is made from.
#[derive(Debug)]
pub struct NewPanel<'a> {
    /// The kind of session it belongs to.
    pub kind: SessionKind,
    /// The session's id.
    pub session: &'a str,
    /// The prompt of all slots; `None` in a round, where each judge has its own.
    pub input: Option<&'a [u8]>,
    /// The user's own text, where `input` has instructions added to it; its file is the caller's to write.
    pub task: Option<&'a [u8]>,
    /// The models, in the user's order.
    pub models: Vec<ResolvedModel>,
    /// In a round: its number and the head of the session's record.
    pub parent: Option<Parent>,
    /// What keeps slots apart.
    pub isolation: String,
    /// The hash of each template used.
    pub prompts: BTreeMap<String, Sha256Hash>,
    /// In a round: the rules in force, by name.
    pub rules: BTreeMap<String, String>,
    /// What is to be done in it, for whoever resumes it.
    pub plan: Option<serde_json::Value>,
    /// The judges that are to vote on its answers, where they are not the panel itself.
    pub judges: Option<Vec<ResolvedModel>>,
    /// Who takes part in the panels inside of a pipeline session.
    pub cast: Option<Cast>,
}

/// A folder to be filled.
pub(super) struct Contents<'a> {
    pub(super) kind: SessionKind,
    pub(super) session: &'a str,
    pub(super) slots: Vec<SlotId>,
    pub(super) input: Option<&'a [u8]>,
    pub(super) task: Option<&'a [u8]>,
    pub(super) manifest: Manifest,
    /// The file that holds it already, of which this folder gets a copy.
    pub(super) copied: Option<PathBuf>,
    pub(super) parent: Option<Parent>,
    pub(super) isolation: String,
    pub(super) prompts: BTreeMap<String, Sha256Hash>,
    pub(super) rules: BTreeMap<String, String>,
    pub(super) plan: Option<serde_json::Value>,
}

/// An open panel.
#[derive(Debug)]
pub struct PanelFolder {
    layout: Layout,
    manifest: Manifest,
    log: EventLog,
    status: Status,
    /// The record so far.
    records: Vec<Record>,
    /// Events that could not be written yet (a full disk), in order.
    unwritten: VecDeque<(Event, Timestamp)>,
}

impl PanelFolder {
    /// Fills a folder that exists and holds no panel yet.
    pub fn create(
        layout: Layout,
        new: NewPanel<'_>,
        now: Timestamp,
        rng: &mut impl CryptoRng,
    ) -> Result<Self, SessionError> {
        let slots = SlotId::panel(new.models.len()).collect();
        let contents = Contents {
            kind: new.kind,
            session: new.session,
            slots,
            input: new.input,
            task: new.task,
            manifest: Manifest { judges: new.judges, cast: new.cast, ..Manifest::draw(new.models, now, rng) },
            copied: None,
            parent: new.parent,
            isolation: new.isolation,
            prompts: new.prompts,
            rules: new.rules,
            plan: new.plan,
        };
        Self::fill(layout, contents, now)
    }

    pub(super) fn fill(layout: Layout, new: Contents<'_>, now: Timestamp) -> Result<Self, SessionError> {
        if layout.manifest().exists() {
            return Err(SessionError::Exists(layout.root().to_owned()));
        }
        let slots = new.slots;
        fs::ensure_dir(layout.root())?;
        // Where nobody answers nothing is left behind.
        if !slots.is_empty() {
            fs::create_dir_all(&layout.errors())?;
            fs::create_dir_all(&layout.work())?;
        }
        for slot in &slots {
            fs::create_private_dir(&layout.work_of(*slot))?;
        }
        if let Some(input) = new.input {
            fs::replace(&layout.input(), input)?;
            fault::reach(Point::PanelInput);
        }
        let manifest = new.manifest;
        match new.copied {
            Some(from) => fs::replace(&layout.manifest(), &crate::fs::read_plain(from)?)?,
            None => fs::replace_json(&layout.manifest(), &manifest)?,
        }
        fault::reach(Point::PanelManifest);
        let manifest_hash = Sha256Hash::of(&crate::fs::read_plain(layout.manifest())?);
        let phase = new.parent.as_ref().map_or(Phase::Init, Parent::phase);
        let mut log = EventLog::create(&layout.events())?;
        fault::reach(Point::PanelRecord);
        let created = Event::Created {
            version: FormatVersion::CURRENT,
            tool: env!("CARGO_PKG_VERSION").to_owned(),
            kind: new.kind,
            slots: slots.clone(),
            input: new.input.map(Sha256Hash::of),
            task: new.task.map(Sha256Hash::of),
            manifest: manifest_hash,
            parent: new.parent,
            isolation: new.isolation,
            prompts: new.prompts,
            rules: new.rules,
            plan: new.plan.map(Box::new),
        };
        let records = vec![log.append(created, now)?];
        log.sync()?;
        fault::reach(Point::PanelRecorded);
        let status = Status::new(new.session.to_owned(), &slots, phase, now);
        let panel = Self { layout, manifest, log, status, records, unwritten: VecDeque::new() };
        panel.write_status()?;
        fs::sync_dir(panel.layout.root())?;
        fault::reach(Point::PanelFilled);
        Ok(panel)
    }

    /// Ends the panel: closes the record, makes it durable, publishes the status. Every step is tried; gives back what
    /// went wrong. `meta` is the digest of what a session says of itself.
    pub fn close(&mut self, state: SessionState, meta: Option<Sha256Hash>, now: Timestamp) -> Vec<SessionError> {
        let mut errors = Vec::new();
        fault::reach(Point::CloseBegun);
        errors.extend(self.record(Event::Closed { state, meta }, now).err());
        fault::reach(Point::CloseRecorded);
        errors.extend(self.settle().err());
        fault::reach(Point::CloseSettled);
        errors.extend(self.write_status().err());
        fault::reach(Point::CloseStatus);
        errors
    }

    /// Opens a panel whose record exists; the caller holds the session's lock.
    pub fn open(layout: Layout, session: &str) -> Result<Self, SessionError> {
        Self::open_sealed(layout, session, None)
    }

    /// The same where the session may be closed: its record must be no shorter than `seal` says, and hold the sealed line.
    pub(super) fn open_sealed(layout: Layout, session: &str, seal: Option<&EventsSeal>) -> Result<Self, SessionError> {
        let manifest = Manifest::read(&layout.manifest())?;
        let history = History::read(&layout.events())?;
        if let Some(seal) = seal {
            check_seal(&layout.events(), &history, seal)?;
        }
        let status = Status::fold(session.to_owned(), &history.records)?;
        let log = EventLog::resume(&layout.events(), &history)?;
        let mut opened = Self { layout, manifest, log, status, records: history.records, unwritten: VecDeque::new() };
        opened.adopt_child()?;
        Ok(opened)
    }

    /// The record so far.
    #[must_use]
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// Where the files are.
    #[must_use]
    pub const fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Who is who.
    #[must_use]
    pub const fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The present state of everything.
    #[must_use]
    pub const fn status(&self) -> &Status {
        &self.status
    }

    /// The live fields are the runner's to fill; everything else changes by events only.
    pub fn set_live(&mut self, slot: SlotId, live: super::status::Live) {
        if let Some(entry) = self.status.models.get_mut(&slot)
            && entry.state == super::slot::SlotState::Running
        {
            entry.live = Some(live);
        }
    }

    /// The hash of the record's last line.
    #[must_use]
    pub fn head(&self) -> Option<Sha256Hash> {
        self.log.head()
    }

    /// The record's last line, as it is on disk.
    #[must_use]
    pub const fn last(&self) -> Option<&Record> {
        self.log.last()
    }

    /// How many lines the record has.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.log.count()
    }

    /// Takes an event into the status and appends it to the record.
    ///
    /// An event that the disk does not take now is kept and written before the next one, so that the order stays;
    /// [`Self::settle`] says whether everything arrived.
    pub fn record(&mut self, event: Event, now: Timestamp) -> Result<Record, SessionError> {
        debug_assert!(
            self.status.state.is_active()
                || self.status.state == SessionState::Interrupted
                || event.may_follow_an_end(),
            "{event:?} in `{}`, which has ended",
            self.layout.root().display()
        );
        let now = self.not_before(now);
        let preview = Record { seq: self.log.count() + 1, prev: self.log.head(), at: now, event: event.clone() };
        self.status.apply(&preview)?;
        self.unwritten.push_back((event, now));
        let record = match self.flush() {
            Ok(Some(record)) => record,
            Ok(None) | Err(SessionError::Io(_)) => preview,
            Err(error) => return Err(error),
        };
        self.records.push(record.clone());
        Ok(record)
    }

    /// The time that an event of `now` is recorded with: never before the one of the last event, so that a clock that
    /// was set back does not make the status differ from the record that it is folded from.
    #[must_use]
    pub fn not_before(&self, now: Timestamp) -> Timestamp {
        let last = self.unwritten.back().map(|(_, at)| *at).or_else(|| self.log.last().map(|last| last.at));
        last.map_or(now, |last| last.max(now))
    }

    fn flush(&mut self) -> Result<Option<Record>, SessionError> {
        let mut last = None;
        while let Some((event, at)) = self.unwritten.front() {
            last = Some(self.log.append(event.clone(), *at)?);
            self.unwritten.pop_front();
        }
        Ok(last)
    }

    /// Writes what is still unwritten and makes the record durable.
    pub fn settle(&mut self) -> Result<(), SessionError> {
        self.flush()?;
        self.log.sync()?;
        if !is_same_file(&self.layout.events(), self.log.count()) {
            return Err(SessionError::Gone(self.layout.root().to_owned()));
        }
        Ok(())
    }

    /// Publishes `status.json`.
    pub fn write_status(&self) -> Result<(), SessionError> {
        Ok(fs::replace_json(&self.layout.status(), &self.status)?)
    }
}

/// Fails where lines of a record are gone, or others, that were there when it was sealed. More may have come after them.
fn check_seal(path: &Path, history: &History, seal: &EventsSeal) -> Result<(), SessionError> {
    let lines = history.records.len();
    let sealed = usize::try_from(seal.count).unwrap_or(usize::MAX);
    let wrong = |line, why| Err(SessionError::Chain { path: path.to_owned(), line, why });
    if lines < sealed {
        return wrong(lines, format!("it is the last one, and `session-meta.json` seals {sealed} lines"));
    }
    let head = history.records.get(sealed).map_or(Some(history.head), |next| next.prev);
    if head != Some(seal.head) {
        return wrong(sealed, "it is not the line that `session-meta.json` seals".to_owned());
    }
    Ok(())
}

/// Whether the record is still where readers look for it: a folder deleted under a run takes writes in silence.
fn is_same_file(path: &Path, lines: u64) -> bool {
    lines == 0 || path.is_file()
}
