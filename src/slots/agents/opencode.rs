//! opencode: `opencode run`, with its stream of frames.

use std::ffi::OsString;

use super::Call;
use super::habits::{Habits, words};
use crate::config::{Environment, ModelSettings};
use crate::slots::agents::sign_in::SignIn;
use crate::slots::agents::traces::{Folder, Parts, Traces};

pub(super) const HABITS: Habits = Habits {
    reads: &["OPENCODE_*"],
    reads_when: &[],
    never: &["OPENCODE", "OPENCODE_SERVER*", "OPENCODE_CLIENT", "OPENCODE_PID"],
    defaults: &[("OPENCODE_DISABLE_AUTOUPDATE", "1"), ("OPENCODE_DISABLE_MODELS_FETCH", "1")],
    retries: None,
    // Its database of conversations lies beside its sign-ins.
    traces: &[Traces {
        folder: Folder { variable: "XDG_DATA_HOME", within: "opencode", usual: ".local/share/opencode" },
        parts: Parts::AllBut(&["auth.json", "mcp-auth.json", "bin"]),
    }],
    writes_in_home: false,
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
