//! Claude Code: `claude -p`, with its stream of frames.

use std::ffi::OsString;

use super::conversation::{Talk, Transcript};
use super::habits::{Habits, words};
use super::inherited::Variables;
use super::{Call, Purpose, traces};
use crate::config::{Environment, ModelSettings};
use crate::slots::agents::sign_in::{SignIn, any_variable, has_file};
use crate::slots::agents::traces::{Folder, Parts, Traces};

/// Tools that read files and nothing else.
const READS: &str = "Read,Grep,Glob";

/// Tools that repair files, and see whether that helped. Nothing is asked, for nobody would answer.
const REPAIRS: &str = "Read,Grep,Glob,Edit,Write,Bash";

/// Its own folder.
const FOLDER: Folder = Folder { variable: "CLAUDE_CONFIG_DIR", within: "", usual: ".claude" };

/// The part of it that holds transcripts: a folder for each folder that it was run in. It looks for a conversation in all
/// of them (2.1.332).
const TRANSCRIPTS: &str = "projects";

/// Where it leaves what shows prompts and answers, and in `sessions`, as long as it runs, the folder that it works in and
/// a key by which others of its kind may write to it.
pub(super) const CLAUDE_TRACES: &[Traces] = &[Traces {
    folder: FOLDER,
    parts: Parts::Only(&[
        TRANSCRIPTS,
        "sessions",
        "todos",
        "tasks",
        "teams",
        "plans",
        "jobs",
        "shell-snapshots",
        "file-history",
        "session-env",
        "paste-cache",
        "image-cache",
        "uploads",
        "telemetry",
        "debug",
    ]),
}];

pub(super) const HABITS: Habits = Habits {
    reads: &["ANTHROPIC_*", "CLAUDE_*", "DISABLE_*", "API_TIMEOUT_MS", "MAX_THINKING_TOKENS", "IS_SANDBOX"],
    reads_when: &[
        ("CLAUDE_CODE_USE_BEDROCK", &["AWS_*"]),
        (
            "CLAUDE_CODE_USE_VERTEX",
            &[
                "CLOUD_ML_REGION",
                "VERTEX_REGION_*",
                "GOOGLE_APPLICATION_CREDENTIALS",
                "GOOGLE_CLOUD_*",
                "GCLOUD_PROJECT",
            ],
        ),
    ],
    never: &[
        "CLAUDECODE",
        "CLAUDE_CODE_ENTRYPOINT",
        "CLAUDE_CODE_SSE_PORT",
        "CLAUDE_CODE_SESSION_*",
        "CLAUDE_CODE_REMOTE*",
        "CLAUDE_CODE_CONTAINER_ID",
        "CLAUDE_CODE_PARENT_*",
        "CLAUDE_CODE_EXECPATH",
        "CLAUDE_CODE_CHILD_SESSION",
        "CLAUDE_CODE_AGENT*",
        "CLAUDE_CODE_TASK*",
        "CLAUDE_CODE_ENVIRONMENT_*",
        "CLAUDE_CODE_WORKER_*",
        "CLAUDE_CODE_MESSAGING_*",
        "CLAUDE_AGENT_SDK_*",
        "CLAUDE_PROJECT_DIR",
        "CLAUDE_ENV_FILE",
        "CLAUDE_PLUGIN_*",
        "CLAUDE_SESSION_*",
        "CLAUDE_PID",
        "CLAUDE_EFFORT",
        "CLAUDE_JOB_*",
    ],
    defaults: &[
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("DISABLE_AUTOUPDATER", "1"),
        ("DISABLE_TELEMETRY", "1"),
        ("DISABLE_ERROR_REPORTING", "1"),
    ],
    // Ten by default, about three minutes, even for a wrong key.
    retries: Some("CLAUDE_CODE_MAX_RETRIES"),
    traces: CLAUDE_TRACES,
    databases: None,
    // `.claude.json`, by a temporary file beside it.
    writes_in_home: true,
    runs: None,
};

/// The arguments: without questions and, unless it is to repair, with nothing that writes, runs or goes to the network.
pub(super) fn arguments(model: Option<&str>, settings: &ModelSettings, call: &Call<'_>) -> Vec<OsString> {
    let mut arguments = words(&["-p", "--output-format", "stream-json", "--verbose"]);
    arguments.extend(match call.talk {
        // Transcripts show prompts and answers to whoever looks into HOME.
        Talk::Alone => words(&[KEEP_NOTHING]),
        Talk::Begins => Vec::new(),
        Talk::GoesOn(id) => words(&["--resume", id.as_str()]),
    });
    arguments.extend(restrictions(call.purpose));
    if let Some(model) = model {
        // In one word: a model called `--something` stays a value.
        arguments.extend(words(&[&format!("--model={model}")]));
    }
    arguments.extend(self::settings(settings));
    arguments
}

/// Where it keeps conversations.
pub(super) fn transcript(variables: &Variables) -> Option<Transcript> {
    traces::transcript(FOLDER, TRANSCRIPTS, variables)
}

/// The option by which it keeps no transcript.
pub(super) const KEEP_NOTHING: &str = "--no-session-persistence";

/// What it may not do.
pub(super) fn restrictions(purpose: Purpose) -> Vec<OsString> {
    // A prompt that begins with `/review` is a prompt, not a command or skill of the user's. The program's own `/help`
    // and the like are taken as commands all the same (2.1.332): such an answer has the model `<synthetic>`.
    let mut arguments = words(&["--disable-slash-commands"]);
    // Servers, and the instructions and settings of a repository around the session, would give one seat more to go by
    // than the prompt, and they execute things.
    arguments.extend(words(&["--strict-mcp-config", "--setting-sources", "user"]));
    arguments.extend(match purpose {
        Purpose::Answer => words(&["--tools", READS, "--allowedTools", READS]),
        Purpose::Fix => words(&["--tools", REPAIRS, "--allowedTools", REPAIRS]),
        Purpose::Judge => words(&["--tools", ""]),
    });
    arguments
}

/// How it is asked.
pub(super) fn settings(settings: &ModelSettings) -> Vec<OsString> {
    let mut arguments = Vec::new();
    if let Some(effort) = &settings.reasoning_effort {
        arguments.extend(words(&[&format!("--effort={effort}")]));
    }
    if let Some(system) = &settings.system {
        arguments.extend(words(&[&format!("--append-system-prompt={system}")]));
    }
    arguments
}

/// Whether it is signed in.
pub(super) fn sign_in(environment: &Environment) -> SignIn {
    let by_variable = [
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "CLAUDE_CODE_OAUTH_TOKEN",
        "CLAUDE_CODE_USE_BEDROCK",
        "CLAUDE_CODE_USE_VERTEX",
    ];
    let has = |file| has_file(environment, "CLAUDE_CONFIG_DIR", ".claude", file);
    if any_variable(environment, &by_variable) || has(".credentials.json") {
        SignIn::Found
    } else if cfg!(target_os = "macos") || has("settings.json") {
        // Settings may hold a helper that prints the key; on macOS a sign-in is in the keychain.
        SignIn::Unknown
    } else {
        SignIn::Missing("run `claude` once, or set ANTHROPIC_API_KEY; `--deep` asks it")
    }
}
