//! The hidden stages: small, single-threaded programs inside the `team` executable.
//!
//! They run before the command line is parsed and before any runtime exists: `unshare` works only on a single
//! thread, and two of them stay beside every slot, so each must remain small. They print nothing; what goes wrong is
//! reported over the socket as a [`Step`] and an error number.

mod check;
mod init;
mod mountinfo;
mod mounts;
mod namespaces;
mod outer;
mod rules;
mod tree;

pub(crate) use check::Findings;

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::wire::{Frames, Report, Step};

/// `argv[1]` of the outer stage, which `team` starts.
pub(crate) const OUTER: &str = "__exec";
/// `argv[1]` of the init stage, which the outer stage starts.
const INIT: &str = "__init";
/// `argv[1]` of the self-test's agent.
pub(crate) const CHECK: &str = "__check";
/// What the self-test's manifest holds.
pub(crate) const CANARY: &[u8] = b"canary";

/// The running executable, also after its file was replaced by an upgrade.
pub(crate) const SELF: &str = "/proc/self/exe";

/// Where the agent could not be set up: none of the shell's numbers, so that a person who looks can tell.
const EXIT_NOT_SET_UP: u8 = 125;

/// Runs the stage that `argv[1]` names; any other command line is not a stage's.
pub(crate) fn entry(mut arguments: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    let argument = arguments.nth(1)?;
    let code = if argument == OUTER {
        outer::main()
    } else if argument == INIT {
        init::main()
    } else if argument == CHECK {
        check::main(arguments)
    } else {
        return None;
    };
    Some(ExitCode::from(code))
}

/// A failed step; on its way to `team` as [`Report::Refused`].
#[derive(Debug, Clone, Copy)]
struct Failure {
    step: Step,
    errno: i32,
}

impl Failure {
    fn report(self) -> Report {
        Report::Refused { step: self.step, errno: self.errno }
    }

    /// As shells say it: 127 for a program that is not there, 126 for one that cannot be run.
    fn exit_code(self) -> u8 {
        match (self.step, self.errno) {
            (Step::Execute, libc_errno::ENOENT) => 127,
            (Step::Execute, _) => 126,
            _ => EXIT_NOT_SET_UP,
        }
    }
}

/// Error numbers as the kernel gives them.
mod libc_errno {
    pub(super) const ENOENT: i32 = rustix::io::Errno::NOENT.raw_os_error();
}

/// Names the step that an operating system error stopped.
trait AtStep<T> {
    fn at(self, step: Step) -> Result<T, Failure>;
}

impl<T, E: Into<io::Error>> AtStep<T> for Result<T, E> {
    fn at(self, step: Step) -> Result<T, Failure> {
        self.map_err(|error| {
            // An error of the standard library's own (a NUL byte in an argument) has no number.
            let errno = error.into().raw_os_error().unwrap_or(rustix::io::Errno::INVAL.raw_os_error());
            Failure { step, errno }
        })
    }
}

/// One end of a stage's socket.
struct Link {
    socket: UnixStream,
    frames: Frames,
}

impl Link {
    fn new(socket: UnixStream) -> Self {
        Self { socket, frames: Frames::default() }
    }

    /// The socket that a stage was given as its standard input.
    fn standard_input() -> io::Result<Self> {
        let socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
        // Refuses a terminal or a pipe: nobody starts a stage by hand.
        socket.peer_addr()?;
        Ok(Self::new(socket))
    }

    /// Reads once; `false` is the end of the file.
    fn fill(&mut self) -> bool {
        let mut buffer = [0; 4096];
        loop {
            return match self.socket.read(&mut buffer) {
                Ok(0) => false,
                Ok(count) => {
                    self.frames.push(&buffer[..count]);
                    true
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                // Any other error means the same: there is nobody to work for.
                Err(_) => false,
            };
        }
    }

    /// Sends; a peer that is gone shows as the end of the file at the next read.
    fn send(&mut self, bytes: &[u8]) {
        self.socket.write_all(bytes).ok();
    }
}

/// The signals that a stage takes as messages.
struct Signals(SignalFd);

/// Signals that a caller may have left ignored, and that an agent may send to the one above it.
const HANDLED: [Signal; 13] = [
    Signal::SIGHUP,
    Signal::SIGINT,
    Signal::SIGQUIT,
    Signal::SIGTERM,
    Signal::SIGUSR1,
    Signal::SIGUSR2,
    Signal::SIGALRM,
    Signal::SIGCHLD,
    Signal::SIGTSTP,
    Signal::SIGTTIN,
    Signal::SIGTTOU,
    Signal::SIGXCPU,
    Signal::SIGXFSZ,
];

impl Signals {
    /// Blocks exactly `watched` and makes them readable; a mask inherited from the caller is dropped.
    ///
    /// [`HANDLED`] get a handler that does nothing. It keeps a stage alive while it has signals unblocked for the
    /// start of an agent, and gives the agent the default back: handlers end with an exec, ignoring does not.
    fn watch(watched: &[Signal]) -> io::Result<Self> {
        for signal in HANDLED {
            signal_hook::flag::register(signal as i32, Arc::new(AtomicBool::new(false)))?;
        }
        let set: SigSet = watched.iter().copied().collect();
        set.thread_set_mask()?;
        Ok(Self(SignalFd::with_flags(&set, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)?))
    }

    fn next(&self) -> Option<Signal> {
        let info = self.0.read_signal().ok()??;
        Signal::try_from(i32::try_from(info.ssi_signo).ok()?).ok()
    }
}

/// What a stage woke up for.
struct Woken {
    upper: bool,
    lower: bool,
    signal: bool,
}

/// Waits for the socket to the upper stage, the one to the lower stage, a signal, or the time limit.
fn wait(
    upper: Option<&UnixStream>,
    lower: Option<&UnixStream>,
    signals: &Signals,
    limit: Option<std::time::Duration>,
) -> Woken {
    let mut fds = vec![PollFd::new(&signals.0, PollFlags::IN)];
    fds.extend(upper.iter().map(|fd| PollFd::new(*fd, PollFlags::IN)));
    fds.extend(lower.iter().map(|fd| PollFd::new(*fd, PollFlags::IN)));
    let limit = limit.and_then(|limit| Timespec::try_from(limit).ok());
    if poll(&mut fds, limit.as_ref()).is_err() {
        return Woken { upper: false, lower: false, signal: false };
    }
    let mut ready = fds.iter().map(|fd| !fd.revents().is_empty());
    let signal = ready.next().unwrap_or(false);
    let upper = upper.is_some() && ready.next().unwrap_or(false);
    let lower = lower.is_some() && ready.next().unwrap_or(false);
    Woken { upper, lower, signal }
}

/// A command that runs this executable again as another stage, with an empty environment.
fn stage_command(stage: &str, stdin: OwnedFd) -> Command {
    use std::os::unix::process::CommandExt;
    let mut command = Command::new(SELF);
    command.arg0("team").arg(stage).env_clear().stdin(Stdio::from(stdin));
    command
}

/// Lets go of the agent's pipes, so that their end of file comes when the agent's tree is gone and not later.
fn release_output() -> io::Result<()> {
    let null = std::fs::OpenOptions::new().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdout(&null)?;
    rustix::stdio::dup2_stderr(&null)?;
    Ok(())
}
