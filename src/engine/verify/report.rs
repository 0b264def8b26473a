//! What a check found.

use std::fmt;

use serde::Serialize;

use crate::ids::{FormatVersion, Sha256Hash};
use crate::session::SessionState;

/// The outcome of a check; as JSON, the output of `team verify --json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Verification {
    /// The version of this format.
    pub version: FormatVersion,
    /// Whether everything that is recorded is as it was recorded.
    pub verified: bool,
    /// The session's id; `None` when `session-meta.json` does not tell it.
    pub session: Option<String>,
    /// How the session stands; `None` when that cannot be told.
    pub state: Option<SessionState>,
    /// The living owner, in words: what is checked then is the folder as it was at that moment.
    pub owner: Option<String>,
    /// The records, the session's own first.
    pub records: Vec<RecordEnd>,
    /// What was read.
    pub checked: Checked,
    /// What does not hold, in the order of the check.
    pub mismatches: Vec<Mismatch>,
    /// What a reader should know besides.
    pub notes: Vec<String>,
}

/// Where a record ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordEnd {
    /// The record's file, relative to the session's folder.
    pub file: String,
    /// How many whole lines it has.
    pub events: usize,
    /// The hash of the last one.
    pub head: Option<Sha256Hash>,
    /// Whether it is closed.
    pub closed: bool,
}

/// How much was read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Checked {
    /// Files that were read.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Complete answers.
    pub answers: u64,
    /// Rounds of votes.
    pub rounds: u64,
    /// Replies of judges that were read for votes again.
    pub ballots: u64,
    /// Votes that were found in them.
    pub votes: u64,
    /// Verdicts that were counted again.
    pub verdicts: u64,
}

/// Something that is not as it was recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Mismatch {
    /// The file or folder, relative to the session's folder.
    pub file: String,
    /// The line of it, from 1, where one is meant.
    pub line: Option<usize>,
    /// What is wrong with it.
    pub what: String,
    /// What should be there, where that is a value.
    pub expected: Option<String>,
    /// What is there.
    pub found: Option<String>,
}

impl Mismatch {
    pub(super) fn new(file: impl Into<String>, what: impl Into<String>) -> Self {
        Self { file: file.into(), line: None, what: what.into(), expected: None, found: None }
    }

    pub(super) fn line(self, line: usize) -> Self {
        Self { line: Some(line), ..self }
    }

    pub(super) fn between(self, expected: impl ToString, found: impl ToString) -> Self {
        Self { expected: Some(expected.to_string()), found: Some(found.to_string()), ..self }
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.file)?;
        if let Some(line) = self.line {
            write!(f, " line {line}")?;
        }
        write!(f, ": {}", self.what)
    }
}
