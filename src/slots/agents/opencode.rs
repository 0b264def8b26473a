//! opencode: `opencode run`, with its stream of frames.
//!
//! It asks models of many vendors. It gets the key of the vendor that is asked, and what the user's own configuration
//! of that vendor names; the configuration itself stays the user's.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use serde_json::{Value, json};

use super::conversation::{Talk, Transcript, TranscriptFiles};
use super::habits::{Habits, words};
use super::inherited::Variables;
use super::private::{Prepared, PrivateFile, private_temporary_files};
use super::{Call, PlanError, Purpose, jsonc};
use crate::config::{AgentKind, Environment, ModelSettings};
use crate::slots::agents::sign_in::{SignIn, has_file};
use crate::slots::agents::traces::{Folder, Parts, Traces};

pub(super) const HABITS: Habits = Habits {
    reads: &["OPENCODE_*"],
    reads_when: &[],
    never: &["OPENCODE", "OPENCODE_SERVER*", "OPENCODE_CLIENT", "OPENCODE_PID", "OPENCODE_PERMISSION"],
    defaults: &[
        ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
        ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
        ("OPENCODE_DISABLE_SHARE", "1"),
        ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1"),
        // Instructions and settings of a repository around the session would give one seat more to go by than the
        // prompt, and they execute things.
        ("OPENCODE_DISABLE_PROJECT_CONFIG", "1"),
    ],
    // It has no setting for them, but says on standard error what it repeats: see `prepare`.
    retries: None,
    // Its database of conversations lies beside its sign-ins.
    traces: &[Traces {
        folder: Folder { variable: "XDG_DATA_HOME", within: "opencode", usual: ".local/share/opencode" },
        parts: Parts::AllBut(&["auth.json", "mcp-auth.json", "bin"]),
    }],
    databases: None,
    writes_in_home: false,
    runs: None,
};

/// The configuration in a variable, laid over all files.
const CONTENT: &str = "OPENCODE_CONFIG_CONTENT";

/// The rules about tools in a variable, laid over all configuration.
const PERMISSION: &str = "OPENCODE_PERMISSION";

/// Where it keeps conversations.
const DATABASE: &str = "OPENCODE_DB";

/// The name of the file in which a call has them.
const DATABASE_FILE: &str = "opencode.db";

/// The same with the file of what was written last.
const DATABASE_FILES: &[&str] = &[DATABASE_FILE, "opencode.db-wal"];

/// The arguments; it reads the prompt from standard input.
pub(super) fn arguments(model: Option<&str>, settings: &ModelSettings, call: &Call<'_>) -> Vec<OsString> {
    let mut arguments = words(&["run", "--format", "json"]);
    arguments.extend(match call.talk {
        // A conversation that has no title has one made by a second request.
        Talk::Alone | Talk::Begins => words(&["--title", "team"]),
        Talk::GoesOn(id) => words(&["--session", id.as_str()]),
    });
    // Requests that failed and are repeated are in its log only.
    arguments.extend(words(&["--print-logs", "--log-level", "WARN"]));
    if let Some(model) = model {
        arguments.extend(words(&[&format!("--model={model}")]));
    }
    if let Some(effort) = &settings.reasoning_effort {
        arguments.extend(words(&[&format!("--variant={effort}")]));
    }
    arguments
}

/// Where it keeps conversations, unless the user keeps them elsewhere.
pub(super) fn transcript(call: &Call<'_>, variables: &Variables) -> Option<Transcript> {
    let own = call.private_dir.join(DATABASE_FILE);
    let is_own = variables.get(OsStr::new(DATABASE)).is_some_and(|path| path.as_os_str() == own.as_os_str());
    let files = TranscriptFiles::Named(DATABASE_FILES);
    is_own.then(|| Transcript { folder: call.private_dir.to_owned(), in_home: None, files })
}

/// What must run first: a conversation belongs to the folder that it was begun in, and of one from elsewhere it asks the
/// model and then waits for ever for what it hears of another folder (1.18.33). So the conversation comes along.
pub(super) fn first(call: &Call<'_>) -> Option<Vec<OsString>> {
    let Talk::GoesOn(id) = call.talk else { return None };
    let folder = call.work_dir.to_string_lossy().replace('\'', "''");
    Some(words(&["db", &format!("update session set directory = '{folder}' where id = '{id}'")]))
}

/// The rules about tools: nothing is asked, for nobody would answer.
fn permission(purpose: Purpose) -> Value {
    // Each by its name as well: a rule of the user's that comes after `*` would win over it.
    let mut rules = json!({
        "*": "deny", "edit": "deny", "bash": "deny", "webfetch": "deny", "websearch": "deny", "codesearch": "deny",
        "task": "deny", "skill": "deny", "lsp": "deny", "todowrite": "deny", "todoread": "deny", "question": "deny",
        "external_directory": "deny", "doom_loop": "deny",
        "read": "deny", "glob": "deny", "grep": "deny", "list": "deny",
    });
    if purpose != Purpose::Judge {
        jsonc::merge(&mut rules, json!({ "read": "allow", "glob": "allow", "grep": "allow", "list": "allow" }));
    }
    if purpose == Purpose::Fix {
        jsonc::merge(&mut rules, json!({ "edit": "allow", "bash": "allow" }));
    }
    rules
}

/// What one call needs besides.
pub(super) fn prepare(
    model: Option<&str>,
    settings: &ModelSettings,
    call: &Call<'_>,
    variables: &mut Variables,
) -> Result<Prepared, PlanError> {
    let mut files = Vec::new();
    let configurations = configurations(variables);
    let mut secrets = Vec::new();
    let asked = asked(model, &configurations);
    let keys = keys(asked, &configurations);
    let addresses = AgentKind::Opencode.addresses_for(asked).iter().map(|name| (*name).to_owned());
    for name in keys.iter().cloned().chain(addresses) {
        if let Some(value) = call.environment.get(&name) {
            let secret = keys.contains(&name).then(|| value.to_str().map(str::to_owned));
            secrets.extend(secret.flatten());
            variables.entry(name.into()).or_insert_with(|| value.to_owned());
        }
    }
    variables.entry(PERMISSION.into()).or_insert_with(|| permission(call.purpose).to_string().into());
    // Conversations would show prompts and answers to whoever looks into HOME.
    variables.entry(DATABASE.into()).or_insert_with(|| call.private_dir.join(DATABASE_FILE).into());
    let mut content = own_content(variables)?;
    if let Some(system) = &settings.system {
        files.push(PrivateFile::Text("system.md".into(), system.clone()));
        let path = call.private_dir.join("system.md");
        let mut instructions = content.get("instructions").and_then(Value::as_array).cloned().unwrap_or_default();
        instructions.push(path.to_string_lossy().into());
        jsonc::merge(&mut content, json!({ "instructions": instructions }));
    }
    variables.insert(CONTENT.into(), content.to_string().into());
    private_temporary_files(call, variables, &mut files);
    Ok(Prepared { files, retries: Some(call.retries), secrets })
}

/// The user's configuration in a variable, on top of ours.
fn own_content(variables: &Variables) -> Result<Value, PlanError> {
    // Copies of the repository around the session, for an undo of edits that are not made.
    let mut content = json!({ "snapshot": false });
    let text = variables.get(OsStr::new(CONTENT)).map(|text| text.to_string_lossy()).unwrap_or_default();
    if !text.trim().is_empty() {
        let wrong = |error: serde_json::Error| PlanError::Settings { path: CONTENT.into(), reason: error.to_string() };
        jsonc::merge(&mut content, jsonc::parse(&text).map_err(wrong)?);
    }
    Ok(content)
}

/// The user's configurations, the strongest first; one that cannot be read is for the program to complain about.
fn configurations(variables: &Variables) -> Vec<Value> {
    let get = |name: &str| variables.get(OsStr::new(name)).filter(|value| !value.is_empty());
    let global =
        get("XDG_CONFIG_HOME").map(PathBuf::from).or_else(|| Some(PathBuf::from(get("HOME")?).join(".config")));
    let global = global.map(|folder| folder.join("opencode"));
    let folders = get("OPENCODE_CONFIG_DIR").map(PathBuf::from).into_iter().chain(global);
    let named = get("OPENCODE_CONFIG").map(PathBuf::from);
    let files = named.into_iter().chain(
        folders.flat_map(|folder| ["opencode.jsonc", "opencode.json", "config.json"].map(|name| folder.join(name))),
    );
    let texts = get(CONTENT).map(|content| content.to_string_lossy().into_owned()).into_iter();
    texts
        .chain(files.filter_map(|file| fs_err::read_to_string(file).ok()))
        .filter_map(|text| jsonc::parse(&text).ok())
        .collect()
}

/// The model that is asked, also where the user's configuration chooses it.
fn asked<'a>(model: Option<&'a str>, configurations: &'a [Value]) -> Option<&'a str> {
    model.or_else(|| configurations.iter().find_map(|configuration| configuration.get("model")?.as_str()))
}

/// The variables that hold a key for `model`: those which its vendor has by habit, and those which the user's
/// configuration names (`{env:NAME}`) for that vendor. Where no vendor is known, all that the configuration names.
fn keys(model: Option<&str>, configurations: &[Value]) -> BTreeSet<String> {
    let mut names: BTreeSet<String> =
        AgentKind::Opencode.keys_for(model).iter().map(|name| (*name).to_owned()).collect();
    let vendor = model.and_then(|model| model.split_once('/')).map(|(vendor, _)| vendor);
    for configuration in configurations {
        let part = match vendor {
            Some(vendor) => configuration.get("provider").and_then(|providers| providers.get(vendor)),
            None => Some(configuration),
        };
        if let Some(part) = part {
            named_in(part, &mut names);
        }
    }
    names
}

fn named_in(value: &Value, names: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => names.extend(
            text.split("{env:").skip(1).filter_map(|rest| rest.split_once('}')).map(|(name, _)| name.to_owned()),
        ),
        Value::Array(values) => values.iter().for_each(|value| named_in(value, names)),
        Value::Object(members) => members.values().for_each(|value| named_in(value, names)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Whether it is signed in: its keys may also be in variables, and its configuration may need none.
pub(super) fn sign_in(environment: &Environment) -> SignIn {
    if has_file(environment, "XDG_DATA_HOME", ".local/share", "opencode/auth.json") {
        SignIn::Found
    } else {
        SignIn::Unknown
    }
}
