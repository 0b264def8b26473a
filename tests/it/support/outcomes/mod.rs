//! The tables of outcomes: what a program's run in one situation amounts to.
//!
//! One table for each program, used twice: against recordings (`tests/it/recordings.rs`) and against the program itself
//! in front of the scripted provider (`tests/installed/outcomes.rs`). A row's situation is a scenario of
//! `tests/support/scripted_provider.py` and the name of its recording,
//! `fixtures/streams/PROGRAM/SITUATION.FORMAT.stdout` (and `.stderr`, where the program wrote something there).

mod claude;
mod claudish;
mod codex;
mod gemini;
mod llm;
mod opencode;

use serde_json::Value;

pub(crate) use claude::CLAUDE;
pub(crate) use claudish::CLAUDISH;
pub(crate) use codex::CODEX;
pub(crate) use gemini::GEMINI;
pub(crate) use llm::LLM;
pub(crate) use opencode::OPENCODE;

use super::Session;

/// What the scripted provider says.
pub(crate) const PLAIN: &str = "Hello from the fake provider: the answer is 42.";

/// How a slot ends.
#[derive(Debug, Clone, Copy)]
pub(crate) enum End {
    /// COMPLETED, and these pieces stand in the answer in this order.
    Answer(&'static [&'static str]),
    /// This state and reason, and these pieces stand in the error's detail.
    Reason(&'static str, &'static str, &'static [&'static str]),
}

/// One situation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    /// The provider's scenario.
    pub(crate) situation: &'static str,
    /// The exit code of the recorded run.
    pub(crate) exit: i32,
    /// What becomes of the slot.
    pub(crate) end: End,
}

/// A program in every situation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Table {
    /// The program, and the folder of its recordings.
    pub(crate) program: &'static str,
    /// The format in the names of its recordings.
    pub(crate) format: &'static str,
    /// The same, as `output` of a model.
    pub(crate) output: &'static str,
    /// The situations.
    pub(crate) rows: &'static [Row],
    /// Situations that no provider brings about: there is only a recording of them.
    pub(crate) recorded: &'static [Row],
}

/// The slot of `model` ended like this, and its files and record agree about it.
#[track_caller]
pub(crate) fn check_end(session: &Session, model: &str, end: End) {
    let id = session.id_of(model);
    let slot = session.slot(&id);
    let answer = format!("response-{id}.md");
    match end {
        End::Answer(pieces) => {
            assert_eq!(slot["state"], "COMPLETED", "{model}: {slot}");
            assert_eq!(slot["error"], Value::Null, "{model}");
            let text = session.text(&answer);
            assert_eq!(slot["outputSize"], text.len(), "{model}");
            assert_in_order(model, &text, pieces);
        }
        End::Reason(state, reason, pieces) => {
            assert_eq!((&slot["state"], &slot["error"]["reason"]), (&state.into(), &reason.into()), "{model}: {slot}");
            assert!(!session.has(&answer), "{model}: a slot that failed has no answer");
            assert!(session.has(&format!("errors/{id}.log")), "{model}");
            assert!(slot["error"]["nextStep"].as_str().is_some_and(|step| !step.is_empty()), "{model}: {slot}");
            assert_in_order(model, slot["error"]["detail"].as_str().unwrap_or_default(), pieces);
        }
    }
}

#[track_caller]
fn assert_in_order(model: &str, text: &str, pieces: &[&str]) {
    let mut rest = text;
    for piece in pieces {
        let at = rest.find(piece).unwrap_or_else(|| panic!("{model}: no `{piece}` in `{text}`"));
        rest = &rest[at + piece.len()..];
    }
}
