//! What is reviewed, as it was looked at.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::pending::Uncommitted;
use crate::pipeline::declines::BranchPoint;
use crate::pipeline::gate;
use crate::report::ci::{ChangeWord, SeenFile, SubjectReport};
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

impl Source {
    /// The work tree that it is of.
    pub(in crate::pipeline) fn root(&self) -> Option<&Path> {
        match self {
            Self::Nothing => None,
            Self::Commit { root, .. } | Self::Uncommitted { root, .. } | Self::WorkTree { root } => Some(root),
        }
    }
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

impl Subject {
    /// What a gate looked at in the repository at `root`. `None` of what a command printed: nothing of that is reviewed.
    #[must_use]
    pub fn of_gate(looked: gate::Subject, told: &SubjectReport, root: &Path) -> Option<Self> {
        let short = |commit: &str| commit.get(..12).unwrap_or(commit).to_owned();
        let change =
            format!("the change from `{}` ({}) to `HEAD` ({})", told.base, short(&told.merge_base), short(&told.head));
        let (kind, phase, text, files, what) = match looked {
            gate::Subject::Diff(gate::Coverage { files, text }) => {
                (SubjectKind::Diff, InnerKind::ImplReview, text, files, change)
            }
            gate::Subject::Plan { text } => {
                let path = told.name.clone().unwrap_or_default();
                let what = format!("the plan `{path}` as of commit {}", short(&told.head));
                let seen = SeenFile {
                    path,
                    old_path: None,
                    change: ChangeWord::Unchanged,
                    sent_bytes: text.len() as u64,
                    omitted: None,
                    note: None,
                };
                (SubjectKind::Plan, InnerKind::PlanReview, text, vec![seen], what)
            }
            gate::Subject::Command { .. } => return None,
        };
        Some(Self {
            kind,
            phase,
            told: what,
            base: Some(told.base.clone()),
            from: Some(told.merge_base.clone()),
            head: Some(told.head.clone()),
            text,
            files,
            warnings: Vec::new(),
            source: Source::Commit { root: root.to_owned(), commit: told.head.clone() },
            // A gate goes by the base and by what is reviewed, and by nothing that a person said elsewhere.
            point: None,
        })
    }
}
