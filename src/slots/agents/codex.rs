//! Codex: `codex exec`, with its stream of events.

use std::ffi::OsString;

use super::habits::{Habits, words};
use super::{Call, NestedSandbox};
use crate::config::{Environment, ModelSettings};
use crate::slots::agents::sign_in::{SignIn, any_variable, has_file};
use crate::slots::agents::traces::{Folder, Parts, Traces};

/// What it makes in its folder, as far as prompts and answers show there.
const CODEX_PARTS: Parts = Parts::Only(&["sessions", "archived_sessions", "shell_snapshots", "log", "tmp", "memories"]);

pub(super) const HABITS: Habits = Habits {
    reads: &["CODEX_*", "OPENAI_*", "RUST_LOG"],
    reads_when: &[],
    never: &[
        "CODEX_SANDBOX*",
        "CODEX_THREAD_*",
        "CODEX_SESSION_*",
        "CODEX_INTERNAL_*",
        "CODEX_MANAGED_*",
        "CODEX_CI",
        "CODEX_PERMISSION_*",
        "CODEX_SHELL_*",
    ],
    defaults: &[],
    // Its own defaults (four, five for a stream) are bounded, and arguments would override the user's configuration.
    retries: None,
    traces: &[Traces { folder: Folder { variable: "CODEX_HOME", within: "", usual: ".codex" }, parts: CODEX_PARTS }],
    writes_in_home: false,
};

/// The arguments; the last one makes it read standard input.
pub(super) fn arguments(model: Option<&str>, settings: &ModelSettings, call: &Call<'_>) -> Vec<OsString> {
    let sandbox = match call.nested_sandbox {
        NestedSandbox::Works => "read-only",
        NestedSandbox::Fails => "danger-full-access",
    };
    let mut arguments = words(&["exec", "--json", "--skip-git-repo-check", "--sandbox", sandbox, "--color", "never"]);
    arguments.extend(words(&["--ephemeral"]));
    for setting in [
        // Otherwise it contacts a code host at every start, sends statistics and looks for updates.
        "features.plugins=false",
        "analytics.enabled=false",
        "check_for_update_on_startup=false",
        // Instructions of a repository around the session would give one seat more to go by than the prompt.
        "project_doc_max_bytes=0",
        "web_search=\"disabled\"",
    ] {
        arguments.extend(words(&["-c", setting]));
    }
    if let Some(effort) = &settings.reasoning_effort {
        arguments.extend(words(&["-c", &format!("model_reasoning_effort={}", toml_string(effort))]));
    }
    if let Some(system) = &settings.system {
        arguments.extend(words(&["-c", &format!("developer_instructions={}", toml_string(system))]));
    }
    if let Some(model) = model {
        arguments.extend(words(&[&format!("--model={model}")]));
    }
    arguments.extend(words(&["-"]));
    arguments
}

fn toml_string(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// Whether it is signed in.
pub(super) fn sign_in(environment: &Environment) -> SignIn {
    let has = |file| has_file(environment, "CODEX_HOME", ".codex", file);
    if any_variable(environment, &["OPENAI_API_KEY", "CODEX_API_KEY"]) || has("auth.json") {
        SignIn::Found
    } else if has("config.toml") {
        // Its configuration may name another provider, with or without a key.
        SignIn::Unknown
    } else {
        SignIn::Missing("run `codex login`, or set CODEX_API_KEY; `--deep` asks it")
    }
}
