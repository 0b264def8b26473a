//! The repository of one fix: `repository/` of its session. It borrows the objects of the user's repository, so that the
//! user's tree, index, branches and configuration are out of the way of everything that happens here.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::{Error, ErrorKind, Result};
use crate::fs::{self, Folder};
use crate::git::{CommitId, Expected, Git, GitError, Lender, NewCommit, RepositoryKind, TreeId};

/// How long one call of git may take: a large repository is checked out in one.
const LIMIT: Duration = Duration::from_secs(300);

/// Where the work has come to, in the repository of a fix.
const TIP: &str = "refs/heads/fix";

/// Files of git that another owner may have left when it was killed. Whoever has the session's lock is alone.
const LOCKS: [&str; 4] = ["config.lock", "HEAD.lock", "packed-refs.lock", "refs/heads/fix.lock"];

/// The repository of one fix.
#[derive(Debug, Clone)]
pub(crate) struct Store {
    path: PathBuf,
    git: Git,
    source: Git,
    lender: Lender,
}

/// Git could not do its part.
pub(super) fn failed(doing: &str) -> impl FnOnce(GitError) -> Error {
    let message = format!("cannot {doing}");
    move |error| Error::new(ErrorKind::Io, message).with_source(error)
}

impl Store {
    /// Makes it at `path`, or goes on with it; `source` is asked in the user's repository, wherever that is now.
    pub(crate) async fn open(path: &Path, source: &Git) -> Result<Self> {
        let lender = source.lender().await.map_err(failed("find the objects of the repository"))?;
        fs::create_dir_all(path)?;
        for lock in LOCKS {
            fs::remove_if_exists(&path.join(lock))?;
        }
        let git = Git::of_repository(path, LIMIT);
        git.init(RepositoryKind::Bare, &lender).await.map_err(failed("make the repository of the fix"))?;
        borrow(path, &lender)?;
        Ok(Self { path: path.to_owned(), git, source: source.clone(), lender })
    }

    /// Git in it, without any files.
    pub(crate) const fn git(&self) -> &Git {
        &self.git
    }

    /// Git in the user's repository.
    pub(crate) const fn source(&self) -> &Git {
        &self.source
    }

    /// What it borrows from.
    pub(super) const fn lender(&self) -> &Lender {
        &self.lender
    }

    /// The file that lists what is in the folder of this name.
    pub(super) fn index(&self, name: &str) -> PathBuf {
        self.path.join(format!("index-{name}"))
    }

    /// The folder in which its new objects are.
    pub(super) fn objects(&self) -> PathBuf {
        self.path.join("objects")
    }

    /// Where the work has come to; `None` before it has begun.
    pub(crate) async fn tip(&self) -> Result<Option<CommitId>> {
        self.git.commit(TIP).await.map_err(failed("read where the fix has come to"))
    }

    /// The commit of this hash, which must be here or in the user's repository.
    pub(crate) async fn commit_of(&self, hash: &str) -> Result<CommitId> {
        let found = self.git.commit(hash).await.map_err(failed("look for a commit"))?;
        found.ok_or_else(|| {
            Error::usage(format!("commit `{hash}` is not in the repository at `{}`", self.source.folder().display()))
                .hint("run this in a clone that has it: `git fetch` may bring it")
        })
    }

    /// Moves where the work has come to; another owner's step in between is an error, not overwritten.
    pub(crate) async fn advance(&self, from: Option<&CommitId>, to: &CommitId) -> Result<()> {
        let expected = from.map_or(Expected::Absent, Expected::Commit);
        self.git.update_reference(TIP, to, expected).await.map_err(failed("record where the fix has come to"))
    }

    /// Makes a commit that nothing names yet.
    pub(crate) async fn commit(
        &self,
        tree: &TreeId,
        parent: &CommitId,
        message: &str,
        seconds: i64,
    ) -> Result<CommitId> {
        let new = NewCommit { tree, parent, message, seconds };
        self.git.commit_tree(new).await.map_err(failed("commit"))
    }

    /// Git with the files of `folder`, as the list of that name has them.
    pub(super) fn with_files(&self, folder: &Path, name: &str) -> Git {
        self.git.with_files(folder, &self.index(name))
    }

    /// Git with the list of that name, and no files.
    pub(super) fn git_with_list(&self, name: &str) -> Git {
        self.git.with_list(&self.index(name))
    }

    /// Fills `folder` with the files of `commit` and nothing else, whatever is there.
    pub(crate) async fn fresh(&self, folder: &Path, name: &str, commit: &CommitId) -> Result<Git> {
        remove(folder)?;
        fs::create_private_dir(folder)?;
        self.forget(name)?;
        let git = self.with_files(folder, name);
        git.check_out(commit).await.map_err(failed("check out the commit"))?;
        Ok(git)
    }

    /// Brings `folder` to `commit`, and leaves in it what git ignores: what a build has made for the next one.
    pub(crate) async fn refreshed(&self, folder: &Path, name: &str, commit: &CommitId) -> Result<Git> {
        if !folder.is_dir() || !self.index(name).is_file() {
            return self.fresh(folder, name, commit).await;
        }
        fs::remove_if_exists(&self.index(name).with_extension("lock"))?;
        let git = self.with_files(folder, name);
        match git.check_out(commit).await {
            Ok(()) => Ok(git),
            // What was left there is in the way.
            Err(_) => self.fresh(folder, name, commit).await,
        }
    }

    /// Moves a folder that [`Self::fresh`] filled with the files of `commit` to `aside`, or removes it where nothing in it
    /// was changed: what somebody has done there is never thrown away.
    pub(super) async fn put_aside(&self, folder: &Path, name: &str, commit: &CommitId, aside: &Path) -> Result<()> {
        if !folder.is_dir() {
            return Ok(());
        }
        let git = self.with_files(folder, name);
        // What cannot be compared is kept as well.
        let is_untouched = match git.list_again_as(commit).await {
            Ok(()) => git.differing().await.is_ok_and(|differing| differing.is_empty()),
            Err(_) => false,
        };
        if is_untouched { remove(folder) } else { Ok(fs::move_dir(folder, aside)?) }
    }

    /// An empty list of this name.
    pub(super) fn forget(&self, name: &str) -> Result<()> {
        let index = self.index(name);
        fs::remove_if_exists(&index.with_extension("lock"))?;
        fs::remove_if_exists(&index)?;
        Ok(())
    }

    /// Gives the files of `folder`, which are those of `commit`, a repository of their own in `.git`, for whoever works
    /// there: `git diff`, `git log` and even `git commit` work, and nothing done there reaches anybody else.
    pub(crate) async fn lend(&self, folder: &Path, commit: &CommitId) -> Result<()> {
        let own = folder.join(".git");
        let doing = "give the fixer a repository";
        remove(&own)?;
        fs::create_private_dir(&own)?;
        let git = Git::of_repository(&own, LIMIT);
        git.init(RepositoryKind::WithFiles, &self.lender).await.map_err(failed(doing))?;
        borrow(&own, &self.lender)?;
        if git.commit(commit.as_str()).await.map_err(failed(doing))?.is_none() {
            // What this fix has committed so far is out of sight of whoever works there.
            let reference = format!("refs/lent/{commit}");
            match self.git.update_reference(&reference, commit, Expected::Absent).await {
                Ok(()) => {}
                Err(_) if self.git.commit(&reference).await.ok().flatten().as_ref() == Some(commit) => {}
                Err(error) => return Err(failed(doing)(error)),
            }
            git.take_commits(&self.path, &reference, commit).await.map_err(failed(doing))?;
        }
        git.detach(commit).await.map_err(failed(doing))?;
        let git = git.with_files(folder, &own.join("index"));
        git.list_as(commit).await.map_err(failed(doing))?;
        git.refresh().await.map_err(failed(doing))
    }

    /// Fails where the user's repository can get no branch of this name, as far as that is known before anybody is asked.
    pub(crate) async fn check_branch(source: &Git, branch: &str) -> Result<()> {
        let folder = source.folder().display().to_string();
        let mut above = branch;
        while let Some((parent, _)) = above.rsplit_once('/') {
            above = parent;
            if source.commit(&format!("refs/heads/{above}")).await.map_err(failed("look for the branch"))?.is_some() {
                return Err(Error::usage(format!(
                    "`{folder}` has a branch `{above}`, and beside it git can make no `{above}/...`, where the result is to be"
                ))
                .hint(format!("rename it: `git branch -m {above} OTHER`")));
            }
        }
        for name in ["objects", "refs/heads"] {
            let path = source.git_path(name).await.map_err(failed("look for the branch"))?;
            match rustix::fs::access(&path, rustix::fs::Access::WRITE_OK) {
                // Where it is missing, git keeps such things elsewhere.
                Ok(()) | Err(rustix::io::Errno::NOENT) => {}
                Err(error) => {
                    return Err(Error::usage(format!("`{}` cannot be written to", path.display()))
                        .with_source(std::io::Error::from(error))
                        .hint("the result of a fix is a new branch: run it in a clone that you may write to"));
                }
            }
        }
        Ok(())
    }

    /// Gives the user's repository a branch of this name, which must be a new one.
    pub(crate) async fn publish(&self, branch: &str, commit: &CommitId) -> Result<()> {
        let source = &self.source;
        let full = format!("refs/heads/{branch}");
        match source.commit(&full).await.map_err(failed("look for the branch"))? {
            Some(found) if found == *commit => return Ok(()),
            Some(found) => {
                return Err(Error::usage(format!("there is a branch `{branch}` already, at {}", found.short())).hint(
                    format!("rename or remove it (`git branch -m {branch} OTHER`), then go on with `team resume`"),
                ));
            }
            None => {}
        }
        let doing = format!("make the branch `{branch}`");
        if source.commit(commit.as_str()).await.map_err(failed(&doing))?.is_none() {
            source.take_commits(&self.path, TIP, commit).await.map_err(failed(&doing))?;
        }
        source.update_reference(&full, commit, Expected::Absent).await.map_err(failed(&doing))
    }
}

/// Has the repository at `path` see the objects of the user's, end its history where that ends, and ignore what it ignores.
fn borrow(path: &Path, lender: &Lender) -> Result<()> {
    let objects = lender.objects.as_os_str().as_bytes();
    if objects.contains(&b'\n') || objects.starts_with(b"\"") || objects.starts_with(b"#") {
        return Err(Error::usage(format!(
            "the repository's path `{}` cannot be borrowed from",
            lender.objects.display()
        ))
        .hint("git takes no line end in it, and no `\"` or `#` at its beginning: move the repository"));
    }
    let info = path.join("objects/info");
    fs::create_dir_all(&info)?;
    fs::replace(&info.join("alternates"), &[objects, b"\n"].concat())?;
    fs::create_dir_all(&path.join("info"))?;
    for (from, to) in [(&lender.shallow, path.join("shallow")), (&lender.exclude, path.join("info/exclude"))] {
        match fs_err::read(from) {
            Ok(bytes) => fs::replace(&to, &bytes)?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Removes a folder, a file or a link, whatever its permissions; an absent one is fine.
pub(crate) fn remove(path: &Path) -> Result<()> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(Error::internal(format!("`{}` has no name", path.display())));
    };
    match path.symlink_metadata() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error.into()),
        Ok(found) if found.is_dir() => Ok(Folder::open(parent)?.remove_tree(OsStr::new(name))?),
        Ok(_) => Ok(fs::remove_if_exists(path)?),
    }
}
