//! Commits, and files as a commit has them.

use std::ffi::OsStr;
use std::fmt;

use super::call::{Git, GitError, failed};
use super::diff::{EntryKind, RepoPath};

/// The full hash of a commit.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CommitId(String);

impl CommitId {
    /// All of its digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// As many digits as people read.
    #[must_use]
    pub fn short(&self) -> &str {
        self.0.get(..12).unwrap_or(&self.0)
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        let hex = matches!(text.len(), 40 | 64) && text.bytes().all(|b| b.is_ascii_hexdigit());
        hex.then(|| Self(text.to_ascii_lowercase()))
    }
}

impl fmt::Display for CommitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Where two histories part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ancestry {
    /// At this commit.
    Base(CommitId),
    /// Nowhere in what is here of them.
    None,
}

/// A file of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileAt {
    /// What it is.
    pub kind: EntryKind,
    /// The hash of its content.
    pub object: String,
}

impl Git {
    /// The commit that `revision` names, if it names one here.
    pub async fn commit(&self, revision: &str) -> Result<Option<CommitId>, GitError> {
        // What begins with a hyphen would be an option, and no revision does.
        if revision.is_empty() || revision.starts_with('-') || revision.contains(['\0', '\n']) {
            return Ok(None);
        }
        let revision = format!("{revision}^{{commit}}");
        let words = ["rev-parse", "--verify", "--quiet", "--end-of-options", &revision];
        let answer = self.ask(&words.map(OsStr::new)).await?;
        match answer.status.code() {
            Some(0) => Ok(CommitId::parse(String::from_utf8_lossy(&answer.stdout).trim())),
            Some(1) => Ok(None),
            // A name that is no revision at all, or a hash of which nothing is here.
            Some(128) if self.is_repository().await? => Ok(None),
            _ => Err(failed("rev-parse", &answer)),
        }
    }

    async fn is_repository(&self) -> Result<bool, GitError> {
        Ok(self.work_tree().await?.is_some())
    }

    /// Where the histories of two commits part.
    pub async fn merge_base(&self, a: &CommitId, b: &CommitId) -> Result<Ancestry, GitError> {
        let answer = self.ask(&["merge-base", a.as_str(), b.as_str()].map(OsStr::new)).await?;
        match answer.status.code() {
            Some(0) => {
                let text = String::from_utf8_lossy(&answer.stdout);
                let base = text.lines().next().and_then(CommitId::parse);
                base.map(Ancestry::Base).ok_or_else(|| GitError::Unexpected {
                    command: "merge-base".to_owned(),
                    answer: text.chars().take(80).collect(),
                })
            }
            Some(1) => Ok(Ancestry::None),
            _ => Err(failed("merge-base", &answer)),
        }
    }

    /// Whether `ancestor` is `commit` or comes before it.
    pub async fn is_ancestor(&self, ancestor: &CommitId, commit: &CommitId) -> Result<bool, GitError> {
        let words = ["merge-base", "--is-ancestor", ancestor.as_str(), commit.as_str()];
        let answer = self.ask(&words.map(OsStr::new)).await?;
        match answer.status.code() {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            _ => Err(failed("merge-base", &answer)),
        }
    }

    /// Whether the beginning of the history was left out when the repository was cloned.
    pub async fn is_shallow(&self) -> Result<bool, GitError> {
        let answer = self.ask(&["rev-parse", "--is-shallow-repository"].map(OsStr::new)).await?;
        if !answer.status.success() {
            return Err(failed("rev-parse", &answer));
        }
        Ok(answer.stdout.trim_ascii() == b"true")
    }

    /// The branch that `reference` stands for, such as `refs/remotes/origin/HEAD`.
    pub async fn symbolic(&self, reference: &str) -> Result<Option<String>, GitError> {
        let answer = self.ask(&["symbolic-ref", "--quiet", reference].map(OsStr::new)).await?;
        match answer.status.code() {
            Some(0) => Ok(Some(String::from_utf8_lossy(&answer.stdout).trim().to_owned())),
            _ => Ok(None),
        }
    }

    /// The entry at `path`, from the root of the repository, as `commit` has it.
    pub async fn entry_at(&self, commit: &CommitId, path: &RepoPath) -> Result<Option<FileAt>, GitError> {
        let words = ["--literal-pathspecs", "ls-tree", "-z", "--full-tree", commit.as_str(), "--"];
        let mut words: Vec<&OsStr> = words.iter().map(OsStr::new).collect();
        words.push(path.as_os_str());
        let stdout = self.ask(&words).await?.whole("ls-tree", u64::MAX)?;
        let Some(head) = stdout.split(|b| *b == b'\t').next().filter(|head| !head.is_empty()) else { return Ok(None) };
        let head = String::from_utf8_lossy(head);
        let mut parts = head.split(' ');
        let (Some(mode), Some(kind), Some(object)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(GitError::Unexpected {
                command: "ls-tree".to_owned(),
                answer: head.chars().take(80).collect(),
            });
        };
        if kind == "tree" {
            return Ok(None);
        }
        Ok(EntryKind::of_mode(mode).map(|kind| FileAt { kind, object: object.to_owned() }))
    }

    /// The content of a file, of at most `most` bytes.
    pub async fn content(&self, file: &FileAt, most: u64) -> Result<Vec<u8>, GitError> {
        self.read(&["cat-file", "blob", &file.object].map(OsStr::new), most).await?.whole("cat-file", most)
    }

    /// The hash that the content of a file of the file system would have, byte for byte.
    pub async fn hash_of(&self, path: &std::path::Path) -> Result<String, GitError> {
        let words = ["hash-object", "--no-filters", "--"].map(OsStr::new);
        let words: Vec<&OsStr> = words.into_iter().chain([path.as_os_str()]).collect();
        let stdout = self.ask(&words).await?.whole("hash-object", u64::MAX)?;
        Ok(String::from_utf8_lossy(&stdout).trim().to_owned())
    }

    /// Whether files that git knows differ from those of `HEAD`.
    pub async fn has_changes(&self) -> Result<bool, GitError> {
        let words = ["diff-index", "--quiet", "--no-ext-diff", "--ignore-submodules=dirty", "HEAD", "--"];
        let answer = self.ask(&words.map(OsStr::new)).await?;
        match answer.status.code() {
            Some(0) => Ok(false),
            Some(1) => Ok(true),
            _ => Err(failed("diff-index", &answer)),
        }
    }
}
