//! opencode: `opencode run`, with its stream of frames.

use std::ffi::OsString;

use super::Call;
use super::habits::{Habits, words};
use crate::config::{Environment, ModelSettings};
use crate::slots::agents::sign_in::SignIn;

pub(super) const HABITS: Habits = Habits {
    reads: &["OPENCODE_*"],
    reads_when: &[],
    never: &["OPENCODE", "OPENCODE_SERVER*", "OPENCODE_CLIENT", "OPENCODE_PID"],
    defaults: &[("OPENCODE_DISABLE_AUTOUPDATE", "1"), ("OPENCODE_DISABLE_MODELS_FETCH", "1")],
    retries: None,
};

/// The arguments; it reads the prompt from standard input.
pub(super) fn arguments(model: Option<&str>, _settings: &ModelSettings, _call: &Call<'_>) -> Vec<OsString> {
    let mut arguments = words(&["run", "--format", "json"]);
    if let Some(model) = model {
        arguments.extend(words(&[&format!("--model={model}")]));
    }
    arguments
}

/// Whether it is signed in: keys of many vendors may be in its own configuration.
pub(super) fn sign_in(_environment: &Environment) -> SignIn {
    SignIn::Unknown
}
