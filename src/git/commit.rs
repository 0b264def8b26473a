//! Files checked out, staged and committed, in repositories and lists of files of `team`'s own. No hook runs, nobody is
//! asked, and no commit is signed.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fmt;

use super::call::{Git, GitError};
use super::diff::{Patch, RepoPath};
use super::revision::CommitId;

/// The most bytes of a list of files.
const LIST_BYTES: u64 = 64 * 1024 * 1024;

/// Who makes commits.
const NAME: &str = "team";
/// Nobody's address.
const ADDRESS: &str = "team@localhost";

/// The hash of what a commit holds.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TreeId(String);

impl TreeId {
    /// All of its digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TreeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a reference must be before it is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected<'a> {
    /// There is none.
    Absent,
    /// It names this commit.
    Commit(&'a CommitId),
}

/// A commit to be made.
#[derive(Debug, Clone, Copy)]
pub struct NewCommit<'a> {
    /// What it holds.
    pub tree: &'a TreeId,
    /// The commit before it.
    pub parent: &'a CommitId,
    /// What is said about it; git gets it as it is.
    pub message: &'a str,
    /// When, in seconds since 1970.
    pub seconds: i64,
}

impl Git {
    /// Makes the listed files those of `commit`: missing ones are written, others overwritten, and those of the list that
    /// it does not have removed. What the list does not know stays.
    pub async fn check_out(&self, commit: &CommitId) -> Result<(), GitError> {
        self.act(&["read-tree", "--reset", "-u", commit.as_str()].map(OsStr::new), None).await.map(drop)
    }

    /// Makes the list that of `commit`; no file is touched.
    pub async fn list_as(&self, commit: &CommitId) -> Result<(), GitError> {
        self.act(&["read-tree", commit.as_str()].map(OsStr::new), None).await.map(drop)
    }

    /// The same for a list of files that were looked at: what is known of those that stay as listed is kept, so that
    /// [`Self::differing`] need not read them all.
    pub async fn list_again_as(&self, commit: &CommitId) -> Result<(), GitError> {
        self.act(&["read-tree", "--reset", commit.as_str()].map(OsStr::new), None).await.map(drop)
    }

    /// Files whose listed content is not that of `commit`, whatever the folder has; in order.
    pub async fn listed_otherwise(&self, commit: &CommitId) -> Result<Vec<RepoPath>, GitError> {
        let words = ["diff-index", "--cached", "--name-only", "-z", "--no-renames", "--ignore-submodules=none"];
        let words: Vec<&OsStr> = words.into_iter().chain([commit.as_str(), "--"]).map(OsStr::new).collect();
        let list = self.read(&words, LIST_BYTES).await?.whole("diff-index", LIST_BYTES)?;
        Ok(list.split(|byte| *byte == 0).filter(|path| !path.is_empty()).map(RepoPath::new).collect())
    }

    /// Lists these files as `commit` has them; one that it does not have is taken out.
    pub async fn unstage(&self, paths: &[RepoPath], commit: &CommitId) -> Result<(), GitError> {
        if paths.is_empty() {
            return Ok(());
        }
        let words = ["--literal-pathspecs", "reset", "--quiet", "--pathspec-from-file=-", "--pathspec-file-nul"];
        let words: Vec<&OsStr> = words.into_iter().chain([commit.as_str()]).map(OsStr::new).collect();
        self.act(&words, Some(&separated(paths))).await.map(drop)
    }

    /// Looks at the files again, so that those with the content of the list are known to be unchanged.
    pub async fn refresh(&self) -> Result<(), GitError> {
        // Its exit code says that something differs, which is no error.
        self.ask(&["update-index", "-q", "--refresh"].map(OsStr::new)).await.map(drop)
    }

    /// Files that differ from the list, are missing, or are neither listed nor ignored; in order, each once. The name of a
    /// folder that is another repository ends with `/`.
    pub async fn differing(&self) -> Result<Vec<RepoPath>, GitError> {
        let words = ["ls-files", "-z", "--modified", "--deleted", "--others", "--exclude-standard"].map(OsStr::new);
        let list = self.read(&words, LIST_BYTES).await?.whole("ls-files", LIST_BYTES)?;
        let paths: BTreeSet<RepoPath> =
            list.split(|byte| *byte == 0).filter(|path| !path.is_empty()).map(RepoPath::new).collect();
        Ok(paths.into_iter().collect())
    }

    /// Whether a merge is going on in the list: it has several sides of one file.
    pub async fn is_unmerged(&self) -> Result<bool, GitError> {
        let words = ["ls-files", "-z", "--unmerged"].map(OsStr::new);
        Ok(!self.read(&words, LIST_BYTES).await?.whole("ls-files", LIST_BYTES)?.is_empty())
    }

    /// Takes these files into the list as they are now; one that is gone is taken out of it.
    pub async fn stage(&self, paths: &[RepoPath]) -> Result<(), GitError> {
        if paths.is_empty() {
            return Ok(());
        }
        let words = ["--literal-pathspecs", "add", "--all", "--force", "--pathspec-from-file=-", "--pathspec-file-nul"];
        self.act(&words.map(OsStr::new), Some(&separated(paths))).await.map(drop)
    }

    /// Applies a patch to the list and to no file. All of it or, with git's reason, nothing.
    ///
    /// The numbers of lines in its headings are not relied on: models count badly.
    pub async fn apply_to_list(&self, patch: &[u8]) -> Result<(), GitError> {
        let words = ["apply", "--cached", "--recount", "--whitespace=nowarn", "-"].map(OsStr::new);
        self.act(&words, Some(patch)).await.map(drop)
    }

    /// What the list holds, as an object.
    pub async fn write_tree(&self) -> Result<TreeId, GitError> {
        self.act(&["write-tree"].map(OsStr::new), None).await.map(TreeId)
    }

    /// What a commit holds.
    pub async fn tree_of(&self, commit: &CommitId) -> Result<TreeId, GitError> {
        let tree = format!("{commit}^{{tree}}");
        self.act(&["rev-parse", "--verify", "--quiet", "--end-of-options", &tree].map(OsStr::new), None)
            .await
            .map(TreeId)
    }

    /// Makes a commit, and no reference to it. The same is the same commit, whenever it is made.
    pub async fn commit_tree(&self, new: NewCommit<'_>) -> Result<CommitId, GitError> {
        // Without the sign a small number is taken for something else than seconds.
        let date = format!("@{} +0000", new.seconds);
        let mut git = self.clone();
        for (name, value) in [
            ("GIT_AUTHOR_NAME", NAME),
            ("GIT_AUTHOR_EMAIL", ADDRESS),
            ("GIT_AUTHOR_DATE", &date),
            ("GIT_COMMITTER_NAME", NAME),
            ("GIT_COMMITTER_EMAIL", ADDRESS),
            ("GIT_COMMITTER_DATE", &date),
        ] {
            git = git.with(name, value);
        }
        let words = ["commit-tree", "--no-gpg-sign", "-p", new.parent.as_str(), "-F", "-", new.tree.as_str()];
        let answer = git.act(&words.map(OsStr::new), Some(new.message.as_bytes())).await?;
        CommitId::parse(&answer).ok_or_else(|| GitError::Unexpected {
            command: "commit-tree".to_owned(),
            answer: answer.chars().take(80).collect(),
        })
    }

    /// Has a reference name another commit, if it is what is expected.
    pub async fn update_reference(
        &self,
        reference: &str,
        commit: &CommitId,
        expected: Expected<'_>,
    ) -> Result<(), GitError> {
        let nothing = "0".repeat(commit.as_str().len());
        let old = match expected {
            Expected::Absent => nothing.as_str(),
            Expected::Commit(commit) => commit.as_str(),
        };
        let words = ["update-ref", "--no-deref", "-m", "team", reference, commit.as_str(), old];
        self.act(&words.map(OsStr::new), None).await.map(drop)
    }

    /// Has `HEAD` name a commit, and no branch.
    pub async fn detach(&self, commit: &CommitId) -> Result<(), GitError> {
        self.act(&["update-ref", "--no-deref", "HEAD", commit.as_str()].map(OsStr::new), None).await.map(drop)
    }

    /// Whether `name` can be the name of a branch.
    pub async fn is_branch_name(&self, name: &str) -> Result<bool, GitError> {
        let answer = self.ask(&["check-ref-format", "--branch", name].map(OsStr::new)).await?;
        Ok(answer.status.success())
    }

    /// How one commit differs from another, all files in one text that `git apply` takes, of at most `most` bytes.
    pub async fn whole_patch(&self, from: &CommitId, to: &CommitId, most: u64) -> Result<Patch, GitError> {
        let words = ["diff-tree", "-r", "-p", "-M", "--binary", "--full-index", "--no-color", "--no-ext-diff"];
        let more = ["--no-textconv", "--no-relative", "--submodule=short", "--ignore-submodules=none"];
        let last = ["--src-prefix=a/", "--dst-prefix=b/", from.as_str(), to.as_str(), "--"];
        let words: Vec<&OsStr> = words.into_iter().chain(more).chain(last).map(OsStr::new).collect();
        let answer = self.read(&words, most).await?;
        if answer.cut {
            return Ok(Patch { bytes: answer.stdout, cut: true });
        }
        Ok(Patch { bytes: answer.whole("diff-tree", most)?, cut: false })
    }
}

/// Paths as git reads them with `--pathspec-file-nul`.
fn separated(paths: &[RepoPath]) -> Vec<u8> {
    let mut input = Vec::new();
    for path in paths {
        input.extend_from_slice(path.as_bytes());
        input.push(0);
    }
    input
}
