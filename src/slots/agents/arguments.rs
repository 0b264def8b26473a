//! Arguments of the known agents: without questions, and with nothing that writes, runs or goes to the network.

use std::ffi::OsString;

use super::{Call, NestedSandbox, Purpose};
use crate::config::ModelSettings;

/// Linux takes 128 KiB for one argument, its final NUL included.
pub(super) const LONGEST_ARGUMENT: usize = 128 * 1024 - 1024;

/// Tools of Claude Code that read files and nothing else.
const CLAUDE_READS: &str = "Read,Grep,Glob";

/// `claude -p` with its stream of frames.
pub(super) fn claude(model: Option<&str>, settings: &ModelSettings, call: &Call<'_>) -> Vec<OsString> {
    let mut arguments = words(&["-p", "--output-format", "stream-json", "--verbose"]);
    // Transcripts show prompts and answers to whoever looks into HOME.
    arguments.extend(words(&["--no-session-persistence"]));
    // A prompt that begins with `/review` is a prompt, not a command or skill of the user's. The program's own `/help`
    // and the like are taken as commands all the same (2.1.332): such an answer has the model `<synthetic>`.
    arguments.extend(words(&["--disable-slash-commands"]));
    // Servers, and the instructions and settings of a repository around the session, would give one seat more to go by
    // than the prompt, and they execute things.
    arguments.extend(words(&["--strict-mcp-config", "--setting-sources", "user"]));
    arguments.extend(match call.purpose {
        Purpose::Answer => words(&["--tools", CLAUDE_READS, "--allowedTools", CLAUDE_READS]),
        Purpose::Judge => words(&["--tools", ""]),
    });
    if let Some(model) = model {
        // In one word: a model called `--something` stays a value.
        arguments.extend(words(&[&format!("--model={model}")]));
    }
    if let Some(effort) = &settings.reasoning_effort {
        arguments.extend(words(&[&format!("--effort={effort}")]));
    }
    if let Some(system) = &settings.system {
        arguments.extend(words(&[&format!("--append-system-prompt={system}")]));
    }
    arguments
}

/// `codex exec` with its stream of events; the last argument makes it read standard input.
pub(super) fn codex(model: Option<&str>, settings: &ModelSettings, call: &Call<'_>) -> Vec<OsString> {
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

/// The user's own arguments, with the path of the prompt filled in.
pub(super) fn custom(arguments: &[String], call: &Call<'_>) -> Vec<OsString> {
    arguments
        .iter()
        .map(|argument| match argument.split_once("{prompt_file}") {
            Some((before, after)) => {
                let mut filled = OsString::from(before);
                filled.push(call.prompt_file);
                filled.push(after);
                filled
            }
            None => argument.into(),
        })
        .collect()
}

fn words(words: &[&str]) -> Vec<OsString> {
    words.iter().map(Into::into).collect()
}

fn toml_string(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}
