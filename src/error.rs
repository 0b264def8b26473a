//! The one error type that reaches a user: a kind, a message, its source and hints.
//!
//! Modules define their own `thiserror` enums and convert them here. The kind alone decides the exit code
//! ([`ErrorKind::exit_code`]); the message says what happened to which thing, the hints say what to do next.
//! This module prints nothing.

use std::error::Error as StdError;
use std::fmt;

/// The result of everything that can end a command.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What class of failure ended a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The command line or an input cannot be used.
    Usage,
    /// A configuration file or an environment variable cannot be used.
    Config,
    /// A session, slot, model or file that was named does not exist.
    NotFound,
    /// A session cannot go on as it began: something that it depends on is not what it was.
    Drifted,
    /// Another living process owns the session.
    Owned,
    /// The recorded chain, a hash or a tally does not match.
    Integrity,
    /// Nothing usable came out of the run.
    NothingUsable,
    /// Votes exist, or could, but they decide nothing.
    NoDecision,
    /// A decision was made and the bar was not met.
    BarNotMet,
    /// A decision of a person is awaited.
    Waiting,
    /// Ended by a signal.
    Signal(i32),
    /// The operating system refused a file, process or socket.
    Io,
    /// An invariant of `team` itself does not hold.
    Internal,
}

impl ErrorKind {
    /// The process exit code of this kind (DESIGN 7).
    #[must_use]
    pub const fn exit_code(self) -> ExitCode {
        match self {
            Self::Usage | Self::Config | Self::NotFound | Self::Drifted | Self::Owned => ExitCode::USAGE,
            Self::Integrity => ExitCode::INTEGRITY,
            Self::NothingUsable => ExitCode::NOTHING_USABLE,
            Self::NoDecision => ExitCode::NO_DECISION,
            Self::BarNotMet => ExitCode::BAR_NOT_MET,
            Self::Waiting => ExitCode::WAITING,
            Self::Signal(n) => ExitCode::signal(n),
            Self::Io | Self::Internal => ExitCode::INTERNAL,
        }
    }
}

/// A documented process exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExitCode(u8);

impl ExitCode {
    /// Done.
    pub const DONE: Self = Self(0);
    /// The bar was not met.
    pub const BAR_NOT_MET: Self = Self(1);
    /// Usage, configuration, or another owner.
    pub const USAGE: Self = Self(2);
    /// No decision.
    pub const NO_DECISION: Self = Self(3);
    /// Nothing usable.
    pub const NOTHING_USABLE: Self = Self(4);
    /// Waiting for a decision of a person.
    pub const WAITING: Self = Self(5);
    /// Integrity check failed.
    pub const INTEGRITY: Self = Self(6);
    /// Internal error.
    pub const INTERNAL: Self = Self(70);

    /// `128 + n`, for a command ended by signal `n`.
    #[must_use]
    pub const fn signal(n: i32) -> Self {
        // Signal numbers are below 65 on every supported system.
        Self(128_u8.wrapping_add((n & 0x7f) as u8))
    }

    /// The number handed to the operating system.
    #[must_use]
    pub const fn code(self) -> u8 {
        self.0
    }
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> Self {
        Self::from(code.0)
    }
}

/// An error with its kind, its source and what to do next.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    message: String,
    source: Option<Box<dyn StdError + Send + Sync>>,
    hints: Vec<String>,
}

impl Error {
    /// An error of `kind` with a lower-case `message` that names the thing.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), source: None, hints: Vec::new() }
    }

    /// A mistake in the command line or an input.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage, message)
    }

    /// A mistake in the configuration.
    pub fn config(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Config, message)
    }

    /// A broken invariant of the program.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Internal, message)
    }

    /// A refused file operation on `what` (a path, a pipe, a process).
    pub fn io(message: impl Into<String>, source: std::io::Error) -> Self {
        Self::new(ErrorKind::Io, message).with_source(source)
    }

    /// Adds the cause.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Adds one line that says what to do next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// What class of failure this is.
    #[must_use]
    pub const fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// What to do next, one line each.
    #[must_use]
    pub fn hints(&self) -> &[String] {
        &self.hints
    }

    /// The message and every cause, joined by `: `.
    #[must_use]
    pub fn chain(&self) -> String {
        let mut text = self.message.clone();
        let mut cause = self.source.as_deref().map(|e| e as &dyn StdError);
        while let Some(error) = cause {
            let line = error.to_string();
            if !text.ends_with(&line) {
                text.push_str(": ");
                text.push_str(&line);
            }
            cause = error.source();
        }
        text
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_deref().map(|e| e as &(dyn StdError + 'static))
    }
}

impl From<std::io::Error> for Error {
    /// Keeps the text: `fs-err` already names the path and the operation.
    fn from(source: std::io::Error) -> Self {
        Self::new(ErrorKind::Io, source.to_string())
    }
}

/// The system's words for a refused file, without the path and the operation, which the message around has.
#[must_use]
pub fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file or folder".to_owned(),
        std::io::ErrorKind::NotADirectory => "a part of the path is a file, not a folder".to_owned(),
        std::io::ErrorKind::IsADirectory => "it is a folder".to_owned(),
        kind => kind.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_the_exit_code_of_the_design() {
        assert_eq!(ErrorKind::Usage.exit_code().code(), 2);
        assert_eq!(ErrorKind::Owned.exit_code().code(), 2);
        assert_eq!(ErrorKind::NoDecision.exit_code().code(), 3);
        assert_eq!(ErrorKind::NothingUsable.exit_code().code(), 4);
        assert_eq!(ErrorKind::Integrity.exit_code().code(), 6);
        assert_eq!(ErrorKind::Internal.exit_code().code(), 70);
        assert_eq!(ErrorKind::Signal(2).exit_code().code(), 130);
        assert_eq!(ErrorKind::Signal(15).exit_code().code(), 143);
    }

    #[test]
    fn the_chain_names_every_cause_once() {
        let inner = std::io::Error::other("disk full");
        let error = Error::usage("cannot write `a`").with_source(inner);
        assert_eq!(error.chain(), "cannot write `a`: disk full");
    }
}
