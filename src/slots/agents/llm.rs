//! `llm`: one prompt to a model of any of its plug-ins; it prints the answer itself.

use std::ffi::OsString;

use super::Call;
use super::habits::{Habits, words};
use crate::config::{Environment, ModelSettings};
use crate::slots::agents::sign_in::SignIn;

pub(super) const HABITS: Habits = Habits {
    reads: &["LLM_*"],
    reads_when: &[],
    never: &[],
    defaults: &[],
    retries: None,
    // It is told to log nothing.
    traces: &[],
    writes_in_home: false,
};

/// The arguments; prompts and answers are not logged in its database.
pub(super) fn arguments(model: Option<&str>, settings: &ModelSettings, _call: &Call<'_>) -> Vec<OsString> {
    let mut arguments = words(&["prompt", "--no-log"]);
    if let Some(model) = model {
        arguments.extend(words(&["--model", model]));
    }
    if let Some(system) = &settings.system {
        arguments.extend(words(&["--system", system]));
    }
    arguments
}

/// Whether it is signed in: its plug-ins have keys of their own.
pub(super) fn sign_in(_environment: &Environment) -> SignIn {
    SignIn::Unknown
}
