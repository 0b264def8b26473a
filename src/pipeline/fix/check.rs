//! The repository's own checks of a result: `test` and `lint` of the trusted configuration.
//!
//! They run what a model has written. So they run like a model's program: held by the supervisor, with nothing of any
//! session in sight but the files that are checked, without variables that name a secret, and nothing of them is left
//! when they end. Exit code 0 is success, everything else is not.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::capture::HeadTail;
use crate::config::{Environment, names_a_secret};
use crate::isolation::{Access, Enclosure, Mechanism, Shown};
use crate::runner::process::{self, Outcome, ProcessSink, ProcessSpec};
use crate::secrets::Redactor;
use crate::slots::agents::locate;

/// So much is kept of each end of what a check prints.
const KEPT: usize = 64 * 1024;

/// So much of its end is told to whoever must mend it.
const TOLD: usize = 6 * 1024;

/// Which check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckKind {
    /// `fix.test`.
    Test,
    /// `fix.lint`.
    Lint,
}

impl CheckKind {
    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Test => "test",
            Self::Lint => "lint",
        }
    }
}

impl fmt::Display for CheckKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How a check ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckEnd {
    /// Exit code 0.
    Passed,
    /// Another exit code.
    Failed {
        /// It.
        code: i32,
    },
    /// A signal ended it.
    Signalled {
        /// It.
        signal: i32,
    },
    /// It took longer than it may.
    TimedOut {
        /// So many seconds.
        seconds: u64,
    },
    /// It did not start.
    NotStarted {
        /// Why.
        why: String,
    },
}

impl fmt::Display for CheckEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Passed => f.write_str("passed"),
            Self::Failed { code } => write!(f, "failed with exit code {code}"),
            Self::Signalled { signal } => write!(f, "was ended by signal {signal}"),
            Self::TimedOut { seconds } => write!(f, "did not end within {seconds} s"),
            Self::NotStarted { why } => write!(f, "did not start: {why}"),
        }
    }
}

/// A check that ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CheckResult {
    /// Which.
    pub kind: CheckKind,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// How it ended.
    pub end: CheckEnd,
    /// The end of what it printed, without keys and control characters.
    pub output: String,
}

impl CheckResult {
    /// Whether it is no hindrance.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.end == CheckEnd::Passed
    }
}

/// Where checks run.
#[derive(Debug)]
pub(crate) struct CheckBench<'a> {
    /// The files that are checked, in a folder of their own.
    pub(crate) folder: &'a Path,
    /// What holds processes here.
    pub(crate) mechanism: Mechanism,
    /// Folders of sessions.
    pub(crate) sessions: &'a [PathBuf],
    /// What a check may not change, whatever it runs.
    pub(crate) protected: &'a [PathBuf],
    /// The variables to choose from.
    pub(crate) environment: &'a Arc<Environment>,
    /// This program.
    pub(crate) supervisor: &'a Path,
    /// How long one check may take.
    pub(crate) limit: Duration,
    /// Takes keys out of what is kept.
    pub(crate) redactor: &'a Redactor,
}

impl CheckBench<'_> {
    /// Runs one check to its end. Dropped, it ends with everything that it started.
    pub(crate) async fn run(&self, kind: CheckKind, command: &[String]) -> CheckResult {
        let mut printed = Printed(HeadTail::new(KEPT));
        let end = match self.spec(command) {
            Ok(spec) => self.drive(&spec, &mut printed).await,
            Err(why) => CheckEnd::NotStarted { why },
        };
        let output = readable(&self.redactor.text(&String::from_utf8_lossy(&printed.0.end())));
        CheckResult { kind, command: command.to_vec(), end, output }
    }

    async fn drive(&self, spec: &ProcessSpec, printed: &mut Printed) -> CheckEnd {
        let (_controller, control) = process::control();
        match tokio::time::timeout(self.limit, process::run(spec, printed, control)).await {
            Err(_) => CheckEnd::TimedOut { seconds: self.limit.as_secs() },
            Ok(end) => match end.outcome {
                Outcome::Exited(0) => CheckEnd::Passed,
                Outcome::Exited(code) => CheckEnd::Failed { code },
                Outcome::Signalled(signal) => CheckEnd::Signalled { signal },
                Outcome::NotStarted(error) => CheckEnd::NotStarted { why: told(&error) },
                Outcome::Lost => CheckEnd::NotStarted { why: "its supervisor was killed".to_owned() },
            },
        }
    }

    fn spec(&self, command: &[String]) -> Result<ProcessSpec, String> {
        let (program, arguments) = command.split_first().ok_or("the command is empty")?;
        let folder = self.folder.canonicalize().map_err(|error| error.to_string())?;
        let program: OsString = if program.contains('/') {
            // As for a shell in the folder.
            folder.join(program).into()
        } else {
            locate(program, self.environment).map_or_else(|| program.into(), PathBuf::into_os_string)
        };
        let argv = std::iter::once(program).chain(arguments.iter().map(OsString::from)).collect();
        let variables = self.environment.iter().filter(|(name, _)| !names_a_secret(&name.to_string_lossy()));
        let mut enclosure = Enclosure::default();
        if self.mechanism != Mechanism::TreeWalk {
            let mut hidden: Vec<PathBuf> = self.sessions.iter().filter_map(|path| path.canonicalize().ok()).collect();
            hidden.sort_unstable();
            hidden.dedup_by(|inner, outer| inner.starts_with(&*outer));
            enclosure.shown = vec![Shown { path: folder.clone(), access: Access::Write }];
            enclosure.hidden = hidden;
            enclosure.protected = self.protected.to_vec();
        }
        Ok(ProcessSpec {
            environment: variables.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
            enclosure,
            supervisor: Some(self.supervisor.to_owned()),
            // What a check left running has nothing to say any more.
            drain: Duration::from_secs(2),
            ..ProcessSpec::new(argv, folder, self.mechanism)
        })
    }
}

fn told(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

/// The last lines, whole as far as there is room, without what a terminal would obey.
fn readable(text: &str) -> String {
    let plain: String = strip_escapes(text).chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect();
    if plain.len() <= TOLD {
        return plain;
    }
    let mut start = plain.len() - TOLD;
    while !plain.is_char_boundary(start) {
        start += 1;
    }
    let end = &plain[start..];
    end.split_once('\n').map_or(end, |(_, rest)| rest).to_owned()
}

/// Without colours and movements of the cursor.
fn strip_escapes(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if c != '\u{1b}' {
            plain.push(c);
            continue;
        }
        match rest.next() {
            Some('[') => while rest.next().is_some_and(|c| !('\u{40}'..='\u{7e}').contains(&c)) {},
            Some(']') => while rest.next().is_some_and(|c| c != '\u{7}' && c != '\u{1b}') {},
            _ => {}
        }
    }
    plain
}

struct Printed(HeadTail);

impl ProcessSink for Printed {
    fn stdout(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.push(bytes);
        Ok(())
    }

    fn stderr(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.push(bytes);
        Ok(())
    }

    fn answer_complete(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_is_the_end_in_whole_lines_without_colours() {
        assert_eq!(readable("\u{1b}[1;31merror\u{1b}[0m: x\r\n\tat y\u{1b}]0;title\u{7}\n"), "error: x\n\tat y\n");
        let long: String = (0..2000).map(|n| format!("line {n}\n")).collect();
        let told = readable(&long);
        assert!(told.len() <= TOLD && told.starts_with("line 1") && told.ends_with("line 1999\n"), "{told}");
    }
}
