//! The self-test: which mechanism works here.
//!
//! A kernel, a container or a security module can refuse at any step, and some refusals show only at the last one
//! (a fresh `/proc` over a masked one). So the whole chain is run to its end with an agent that looks from inside.

use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde::Serialize;

use super::mechanism::{Mechanism, Preference};
use super::stage;
use super::wire::{Frames, Launch, Order, Report, Step};

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
/// `supervisor` is the `team` executable; by default the running one. Blocks for about 5 ms, at most 15 s on a
/// machine where nothing ends.
#[must_use]
pub fn probe(preference: Preference, supervisor: Option<&Path>) -> Probe {
    let candidates = match preference {
        Preference::Strongest => Mechanism::candidates(rustix::process::geteuid().is_root()),
        Preference::None => &[Mechanism::TreeWalk],
    };
    let mut attempts = Vec::new();
    for mechanism in candidates.iter().copied() {
        let refused = try_mechanism(mechanism, supervisor).err();
        attempts.push(Attempt { mechanism, refused });
        if refused.is_none() {
            return Probe { mechanism, attempts };
        }
    }
    // Even the last one was refused: no slot will start, and each will say why.
    Probe { mechanism: Mechanism::TreeWalk, attempts }
}

/// Tries one mechanism: runs the whole chain to its end and has its agent look from inside.
pub fn try_mechanism(mechanism: Mechanism, supervisor: Option<&Path>) -> Result<(), Refusal> {
    let supervisor = supervisor.unwrap_or(Path::new(stage::SELF));
    let failed = |step: Step| {
        move |error: io::Error| Refusal {
            step,
            errno: error.raw_os_error().unwrap_or(rustix::io::Errno::PROTO.raw_os_error()),
        }
    };
    let (mut ours, theirs) = UnixStream::pair().map_err(failed(Step::StartInit))?;
    let mut command = Command::new(supervisor);
    command.arg0("team").arg(stage::OUTER).env_clear();
    command.stdin(OwnedFd::from(theirs)).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    let mut child = command.spawn().map_err(failed(Step::StartInit))?;
    // The command still holds the other end.
    drop(command);
    let result = converse(mechanism, &mut ours).unwrap_or_else(|error| Err(failed(Step::Finish)(error)));
    // The end of the socket ends whatever is still there; the kill is for a stage that hangs.
    drop(ours);
    if result.is_err() {
        child.kill().ok();
    }
    child.wait().map_err(failed(Step::Finish))?;
    result
}

fn converse(mechanism: Mechanism, socket: &mut UnixStream) -> io::Result<Result<(), Refusal>> {
    let expected = match mechanism {
        Mechanism::PidNamespace { .. } => stage::EXPECT_HELD,
        Mechanism::TreeWalk => stage::EXPECT_STARTED,
    };
    let launch = Launch {
        argv: [stage::SELF, stage::CHECK, expected].map(Into::into).to_vec(),
        environment: Vec::new(),
        directory: "/".into(),
        input: None,
        private: None,
        descriptor_limit: None,
        mechanism,
    };
    socket.set_read_timeout(Some(LIMIT))?;
    socket.write_all(&Order::Launch(Box::new(launch)).encode())?;
    let mut frames = Frames::default();
    let mut held = None;
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
                Report::Exited(code) => held = Some(code == 0),
                Report::Killed(_) => held = Some(false),
                Report::Swept(_) => {
                    let refusal = Refusal { step: Step::Check, errno: rustix::io::Errno::PERM.raw_os_error() };
                    return Ok(if held == Some(true) { Ok(()) } else { Err(refusal) });
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
