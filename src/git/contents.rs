//! What a commit holds, listed and written out elsewhere than in a work tree of the user's.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::call::{Git, GitError};
use super::diff::{EntryKind, RepoPath};
use super::revision::CommitId;

/// The most bytes of a list: about a million files.
const LIST_BYTES: u64 = 256 * 1024 * 1024;

/// A file, link or submodule of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    /// Where it is.
    pub path: RepoPath,
    /// What it is.
    pub kind: EntryKind,
    /// Its size in bytes; 0 of a submodule.
    pub bytes: u64,
}

impl Git {
    /// Everything that `commit` holds, in git's order.
    pub async fn contents(&self, commit: &CommitId) -> Result<Vec<Content>, GitError> {
        let words = ["ls-tree", "-r", "-l", "-z", "--full-tree", commit.as_str()].map(OsStr::new);
        let list = self.read(&words, LIST_BYTES).await?.whole("ls-tree", LIST_BYTES)?;
        let lines = list.split(|byte| *byte == 0).filter(|line| !line.is_empty());
        let contents: Option<Vec<Content>> = lines.map(parse).collect();
        contents.ok_or_else(|| GitError::Unexpected {
            command: "ls-tree".to_owned(),
            answer: String::from_utf8_lossy(&list).chars().filter(|c| !c.is_control()).take(80).collect(),
        })
    }

    /// The path of everything that `commit` holds, in git's order. No file is looked at: a clone may lack them.
    pub async fn paths_of(&self, commit: &CommitId) -> Result<Vec<RepoPath>, GitError> {
        let words = ["ls-tree", "-r", "-z", "--name-only", "--full-tree", commit.as_str()].map(OsStr::new);
        let list = self.read(&words, LIST_BYTES).await?.whole("ls-tree", LIST_BYTES)?;
        Ok(list.split(|byte| *byte == 0).filter(|path| !path.is_empty()).map(RepoPath::new).collect())
    }

    /// The repository's list of files, which need not exist.
    pub async fn list_file(&self) -> Result<PathBuf, GitError> {
        let words = ["rev-parse", "--path-format=absolute", "--git-path", "index"].map(OsStr::new);
        let answer = self.ask(&words).await?.whole("rev-parse", u64::MAX)?;
        let path = answer.strip_suffix(b"\n").unwrap_or(&answer);
        Ok(PathBuf::from(OsStr::from_bytes(path)))
    }

    /// Writes these files of `commit` into the folder `into`, which must exist. `index` is a file that git makes on the
    /// way; the repository's own list of files is not touched.
    pub async fn write_out(
        &self,
        commit: &CommitId,
        paths: &[RepoPath],
        index: &Path,
        into: &Path,
    ) -> Result<(), GitError> {
        let git = self.with("GIT_INDEX_FILE", index).with("GIT_LFS_SKIP_SMUDGE", "1");
        git.act(&["read-tree", commit.as_str()].map(OsStr::new), None).await?;
        let mut prefix = OsStr::new("--prefix=").to_owned();
        prefix.push(into);
        prefix.push("/");
        let words = ["checkout-index", "--quiet", "--force", "-z", "--stdin"].map(OsStr::new);
        let words: Vec<&OsStr> = words.into_iter().chain([prefix.as_os_str()]).collect();
        let input: Vec<u8> = paths.iter().flat_map(|path| path.as_bytes().iter().copied().chain([0])).collect();
        // A repository without files of its own has no other folder to be in.
        git.with("GIT_WORK_TREE", into).act(&words, Some(&input)).await.map(drop)
    }
}

/// `MODE KIND HASH SIZE<TAB>PATH`; the size is padded, and `-` of a submodule.
fn parse(line: &[u8]) -> Option<Content> {
    let tab = line.iter().position(|byte| *byte == b'\t')?;
    let head = std::str::from_utf8(&line[..tab]).ok()?;
    let mut parts = head.split_ascii_whitespace();
    let kind = EntryKind::of_mode(parts.next()?)?;
    let bytes = parts.nth(2)?.parse().unwrap_or(0);
    Some(Content { path: RepoPath::new(&line[tab + 1..]), kind, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_links_and_submodules_are_told_apart() {
        let shown = |line: &[u8]| parse(line).map(|found| format!("{:?} {} {}", found.kind, found.bytes, found.path));
        assert_eq!(shown(b"100644 blob ab12      12\ta b").unwrap(), "File 12 a b");
        assert_eq!(shown(b"120000 blob ab12       3\tl").unwrap(), "Link 3 l");
        assert_eq!(shown(b"160000 commit ab12       -\tsub").unwrap(), "Submodule 0 sub");
        assert_eq!(shown(b"nonsense"), None);
    }
}
