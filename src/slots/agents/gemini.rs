//! Gemini CLI, with its stream of frames.

use std::ffi::OsString;

use super::Call;
use super::habits::{Habits, words};
use crate::config::{Environment, ModelSettings};
use crate::slots::agents::sign_in::{SignIn, any_variable, has_file};
use crate::slots::agents::traces::{Folder, Parts, Traces};

pub(super) const HABITS: Habits = Habits {
    reads: &["GEMINI_*", "GOOGLE_*", "CLOUD_ML_REGION"],
    reads_when: &[],
    never: &["GEMINI_CLI", "GEMINI_CLI_IDE_*", "GEMINI_CLI_SESSION_*"],
    defaults: &[
        ("GEMINI_CLI_NO_RELAUNCH", "true"),
        ("GEMINI_TELEMETRY_ENABLED", "false"),
        ("GEMINI_CLI_TRUST_WORKSPACE", "true"),
    ],
    retries: None,
    traces: &[Traces {
        folder: Folder { variable: "GEMINI_CLI_HOME", within: ".gemini", usual: ".gemini" },
        parts: Parts::Only(&["tmp", "history"]),
    }],
    writes_in_home: false,
};

/// The arguments; without a terminal it reads the prompt from standard input, and its shell needs a consent that
/// nobody gives.
pub(super) fn arguments(model: Option<&str>, _settings: &ModelSettings, _call: &Call<'_>) -> Vec<OsString> {
    let mut arguments = words(&["--output-format", "stream-json"]);
    if let Some(model) = model {
        arguments.extend(words(&[&format!("--model={model}")]));
    }
    arguments
}

/// Whether it is signed in.
pub(super) fn sign_in(environment: &Environment) -> SignIn {
    if any_variable(environment, &["GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI"])
        || has_file(environment, "GEMINI_CLI_HOME", ".gemini", "oauth_creds.json")
    {
        SignIn::Found
    } else {
        SignIn::Missing("run `gemini` once, or set GEMINI_API_KEY; `--deep` asks it")
    }
}
