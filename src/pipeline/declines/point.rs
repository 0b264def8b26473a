//! Where on a branch something was looked at.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::git::{CommitId, Git};
use crate::pipeline::gate::ask_failed;

/// A commit, and the branch that it was looked at on.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BranchPoint {
    /// The root of the work tree.
    root: PathBuf,
    /// The full name of the branch; none where HEAD is detached, or the commit is on no branch that was named.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    branch: Option<String>,
    /// The commit.
    commit: String,
    /// What it was compared with: unlike the commit it is not rewritten with the branch.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    base: Option<String>,
}

impl BranchPoint {
    /// Of `commit` in the repository of `git`, whose root this is. `named` is what the user called it.
    pub async fn of(
        git: &Git,
        root: &Path,
        commit: &CommitId,
        base: Option<&CommitId>,
        named: Option<&str>,
    ) -> Result<Self> {
        let is_it = |found: Option<CommitId>| found.as_ref() == Some(commit);
        let named = named.filter(|name| *name != "HEAD").map(|name| format!("refs/heads/{name}"));
        let branch = match named {
            Some(full) if is_it(git.commit(&full).await.map_err(ask_failed)?) => Some(full),
            _ if is_it(git.commit("HEAD").await.map_err(ask_failed)?) => {
                git.symbolic("HEAD").await.map_err(ask_failed)?
            }
            _ => None,
        };
        let (commit, base) = (commit.as_str().to_owned(), base.map(|base| base.as_str().to_owned()));
        Ok(Self { root: root.to_owned(), branch, commit, base })
    }

    /// Of the commit that is checked out; none before the first one.
    pub async fn of_head(git: &Git, root: &Path) -> Result<Option<Self>> {
        let head = git.commit("HEAD").await.map_err(ask_failed)?;
        match head {
            Some(head) => Self::of(git, root, &head, None, None).await.map(Some),
            None => Ok(None),
        }
    }

    /// The branch, without what all names of branches begin with.
    #[must_use]
    pub fn branch(&self) -> Option<&str> {
        let branch = self.branch.as_deref()?;
        Some(branch.strip_prefix("refs/heads/").unwrap_or(branch))
    }
}

/// Says of points whether what was decided there holds here.
pub(super) struct Holding<'a> {
    here: &'a BranchPoint,
    git: Git,
    /// Of each commit asked about.
    known: BTreeMap<String, Option<CommitId>>,
    ancestors: BTreeMap<String, bool>,
}

impl<'a> Holding<'a> {
    pub(super) fn new(here: &'a BranchPoint) -> Self {
        let git = Git::new(&here.root, super::register::GIT_LIMIT);
        Self { here, git, known: BTreeMap::new(), ancestors: BTreeMap::new() }
    }

    /// Whether it does: the branch is the same one of the same repository, or the commit is a part of the history.
    pub(super) async fn is_here(&mut self, then: &BranchPoint) -> Result<bool> {
        let same_branch = then.branch.is_some() && then.branch == self.here.branch;
        // A folder may hold sessions of several repositories, whose branches have the same names.
        if same_branch && (then.root == self.here.root || self.has(&then.commit).await?) {
            return Ok(true);
        }
        if let (true, Some(base)) = (same_branch, &then.base)
            && self.has(base).await?
        {
            return Ok(true);
        }
        self.is_before(&then.commit).await
    }

    async fn has(&mut self, commit: &str) -> Result<bool> {
        Ok(self.commit(commit).await?.is_some())
    }

    async fn commit(&mut self, commit: &str) -> Result<Option<CommitId>> {
        if let Some(known) = self.known.get(commit) {
            return Ok(known.clone());
        }
        // The file could hold any text here: only a hash is asked about.
        let is_hash = commit.len() >= 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
        let found = if is_hash { self.git.commit(commit).await.map_err(ask_failed)? } else { None };
        self.known.insert(commit.to_owned(), found.clone());
        Ok(found)
    }

    async fn is_before(&mut self, commit: &str) -> Result<bool> {
        if let Some(known) = self.ancestors.get(commit) {
            return Ok(*known);
        }
        let (then, here) = (self.commit(commit).await?, self.commit(&self.here.commit).await?);
        let is_before = match (then, here) {
            (Some(then), Some(here)) => then == here || self.git.is_ancestor(&then, &here).await.map_err(ask_failed)?,
            _ => false,
        };
        self.ancestors.insert(commit.to_owned(), is_before);
        Ok(is_before)
    }
}
