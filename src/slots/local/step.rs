//! One step of the set-up: a program with a deadline, a clean environment and an end.

use std::ffi::{OsStr, OsString};
use std::io;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::LocalError;
use crate::slots::network::NETWORK;

/// How much of the end of an output is kept.
const TAIL: usize = 8 << 10;
/// How long the output of a dead program is waited for: a child of its own may hold the pipe.
const LINGER: Duration = Duration::from_secs(2);

/// What a program needs to find itself, its files and its messages' language.
const PLAIN: &[&str] =
    &["PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TZ", "LD_LIBRARY_PATH"];
/// What pip needs besides to reach the index in the way that this machine is set up for.
const PIP: &[&str] = &["XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "NETRC"];
/// Settings of pip that would put the packages elsewhere.
const ELSEWHERE: &[&str] = &["PIP_USER", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_PYTHON", "PIP_DRY_RUN"];

/// Which of the user's variables a program sees. Keys of model providers are in neither.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Environment {
    /// Nothing but what every program needs.
    Plain,
    /// Also what pip needs.
    Network,
}

impl Environment {
    fn keeps(self, name: &str) -> bool {
        let of_pip = name.starts_with("PIP_") && !ELSEWHERE.contains(&name);
        PLAIN.contains(&name) || self == Self::Network && (NETWORK.contains(&name) || PIP.contains(&name) || of_pip)
    }

    /// A command that sees only these variables, in a process group of its own: a Ctrl-C of the terminal reaches
    /// `team`, which decides what to end and when.
    pub(super) fn command(self, program: &OsStr) -> Command {
        let mut command = Command::new(program);
        command.env_clear().process_group(0).kill_on_drop(true).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.envs(std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(|name| self.keeps(name))));
        if self == Self::Network {
            command.env("PIP_USER", "0");
        }
        command
    }
}

/// How a program ended, and what it said.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) status: ExitStatus,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

impl Ended {
    /// The last lines of both outputs, on one line, without credentials.
    pub(super) fn last_words(&self) -> String {
        let text = format!("{}\n{}", self.stdout, self.stderr);
        let words = last_lines(&text);
        if words.is_empty() { self.status.to_string() } else { words }
    }

    /// Whether either output has one of these phrases.
    pub(super) fn says(&self, phrases: &[&str]) -> bool {
        phrases.iter().any(|phrase| self.stdout.contains(phrase) || self.stderr.contains(phrase))
    }
}

/// Runs `program` to its end, at most for `limit`; when that passes or `stop` comes, its whole group is killed.
///
/// The outer error is ours to report; the inner one is that the program could not be started.
pub(super) async fn run(
    name: &'static str,
    program: &OsStr,
    args: &[OsString],
    environment: Environment,
    limit: Duration,
    stop: &CancellationToken,
) -> Result<io::Result<Ended>, LocalError> {
    let mut child = match environment.command(program).args(args).spawn() {
        Ok(child) => child,
        Err(error) => return Ok(Err(error)),
    };
    let stdout = tail(child.stdout.take());
    let stderr = tail(child.stderr.take());
    let status = tokio::select! {
        biased;
        () = stop.cancelled() => Err(LocalError::Stopped),
        status = child.wait() => Ok(status?),
        () = tokio::time::sleep(limit) => Err(LocalError::TooSlow { step: name, seconds: limit.as_secs() }),
    };
    match status {
        Ok(status) => Ok(Ok(Ended { status, stdout: text(stdout).await, stderr: text(stderr).await })),
        Err(error) => {
            end(&mut child).await;
            Err(error)
        }
    }
}

/// Kills the group of `child` and reaps it.
pub(super) async fn end(child: &mut Child) {
    // Without an id it has been reaped already, and the number may belong to somebody else.
    if let Some(group) = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw) {
        kill_process_group(group, Signal::KILL).ok();
    }
    child.kill().await.ok();
}

/// Reads `pipe` to its end in the background and keeps the end of it.
pub(super) fn tail(pipe: Option<impl AsyncRead + Unpin + Send + 'static>) -> JoinHandle<Vec<u8>> {
    tokio::spawn(async move {
        let mut kept = Vec::new();
        let Some(mut pipe) = pipe else { return kept };
        let mut buffer = vec![0; TAIL];
        while let Ok(read @ 1..) = pipe.read(&mut buffer).await {
            kept.extend_from_slice(&buffer[..read]);
            if kept.len() > 2 * TAIL {
                kept.drain(..kept.len() - TAIL);
            }
        }
        kept
    })
}

/// What a [`tail`] kept, once its pipe is closed or a short while is over.
pub(super) async fn text(mut tail: JoinHandle<Vec<u8>>) -> String {
    match tokio::time::timeout(LINGER, &mut tail).await {
        Ok(kept) => String::from_utf8_lossy(&kept.unwrap_or_default()).into_owned(),
        Err(_) => {
            tail.abort();
            String::new()
        }
    }
}

/// The last five lines that are not blank, joined by ` | `, each cut to 300 characters.
pub(super) fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let last = &lines[lines.len().saturating_sub(5)..];
    let cut = last.iter().map(|line| without_credentials(line).chars().take(300).collect::<String>());
    cut.collect::<Vec<_>>().join(" | ")
}

/// Takes user and password out of every URL of a line: an index of one's own often has them.
fn without_credentials(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(at) = rest.find("://") {
        let (head, tail) = rest.split_at(at + 3);
        out.push_str(head);
        let end =
            tail.find(|c: char| c.is_whitespace() || matches!(c, '/' | '?' | '"' | '\'' | '>')).unwrap_or(tail.len());
        match tail[..end].rfind('@') {
            Some(mark) => {
                out.push_str("[redacted]");
                rest = &tail[mark..];
            }
            None => rest = tail,
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_in_urls_are_not_shown() {
        for (line, shown) in [
            (
                "get https://me:pw@host/simple/ and http://t@h",
                "get https://[redacted]@host/simple/ and http://[redacted]@h",
            ),
            ("https://host/a@b", "https://host/a@b"),
            ("'https://u:p@s@host'", "'https://[redacted]@host'"),
            ("no url @ all", "no url @ all"),
        ] {
            assert_eq!(without_credentials(line), shown);
        }
    }

    #[test]
    fn neither_server_nor_pip_sees_a_providers_key() {
        for name in ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "PYTHONPATH", "LD_PRELOAD", "PIP_TARGET"] {
            assert!(!Environment::Network.keeps(name), "{name}");
        }
        assert!(Environment::Network.keeps("PIP_INDEX_URL") && !Environment::Plain.keeps("PIP_INDEX_URL"));
        assert!(Environment::Plain.keeps("PATH") && !Environment::Plain.keeps("HTTPS_PROXY"));
    }

    #[test]
    fn only_the_last_lines_are_told() {
        assert_eq!(last_lines("1\n2\n\n3\n4\n5\n 6 \n\n"), "2 | 3 | 4 | 5 | 6");
    }
}
