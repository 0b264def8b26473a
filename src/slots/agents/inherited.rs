//! What a program inherits: an allow-list, never the whole environment.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use super::Call;
use crate::config::{AgentKind, names_a_secret};
use crate::slots::network::NETWORK;

/// Variables by name, ordered.
pub(super) type Variables = BTreeMap<OsString, OsString>;

/// A shorter value (`1`, `true`) is in every text and no secret.
pub(super) const SHORTEST_SECRET: usize = 8;

/// What any program needs beside the way to the network: where things are, the language, the terminal.
const COMMON: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TZ",
    "TERM",
    "COLORTERM",
    "NO_COLOR",
    "TMPDIR",
    "XDG_*",
    "NODE_EXTRA_CA_CERTS",
    "LD_LIBRARY_PATH",
    "NIX_*",
];

/// What one program reads besides, what it must not see, and what it is told.
struct Habits {
    /// Names, or beginnings of names before a `*`.
    reads: &'static [&'static str],
    /// Read only when the first variable is set.
    reads_when: &'static [(&'static str, &'static [&'static str])],
    /// Variables of a session that `team` itself may run in: the program would take itself for a part of it.
    never: &'static [&'static str],
    /// Set unless the user sets them: no statistics, no updates, nothing but the models asked for.
    defaults: &'static [(&'static str, &'static str)],
    /// How the number of retries is told; the user's own value wins.
    retries: Option<&'static str>,
}

const CLAUDE: Habits = Habits {
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
};

const CODEX: Habits = Habits {
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
};

const GEMINI: Habits = Habits {
    reads: &["GEMINI_*", "GOOGLE_*", "CLOUD_ML_REGION"],
    reads_when: &[],
    never: &["GEMINI_CLI", "GEMINI_CLI_IDE_*", "GEMINI_CLI_SESSION_*"],
    defaults: &[
        ("GEMINI_CLI_NO_RELAUNCH", "true"),
        ("GEMINI_TELEMETRY_ENABLED", "false"),
        ("GEMINI_CLI_TRUST_WORKSPACE", "true"),
    ],
    retries: None,
};

const OPENCODE: Habits = Habits {
    reads: &["OPENCODE_*"],
    reads_when: &[],
    never: &["OPENCODE", "OPENCODE_SERVER*", "OPENCODE_CLIENT", "OPENCODE_PID"],
    defaults: &[("OPENCODE_DISABLE_AUTOUPDATE", "1"), ("OPENCODE_DISABLE_MODELS_FETCH", "1")],
    retries: None,
};

/// A command of the user's: nothing but what its `env` declares.
const UNKNOWN: Habits = Habits { reads: &[], reads_when: &[], never: &[], defaults: &[], retries: None };

/// The variables that `program` gets, its declared ones left out.
pub(super) fn inherited(agent: AgentKind, program: &str, call: &Call<'_>) -> Variables {
    let habits = habits_of(agent, program);
    let mut reads: Vec<&str> = COMMON.iter().chain(&NETWORK).chain(habits.reads).copied().collect();
    for (switch, names) in habits.reads_when {
        if call.environment.text(switch).is_some() {
            reads.extend(*names);
        }
    }
    let mut variables: Variables = call
        .environment
        .iter()
        .filter(|(name, _)| {
            name.to_str().is_some_and(|name| {
                reads.iter().any(|pattern| matches(pattern, name))
                    && !habits.never.iter().any(|pattern| matches(pattern, name))
            })
        })
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    // A program that goes by `PWD` would otherwise work in the folder that `team` was started in.
    variables.insert("PWD".into(), call.work_dir.into());
    for (name, value) in habits.defaults {
        variables.entry((*name).into()).or_insert_with(|| (*value).into());
    }
    if let Some(name) = habits.retries {
        variables.entry(name.into()).or_insert_with(|| call.retries.to_string().into());
    }
    variables
}

/// The values of variables whose names say that they are secret.
pub(super) fn secrets_in(variables: &Variables) -> Vec<String> {
    variables
        .iter()
        .filter_map(|(name, value)| Some((name.to_str()?, value.to_str()?)))
        .flat_map(|(name, value)| {
            let proxy_password = name.to_ascii_lowercase().ends_with("_proxy").then(|| password_in(value)).flatten();
            let whole = (names_a_secret(name) || name.ends_with("_HEADERS")).then_some(value);
            [whole, proxy_password].into_iter().flatten().map(str::to_owned).collect::<Vec<_>>()
        })
        .filter(|value| value.len() >= SHORTEST_SECRET)
        .collect()
}

/// A known program behind the user's own arguments has its habits too.
fn habits_of(agent: AgentKind, program: &str) -> &'static Habits {
    match agent {
        AgentKind::Claude => &CLAUDE,
        AgentKind::Codex => &CODEX,
        AgentKind::Custom => match Path::new(program).file_name().and_then(|name| name.to_str()) {
            Some("claude") => &CLAUDE,
            Some("codex") => &CODEX,
            Some("gemini") => &GEMINI,
            Some("opencode") => &OPENCODE,
            _ => &UNKNOWN,
        },
    }
}

fn matches(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => name == pattern,
    }
}

fn password_in(url: &str) -> Option<&str> {
    let (user_info, _) = url.split_once("://")?.1.rsplit_once('@')?;
    user_info.split_once(':').map(|(_, password)| password)
}
