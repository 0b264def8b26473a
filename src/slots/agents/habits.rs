//! What is particular to a program: what it reads, must not see and is told, and its arguments.

use std::ffi::OsString;
use std::path::Path;

use super::conversation::{Talk, Transcript};
use super::inherited::Variables;
use super::private::Prepared;
use super::traces::Traces;
use super::{Call, PlanError, claude, claudish, codex, gemini, llm, opencode};
use crate::config::{AgentKind, ModelSettings};

/// Linux takes 128 KiB for one argument, its final NUL included.
pub(super) const LONGEST_ARGUMENT: usize = 128 * 1024 - 1024;

/// Where databases of conversations are in a call's private folder.
pub(super) const DATABASES: &str = "databases";

/// What one program reads besides, what it must not see, and what it is told.
pub(super) struct Habits {
    /// Names, or beginnings of names before a `*`.
    pub(super) reads: &'static [&'static str],
    /// Read only when the first variable is set.
    pub(super) reads_when: &'static [(&'static str, &'static [&'static str])],
    /// Variables of a session that `team` itself may run in: the program would take itself for a part of it.
    pub(super) never: &'static [&'static str],
    /// Set unless the user sets them: no statistics, no updates, nothing but the models asked for.
    pub(super) defaults: &'static [(&'static str, &'static str)],
    /// How the number of retries is told; the user's own value wins.
    pub(super) retries: Option<&'static str>,
    /// Where it leaves what shows prompts and answers, beside the temporary folders that every program gets for itself.
    pub(super) traces: &'static [Traces],
    /// The variable that names the folder of its databases of conversations: each call gets one of its own.
    pub(super) databases: Option<&'static str>,
    /// Whether it makes files directly in HOME.
    pub(super) writes_in_home: bool,
    /// The program that it runs in its turn, whose habits hold too but for what that one reads.
    pub(super) runs: Option<&'static Habits>,
}

/// A command of the user's: nothing but what its `env` declares.
const UNKNOWN: Habits = Habits {
    reads: &[],
    reads_when: &[],
    never: &[],
    defaults: &[],
    retries: None,
    traces: &[],
    databases: None,
    writes_in_home: false,
    runs: None,
};

/// Which known program a command runs: one behind the user's own arguments is known too.
pub fn known_program(agent: AgentKind, program: &str) -> AgentKind {
    let behind = Path::new(program).file_name().and_then(|name| name.to_str()).map(AgentKind::of_program);
    if agent == AgentKind::Custom { behind.unwrap_or(agent) } else { agent }
}

pub(super) fn habits_of(agent: AgentKind, program: &str) -> &'static Habits {
    match known_program(agent, program) {
        AgentKind::Claude => &claude::HABITS,
        AgentKind::Codex => &codex::HABITS,
        AgentKind::Gemini => &gemini::HABITS,
        AgentKind::Opencode => &opencode::HABITS,
        AgentKind::Claudish => &claudish::HABITS,
        AgentKind::Llm => &llm::HABITS,
        AgentKind::Custom => &UNKNOWN,
    }
}

/// The arguments of `agent`; `own` are those of a command of the user's.
pub(super) fn arguments(
    agent: AgentKind,
    own: &[String],
    model: Option<&str>,
    settings: &ModelSettings,
    call: &Call<'_>,
) -> Vec<OsString> {
    match agent {
        AgentKind::Claude => claude::arguments(model, settings, call),
        AgentKind::Codex => codex::arguments(model, settings, call),
        AgentKind::Gemini => gemini::arguments(model, settings, call),
        AgentKind::Opencode => opencode::arguments(model, settings, call),
        AgentKind::Claudish => claudish::arguments(model, settings, call),
        AgentKind::Llm => llm::arguments(model, settings, call),
        AgentKind::Custom => custom(own, call),
    }
}

/// What a call of `agent` needs besides; `variables` are all that it gets, and may be added to.
pub(super) fn prepare(
    agent: AgentKind,
    model: Option<&str>,
    settings: &ModelSettings,
    call: &Call<'_>,
    variables: &mut Variables,
) -> Result<Prepared, PlanError> {
    match agent {
        AgentKind::Gemini => gemini::prepare(settings, call, variables),
        AgentKind::Opencode => opencode::prepare(model, settings, call, variables),
        AgentKind::Claude | AgentKind::Codex | AgentKind::Claudish | AgentKind::Llm | AgentKind::Custom => {
            Ok(Prepared::default())
        }
    }
}

/// The arguments of what `agent` must have run before the call.
pub(super) fn first(agent: AgentKind, call: &Call<'_>) -> Option<Vec<OsString>> {
    match agent {
        AgentKind::Opencode => opencode::first(call),
        AgentKind::Claude
        | AgentKind::Codex
        | AgentKind::Gemini
        | AgentKind::Claudish
        | AgentKind::Llm
        | AgentKind::Custom => None,
    }
}

/// Where `agent` keeps the conversation that the call is of.
pub(super) fn transcript(agent: AgentKind, call: &Call<'_>, variables: &Variables) -> Option<Transcript> {
    if call.talk == Talk::Alone {
        return None;
    }
    match agent {
        AgentKind::Claude => claude::transcript(variables),
        AgentKind::Codex => codex::transcript(variables),
        AgentKind::Gemini => Some(gemini::transcript(call)),
        AgentKind::Opencode => opencode::transcript(call, variables),
        AgentKind::Claudish | AgentKind::Llm | AgentKind::Custom => None,
    }
}

/// The user's own arguments, with the path of the prompt filled in.
fn custom(arguments: &[String], call: &Call<'_>) -> Vec<OsString> {
    arguments
        .iter()
        .map(|argument| match argument.split_once("{prompt_file}") {
            Some((before, after)) => {
                let mut filled = OsString::from(before);
                filled.push(call.prompt_file);
                filled.push(after);
                filled
            }
            None => argument.into(),
        })
        .collect()
}

pub(super) fn words(words: &[&str]) -> Vec<OsString> {
    words.iter().map(Into::into).collect()
}
