//! claudish: Claude Code in front of another provider's model, with the frames of Claude Code.

use std::ffi::OsString;

use super::habits::{Habits, words};
use super::{Call, claude};
use crate::config::{Environment, ModelSettings};
use crate::slots::agents::sign_in::SignIn;

pub(super) const HABITS: Habits = Habits {
    reads: &["CLAUDISH_*", "CLAUDE_CONFIG_DIR"],
    reads_when: &[],
    never: &[],
    defaults: &[],
    retries: None,
    traces: claude::CLAUDE_TRACES,
    writes_in_home: true,
};

/// The arguments. Of the two words about how much it says the later one wins.
pub(super) fn arguments(model: Option<&str>, _settings: &ModelSettings, _call: &Call<'_>) -> Vec<OsString> {
    let mut arguments = Vec::new();
    if let Some(model) = model {
        arguments.extend(words(&["--model", model]));
    }
    arguments.extend(words(&["-y", "--stdin", "--verbose", "--quiet", "--output-format", "stream-json"]));
    arguments
}

/// Whether it is signed in: it has keys of many vendors.
pub(super) fn sign_in(_environment: &Environment) -> SignIn {
    SignIn::Unknown
}
