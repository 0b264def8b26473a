//! Sessions in memory, for unit tests of what uses the traits. They behave as folders do; nothing is on disk.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use rand::CryptoRng;

use super::traits::{Checkpoints, Events, LifeCycle, Messages, Metadata, Sessions};
use crate::ids::{FormatVersion, Sha256Hash, SlotId, slug};
use crate::session::catalogue::{choose, in_order};
use crate::session::conversation::next_conversation;
use crate::session::decision::{awaited, decided};
use crate::session::slot::{Reason, SlotState};
use crate::session::{
    Event, EventsSeal, Manifest, Message, Meta, NewSession, Participant, Phase, Question, Record, SessionError,
    SessionMove, SessionState, SlotEnd, SlotError, Speaker, Status, Waiting, Why, open_conversation,
    open_conversations, session_transition, waiting,
};

/// The sessions of one place; clones are the same place.
#[derive(Debug, Clone, Default)]
pub(crate) struct MemorySessions {
    kept: Arc<Mutex<BTreeMap<String, Kept>>>,
}

/// What outlives the owner of a session.
#[derive(Debug, Clone)]
struct Kept {
    meta: Meta,
    manifest: Manifest,
    records: Vec<Record>,
    conversations: BTreeMap<String, Vec<Message>>,
    is_owned: bool,
}

/// A session in memory in the hands of its owner.
#[derive(Debug)]
pub(crate) struct MemorySession {
    place: MemorySessions,
    kept: Kept,
    status: Status,
}

impl MemorySessions {
    fn kept(&self) -> MutexGuard<'_, BTreeMap<String, Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Everything that is kept, to compare.
    pub(crate) fn contents(&self) -> String {
        format!("{:?}", self.kept())
    }

    fn not_found(reference: &str) -> SessionError {
        SessionError::NotFound { reference: reference.to_owned(), base: PathBuf::from("memory") }
    }
}

impl Sessions for MemorySessions {
    type Owned = MemorySession;

    fn create(
        &self,
        new: NewSession<'_>,
        now: Timestamp,
        rng: &mut impl CryptoRng,
    ) -> Result<MemorySession, SessionError> {
        let mut draw = || format!("{}-{}-{:04x}", new.kind.as_str(), slug(new.title), rng.next_u32() as u16);
        let mut id = draw();
        while self.kept().contains_key(&id) {
            id = draw();
        }
        let slots: Vec<SlotId> = SlotId::panel(new.models.len()).collect();
        let manifest = Manifest { judges: new.judges, ..Manifest::draw(new.models, now, rng) };
        let created = Event::Created {
            version: FormatVersion::CURRENT,
            tool: env!("CARGO_PKG_VERSION").to_owned(),
            kind: new.kind,
            slots: slots.clone(),
            input: Some(Sha256Hash::of(new.input)),
            task: new.task.map(Sha256Hash::of),
            manifest: Sha256Hash::of(&serde_json::to_vec(&manifest).map_err(std::io::Error::other)?),
            parent: None,
            isolation: new.isolation,
            prompts: new.prompts,
            rules: BTreeMap::new(),
            plan: new.plan.map(Box::new),
        };
        let meta = Meta::begun(id.clone(), new.kind, new.title, now);
        let status = Status::new(id, &slots, Phase::Init, now);
        let kept = Kept { meta, manifest, records: Vec::new(), conversations: BTreeMap::new(), is_owned: true };
        let mut session = MemorySession { place: self.clone(), kept, status };
        session.record(created, now)?;
        Ok(session)
    }

    fn open(&self, id: &str) -> Result<MemorySession, SessionError> {
        let mut all = self.kept();
        let kept = all.get_mut(id).ok_or_else(|| Self::not_found(id))?;
        if kept.is_owned {
            return Err(SessionError::Owned { session: id.to_owned(), owner: "this process".to_owned() });
        }
        kept.is_owned = true;
        let status = Status::fold(id.to_owned(), &kept.records)?;
        Ok(MemorySession { place: self.clone(), kept: kept.clone(), status })
    }

    fn list(&self) -> Result<Vec<Meta>, SessionError> {
        let mut all: Vec<Meta> = self.kept().values().map(|kept| kept.meta.clone()).collect();
        all.sort_by(in_order);
        Ok(all)
    }

    fn find(&self, reference: &str) -> Result<String, SessionError> {
        if reference == "latest" {
            return self.list()?.pop().map(|meta| meta.session_id).ok_or_else(|| Self::not_found(reference));
        }
        let names: Vec<String> = self.kept().keys().cloned().collect();
        let at = choose(&names, reference)?.ok_or_else(|| Self::not_found(reference))?;
        Ok(names[at].clone())
    }
}

impl Drop for MemorySession {
    fn drop(&mut self) {
        self.kept.is_owned = false;
        self.keep();
    }
}

impl MemorySession {
    fn keep(&self) {
        self.place.kept().insert(self.kept.meta.session_id.clone(), self.kept.clone());
    }

    fn allows(&self, by: SessionMove) -> Result<(), SessionError> {
        let illegal = |source| SessionError::Move { session: self.id().to_owned(), source };
        session_transition(self.status.state, by).map(drop).map_err(illegal)
    }

    fn must_go_on(&self) -> Result<(), SessionError> {
        let state = self.status.state;
        if state.is_active() { Ok(()) } else { Err(SessionError::Ended { session: self.id().to_owned(), state }) }
    }

    fn seal(&mut self, file: String, now: Timestamp) -> Result<(), SessionError> {
        let messages = &self.kept.conversations[&file];
        let (lines, head) = (messages.len() as u64 + 1, hash_of(messages)?);
        self.record(Event::ConversationSealed { file, lines, head }, now).map(drop)
    }

    fn unseal(&mut self) {
        self.kept.meta.status = SessionState::InProgress;
        self.kept.meta.completed_at = None;
        self.kept.meta.events = None;
    }

    fn reopened(&mut self, why: Why, slots: Vec<SlotId>, now: Timestamp) -> Result<(), SessionError> {
        self.unseal();
        let (drift, accepted) = (Vec::new(), BTreeMap::new());
        let event = Event::Reopened { why, slots, failed: false, drift, accepted, isolation: None };
        self.record(event, now).map(drop)
    }
}

fn hash_of(value: &impl serde::Serialize) -> Result<Sha256Hash, SessionError> {
    Ok(Sha256Hash::of(&serde_json::to_vec(value).map_err(std::io::Error::other)?))
}

impl Events for MemorySession {
    fn records(&self) -> &[Record] {
        &self.kept.records
    }

    fn status(&self) -> &Status {
        &self.status
    }

    fn record(&mut self, event: Event, now: Timestamp) -> Result<Record, SessionError> {
        let at = self.kept.records.last().map_or(now, |last| last.at.max(now));
        let record = Record { seq: self.kept.records.len() as u64 + 1, prev: self.head(), at, event };
        self.status.apply(&record)?;
        self.kept.records.push(record.clone());
        self.keep();
        Ok(record)
    }

    fn settle(&mut self) -> Result<(), SessionError> {
        Ok(())
    }

    fn head(&self) -> Option<Sha256Hash> {
        hash_of(self.kept.records.last()?).ok()
    }
}

impl LifeCycle for MemorySession {
    fn id(&self) -> &str {
        &self.kept.meta.session_id
    }

    fn state(&self) -> SessionState {
        self.status.state
    }

    fn close(&mut self, state: SessionState, now: Timestamp) -> Result<SessionState, SessionError> {
        if !self.status.state.is_active() && self.status.state != SessionState::Interrupted {
            return Ok(self.status.state);
        }
        let state = if self.waiting().is_some() { SessionState::AwaitingDecision } else { state };
        self.allows(SessionMove::Close(state))?;
        if state != SessionState::AwaitingDecision {
            for file in open_conversations(&self.kept.records).into_keys() {
                self.seal(file, now)?;
            }
        }
        self.kept.meta.status = state;
        let last = self.kept.records.last().map_or(now, |last| last.at);
        self.kept.meta.completed_at = Some(now.max(last));
        let meta = Some(self.kept.meta.digest()?);
        self.record(Event::Closed { state, meta }, now)?;
        let count = self.kept.records.len() as u64;
        self.kept.meta.events = self.head().map(|head| EventsSeal { count, head });
        self.keep();
        Ok(state)
    }

    fn reopen(&mut self, now: Timestamp) -> Result<(), SessionError> {
        self.allows(SessionMove::Reopen(Why::Judge))?;
        self.reopened(Why::Judge, Vec::new(), now)
    }

    fn resume(&mut self, now: Timestamp) -> Result<(), SessionError> {
        let left = self.status.left(false);
        if self.status.state.is_active() {
            self.record(Event::Interrupted, now)?;
        }
        let running = self.status.models.iter().filter(|(_, entry)| entry.state == SlotState::Running);
        let running: Vec<(SlotId, u32)> = running.map(|(slot, entry)| (*slot, entry.attempts)).collect();
        for (slot, attempt) in running {
            let end = SlotEnd::without_answer(attempt, SlotError::new(Reason::OwnerDied, "its owner is gone"));
            self.record(Event::SlotEnded { slot, end: Box::new(end) }, now)?;
        }
        self.reopened(Why::Resume, left, now)
    }
}

impl Metadata for MemorySession {
    fn meta(&self) -> &Meta {
        &self.kept.meta
    }

    fn finish_phase(&mut self, phase: Phase) {
        self.kept.meta.finish(phase);
    }

    fn name_models(&mut self) {
        let manifest = &self.kept.manifest;
        let names = manifest.shuffle_order.iter().filter_map(|slot| manifest.member(*slot));
        self.kept.meta.models_used = Some(names.map(|member| member.model.clone()).collect());
    }
}

impl Messages for MemorySession {
    fn messages(&self, of: Participant) -> Result<Vec<Message>, SessionError> {
        let state = self.status.state;
        if !state.is_active() && state != SessionState::AwaitingDecision {
            return Err(SessionError::Ended { session: self.id().to_owned(), state });
        }
        let file = open_conversation(&self.kept.records, of);
        Ok(file.map(|file| self.kept.conversations[&file].clone()).unwrap_or_default())
    }

    fn say(&mut self, of: Participant, from: Speaker, text: &str, now: Timestamp) -> Result<(), SessionError> {
        self.must_go_on()?;
        let file = match open_conversation(&self.kept.records, of) {
            Some(file) => file,
            None => {
                let file = next_conversation(&self.kept.records, of);
                self.kept.conversations.insert(file.clone(), Vec::new());
                let opened = Event::ConversationOpened { role: of.role, seat: of.seat, file: file.clone() };
                self.record(opened, now)?;
                file
            }
        };
        let said = self.kept.conversations.entry(file).or_default();
        let at = said.last().map_or(now, |last| last.at.max(now));
        said.push(Message { at, from, text: text.to_owned(), turn: None });
        self.keep();
        Ok(())
    }

    fn end_conversation(&mut self, of: Participant, now: Timestamp) -> Result<(), SessionError> {
        self.must_go_on()?;
        match open_conversation(&self.kept.records, of) {
            Some(file) => self.seal(file, now),
            None => Ok(()),
        }
    }
}

impl Checkpoints for MemorySession {
    fn waiting(&self) -> Option<Waiting> {
        waiting(&self.kept.records)
    }

    fn await_decision(&mut self, question: Question, now: Timestamp) -> Result<u32, SessionError> {
        self.must_go_on()?;
        let event = awaited(self.id(), &self.kept.records, question)?;
        self.record(event, now)?;
        Ok(self.waiting().map_or(0, |waiting| waiting.decision))
    }

    fn decide(&mut self, choice: &str, note: Option<&str>, now: Timestamp) -> Result<Waiting, SessionError> {
        let (event, decided) = decided(self.id(), &self.kept.records, choice, note)?;
        if !self.status.state.is_active() {
            self.allows(SessionMove::Reopen(Why::Decision))?;
            self.unseal();
        }
        self.record(event, now)?;
        Ok(decided)
    }
}
