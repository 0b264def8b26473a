//! What the runner is asked to do: the slots of one panel and what they share.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;

use super::limits::Limits;
use super::surroundings::Surroundings;
use super::turn::Continuation;
use super::workspace::Workspace;
use crate::capture::Pattern;
use crate::config::{Environment, Provider, ResolvedModel};
use crate::ids::SlotId;
use crate::isolation::Mechanism;
use crate::secrets::Scrub;
use crate::session::{Layout, Record, SessionState, Status};
use crate::slots::http;

/// One slot to run.
#[derive(Debug, Clone)]
pub struct SlotJob {
    /// Its anonymous id.
    pub id: SlotId,
    /// Who answers.
    pub model: ResolvedModel,
    /// The prompt, a file that stays as it is.
    pub prompt: PathBuf,
    /// What the answer is for.
    pub purpose: Purpose,
    /// The conversation that it is a turn of, if it is of one.
    pub conversation: Option<Continuation>,
}

/// What an answer is for.
#[derive(Debug, Clone, PartialEq)]
pub enum Purpose {
    /// It is the answer to the user's task.
    Answer,
    /// It is a review: whoever can may read files, and a provider that can is held to this schema.
    Review {
        /// The JSON schema.
        schema: Value,
    },
    /// It repairs: a program works on the files of this folder, which is its current one in place of its scratch folder; all
    /// others answer with a patch.
    Fix {
        /// The folder, absolute. What is in it is the caller's.
        folder: PathBuf,
    },
    /// It is a ballot; a provider that can is held to this schema.
    Ballot {
        /// The JSON schema.
        schema: Value,
    },
}

/// What makes text usable, beside not being blank.
#[derive(Debug, Clone, Default)]
pub struct Checks {
    /// The fewest bytes.
    pub min_bytes: Option<u64>,
    /// What the whole answer must match.
    pub pattern: Option<Pattern>,
}

/// What the slots of a panel share.
#[derive(Debug)]
pub struct Shared {
    /// The user's limits.
    pub limits: Limits,
    /// What makes text usable.
    pub checks: Checks,
    /// What keeps processes apart.
    pub mechanism: Mechanism,
    /// What is kept from processes, where there are any.
    pub surroundings: Option<Arc<Surroundings>>,
    /// The snapshot that programs work in, where there is one.
    pub workspace: Option<Arc<Workspace>>,
    /// The session that the panel is of, or is a round of.
    pub session: Layout,
    /// Takes secrets and names out of everything that is written or shown.
    pub scrub: Arc<Scrub>,
    /// The shared HTTP client.
    pub http: Option<Arc<http::Client>>,
    /// The managed local model's endpoint and key, where a slot needs it.
    pub local: Option<(Provider, String)>,
    /// The soft limit of open files that programs get back, where this process raised its own.
    pub descriptor_limit: Option<u64>,
    /// The variables that programs inherit from, by their own lists.
    pub environment: Arc<Environment>,
    /// The program that supervises processes: this one.
    pub supervisor: PathBuf,
}

/// Sees what happens, to show it. Never decides anything.
pub trait Observer: Send {
    /// An event was recorded.
    fn event(&mut self, record: &Record, status: &Status);
    /// Time passed; `status` holds the live fields.
    fn live(&mut self, status: &Status);
    /// What follows happens in this folder: `.` for the session, `judging` for a round of votes.
    fn enter(&mut self, _folder: &str) {}
    /// Something that a person should know at once, and that is no event (a full disk).
    fn trouble(&mut self, _text: &str) {}
    /// The session was closed.
    fn closed(&mut self, _state: SessionState) {}
    /// Gets out of the way of the shell before the process stops (Ctrl-Z).
    fn suspend(&mut self) {}
}

impl<T: Observer + ?Sized> Observer for Box<T> {
    fn event(&mut self, record: &Record, status: &Status) {
        (**self).event(record, status);
    }

    fn live(&mut self, status: &Status) {
        (**self).live(status);
    }

    fn enter(&mut self, folder: &str) {
        (**self).enter(folder);
    }

    fn trouble(&mut self, text: &str) {
        (**self).trouble(text);
    }

    fn closed(&mut self, state: SessionState) {
        (**self).closed(state);
    }

    fn suspend(&mut self) {
        (**self).suspend();
    }
}
