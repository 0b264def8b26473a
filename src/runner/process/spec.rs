//! What to start, and who listens.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::isolation::{Enclosure, Mechanism};

/// How long a process may take to end after TERM.
pub const DEFAULT_GRACE: Duration = Duration::from_secs(3);
/// How long a process may go on after its answer was complete.
pub const DEFAULT_LINGER: Duration = Duration::from_secs(10);
/// How long a process from which nothing more is expected has to say why and to end by itself.
pub(super) const LAST_WORD: Duration = Duration::from_secs(1);
/// How long a pipe may stay open after the process has ended.
pub const DEFAULT_DRAIN: Duration = Duration::from_secs(10);

/// Everything that starting one agent takes.
#[derive(Debug, Clone)]
pub struct ProcessSpec {
    /// The program and its arguments; never a shell, never the prompt.
    pub argv: Vec<OsString>,
    /// The complete environment. `PWD` is set to `directory` whatever it says here.
    pub environment: Vec<(OsString, OsString)>,
    /// The working directory; absolute.
    pub directory: PathBuf,
    /// The file that is its standard input, opened read-only; without one the input is empty.
    pub input: Option<PathBuf>,
    /// From TERM to KILL.
    pub grace: Duration,
    /// From a complete answer to TERM.
    pub linger: Duration,
    /// From the process's end to the end of its pipes, which something it left behind may hold open.
    pub drain: Duration,
    /// How it is held.
    pub mechanism: Mechanism,
    /// What it may see of the file system, as far as the mechanism can see to that.
    pub enclosure: Enclosure,
    /// The soft limit of open files to give back, where `team` has raised its own.
    pub descriptor_limit: Option<u64>,
    /// The `team` executable; by default the running one.
    pub supervisor: Option<PathBuf>,
}

impl ProcessSpec {
    /// A process with an empty environment and input, and the default limits.
    #[must_use]
    pub fn new(argv: Vec<OsString>, directory: PathBuf, mechanism: Mechanism) -> Self {
        Self {
            argv,
            environment: Vec::new(),
            directory,
            input: None,
            grace: DEFAULT_GRACE,
            linger: DEFAULT_LINGER,
            drain: DEFAULT_DRAIN,
            mechanism,
            enclosure: Enclosure::default(),
            descriptor_limit: None,
            supervisor: None,
        }
    }

    /// The environment with an absolute `PWD`.
    pub(super) fn complete_environment(&self) -> Vec<(OsString, OsString)> {
        let mut environment: Vec<_> =
            self.environment.iter().filter(|(name, _)| name != OsStr::new("PWD")).cloned().collect();
        environment.push(("PWD".into(), self.directory.clone().into()));
        environment
    }
}

/// Takes what a process prints, in order, as it comes.
///
/// Both calls may write to disk; they are made on a worker thread and should not wait for anything else. The first
/// error stops the process, and is given back with its end; nothing is delivered after it.
pub trait ProcessSink: Send {
    /// Bytes of standard output, cut anywhere.
    fn stdout(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Bytes of standard error, cut anywhere.
    fn stderr(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Whether the stream so far ends a complete answer; asked after each piece of standard output.
    fn answer_complete(&self) -> bool;
    /// Whether nothing more is to be expected of the process; asked after each piece of standard error.
    fn in_vain(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stale_pwd_is_replaced_and_the_rest_kept() {
        let mut spec = ProcessSpec::new(vec!["x".into()], "/w/01".into(), Mechanism::TreeWalk);
        spec.environment = vec![("PWD".into(), "relative".into()), ("HOME".into(), "/h".into())];
        let expected: Vec<(OsString, OsString)> = vec![("HOME".into(), "/h".into()), ("PWD".into(), "/w/01".into())];
        assert_eq!(spec.complete_environment(), expected);
    }
}
