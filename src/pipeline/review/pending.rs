//! What is not committed, as a commit that only `team` knows: in a list of files and a folder of objects of its own, so
//! that the user's repository stays as it is.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::fs::{self, FolderUse, ProcessFolder};
use crate::git::{CommitId, Git, NewCommit, RepoPath};
use crate::pipeline::gate::ask_failed;

/// What of the work tree is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Uncommitted {
    /// What is staged for the next commit.
    Staged,
    /// All files that git does not ignore, as they lie there.
    All,
}

/// What is not committed.
#[derive(Debug)]
pub(super) struct Pending {
    /// Asked at the root of the work tree; sees the commit.
    pub(super) git: Git,
    /// The commit before it.
    pub(super) head: CommitId,
    /// The commit that it would be. The same files give the same.
    pub(super) commit: CommitId,
    /// Other repositories in the work tree, which are not in it.
    pub(super) nested: Vec<RepoPath>,
    /// Goes when this does.
    _scratch: ProcessFolder,
}

impl Pending {
    /// Of the repository of `git`, which is asked at its root. `hidden` are folders that are never in it.
    pub(super) async fn of(git: &Git, which: Uncommitted, hidden: &[PathBuf]) -> Result<Self> {
        let head = git.commit("HEAD").await.map_err(ask_failed)?.ok_or_else(|| {
            Error::usage("there is no commit here yet, so nothing can be compared")
                .hint("commit once, or review files as they are: `team review PATHS`")
        })?;
        let scratch = ProcessFolder::make(FolderUse::Git)
            .map_err(|source| Error::io("cannot make a folder for git to work in", source))?;
        let (index, objects) = (scratch.path().join("index"), scratch.path().join("objects"));
        fs::create_dir_all(&objects)?;
        let own = git.list_file().await.map_err(ask_failed)?;
        if own.is_file() {
            fs::copy_file(&own, &index)?;
        }
        let lender = git.lender().await.map_err(ask_failed)?;
        let beside = git.with_index(&index, &objects, &lender);
        if beside.is_unmerged().await.map_err(ask_failed)? {
            return Err(Error::usage("a merge is going on here, with files in conflict")
                .hint("settle the conflicts first, or review commits: `team review --diff RANGE`"));
        }
        let mut nested = Vec::new();
        if which == Uncommitted::All {
            beside.refresh().await.map_err(ask_failed)?;
            let mut differing = beside.differing().await.map_err(ask_failed)?;
            differing.retain(|path| {
                let is_repository = path.as_bytes().ends_with(b"/");
                if is_repository {
                    nested.push(path.clone());
                }
                !is_repository && !hidden.iter().any(|folder| path.as_path().starts_with(folder))
            });
            beside.stage(&differing).await.map_err(ask_failed)?;
        }
        let tree = beside.write_tree().await.map_err(ask_failed)?;
        let new = NewCommit { tree: &tree, parent: &head, message: "not committed", seconds: 0 };
        let commit = beside.commit_tree(new).await.map_err(ask_failed)?;
        Ok(Self { git: beside, head, commit, nested, _scratch: scratch })
    }
}

/// Folders of sessions, from the root of the work tree.
pub(super) fn inside(root: &Path, sessions: &[PathBuf]) -> Vec<PathBuf> {
    let inside = |folder: &PathBuf| folder.canonicalize().ok()?.strip_prefix(root).ok().map(Path::to_owned);
    sessions.iter().filter_map(inside).filter(|path| !path.as_os_str().is_empty()).collect()
}
