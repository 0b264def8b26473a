//! What can be missing for the local model, each with what to do about it.

use std::io;
use std::path::PathBuf;

use super::python::OLDEST;
use crate::error::{Error, ErrorKind};

/// Why the local model cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LocalError {
    /// No Python was found.
    #[error("no Python was found for the local model (tried {tried})")]
    NoPython {
        /// The names that were tried.
        tried: String,
    },
    /// Only a Python that is too old was found.
    #[error("`{program}` is Python {found}, and the local model needs {}.{} or newer", OLDEST.0, OLDEST.1)]
    PythonTooOld {
        /// The program.
        program: String,
        /// Its version.
        found: String,
    },
    /// A Python was found and does not work.
    #[error("`{program}` does not run as a Python: {detail}")]
    PythonBroken {
        /// The program.
        program: String,
        /// What it said.
        detail: String,
    },
    /// Python cannot make environments.
    #[error("`{program}` cannot make a virtual environment: {detail}")]
    NoVenv {
        /// The program.
        program: String,
        /// What it said.
        detail: String,
    },
    /// The package index does not answer.
    #[error("the package index cannot be reached for `{package}`: {detail}")]
    IndexUnreachable {
        /// The package.
        package: &'static str,
        /// The last lines of pip, without credentials.
        detail: String,
    },
    /// The index has no such package for this machine.
    #[error("the package index has no `{package}` for this machine ({machine}): {detail}")]
    NoDistribution {
        /// The package.
        package: &'static str,
        /// Operating system and processor.
        machine: String,
        /// The last lines of pip, without credentials.
        detail: String,
    },
    /// No space left.
    #[error("the disk of `{}` is full: the local model takes about 350 MB", path.display())]
    DiskFull {
        /// The folder.
        path: PathBuf,
    },
    /// A step failed in another way.
    #[error("{step} failed: {detail}")]
    StepFailed {
        /// What was done.
        step: &'static str,
        /// What it said.
        detail: String,
    },
    /// A step took longer than it may.
    #[error("{step} took over {seconds} s and was stopped")]
    TooSlow {
        /// What was done.
        step: &'static str,
        /// The limit.
        seconds: u64,
    },
    /// Another process was setting it up all the time.
    #[error("{owner} has been setting up the local model in `{}` for over {seconds} s", path.display())]
    Busy {
        /// Who.
        owner: String,
        /// Where.
        path: PathBuf,
        /// How long was waited.
        seconds: u64,
    },
    /// It was stopped.
    #[error("setting up the local model was stopped")]
    Stopped,
    /// There is no folder for a cache.
    #[error("no cache folder is known: neither `TEAM_CACHE_DIR` nor a home folder is set")]
    NoCacheDir,
    /// A file or program was refused by the system.
    #[error("the local model cannot be set up")]
    Io(#[from] io::Error),
    /// The server ended before it was ready.
    #[error("the local model's server ended at its start ({status}): {detail}")]
    ServerEnded {
        /// How it ended.
        status: String,
        /// The end of what it said.
        detail: String,
    },
}

impl LocalError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NoPython { .. }
            | Self::PythonTooOld { .. }
            | Self::PythonBroken { .. }
            | Self::NoVenv { .. }
            | Self::NoDistribution { .. }
            | Self::IndexUnreachable { .. }
            | Self::NoCacheDir => ErrorKind::Config,
            Self::Busy { .. } => ErrorKind::Owned,
            Self::DiskFull { .. }
            | Self::StepFailed { .. }
            | Self::TooSlow { .. }
            | Self::Io(_)
            | Self::ServerEnded { .. } => ErrorKind::Io,
            // SIGINT: whatever stopped it was a wish to stop.
            Self::Stopped => ErrorKind::Signal(2),
        }
    }

    /// What to do next, where that is known.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        let other = "or use another model: `team models`";
        let text = match self {
            Self::NoPython { .. } => format!("install Python 3, or name one in `TEAM_PYTHON`, {other}"),
            Self::PythonTooOld { .. } | Self::PythonBroken { .. } => {
                format!("name a Python of {}.{} or newer in `TEAM_PYTHON`, {other}", OLDEST.0, OLDEST.1)
            }
            Self::NoVenv { .. } => {
                "install Python's `venv` (on Debian and Ubuntu the package `python3-venv`), then try again".to_owned()
            }
            Self::IndexUnreachable { .. } => {
                "check the network, `HTTPS_PROXY` and pip's own settings (`pip config list`), then try again".to_owned()
            }
            Self::NoDistribution { .. } => format!("pip needs version 20.3 or newer and a common system, {other}"),
            Self::DiskFull { .. } => "free some space, or name another folder in `TEAM_CACHE_DIR`".to_owned(),
            Self::NoCacheDir => "set `TEAM_CACHE_DIR` to a folder of your own".to_owned(),
            Self::StepFailed { .. } | Self::TooSlow { .. } | Self::ServerEnded { .. } => {
                format!("try again; what is half done is made anew, {other}")
            }
            Self::Busy { .. } => "wait for it, or end that process".to_owned(),
            Self::Stopped | Self::Io(_) => return None,
        };
        Some(text)
    }
}

impl From<LocalError> for Error {
    fn from(error: LocalError) -> Self {
        let hint = error.hint();
        let mut out = Self::new(error.kind(), error.to_string());
        if let LocalError::Io(source) = error {
            out = out.with_source(source);
        }
        match hint {
            Some(hint) => out.hint(hint),
            None => out,
        }
    }
}
