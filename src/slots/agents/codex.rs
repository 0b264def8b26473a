//! Codex: `codex exec`, with its stream of events.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::conversation::{Talk, Transcript};
use super::habits::{DATABASES, Habits, words};
use super::inherited::Variables;
use super::{Call, NestedSandbox, Purpose, traces};
use crate::config::{Environment, ModelSettings};
use crate::slots::agents::sign_in::{SignIn, any_variable, has_file};
use crate::slots::agents::traces::{Folder, Parts, Traces};

/// Its own folder.
const FOLDER: Folder = Folder { variable: "CODEX_HOME", within: "", usual: ".codex" };

/// The part of it that holds transcripts, by date. It finds a conversation there also without its databases (0.171.0).
const TRANSCRIPTS: &str = "sessions";

/// What it makes in its folder, as far as prompts and answers show there.
const CODEX_PARTS: Parts = Parts::Only(&[
    TRANSCRIPTS,
    "archived_sessions",
    "shell_snapshots",
    "log",
    "tmp",
    "memories",
    // The names of conversations that are written to.
    "thread-writer-locks",
]);

/// The variable that moves its databases, whose names carry the version of their schema and so cannot be listed.
///
/// They hold prompts and the folder that it works in, which tells a slot from others. A setting in its configuration
/// wins over the variable, and one on the command line over both.
const DATABASE_FOLDER: &str = "CODEX_SQLITE_HOME";

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
    // See `retries` below.
    retries: None,
    traces: &[Traces { folder: FOLDER, parts: CODEX_PARTS }],
    databases: Some(DATABASE_FOLDER),
    writes_in_home: false,
    runs: None,
};

/// The arguments; the last one makes it read standard input.
pub(super) fn arguments(model: Option<&str>, settings: &ModelSettings, call: &Call<'_>) -> Vec<OsString> {
    let sandbox = match (call.nested_sandbox, call.purpose) {
        // It may write into the folder that it runs in, and into temporary ones.
        (NestedSandbox::Works, Purpose::Fix) => "workspace-write",
        (NestedSandbox::Works, Purpose::Answer | Purpose::Judge) => "read-only",
        (NestedSandbox::Fails, _) => "danger-full-access",
    };
    let json = ["--json", "--skip-git-repo-check"];
    let mut arguments = words(&["exec"]);
    match call.talk {
        Talk::Alone | Talk::Begins => {
            arguments.extend(words(&json));
            arguments.extend(words(&["--sandbox", sandbox, "--color", "never"]));
        }
        Talk::GoesOn(_) => {
            // Of a conversation that goes on it takes neither of the two; this setting is the first one (0.171.0).
            arguments.extend(words(&["resume"]));
            arguments.extend(words(&json));
            arguments.extend(words(&["-c", &format!("sandbox_mode={}", toml_string(sandbox))]));
        }
    }
    if call.talk == Talk::Alone {
        arguments.extend(words(&["--ephemeral"]));
    }
    for setting in [
        // Otherwise it contacts a code host at every start, sends statistics and looks for updates.
        "features.plugins=false",
        "analytics.enabled=false",
        "check_for_update_on_startup=false",
        // Instructions of a repository around the session would give one seat more to go by than the prompt.
        "project_doc_max_bytes=0",
        "web_search=\"disabled\"",
        // A file of all prompts in its folder.
        "history.persistence=\"none\"",
    ] {
        arguments.extend(words(&["-c", setting]));
    }
    if !settings.env.contains_key(DATABASE_FOLDER) {
        let folder = call.private_dir.join(DATABASES);
        arguments.extend(words(&["-c", &format!("sqlite_home={}", toml_string(&folder.to_string_lossy()))]));
    }
    for setting in retries(call) {
        arguments.extend(words(&["-c", &setting]));
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
    if let Talk::GoesOn(id) = call.talk {
        arguments.extend(words(&[id.as_str()]));
    }
    arguments.extend(words(&["-"]));
    arguments
}

/// Where it keeps conversations.
pub(super) fn transcript(variables: &Variables) -> Option<Transcript> {
    traces::transcript(FOLDER, TRANSCRIPTS, variables)
}

/// The retries of the user's own provider, where its configuration leaves them to Codex.
///
/// By default it asks again four times for each of six connections, and after a refusal for too many requests waits as
/// long as the other side says, an hour if need be, in silence. Those of its built-in providers cannot be changed
/// (0.171.0 refuses to start), so they stay as they are. A cut stream is not asked again, like everywhere else here.
fn retries(call: &Call<'_>) -> Vec<String> {
    let Some((name, provider)) = own_provider(call.environment) else { return Vec::new() };
    [("request_max_retries", call.retries), ("stream_max_retries", 0)]
        .into_iter()
        .filter(|(setting, _)| !provider.contains_key(*setting))
        .map(|(setting, value)| format!("model_providers.{name}.{setting}={value}"))
        .collect()
}

/// The provider that the user's configuration defines and chooses.
fn own_provider(environment: &Environment) -> Option<(String, toml::Table)> {
    let folder = match environment.get("CODEX_HOME") {
        Some(folder) => PathBuf::from(folder),
        None => Path::new(environment.get("HOME")?).join(".codex"),
    };
    // A file that cannot be read is for Codex to complain about.
    let mut config: toml::Table = fs_err::read_to_string(folder.join("config.toml")).ok()?.parse().ok()?;
    let name = config.get("model_provider")?.as_str()?.to_owned();
    let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    match config.get_mut("model_providers")?.get_mut(&name)? {
        toml::Value::Table(provider) if is_plain => Some((name, std::mem::take(provider))),
        _ => None,
    }
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
