//! The `team` processes that ask models, one for each call.
//!
//! Each is a command like any other: it owns its session, and its standard output tells its events line by line. One that
//! is attached stops, cleanly, when this server asks it to or is gone: it watches the other end of its standard output.
//! One that is detached has a session of its own (of the operating system) and goes on.

use std::ffi::OsString;
use std::io::{Seek, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, OnceLock};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde::Deserialize;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::place::Place;
use super::warnings::Warnings;
use crate::error::{Error, Result};

/// How much of what a process says of itself is kept.
const SAID: usize = 16 * 1024;

/// Whether a process ends with this server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tie {
    /// It does.
    Attached,
    /// It goes on.
    Detached,
}

impl Tie {
    /// As a call says.
    pub(super) fn of(detach: Option<bool>) -> Self {
        if detach == Some(true) { Self::Detached } else { Self::Attached }
    }

    /// The first word of its command line.
    const fn as_str(self) -> &'static str {
        match self {
            Self::Attached => "__attached",
            Self::Detached => "__detached",
        }
    }
}

/// Every process that was started, and the word that this server ends.
#[derive(Debug, Clone)]
pub(super) struct Children {
    tasks: TaskTracker,
    gone: CancellationToken,
}

/// What is known of a process.
#[derive(Debug, Clone, Default)]
pub(super) struct News {
    /// How many events it told.
    pub(super) events: u64,
    /// Its session's folder.
    pub(super) session: Option<PathBuf>,
    /// What it warned of.
    pub(super) warnings: Warnings,
    /// How it ended.
    pub(super) end: Option<End>,
}

/// How a process ended.
#[derive(Debug, Clone)]
pub(super) struct End {
    /// Its exit code; of one that was killed, 128 and the signal.
    pub(super) code: i32,
    /// What else it said on standard error.
    pub(super) said: String,
}

/// A process that was started.
#[derive(Debug)]
pub(super) struct Started {
    news: watch::Receiver<News>,
    stop: CancellationToken,
}

impl Children {
    pub(super) fn new(gone: CancellationToken) -> Self {
        Self { tasks: TaskTracker::new(), gone }
    }

    /// The word that this server ends.
    pub(super) const fn gone(&self) -> &CancellationToken {
        &self.gone
    }

    /// Starts `team` with `arguments`; `input` is its standard input.
    pub(super) fn start(
        &self,
        place: &Place,
        arguments: Vec<OsString>,
        input: Option<&str>,
        tie: Tie,
    ) -> Result<Started> {
        let refused = |error| Error::io("cannot start `team`", error);
        let program = own_program().map_err(refused)?;
        let stdin = match input {
            Some(text) => Stdio::from(unnamed(text).map_err(|error| Error::io("cannot keep the input", error))?),
            None => Stdio::null(),
        };
        let mut command = Command::new(program);
        command.args([tie.as_str(), "--quiet", "--no-color", "--json"]);
        if let Some(folder) = &place.sessions_dir {
            command.arg("--sessions-dir").arg(folder);
        }
        command.args(arguments).current_dir(&place.cwd);
        let child = command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(refused)?;
        let (sender, news) = watch::channel(News::default());
        let stop = CancellationToken::new();
        self.tasks.spawn(keep(child, sender, stop.clone(), self.gone.clone(), tie));
        Ok(Started { news, stop })
    }

    /// Waits until all have ended that end with this server.
    pub(super) async fn end(&self) {
        self.gone.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }
}

impl Started {
    /// What is known now.
    pub(super) fn news(&mut self) -> News {
        self.news.borrow_and_update().clone()
    }

    /// Waits until more is known. `false` when nothing will be.
    pub(super) async fn more(&mut self) -> bool {
        self.news.changed().await.is_ok()
    }

    /// Asks it to stop.
    pub(super) fn stop(&self) {
        self.stop.cancel();
    }
}

/// Reads what a process says until it ends. A detached one is left alone when this server ends.
async fn keep(mut child: Child, news: watch::Sender<News>, stop: CancellationToken, gone: CancellationToken, tie: Tie) {
    let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else { return };
    let pid = child.id();
    let said = Arc::new(OnceLock::new());
    let to_its_end = async {
        // What was warned of before a session was made is known before the session is.
        let (text, ()) = tokio::join!(biased; messages(stderr, &news), events(stdout, &news));
        said.set(text).ok();
        child.wait().await
    };
    tokio::pin!(to_its_end);
    let mut asked = false;
    let status = loop {
        tokio::select! {
            status = &mut to_its_end => break status,
            () = stop.cancelled(), if !asked => {
                asked = true;
                terminate(pid);
            }
            () = gone.cancelled(), if !asked => match tie {
                Tie::Attached => {
                    asked = true;
                    terminate(pid);
                }
                Tie::Detached => return,
            },
        }
    };
    let end = End { code: status.map_or(-1, code), said: said.get().cloned().unwrap_or_default() };
    news.send_modify(|news| news.end = Some(end));
}

/// Asks a process to stop. It has not been waited for, so the number is still its own.
fn terminate(pid: Option<u32>) {
    if let Some(pid) = pid.and_then(|pid| i32::try_from(pid).ok()) {
        // One that has just ended needs no asking.
        kill(Pid::from_raw(pid), Signal::SIGTERM).ok();
    }
}

fn code(status: ExitStatus) -> i32 {
    status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(-1)
}

/// Counts events, and finds the session's folder in them.
async fn events(stdout: impl AsyncRead + Unpin, news: &watch::Sender<News>) {
    #[derive(Deserialize)]
    struct Line {
        path: PathBuf,
    }
    let mut lines = BufReader::new(stdout);
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line).await.is_ok_and(|length| length > 0) {
        // What a command prints in the end is no event.
        if let Ok(Line { path }) = serde_json::from_slice(&line) {
            news.send_modify(|news| {
                news.events += 1;
                if news.session.is_none() && path.is_absolute() {
                    news.session = Some(path);
                }
            });
        }
        line.clear();
    }
}

/// Reads what a process says on standard error to its end: warnings are told, of the rest the beginning is given.
async fn messages(stderr: impl AsyncRead + Unpin, news: &watch::Sender<News>) -> String {
    let mut lines = BufReader::new(stderr);
    let mut line = Vec::new();
    let mut rest = String::new();
    // What cannot be read is not told, and of a line that is longer each piece is one.
    while (&mut lines).take(SAID as u64).read_until(b'\n', &mut line).await.is_ok_and(|length| length > 0) {
        let text = String::from_utf8_lossy(&line);
        match text.strip_prefix("warning: ") {
            Some(warning) => news.send_modify(|news| news.warnings.add(warning)),
            None if rest.len() < SAID => rest.push_str(&text),
            None => {}
        }
        line.clear();
    }
    rest
}

/// This program. One that was installed anew while this server ran is the new one: the path of the old one says that it
/// was deleted.
pub(super) fn own_program() -> std::io::Result<PathBuf> {
    let path = std::env::current_exe()?;
    let replaced = path.to_str().and_then(|text| text.strip_suffix(" (deleted)")).map(PathBuf::from);
    Ok(match replaced {
        Some(replaced) if !path.exists() && replaced.is_file() => replaced,
        _ => path,
    })
}

/// A file without a name that holds `text`, to be read from its beginning.
fn unnamed(text: &str) -> std::io::Result<std::fs::File> {
    let mut file = tempfile::tempfile()?;
    file.write_all(text.as_bytes())?;
    file.rewind()?;
    Ok(file)
}

/// An option with its value in one word, whatever the value begins with.
pub(super) fn option(name: &str, value: impl AsRef<std::ffi::OsStr>) -> OsString {
    let mut word = OsString::from(format!("--{name}="));
    word.push(value);
    word
}

/// A path as a word of its own; it is absolute, so it is never taken for an option.
pub(super) fn word(path: &Path) -> OsString {
    path.as_os_str().to_owned()
}
