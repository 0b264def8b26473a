//! What a command of the base's settings prints about the branch.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio::io::AsyncReadExt;
use tokio::process::Command;

use crate::config::{Environment, names_a_secret};
use crate::error::{Error, Result};

/// The most bytes of its errors that are shown.
const ERROR_BYTES: u64 = 4 * 1024;

/// What a command printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CommandOutput {
    /// Its standard output.
    pub(super) stdout: Vec<u8>,
    /// Whether there was more.
    pub(super) cut: bool,
    /// How it ended, in a sentence.
    pub(super) ended: String,
}

/// The group of a command, killed when it is given up.
struct Group(Option<u32>);

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(id) = self.0.and_then(|id| i32::try_from(id).ok()) {
            // Nothing is left to do where the group is gone already.
            killpg(Pid::from_raw(id), Signal::SIGKILL).ok();
        }
    }
}

/// Runs `command` in `folder`, and takes at most `most` bytes of what it prints. It may run what the branch holds, so it
/// gets no variable that names a secret, and nothing to read.
///
/// # Errors
/// It does not start, does not end within `limit`, or is ended by a signal.
pub(super) async fn run_command(
    command: &[String],
    folder: &Path,
    environment: &Environment,
    most: u64,
    limit: Option<Duration>,
) -> Result<CommandOutput> {
    let Some((program, arguments)) = command.split_first() else {
        return Err(Error::config("`gate.command` is empty").hint("write the program and its arguments as a list"));
    };
    let named = |what: &str| Error::usage(format!("`gate.command`: `{program}` {what}"));
    let resolved = if program.contains('/') { folder.join(program) } else { program.into() };
    let variables = environment.iter().filter(|(name, _)| !names_a_secret(&name.to_string_lossy()));
    let mut child = Command::new(resolved)
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .envs(variables)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true)
        .spawn()
        .map_err(|source| {
            named("cannot be started").with_source(source).hint("install it where the gate runs, or correct the name")
        })?;
    // Ends with this call: what it left running in the background is not waited for.
    let _group = Group(child.id());
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let work = async {
        let output = async {
            let mut bytes = Vec::new();
            if let Some(stream) = stdout {
                stream.take(most.saturating_add(1)).read_to_end(&mut bytes).await?;
            }
            Ok::<_, std::io::Error>(bytes)
        };
        let errors = async {
            let mut bytes = Vec::new();
            if let Some(mut stream) = stderr {
                (&mut stream).take(ERROR_BYTES).read_to_end(&mut bytes).await?;
                // What is not kept is read all the same, so that the command is not held up.
                tokio::io::copy(&mut stream, &mut tokio::io::sink()).await?;
            }
            Ok::<_, std::io::Error>(bytes)
        };
        let (mut output, mut errors) = (std::pin::pin!(output), std::pin::pin!(errors));
        let mut said = None;
        let bytes = loop {
            tokio::select! {
                bytes = &mut output => break bytes?,
                errors = &mut errors, if said.is_none() => said = Some(errors?),
            }
        };
        let cut = u64::try_from(bytes.len()).unwrap_or(u64::MAX) > most;
        if cut {
            return Ok((bytes, true, None));
        }
        let errors = match said {
            Some(errors) => errors,
            None => errors.await?,
        };
        Ok::<_, std::io::Error>((bytes, false, Some((child.wait().await?, errors))))
    };
    let finished = async {
        match limit {
            Some(limit) => tokio::time::timeout(limit, work).await.map_err(|_| {
                named(&format!("did not end within {limit:?}")).hint("raise `gate.deadline`, or have it do less")
            }),
            None => Ok(work.await),
        }
    };
    let (mut stdout, cut, end) = tokio::select! {
        finished = finished => finished?.map_err(|source| Error::io("cannot read what `gate.command` prints", source))?,
        _ = tokio::signal::ctrl_c() => {
            return Err(Error::new(crate::error::ErrorKind::Signal(2), "`gate.command` was interrupted"));
        }
    };
    stdout.truncate(usize::try_from(most).unwrap_or(usize::MAX));
    let Some((status, errors)) = end else {
        return Ok(CommandOutput { stdout, cut, ended: "It printed more than there is room for.".to_owned() });
    };
    let Some(code) = status.code() else {
        return Err(named(&format!("was ended by a signal ({status})")).hint("run it by hand to see why"));
    };
    let last = String::from_utf8_lossy(&errors);
    let last = last.lines().rfind(|line| !line.trim().is_empty()).filter(|_| code != 0).unwrap_or_default();
    let said = if last.is_empty() { String::new() } else { format!(" Its last error: {}", last.trim()) };
    Ok(CommandOutput { stdout, cut, ended: format!("It ended with exit code {code}.{said}") })
}
