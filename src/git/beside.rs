//! Repositories of `team`'s own beside the user's: they borrow its objects and share nothing else with it.
//!
//! A linked worktree would share branches, configuration, hooks, the stash and their locks with the repository that it is
//! of; whoever works in it could change all of them by a habit (`git stash`, `git config`, `git checkout -B main`).

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::call::{Git, GitError};
use super::revision::CommitId;

/// Where a repository keeps what one beside it needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lender {
    /// The folder of its objects.
    pub objects: PathBuf,
    /// The commits at which its history was cut off; the file need not exist.
    pub shallow: PathBuf,
    /// What it ignores by itself; the file need not exist.
    pub exclude: PathBuf,
    /// How its objects are named: `sha1` or `sha256`.
    pub format: String,
}

/// Whether a repository has files of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RepositoryKind {
    /// Objects, commits and nothing else.
    Bare,
    /// For a folder of files, in its `.git`.
    WithFiles,
}

impl Git {
    /// The repository at `path`, whatever folder is asked from; a `.git`, or a bare one.
    #[must_use]
    pub fn of_repository(path: &Path, limit: Duration) -> Self {
        Self::new(path, limit).with("GIT_DIR", path)
    }

    /// The same repository with the files of `folder`, of which `index` is the list. Neither is the user's.
    #[must_use]
    pub fn with_files(&self, folder: &Path, index: &Path) -> Self {
        let git = self.with("GIT_WORK_TREE", folder).with("GIT_INDEX_FILE", index);
        // Large files that are kept elsewhere are not fetched: what stands for them is a file like others.
        git.with("GIT_LFS_SKIP_SMUDGE", "1").in_folder(folder)
    }

    /// The same repository with `index` as its list of files, and with none of them.
    #[must_use]
    pub fn with_list(&self, index: &Path) -> Self {
        self.with("GIT_INDEX_FILE", index)
    }

    /// The user's own files, listed in another index, and with new objects in another folder than the user's.
    #[must_use]
    pub fn with_index(&self, index: &Path, new_objects: &Path, lender: &Lender) -> Self {
        self.with("GIT_INDEX_FILE", index)
            .with("GIT_OBJECT_DIRECTORY", new_objects)
            .with("GIT_ALTERNATE_OBJECT_DIRECTORIES", &lender.objects)
    }

    /// The same repository, with the objects of another one to be seen.
    #[must_use]
    pub fn seeing(&self, objects: &Path) -> Self {
        self.with("GIT_ALTERNATE_OBJECT_DIRECTORIES", objects)
    }

    /// What a repository beside this one needs to know.
    pub async fn lender(&self) -> Result<Lender, GitError> {
        let words = ["rev-parse", "--path-format=absolute", "--show-object-format", "--git-path", "objects"];
        let more = ["--git-path", "shallow", "--git-path", "info/exclude"];
        let words: Vec<&OsStr> = words.iter().chain(&more).map(OsStr::new).collect();
        let answer = self.ask(&words).await?.whole("rev-parse", u64::MAX)?;
        let mut lines = answer.split(|byte| *byte == b'\n');
        let mut next = || lines.next().filter(|line| !line.is_empty()).map(OsStr::from_bytes);
        let found = (|| {
            let format = next()?.to_str()?.to_owned();
            let (objects, shallow, exclude) = (next()?.into(), next()?.into(), next()?.into());
            Some(Lender { objects, shallow, exclude, format })
        })();
        found.ok_or_else(|| GitError::Unexpected {
            command: "rev-parse".to_owned(),
            answer: String::from_utf8_lossy(&answer).chars().filter(|c| !c.is_control()).take(80).collect(),
        })
    }

    /// Where a file of the repository's own is, absolute; it need not exist.
    pub async fn git_path(&self, name: &str) -> Result<PathBuf, GitError> {
        let words = ["rev-parse", "--path-format=absolute", "--git-path", name].map(OsStr::new);
        let answer = self.ask(&words).await?.whole("rev-parse", u64::MAX)?;
        Ok(OsStr::from_bytes(answer.strip_suffix(b"\n").unwrap_or(&answer)).into())
    }

    /// Makes the folder a repository, with no template, no hook and no object; one that is there stays.
    pub async fn init(&self, kind: RepositoryKind, lender: &Lender) -> Result<(), GitError> {
        let format = format!("--object-format={}", lender.format);
        let mut words = vec!["init", "--quiet", "--template=", "--initial-branch=team"];
        if kind == RepositoryKind::Bare {
            words.push("--bare");
        }
        if lender.format != "sha1" {
            words.push(&format);
        }
        let words: Vec<&OsStr> = words.into_iter().map(OsStr::new).collect();
        self.act(&words, None).await.map(drop)?;
        let bare = if kind == RepositoryKind::Bare { "true" } else { "false" };
        for (name, value) in [
            // Not what git concludes from the name of the folder.
            ("core.bare", bare),
            // Nothing is tidied while somebody works, and what is committed is on disk.
            ("gc.auto", "0"),
            ("maintenance.auto", "false"),
            ("core.fsync", "committed,loose-object,reference"),
            // Agents that commit are not asked who they are, and sign nothing.
            ("user.name", "team"),
            ("user.email", "team@localhost"),
            ("commit.gpgSign", "false"),
            ("tag.gpgSign", "false"),
        ] {
            self.act(&["config", name, value].map(OsStr::new), None).await?;
        }
        Ok(())
    }

    /// Takes the commits up to `commit`, which the repository at `from` calls `reference`, without a branch for them and
    /// without anything from a network.
    pub async fn take_commits(&self, from: &Path, reference: &str, commit: &CommitId) -> Result<(), GitError> {
        let words = ["-c", "protocol.file.allow=always", "fetch", "--quiet", "--no-tags", "--no-write-fetch-head"];
        let more = ["--no-auto-maintenance", "--no-recurse-submodules", "--no-write-commit-graph", "--end-of-options"];
        let mut words: Vec<&OsStr> = words.iter().chain(&more).map(OsStr::new).collect();
        words.extend([from.as_os_str(), OsStr::new(reference)]);
        self.act(&words, None).await?;
        match self.commit(commit.as_str()).await? {
            Some(found) if found == *commit => Ok(()),
            _ => Err(GitError::Unexpected {
                command: "fetch".to_owned(),
                answer: format!("`{reference}` is not commit {commit}"),
            }),
        }
    }
}
