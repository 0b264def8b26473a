//! A slot's turn of a conversation: whether it can be gone on with, and what came of it.

use std::fmt;
use std::path::{Path, PathBuf};

use super::drive::Driven;
use crate::ids::Sha256Hash;
use crate::model::{ModelIdentity, ResolvedModel, Target};
use crate::session::Kept;
use crate::session::slot::{HAS_NO_CONVERSATIONS, Reason, Spent, TurnMode, TypedError};
use crate::slots::agents::{ConversationId, Files, Talk, keeps_conversations};
use crate::slots::http::Exchange;

/// The conversation that a slot's turn belongs to. The slot's own prompt is what is asked where it begins one.
#[derive(Clone)]
pub struct Continuation {
    /// What was said before.
    pub before: Before,
    /// Where what the next turn needs is kept, once this one has completed.
    pub keeps: PathBuf,
    /// The nonce of the manifest that it is sealed by.
    pub nonce: String,
}

/// What was said before a turn.
#[derive(Debug, Clone)]
pub enum Before {
    /// Nothing.
    Nothing,
    /// Something that cannot be gone on with, for this reason.
    Lost(String),
    /// This.
    Said(Box<Said>),
}

/// A conversation so far, and what is asked in it now.
#[derive(Debug, Clone)]
pub struct Said {
    /// What is asked of somebody who knows what was said before.
    pub prompt: PathBuf,
    /// What the last turn left.
    pub kept: Kept,
    /// What was said, for a model that is told all of it again.
    pub exchanges: Vec<Exchange>,
}

impl fmt::Debug for Continuation {
    /// Without the nonce.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Continuation").field("before", &self.before).field("keeps", &self.keeps).finish_non_exhaustive()
    }
}

/// What is asked in one go, and in which conversation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) prompt: &'a Path,
    pub(super) talk: Talk<'a>,
    /// What was said before, where it goes on.
    pub(super) said: Option<&'a Said>,
}

/// How a turn was taken, before it is known whether it completed.
#[derive(Debug)]
pub(super) struct Taken {
    pub(super) mode: TurnMode,
    pub(super) why: Option<String>,
    /// The program's own name of the conversation, and its transcript; else why it cannot be gone on with, if that is known.
    left: Result<(Option<String>, Files), Option<String>>,
    reported: Spent,
}

impl Taken {
    /// As `driven` leaves it, whose transcript it takes.
    pub(super) fn new(mode: TurnMode, why: Option<String>, model: &ResolvedModel, driven: &mut Driven) -> Self {
        let id = id_of(model, driven).map(|id| id.to_string());
        let is_program = matches!(model.target, Target::Process { .. });
        let left = match driven.transcript.take() {
            _ if mode == TurnMode::Replaced => Err(why.clone()),
            Some(Ok(files)) if files.is_empty() => Err(Some("the program left no transcript of it".to_owned())),
            Some(Ok(files)) => Ok((id, files)),
            Some(Err(error)) => Err(Some(format!("its transcript could not be kept: {error}"))),
            None if is_program => Err(None),
            None => Ok((None, Files::new())),
        };
        Self { mode, why, left, reported: driven.end.reported }
    }

    /// What the next turn needs after this one ended with `answer`.
    pub(super) fn keep(&mut self, identity: ModelIdentity, answer: Sha256Hash) -> Kept {
        let (mode, why, reported) = (self.mode, self.why.clone(), self.reported);
        let (id, files, lost) = match std::mem::replace(&mut self.left, Err(None)) {
            Ok((id, files)) => (id, files, None),
            Err(lost) => (None, Files::new(), lost),
        };
        Kept { identity, answer, mode, why, id, lost, reported, files }
    }
}

/// What can be done with what was said before.
pub(super) enum Way<'a> {
    Begin,
    Anew(String),
    GoOn(&'a Said, Option<ConversationId>),
}

impl Continuation {
    /// Whether `model` can go on with it. A conversation is its own model's and nobody else's.
    pub(super) fn way(&self, model: &ResolvedModel) -> Way<'_> {
        let said = match &self.before {
            Before::Nothing => return Way::Begin,
            Before::Lost(why) => return Way::Anew(why.clone()),
            Before::Said(said) => said,
        };
        let anew = |why: &str| Way::Anew(why.to_owned());
        if said.kept.identity != model.identity {
            return anew("the conversation is another model's");
        }
        match &model.target {
            Target::Http { .. } | Target::Local { .. } => Way::GoOn(said, None),
            Target::Replay { .. } => anew("a recording goes on with no conversation"),
            Target::Process { .. } if !keeps_conversations(&model.target) => anew(HAS_NO_CONVERSATIONS),
            Target::Process { agent, .. } => match &said.kept.id {
                None => {
                    let lost = said.kept.lost.as_deref();
                    anew(lost.unwrap_or("the program did not say which conversation it was"))
                }
                Some(id) => match ConversationId::parse(*agent, id) {
                    Some(id) => Way::GoOn(said, Some(id)),
                    None => anew("the name of the conversation is no whole id"),
                },
            },
        }
    }
}

/// Why a turn that was to go on with a conversation can be taken in a new one: nothing of an answer came, nobody stopped
/// it, and it was the conversation that it failed on.
pub(super) fn not_gone_on_with(
    id: Option<&ConversationId>,
    driven: &Driven,
    model: &ResolvedModel,
    answered: u64,
) -> Option<String> {
    let ours = driven.stopped.is_some()
        || driven.spawn_error.is_some()
        || driven.io_error.is_some()
        || driven.workspace_changed.is_some();
    if ours || answered > 0 {
        return None;
    }
    let error = driven.end.error.as_ref();
    if error.is_some_and(|error| error.reason == Reason::ContextTooLong) {
        return Some("the conversation has outgrown the model".to_owned());
    }
    // A model that is told everything again knows of no conversation that it could fail to find.
    let id = id.filter(|_| matches!(model.target, Target::Process { .. }) && !driven.end.taken_up)?;
    let words = match (error, driven.exit_code) {
        (Some(TypedError { detail, .. }), _) if !detail.is_empty() => detail.clone(),
        (_, Some(code)) => format!("exit code {code}"),
        (_, None) => "it ended without a word".to_owned(),
    };
    // By their form, ids say whose they are.
    let words = words.replace(id.as_str(), "[conversation]");
    Some(format!("the conversation was not taken up again: {words}"))
}

/// How a turn was taken that was to go on with the conversation `id`.
pub(super) fn confirmed(id: Option<&ConversationId>, driven: &Driven) -> (TurnMode, Option<String>) {
    let Some(id) = id else { return (TurnMode::Continued, None) };
    let replaced = |why: &str| (TurnMode::Replaced, Some(why.to_owned()));
    match driven.end.conversation.as_deref() {
        Some(told) if told == id.as_str() && driven.end.taken_up => (TurnMode::Continued, None),
        Some(told) if told == id.as_str() => replaced("the program did not confirm the conversation"),
        Some(_) => replaced("the program answered in another conversation than it was asked to go on with"),
        None => replaced("the program did not say in which conversation it answered"),
    }
}

/// The id of the conversation that `driven` was held in, by which it can be found again.
pub(super) fn id_of(model: &ResolvedModel, driven: &Driven) -> Option<ConversationId> {
    let Target::Process { agent, .. } = &model.target else { return None };
    ConversationId::parse(*agent, driven.end.conversation.as_deref()?)
}
