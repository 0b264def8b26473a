//! What the user has not committed, committed in the repository of the fix; the user's own stays as it is.

use crate::error::{Error, Result};
use crate::fs;
use crate::git::{CommitId, RepoPath};
use crate::pipeline::gate::SecretFiles;

use super::store::{Store, failed};

/// The name of its list of files.
const INDEX: &str = "uncommitted";

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Uncommitted {
    /// The commit that holds it.
    pub(crate) commit: CommitId,
    /// The files.
    pub(crate) files: Vec<RepoPath>,
    /// Files that were left out, and why.
    pub(crate) left_out: Vec<(RepoPath, String)>,
}

/// Commits on top of `head` what the work tree has and `head` has not; `None` where that is nothing. `skip` says of a
/// path that it is none of the user's work: sessions.
pub(crate) async fn commit_uncommitted(
    store: &Store,
    head: &CommitId,
    seconds: i64,
    skip: impl Fn(&RepoPath) -> bool,
) -> Result<Option<Uncommitted>> {
    let doing = "read what is not committed";
    let source = store.source();
    let index = store.index(INDEX);
    store.forget(INDEX)?;
    if source.is_unmerged().await.map_err(failed(doing))? {
        return Err(Error::usage("a merge is going on in the work tree, so what is not committed cannot be taken")
            .hint("end it first (`git status` says how), or leave `--worktree` out"));
    }
    // A copy of the user's list: it knows which files are as they were, and which are not checked out.
    let own = source.git_path("index").await.map_err(failed(doing))?;
    if own.is_file() {
        fs::copy_file(&own, &index)?;
    }
    let git = source.with_index(&index, &store.objects(), store.lender());
    let secret = SecretFiles::new();
    let kept_out = |path: &RepoPath| {
        let repository = path.as_bytes().ends_with(b"/").then(|| "another repository".to_owned());
        repository.or_else(|| Some(format!("by its name (`{}`) it holds keys", secret.matches(path)?)))
    };
    let staged = git.listed_otherwise(head).await.map_err(failed(doing))?;
    let unwanted: Vec<RepoPath> = staged.into_iter().filter(|path| skip(path) || kept_out(path).is_some()).collect();
    git.unstage(&unwanted, head).await.map_err(failed(doing))?;
    let mut files = Vec::new();
    let mut left_out = Vec::new();
    for path in git.differing().await.map_err(failed(doing))? {
        if skip(&path) {
            continue;
        }
        match kept_out(&path) {
            Some(why) => left_out.push((path, why)),
            None => files.push(path),
        }
    }
    git.stage(&files).await.map_err(failed(doing))?;
    let tree = git.write_tree().await.map_err(failed(doing))?;
    store.forget(INDEX)?;
    if tree == store.git().tree_of(head).await.map_err(failed(doing))? {
        return Ok(None);
    }
    let message = "team: what was not committed when the fix began\n";
    let commit = store.commit(&tree, head, message, seconds).await?;
    let changed = store.git().changed_files(head, &commit).await.map_err(failed(doing))?;
    let files = changed.into_iter().map(|file| file.path).collect();
    Ok(Some(Uncommitted { commit, files, left_out }))
}
