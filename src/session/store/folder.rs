//! The folder as a backend: the traits on what it does anyway.

use jiff::Timestamp;
use rand::CryptoRng;

use super::traits::{Checkpoints, Events, LifeCycle, Messages, Metadata, Sessions};
use crate::ids::Sha256Hash;
use crate::session::{
    Catalogue, Drift, Ended, Event, Message, Meta, NewSession, PanelFolder, Participant, Phase, Question, Record,
    Session, SessionError, SessionState, Speaker, Status, TakeUp, Waiting, Why,
};

impl Events for PanelFolder {
    fn records(&self) -> &[Record] {
        self.records()
    }

    fn status(&self) -> &Status {
        self.status()
    }

    fn record(&mut self, event: Event, now: Timestamp) -> Result<Record, SessionError> {
        self.record(event, now)
    }

    fn settle(&mut self) -> Result<(), SessionError> {
        self.settle()
    }

    fn head(&self) -> Option<Sha256Hash> {
        self.head()
    }
}

impl Events for Session {
    fn records(&self) -> &[Record] {
        self.panel().records()
    }

    fn status(&self) -> &Status {
        self.panel().status()
    }

    fn record(&mut self, event: Event, now: Timestamp) -> Result<Record, SessionError> {
        self.panel_mut().record(event, now)
    }

    fn settle(&mut self) -> Result<(), SessionError> {
        self.panel_mut().settle()
    }

    fn head(&self) -> Option<Sha256Hash> {
        self.panel().head()
    }
}

impl LifeCycle for Session {
    fn id(&self) -> &str {
        self.id()
    }

    fn state(&self) -> SessionState {
        self.panel().status().state
    }

    fn close(&mut self, state: SessionState, now: Timestamp) -> Result<SessionState, SessionError> {
        self.close(state, now)?;
        Ok(LifeCycle::state(self))
    }

    fn reopen(&mut self, now: Timestamp) -> Result<(), SessionError> {
        self.reopen(Why::Judge, now)
    }

    fn resume(&mut self, now: Timestamp) -> Result<(), SessionError> {
        let how = TakeUp { failed: false, drift: &Drift::NONE, isolation: None, ended: Ended::GoesOn };
        self.take_up(how, now)
    }
}

impl Metadata for Session {
    fn meta(&self) -> &Meta {
        self.meta()
    }

    fn finish_phase(&mut self, phase: Phase) {
        self.finish_phase(phase);
    }

    fn name_models(&mut self) {
        self.name_models();
    }
}

impl Messages for Session {
    fn messages(&self, of: Participant) -> Result<Vec<Message>, SessionError> {
        self.messages(of)
    }

    fn say(&mut self, of: Participant, from: Speaker, text: &str, now: Timestamp) -> Result<(), SessionError> {
        self.say(of, from, text, now)
    }

    fn end_conversation(&mut self, of: Participant, now: Timestamp) -> Result<(), SessionError> {
        self.end_conversation(of, now)
    }
}

impl Checkpoints for Session {
    fn waiting(&self) -> Option<Waiting> {
        self.waiting()
    }

    fn await_decision(&mut self, question: Question, now: Timestamp) -> Result<u32, SessionError> {
        self.await_decision(question, now)
    }

    fn decide(&mut self, choice: &str, note: Option<&str>, now: Timestamp) -> Result<Waiting, SessionError> {
        self.decide(choice, note, now)
    }
}

impl Sessions for Catalogue {
    type Owned = Session;

    fn create(&self, new: NewSession<'_>, now: Timestamp, rng: &mut impl CryptoRng) -> Result<Session, SessionError> {
        Session::create(NewSession { base: self.base(), ..new }, now, rng)
    }

    fn open(&self, id: &str) -> Result<Session, SessionError> {
        Session::open(self.exactly(id)?)
    }

    fn list(&self) -> Result<Vec<Meta>, SessionError> {
        Ok(self.list()?.into_iter().map(|(_, meta)| meta).collect())
    }

    fn find(&self, reference: &str) -> Result<String, SessionError> {
        Ok(Meta::read(&self.find(reference)?.meta())?.session_id)
    }
}
