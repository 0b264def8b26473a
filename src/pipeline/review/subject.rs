//! What is reviewed, as it was looked at.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::pending::Uncommitted;
use crate::pipeline::declines::BranchPoint;
use crate::report::ci::SeenFile;
use crate::session::{InnerKind, Layout};

/// What kind of thing is reviewed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SubjectKind {
    /// A plan.
    Plan,
    /// A change.
    Diff,
    /// Files as they are.
    Files,
}

impl SubjectKind {
    /// The file of the session that holds it.
    #[must_use]
    pub const fn file(self) -> &'static str {
        match self {
            Self::Plan | Self::Files => Layout::DESIGN,
            Self::Diff => Layout::PATCH,
        }
    }
}

/// What programs of the panel see a read-only snapshot of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "of", rename_all = "snake_case")]
pub enum Source {
    /// Nothing: all there is to see is in the prompt.
    Nothing,
    /// This commit of the repository at `root`.
    Commit {
        /// The root of a work tree of the repository.
        root: PathBuf,
        /// The full hash.
        commit: String,
    },
    /// What is not committed in the repository at `root`.
    Uncommitted {
        /// The root of its work tree.
        root: PathBuf,
        /// What of it.
        which: Uncommitted,
        /// The commit that it would be.
        commit: String,
    },
    /// The files of this folder as they are, but for those that git ignores.
    WorkTree {
        /// The folder.
        root: PathBuf,
    },
}

/// What is reviewed.
#[derive(Debug, Clone, PartialEq)]
pub struct Subject {
    /// What kind of thing.
    pub kind: SubjectKind,
    /// The kind of panel that reviews it.
    pub phase: InnerKind,
    /// What it is, in words.
    pub told: String,
    /// Of a change: how what it is compared with is called.
    pub base: Option<String>,
    /// Of a change: the commit that it begins at.
    pub from: Option<String>,
    /// Of a change between commits: the one that it leads to.
    pub head: Option<String>,
    /// What is sent of it.
    pub text: String,
    /// Every file: sent, or why not.
    pub files: Vec<SeenFile>,
    /// What a reader should know besides.
    pub warnings: Vec<String>,
    /// What goes with it.
    pub source: Source,
    /// Where on a branch that is; none outside of git.
    pub point: Option<BranchPoint>,
}
