//! `llm`: one prompt to a model of any of its plug-ins; it prints the answer itself.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::Call;
use super::habits::{Habits, words};
use crate::config::{AgentKind, Environment, ModelSettings};
use crate::slots::agents::sign_in::{SignIn, any_variable};

pub(super) const HABITS: Habits = Habits {
    // The library that it asks OpenAI by goes by the address.
    reads: &["LLM_*", "OPENAI_BASE_URL"],
    reads_when: &[],
    // A model that was not asked for.
    never: &["LLM_MODEL"],
    defaults: &[],
    retries: None,
    // It is told to log nothing.
    traces: &[],
    databases: None,
    writes_in_home: false,
    runs: None,
};

/// The arguments; prompts and answers are not logged, and reasoning is no part of an answer.
///
/// It opens its database all the same, and seats that find none would make it at the same time, at which all but one
/// fail: each has one of its own, in memory.
pub(super) fn arguments(model: Option<&str>, settings: &ModelSettings, _call: &Call<'_>) -> Vec<OsString> {
    let mut arguments = words(&["prompt", "--no-log", "--database", ":memory:", "--hide-reasoning"]);
    if let Some(model) = model {
        arguments.extend(words(&["--model", model]));
    }
    if let Some(system) = &settings.system {
        arguments.extend(words(&["--system", system]));
    }
    let options = [
        ("temperature", settings.temperature.map(|number| number.to_string())),
        ("top_p", settings.top_p.map(|number| number.to_string())),
        ("seed", settings.seed.map(|number| number.to_string())),
        ("max_tokens", settings.max_tokens.map(|number| number.to_string())),
        ("reasoning_effort", settings.reasoning_effort.clone()),
    ];
    for (name, value) in options {
        if let Some(value) = value {
            arguments.extend(words(&["--option", name, &value]));
        }
    }
    arguments
}

/// Whether it has a key for `model`.
pub(super) fn sign_in(model: Option<&str>, environment: &Environment) -> SignIn {
    if any_variable(environment, AgentKind::Llm.keys_for(model)) {
        SignIn::Found
    } else if AgentKind::Llm.keys_for(model).is_empty() || keys_file(environment).is_some_and(|file| file.is_file()) {
        // A plug-in's own matter, or one of the keys that it stores.
        SignIn::Unknown
    } else {
        SignIn::Missing("run `llm keys set`, or set the variable of that model's key; `--deep` asks it")
    }
}

/// The file of the keys that were set with `llm keys set`.
fn keys_file(environment: &Environment) -> Option<PathBuf> {
    let folder = match environment.get("LLM_USER_PATH") {
        Some(folder) => PathBuf::from(folder),
        None => {
            let home = Path::new(environment.get("HOME")?);
            let folder = match environment.get("XDG_CONFIG_HOME") {
                _ if cfg!(target_os = "macos") => home.join("Library/Application Support"),
                Some(folder) => PathBuf::from(folder),
                None => home.join(".config"),
            };
            folder.join("io.datasette.llm")
        }
    };
    Some(folder.join("keys.json"))
}
