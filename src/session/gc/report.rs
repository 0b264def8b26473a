//! What was removed, what stays and why.

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use crate::ids::FormatVersion;

/// The result of one sweep.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GcReport {
    /// The version of this format.
    version: FormatVersion,
    /// Whether nothing was removed: `removed` is then what would be.
    pub dry_run: bool,
    /// What was removed.
    pub removed: Vec<Removed>,
    /// What stays.
    pub kept: Vec<Kept>,
    /// What could not be removed, or not all of it.
    pub failed: Vec<Failed>,
}

/// What something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LeftOver {
    /// A temporary folder of a process.
    ProcessFolder,
    /// A file that was being written.
    UnfinishedFile,
    /// The folder of a session that was never whole.
    UnmadeSession,
    /// What programs left in a `work/` folder.
    Scratch,
    /// A session in a temporary folder.
    TemporarySession,
    /// A session.
    Session,
}

/// Something that was removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Removed {
    /// Where it was.
    pub path: String,
    /// What it was.
    pub what: LeftOver,
    /// How many bytes its files had.
    pub bytes: u64,
}

/// Why something stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum KeptReason {
    /// A living process works on it or in it.
    Owned,
    /// It was cut off, and can be resumed.
    Interrupted,
    /// It was stopped, and can be resumed.
    Stopped,
    /// It waits for a person.
    AwaitsDecision,
    /// It goes by age only, and no age was given.
    ByAgeOnly,
    /// It is not old enough.
    TooYoung,
    /// It holds answers and their record.
    HoldsAnswers,
    /// It is no whole session.
    Damaged,
    /// It is another user's.
    OtherUser,
    /// It could not be looked at.
    Unreadable,
}

/// Something that stays.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Kept {
    /// Where it is.
    pub path: String,
    /// What it is.
    pub what: LeftOver,
    /// Why it stays.
    pub reason: KeptReason,
    /// The same in words, with what can be done.
    pub detail: String,
}

/// Something that could not be removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Failed {
    /// Where it is.
    pub path: String,
    /// What it is.
    pub what: LeftOver,
    /// What went wrong.
    pub error: String,
}

impl GcReport {
    pub(super) const fn new(dry_run: bool) -> Self {
        let version = FormatVersion::CURRENT;
        Self { version, dry_run, removed: Vec::new(), kept: Vec::new(), failed: Vec::new() }
    }

    pub(super) fn keep(&mut self, path: &Path, what: LeftOver, reason: KeptReason, detail: impl Into<String>) {
        self.kept.push(Kept { path: path.display().to_string(), what, reason, detail: detail.into() });
    }

    /// `removed` is how the removal went.
    pub(super) fn remove(&mut self, path: &Path, what: LeftOver, bytes: u64, removed: std::io::Result<()>) {
        let path = path.display().to_string();
        match removed {
            Ok(()) => self.removed.push(Removed { path, what, bytes }),
            Err(error) => self.failed.push(Failed { path, what, error: error.to_string() }),
        }
    }
}
