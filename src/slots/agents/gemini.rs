//! Gemini CLI, with its stream of frames.
//!
//! What it takes from files only is given to it in a home of its own: the user's settings with ours, and links to the
//! rest of the user's folder. Its transcripts stay in that home and go with it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::conversation::{Talk, Transcript, TranscriptFiles};
use super::habits::{Habits, words};
use super::inherited::Variables;
use super::private::{Prepared, PrivateFile, private_temporary_files};
use super::{Call, PlanError, Purpose, jsonc};
use crate::config::{Environment, ModelSettings};
use crate::slots::agents::sign_in::{SignIn, any_variable, has_file};

pub(super) const HABITS: Habits = Habits {
    reads: &["GEMINI_*", "GOOGLE_*", "CLOUD_ML_REGION"],
    reads_when: &[],
    never: &["GEMINI_CLI", "GEMINI_CLI_IDE_*", "GEMINI_CLI_SESSION_*"],
    defaults: &[
        ("GEMINI_CLI_NO_RELAUNCH", "true"),
        ("GEMINI_TELEMETRY_ENABLED", "false"),
        // Without a person it refuses to start in a folder that is not trusted; this one is empty.
        ("GEMINI_CLI_TRUST_WORKSPACE", "true"),
    ],
    // A setting in a file: see `settings`.
    retries: None,
    // They stay in its own home.
    traces: &[],
    databases: None,
    writes_in_home: false,
    runs: None,
};

/// Tools that read files and nothing else.
const READS: &str = r#"toolName = ["glob", "grep_search", "list_directory", "read_file"]"#;

/// Tools that repair files, and see whether that helped.
const REPAIRS: &str = concat!(
    r#"toolName = ["glob", "grep_search", "list_directory", "read_file", "replace", "write_file", "#,
    r#""run_shell_command"]"#
);

/// The file of rules about tools, in the private folder.
const POLICY: &str = "policy.toml";

/// The variable that moves its home, in which `.gemini` is.
const HOME: &str = "GEMINI_CLI_HOME";

/// The most attempts that its setting takes.
const MOST_ATTEMPTS: u32 = 10;

/// What it keeps of other runs in its folder, beside the settings, which are read and not linked.
const NOT_LINKED: [&str; 4] = ["settings.json", "tmp", "history", "projects.json"];

/// The name under which its home knows the folder that it works in, and by which it finds the folder of transcripts. Left
/// to itself it takes the last part of the folder's path, which another round would not share.
const PROJECT: &str = "team";

/// The arguments; without a terminal it reads the prompt from standard input.
pub(super) fn arguments(model: Option<&str>, _settings: &ModelSettings, call: &Call<'_>) -> Vec<OsString> {
    let mut arguments = words(&["--output-format", "stream-json", "--approval-mode", "default"]);
    // Extensions bring tools, instructions and servers.
    arguments.extend(words(&["--extensions", "none"]));
    // Above any rule of the user's: an "always allow" of theirs was not meant for this.
    arguments.extend(words(&["--admin-policy"]));
    arguments.push(call.private_dir.join(POLICY).into());
    if let Some(model) = model {
        arguments.extend(words(&[&format!("--model={model}")]));
    }
    if let Talk::GoesOn(id) = call.talk {
        arguments.extend(words(&["--resume", id.as_str()]));
    }
    arguments
}

/// Where it keeps conversations. All that is there belongs to the one: the home is the call's own.
pub(super) fn transcript(call: &Call<'_>) -> Transcript {
    let folder = call.private_dir.join("home/.gemini/tmp").join(PROJECT).join("chats");
    Transcript { folder, in_home: None, files: TranscriptFiles::All }
}

/// Names the folder that it works in.
fn project(folder: &Path, call: &Call<'_>, files: &mut Vec<PrivateFile>) {
    let work = call.work_dir.to_string_lossy();
    let projects = json!({ "projects": { work.as_ref(): PROJECT } });
    files.push(PrivateFile::Text(folder.join("projects.json"), projects.to_string()));
    let own = folder.join("tmp").join(PROJECT);
    files.push(PrivateFile::Text(own.join(".project_root"), work.into_owned()));
    files.push(PrivateFile::Folder(own.join("chats")));
}

/// The rules about tools: of two that fit the one with the higher priority counts, and a tool that is denied whatever it
/// is asked for is not offered to the model at all.
fn policy(purpose: Purpose) -> String {
    let nothing = "[[rule]]\ntoolName = \"*\"\ndecision = \"deny\"\npriority = 100\n";
    match purpose {
        Purpose::Answer => format!("{nothing}\n[[rule]]\n{READS}\ndecision = \"allow\"\npriority = 200\n"),
        Purpose::Fix => format!("{nothing}\n[[rule]]\n{REPAIRS}\ndecision = \"allow\"\npriority = 200\n"),
        Purpose::Judge => nothing.to_owned(),
    }
}

/// The home of one call.
pub(super) fn prepare(
    settings: &ModelSettings,
    call: &Call<'_>,
    variables: &mut Variables,
) -> Result<Prepared, PlanError> {
    let mut files = vec![PrivateFile::Text(POLICY.into(), policy(call.purpose))];
    let home = Path::new("home");
    let folder = home.join(".gemini");
    let users = [HOME, "HOME"].into_iter().find_map(|name| variables.get(std::ffi::OsStr::new(name)));
    let users = users.filter(|home| !home.is_empty()).map(PathBuf::from);
    let mut own = Value::Null;
    if let Some(users) = &users {
        let path = users.join(".gemini/settings.json");
        own = own_settings(&path)?;
        files.extend(links(&users.join(".gemini"), &folder, |name| !NOT_LINKED.contains(&name)));
        files.extend(links(users, home, |name| name == ".env"));
    }
    let left_to_it = own.pointer("/general/maxAttempts").is_some_and(|attempts| !attempts.is_null());
    if let Some(system) = &settings.system {
        memory(&own, users.as_deref(), &folder, system, &mut files);
    }
    if call.talk != Talk::Alone {
        project(&folder, call, &mut files);
    }
    let text = format!("{:#}\n", merged_settings(own, call.retries));
    files.push(PrivateFile::Text(folder.join("settings.json"), text));
    variables.insert(HOME.into(), call.private_dir.join(home).into());
    private_temporary_files(call, variables, &mut files);
    Ok(Prepared { files, retries: (!left_to_it).then_some(call.retries), secrets: Vec::new() })
}

/// The user's settings; `null` where there are none.
fn own_settings(path: &Path) -> Result<Value, PlanError> {
    let wrong = |reason: String| PlanError::Settings { path: path.to_owned(), reason };
    match fs_err::read_to_string(path) {
        Ok(text) => match jsonc::parse(&text) {
            Ok(value @ Value::Object(_)) => Ok(value),
            Ok(_) => Err(wrong("it is no JSON object".to_owned())),
            Err(error) => Err(wrong(error.to_string())),
        },
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Value::Null),
        Err(error) => Err(wrong(error.to_string())),
    }
}

/// The user's settings on top of ours, except for what would give one seat more to go by than the prompt.
fn merged_settings(own: Value, retries: u32) -> Value {
    let mut settings = json!({
        "general": {
            // Ten by default: over a minute and a half of silence.
            "maxAttempts": retries.saturating_add(1).min(MOST_ATTEMPTS),
            "enableAutoUpdate": false,
            "enableAutoUpdateNotification": false,
        },
        "privacy": { "usageStatisticsEnabled": false },
    });
    if own.is_object() {
        jsonc::merge(&mut settings, own);
    }
    // No instructions from the folders around the session.
    jsonc::merge(&mut settings, json!({ "context": { "memoryBoundaryMarkers": [] }, "mcpServers": null }));
    if let Some(settings) = settings.as_object_mut() {
        settings.remove("mcpServers");
    }
    settings
}

/// Links to what `from` holds and `wanted` picks, in `to`.
fn links(from: &Path, to: &Path, wanted: impl Fn(&str) -> bool) -> Vec<PrivateFile> {
    let entries = fs_err::read_dir(from).into_iter().flatten().flatten();
    let mut names: Vec<OsString> = entries.map(|entry| entry.file_name()).collect();
    names.retain(|name| name.to_str().is_some_and(&wanted));
    names.sort();
    names.iter().map(|name| PrivateFile::Link(to.join(name), from.join(name))).collect()
}

/// Adds `system` to the user's own standing instructions, a file whose name is a setting.
fn memory(own: &Value, users: Option<&Path>, folder: &Path, system: &str, files: &mut Vec<PrivateFile>) {
    let named = own.pointer("/context/fileName");
    let first = named.and_then(|name| name.as_str().or_else(|| name.get(0)?.as_str()));
    let path = folder.join(first.unwrap_or("GEMINI.md"));
    let users = users.and_then(|users| fs_err::read_to_string(users.join(path.strip_prefix("home").ok()?)).ok());
    files.retain(|file| !matches!(file, PrivateFile::Link(link, _) if *link == path));
    let text = users.map_or_else(|| system.to_owned(), |users| format!("{}\n\n{system}", users.trim_end()));
    files.push(PrivateFile::Text(path, text));
}

/// Whether it is signed in.
pub(super) fn sign_in(environment: &Environment) -> SignIn {
    let by_variable = ["GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_GCA"];
    let has = |file| has_file(environment, HOME, "", file);
    if any_variable(environment, &by_variable) || has(".gemini/oauth_creds.json") {
        SignIn::Found
    } else if cfg!(target_os = "macos") || [".gemini/settings.json", ".gemini/.env", ".env"].into_iter().any(has) {
        // Settings choose among ways to sign in, also ones that keep nothing here; `.env` may hold the key.
        SignIn::Unknown
    } else {
        SignIn::Missing("run `gemini` once, or set GEMINI_API_KEY; `--deep` asks it")
    }
}
