//! claudish: Claude Code in front of another provider's model, with the frames of Claude Code.

use std::ffi::OsString;
use std::path::Path;

use super::claude;
use super::habits::{Habits, words};
use super::{Call, locate};
use crate::config::{AgentKind, Environment, ModelSettings};
use crate::slots::agents::sign_in::{SignIn, any_variable, has_file};

pub(super) const HABITS: Habits = Habits {
    reads: &[
        "CLAUDISH_*",
        "CLAUDE_*",
        "DISABLE_*",
        "API_TIMEOUT_MS",
        "MAX_THINKING_TOKENS",
        "IS_SANDBOX",
        "BUN_INSTALL",
        "WINDSURF_API_SERVER_URL",
    ],
    reads_when: &[],
    never: &[
        // Of a session of its own that `team` may run in.
        "CLAUDISH_ACTIVE_MODEL_NAME",
        "CLAUDISH_IS_LOCAL",
        "CLAUDISH_PROVIDER_NAME",
        "CLAUDISH_TOKEN_FILE",
        "CLAUDISH_PORT",
        // No other model but the one that was asked for.
        "CLAUDISH_MODEL*",
        "CLAUDE_CODE_USE_*",
    ],
    defaults: &[
        // Its list of models comes from its maker's server, which is none of the models asked for.
        ("CLAUDISH_DISABLE_CATALOG_WARM", "1"),
        ("CLAUDISH_STATS", "0"),
        ("CLAUDISH_TELEMETRY", "0"),
    ],
    retries: None,
    traces: claude::CLAUDE_TRACES,
    databases: None,
    writes_in_home: true,
    runs: Some(&claude::HABITS),
};

/// The arguments: its own, then those of Claude Code, which it passes on.
///
/// With `-p` Claude Code reads the prompt from standard input itself; `--stdin` would put it on a command line. Of the
/// two words about how much it says the later one wins, and the earlier one is what the frames need.
pub(super) fn arguments(model: Option<&str>, settings: &ModelSettings, call: &Call<'_>) -> Vec<OsString> {
    let mut arguments = Vec::new();
    if let Some(model) = model {
        arguments.extend(words(&["--model", model]));
    }
    // Without asking it may do everything, so that is turned off; what it may do is said below.
    arguments.extend(words(&["--no-auto-approve", "--log-off", "--verbose", "--quiet"]));
    arguments.extend(words(&["-p", "--output-format", "stream-json"]));
    arguments.extend(words(&[claude::KEEP_NOTHING]));
    arguments.extend(claude::restrictions(call.purpose));
    arguments.extend(claude::settings(settings));
    arguments
}

/// Where it would find Claude Code, which it runs.
pub(super) fn finds_claude(environment: &Environment) -> bool {
    let is_file = |path: &Path| path.is_file();
    environment.get("CLAUDE_PATH").is_some_and(|path| is_file(Path::new(path)))
        || environment.get("HOME").is_some_and(|home| {
            [".claude/local/claude", ".npm-global/bin/claude", ".local/bin/claude", "node_modules/.bin/claude"]
                .iter()
                .any(|place| is_file(&Path::new(home).join(place)))
        })
        || ["/usr/local/bin/claude", "/opt/homebrew/bin/claude"].iter().any(|path| is_file(Path::new(path)))
        || locate("claude", environment).is_some()
}

/// Whether it has a key for `model`.
pub(super) fn sign_in(model: Option<&str>, environment: &Environment) -> SignIn {
    let keys = AgentKind::Claudish.keys_for(model);
    if any_variable(environment, keys) {
        SignIn::Found
    } else if keys.is_empty() || has_file(environment, "", ".claudish", "config.json") {
        // A server without a key, or a key in its own settings or the system's keychain.
        SignIn::Unknown
    } else {
        SignIn::Missing("set the variable of that provider's key, or run `claudish config`; `--deep` asks it")
    }
}
