//! How a process ended.

use std::io;
use std::path::PathBuf;

use super::control::Stop;
use crate::isolation::{Refusal, Step};

/// Why an agent was never started. Names the program only; the caller masks names that must stay sealed.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// No such program, or the interpreter that its first line names.
    #[error("program `{program}` was not found")]
    NotFound {
        /// The program, as asked for.
        program: String,
    },
    /// A directory, a file without the execute bit, or no program at all.
    #[error("program `{program}` cannot be executed")]
    NotExecutable {
        /// The program, as asked for.
        program: String,
    },
    /// Arguments and environment are more than the system takes.
    #[error("the arguments or environment of program `{program}` are too long")]
    TooLong {
        /// The program, as asked for.
        program: String,
    },
    /// Anything else that kept the program from running.
    #[error("program `{program}` could not be started")]
    Program {
        /// The program, as asked for.
        program: String,
        /// What the system said.
        source: io::Error,
    },
    /// The working directory cannot be entered.
    #[error("working directory `{}` cannot be entered", .path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file for standard input cannot be opened.
    #[error("input `{}` cannot be opened", .path.display())]
    Input {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The process could not be held the way the self-test said it could.
    #[error("the process could not be isolated")]
    Isolation {
        /// The step and the error.
        #[from]
        source: Refusal,
    },
    /// `team` itself could not be started as a supervisor.
    #[error("the supervisor could not be started")]
    Supervisor {
        /// What the system said.
        source: io::Error,
    },
}

impl SpawnError {
    /// What a stage's refusal means for the one who asked.
    pub(super) fn from_refusal(refusal: Refusal, spec: &super::ProcessSpec) -> Self {
        use rustix::io::Errno;
        let source = io::Error::from_raw_os_error(refusal.errno);
        let program = || spec.argv.first().map(|program| program.to_string_lossy().into_owned()).unwrap_or_default();
        match refusal.step {
            Step::Execute => match Errno::from_raw_os_error(refusal.errno) {
                Errno::NOENT | Errno::NOTDIR => Self::NotFound { program: program() },
                Errno::ACCESS | Errno::NOEXEC | Errno::ISDIR => Self::NotExecutable { program: program() },
                Errno::TOOBIG => Self::TooLong { program: program() },
                _ => Self::Program { program: program(), source },
            },
            Step::EnterDirectory => Self::Directory { path: spec.directory.clone(), source },
            Step::OpenInput => Self::Input { path: spec.input.clone().unwrap_or_default(), source },
            Step::ReadLaunch | Step::StartInit | Step::WatchSignals => Self::Supervisor { source },
            _ => Self::Isolation { source: refusal },
        }
    }
}

/// How the agent's own process ended.
#[derive(Debug)]
pub enum Outcome {
    /// It was never started.
    NotStarted(SpawnError),
    /// By itself, with this exit code.
    Exited(i32),
    /// By this signal.
    Signalled(i32),
    /// Unknown: a supervisor was killed, and the agent with it.
    Lost,
}

/// Everything known when nothing is left of a process.
#[derive(Debug)]
#[must_use]
pub struct ProcessEnd {
    /// How the agent's own process ended.
    pub outcome: Outcome,
    /// The hardest stop that was asked for while the process lived, through [`super::Control`] or by a sink that
    /// failed. Not the end after an answer, see `lingered`.
    pub stopped: Option<Stop>,
    /// Whether both pipes were read to an end that nobody forced. `false` when something the process left behind
    /// held one of them open and had to be killed, or the whole tree was.
    pub drained: bool,
    /// The process was ended by us because it went on for too long after a complete answer.
    pub lingered: bool,
    /// How many processes were left behind and had to be killed.
    pub leftovers: u32,
    /// Why the sink refused to take more.
    pub sink_error: Option<io::Error>,
}

impl ProcessEnd {
    pub(super) fn not_started(error: SpawnError) -> Self {
        Self {
            outcome: Outcome::NotStarted(error),
            stopped: None,
            drained: true,
            lingered: false,
            leftovers: 0,
            sink_error: None,
        }
    }

    /// The exit code, when the process exited.
    #[must_use]
    pub const fn exit_code(&self) -> Option<i32> {
        match self.outcome {
            Outcome::Exited(code) => Some(code),
            _ => None,
        }
    }

    /// The signal, when one ended the process.
    #[must_use]
    pub const fn signal(&self) -> Option<i32> {
        match self.outcome {
            Outcome::Signalled(signal) => Some(signal),
            _ => None,
        }
    }

    /// Why it never started, when it did not.
    #[must_use]
    pub const fn spawn_error(&self) -> Option<&SpawnError> {
        match &self.outcome {
            Outcome::NotStarted(error) => Some(error),
            _ => None,
        }
    }
}
