//! The traits. What a method promises holds for every backend; [`super`] has the suite that says so.

use jiff::Timestamp;
use rand::CryptoRng;

use crate::ids::Sha256Hash;
use crate::session::{
    Event, Message, Meta, NewSession, Participant, Phase, Question, Record, SessionError, SessionState, Speaker,
    Status, Waiting,
};

/// The event log: what happened, and the state that it comes to.
pub trait Events {
    /// The record so far, never empty.
    fn records(&self) -> &[Record];

    /// The state that the record comes to.
    fn status(&self) -> &Status;

    /// Appends `event`; gives back the line. Its time is never before the last one's.
    ///
    /// # Errors
    /// The event cannot follow: nothing is appended, and the status stays.
    fn record(&mut self, event: Event, now: Timestamp) -> Result<Record, SessionError>;

    /// Makes the record so far durable.
    fn settle(&mut self) -> Result<(), SessionError>;

    /// The hash of the last line.
    fn head(&self) -> Option<Sha256Hash>;
}

/// The life of a session. Its states and moves are those of [`session_transition`](crate::session::session_transition).
pub trait LifeCycle {
    /// The session's id.
    fn id(&self) -> &str;

    /// How it stands.
    fn state(&self) -> SessionState;

    /// Ends it, and gives how it stands then. Conversations are sealed, unless it waits for a decision: then it is
    /// closed as `awaiting_decision`, whatever was asked for. One that has ended is left as it is.
    fn close(&mut self, state: SessionState, now: Timestamp) -> Result<SessionState, SessionError>;

    /// Goes on with one that had ended, to judge its answers.
    fn reopen(&mut self, now: Timestamp) -> Result<(), SessionError>;

    /// Goes on with one whose owner died or that ended early: what ran is lost, what is left can be started.
    fn resume(&mut self, now: Timestamp) -> Result<(), SessionError>;
}

/// What a session says of itself.
pub trait Metadata {
    /// As it stands. Models are named in it, and the record is sealed, when others may know.
    fn meta(&self) -> &Meta;

    /// Notes a finished phase, once; it is written with the close.
    fn finish_phase(&mut self, phase: Phase);

    /// Names the models, which only a published verdict may do; written with the close.
    fn name_models(&mut self);
}

/// Role conversations. Each is one participant's; no other role, seat or session reads it.
pub trait Messages {
    /// What was said so far in the open conversation with `of`; nothing where none is open.
    ///
    /// # Errors
    /// The session has ended: its conversations are sealed.
    fn messages(&self, of: Participant) -> Result<Vec<Message>, SessionError>;

    /// Adds to the conversation with `of`, which the first message opens. Durable when this returns.
    ///
    /// # Errors
    /// The session does not go on.
    fn say(&mut self, of: Participant, from: Speaker, text: &str, now: Timestamp) -> Result<(), SessionError>;

    /// Ends the open conversation with `of`, so that the next message opens another. Without one, nothing happens.
    ///
    /// # Errors
    /// The session does not go on.
    fn end_conversation(&mut self, of: Participant, now: Timestamp) -> Result<(), SessionError>;
}

/// Waiting decisions. What is waited for survives the process, and is consumed by the decision.
pub trait Checkpoints {
    /// The decision that is waited for.
    fn waiting(&self) -> Option<Waiting>;

    /// Begins to wait; gives the decision's number. Durable when this returns.
    ///
    /// # Errors
    /// It waits already, or does not go on.
    fn await_decision(&mut self, question: Question, now: Timestamp) -> Result<u32, SessionError>;

    /// Decides, and goes on where the session had ended for it; gives back what was waited for, with its checkpoint.
    ///
    /// # Errors
    /// Nothing is waited for, or `choice` is none of the choices: everything stays.
    fn decide(&mut self, choice: &str, note: Option<&str>, now: Timestamp) -> Result<Waiting, SessionError>;
}

/// Numbers of a session.
pub trait Statistics {
    /// Folded from the record as it stands.
    fn statistics(&self) -> crate::session::Statistics;
}

impl<E: Events + ?Sized> Statistics for E {
    fn statistics(&self) -> crate::session::Statistics {
        crate::session::Statistics::of(self.records())
    }
}

/// The catalogue: the sessions of one place. Looking writes nothing.
pub trait Sessions {
    /// A session in the hands of its owner; dropped, it is free again, as when its owner died.
    type Owned: LifeCycle + Events + Metadata + Messages + Checkpoints;

    /// Makes a session; of `new` the folder is not used.
    fn create(
        &self,
        new: NewSession<'_>,
        now: Timestamp,
        rng: &mut impl CryptoRng,
    ) -> Result<Self::Owned, SessionError>;

    /// Takes the session of this id, to act on it.
    ///
    /// # Errors
    /// There is none, or a living owner has it.
    fn open(&self, id: &str) -> Result<Self::Owned, SessionError>;

    /// What every session says of itself, oldest first; of equal times by id.
    fn list(&self) -> Result<Vec<Meta>, SessionError>;

    /// The id that `reference` names: an id, an unambiguous start of one, or `latest`.
    fn find(&self, reference: &str) -> Result<String, SessionError>;
}
