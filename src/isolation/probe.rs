//! The self-test: which mechanism works here.
//!
//! A kernel, a container or a security module can refuse at any step, and some refusals show only at the last one
//! (a fresh `/proc` over a masked one). So the whole chain is run to its end with an agent that looks from inside: for
//! a canary where a session's manifest would be, for other processes, for one to signal, for an abstract socket.

use std::ffi::OsStr;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde::Serialize;

use super::enclosure::{Access, Enclosure, Shown};
use super::mechanism::{Mechanism, Preference};
use super::stage::{self, Findings};
use super::wire::{Frames, Launch, Order, Report, Step};
use crate::fs::{FolderUse, ProcessFolder};

/// For all of one attempt; it takes about 5 ms.
const LIMIT: Duration = Duration::from_secs(5);

/// Why a mechanism cannot be used here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("cannot {}: {}", .step.as_str(), io::Error::from_raw_os_error(*.errno))]
pub struct Refusal {
    /// The step that failed.
    pub step: Step,
    /// The operating system's error number.
    pub errno: i32,
}

/// One mechanism tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Attempt {
    /// What was tried.
    #[serde(flatten)]
    pub mechanism: Mechanism,
    /// Why not, when it was refused.
    pub refused: Option<Refusal>,
    /// What was found from inside, where it came that far.
    pub facts: Option<Facts>,
}

/// What the self-test's agent found out, each for itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Facts {
    /// A file of a session, by any way that was tried.
    pub session_files: Fact,
    /// Other processes in `/proc`.
    pub process_view: Fact,
    /// A signal to a process outside.
    pub kill: Fact,
    /// An abstract socket of a process outside.
    pub abstract_sockets: Fact,
}

/// Whether something is out of reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fact {
    /// It is.
    Kept,
    /// It was reached.
    Open,
}

impl From<Findings> for Facts {
    fn from(found: Findings) -> Self {
        let fact = |open| if open { Fact::Open } else { Fact::Kept };
        Self {
            session_files: fact(found.canary),
            process_view: fact(found.processes),
            kill: fact(found.kill),
            abstract_sockets: fact(found.socket),
        }
    }
}

/// What the self-test found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Probe {
    /// The strongest mechanism that works; every slot of the run uses it.
    pub mechanism: Mechanism,
    /// What was tried, in order; the last one is the one chosen.
    pub attempts: Vec<Attempt>,
}

/// Tries the mechanisms from the strongest and stops at the first that holds.
///
/// `supervisor` is the `team` executable; by default the running one. Blocks for about 5 ms, at most 20 s on a
/// machine where nothing ends.
#[must_use]
pub fn probe(preference: Preference, supervisor: Option<&Path>) -> Probe {
    let candidates = Mechanism::candidates(rustix::process::geteuid().is_root());
    let candidates = candidates.iter().copied().filter(|mechanism| match preference {
        Preference::Strongest => true,
        Preference::Landlock => !matches!(mechanism, Mechanism::Namespaces { .. }),
        Preference::None => *mechanism == Mechanism::TreeWalk,
    });
    let mut attempts = Vec::new();
    for mechanism in candidates {
        let (refused, facts) = match look(mechanism, supervisor) {
            Ok((facts, held)) => (held.err(), Some(facts)),
            Err(refused) => (Some(refused), None),
        };
        attempts.push(Attempt { mechanism, refused, facts });
        if refused.is_none() {
            return Probe { mechanism, attempts };
        }
    }
    // Even the last one was refused: no slot will start, and each will say why.
    Probe { mechanism: Mechanism::TreeWalk, attempts }
}

/// Tries one mechanism: runs the whole chain to its end and has its agent look from inside.
pub fn try_mechanism(mechanism: Mechanism, supervisor: Option<&Path>) -> Result<Facts, Refusal> {
    let (facts, held) = look(mechanism, supervisor)?;
    held.map(|()| facts)
}

/// What the agent found, and whether that is enough for the mechanism's promise.
fn look(mechanism: Mechanism, supervisor: Option<&Path>) -> Result<(Facts, Result<(), Refusal>), Refusal> {
    let supervisor = supervisor.unwrap_or(Path::new(stage::SELF));
    let failed = |step: Step| {
        move |error: io::Error| Refusal {
            step,
            errno: error.raw_os_error().unwrap_or(rustix::io::Errno::PROTO.raw_os_error()),
        }
    };
    let canary = Canary::lay().map_err(failed(Step::MakePrivate))?;
    let (mut ours, theirs) = UnixStream::pair().map_err(failed(Step::StartInit))?;
    let mut command = Command::new(supervisor);
    command.arg0("team").arg(stage::OUTER).env_clear();
    command.stdin(OwnedFd::from(theirs)).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    let mut child = command.spawn().map_err(failed(Step::StartInit))?;
    // The command still holds the other end.
    drop(command);
    let result = converse(mechanism, &canary, &mut ours).unwrap_or_else(|error| Err(failed(Step::Finish)(error)));
    // The end of the socket ends whatever is still there; the kill is for a stage that hangs.
    drop(ours);
    if result.is_err() {
        child.kill().ok();
    }
    child.wait().map_err(failed(Step::Finish))?;
    let found = result?;
    let held = match mechanism {
        Mechanism::Namespaces { .. } => {
            !(found.canary || found.processes || found.kill || found.power || found.unusable)
        }
        Mechanism::Landlock => !(found.canary || found.unusable),
        Mechanism::TreeWalk => true,
    };
    let refusal = Refusal { step: Step::Check, errno: rustix::io::Errno::PERM.raw_os_error() };
    Ok((found.into(), if held { Ok(()) } else { Err(refusal) }))
}

/// A small sessions folder with a manifest that must not be read, and a listener that must not be reached.
struct Canary {
    folder: ProcessFolder,
    listener: UnixListener,
}

impl Canary {
    fn lay() -> io::Result<Self> {
        let folder = ProcessFolder::make(FolderUse::Canary)?;
        let work = folder.path().join("session/work/01");
        crate::fs::create_dir_all(&work)?;
        crate::fs::create_exclusive(&folder.path().join("session/manifest.json"))?.write_all(stage::CANARY)?;
        // The folder's name is one that nobody else has.
        let address = SocketAddr::from_abstract_name(folder.path().as_os_str().as_bytes())?;
        Ok(Self { folder, listener: UnixListener::bind_addr(&address)? })
    }

    fn launch(&self, mechanism: Mechanism) -> io::Result<Launch> {
        let root = self.folder.path();
        let work = root.join("session/work/01");
        let manifest = root.join("session/manifest.json");
        let socket = self.listener.local_addr()?;
        let socket = socket.as_abstract_name().unwrap_or_default();
        let argv = vec![
            stage::SELF.into(),
            stage::CHECK.into(),
            manifest.into(),
            std::process::id().to_string().into(),
            OsStr::from_bytes(socket).to_owned(),
        ];
        let shown = vec![Shown { path: work.clone(), access: Access::Write }];
        Ok(Launch {
            argv,
            environment: Vec::new(),
            directory: work,
            input: None,
            descriptor_limit: None,
            mechanism,
            enclosure: Enclosure { hidden: vec![root.to_owned()], shown, ..Enclosure::default() },
        })
    }
}

fn converse(mechanism: Mechanism, canary: &Canary, socket: &mut UnixStream) -> io::Result<Result<Findings, Refusal>> {
    let launch = canary.launch(mechanism)?;
    socket.set_read_timeout(Some(LIMIT))?;
    socket.write_all(&Order::Launch(Box::new(launch)).encode())?;
    let mut frames = Frames::default();
    let mut found = None;
    let mut buffer = [0; 256];
    loop {
        let count = match socket.read(&mut buffer) {
            // Without a word about the end: somebody was killed.
            Ok(0) => return Err(rustix::io::Errno::PIPE.into()),
            Ok(count) => count,
            // A read with a time limit is not restarted after a signal that `team` handles.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        frames.push(&buffer[..count]);
        while let Some(report) = frames.report()? {
            match report {
                Report::Refused { step, errno } => return Ok(Err(Refusal { step, errno })),
                Report::Exited(code) => found = Findings::from_code(code),
                Report::Killed(_) => found = None,
                Report::Swept(_) => {
                    let refusal = Refusal { step: Step::Check, errno: rustix::io::Errno::CHILD.raw_os_error() };
                    return Ok(found.ok_or(refusal));
                }
                Report::Started => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_the_step_and_the_system_s_word() {
        let refusal = Refusal { step: Step::MountProc, errno: rustix::io::Errno::PERM.raw_os_error() };
        assert_eq!(refusal.to_string(), "cannot mount `/proc`: Operation not permitted (os error 1)");
    }

    #[test]
    fn a_supervisor_that_cannot_be_started_is_recorded_for_every_mechanism() {
        let probe = probe(Preference::None, Some(Path::new("/nonexistent/team")));
        assert_eq!(probe.mechanism, Mechanism::TreeWalk);
        let refusal = probe.attempts[0].refused.unwrap();
        assert_eq!((refusal.step, refusal.errno), (Step::StartInit, rustix::io::Errno::NOENT.raw_os_error()));
    }
}
