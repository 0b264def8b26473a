//! `PROGRAM --version`, with a deadline.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio::process::Command;

use super::{Call, NestedSandbox, Purpose, Talk, inherited};
use crate::config::{AgentKind, Environment};

/// A version that could not be had.
#[derive(Debug, thiserror::Error)]
pub enum VersionError {
    /// It did not start.
    #[error("cannot start `{program}`: {source}")]
    Spawn {
        /// The program.
        program: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// It did not end in time.
    #[error("`{program} --version` did not end within {limit:?}")]
    Deadline {
        /// The program.
        program: String,
        /// How long was waited.
        limit: Duration,
    },
    /// It ended badly, or said nothing.
    #[error("`{program} --version` gave no version{}", with_colon(.said))]
    NoVersion {
        /// The program.
        program: String,
        /// Its own words, where it had any.
        said: String,
    },
}

fn with_colon(words: &str) -> String {
    if words.is_empty() { String::new() } else { format!(": {words}") }
}

/// What `program --version` prints first, without control characters and cut at 100 characters.
pub async fn version_of(program: &Path, environment: &Environment, limit: Duration) -> Result<String, VersionError> {
    let name = || program.display().to_string();
    let work_dir = crate::fs::temporary_folder();
    let call = Call {
        purpose: Purpose::Answer,
        talk: Talk::Alone,
        prompt_file: Path::new(""),
        work_dir: &work_dir,
        private_dir: &work_dir,
        retries: 0,
        nested_sandbox: NestedSandbox::Works,
        environment,
    };
    let child = Command::new(program)
        .arg("--version")
        .env_clear()
        .envs(inherited::inherited(AgentKind::Custom, &program.to_string_lossy(), None, &call))
        .current_dir(&work_dir)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // A launcher leaves its native part behind when it alone is killed.
        .process_group(0)
        .kill_on_drop(true)
        .spawn()
        .map_err(|source| VersionError::Spawn { program: name(), source })?;
    let group = child.id().and_then(|id| i32::try_from(id).ok());
    let Ok(output) = tokio::time::timeout(limit, child.wait_with_output()).await else {
        if let Some(group) = group {
            killpg(Pid::from_raw(group), Signal::SIGKILL).ok();
        }
        return Err(VersionError::Deadline { program: name(), limit });
    };
    let output = output.map_err(|source| VersionError::Spawn { program: name(), source })?;
    let first_line = |bytes: &[u8]| -> String {
        let text = String::from_utf8_lossy(bytes);
        let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
        line.chars().filter(|c| !c.is_control()).take(100).collect()
    };
    match first_line(&output.stdout) {
        version if output.status.success() && !version.is_empty() => Ok(version),
        _ => Err(VersionError::NoVersion { program: name(), said: first_line(&output.stderr) }),
    }
}
