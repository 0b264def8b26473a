//! What changed between two commits, file by file.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use super::call::{Git, GitError};
use super::revision::CommitId;

/// The most bytes of a list of changed files: about a hundred thousand of them.
const LIST_BYTES: u64 = 32 * 1024 * 1024;

/// A path from the root of a repository; any bytes but NUL.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RepoPath(OsString);

impl RepoPath {
    /// Of these bytes.
    #[must_use]
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self(OsString::from_vec(bytes.into()))
    }

    /// As the system takes it.
    #[must_use]
    pub fn as_os_str(&self) -> &OsStr {
        &self.0
    }

    /// As a path.
    #[must_use]
    pub fn as_path(&self) -> &Path {
        Path::new(&self.0)
    }

    /// Its bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    /// The part after the last `/`.
    #[must_use]
    pub fn name(&self) -> &[u8] {
        let bytes = self.as_bytes();
        bytes.rsplit(|b| *b == b'/').next().unwrap_or(bytes)
    }
}

impl fmt::Debug for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for RepoPath {
    /// Bytes that are no UTF-8 as `\xNN`, and so are control characters.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write as _;
        for chunk in self.as_bytes().utf8_chunks() {
            for c in chunk.valid().chars() {
                if c.is_control() { write!(f, "\\x{:02x}", u32::from(c))? } else { f.write_char(c)? }
            }
            for byte in chunk.invalid() {
                write!(f, "\\x{byte:02x}")?;
            }
        }
        Ok(())
    }
}

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It is new.
    Added,
    /// It is gone.
    Deleted,
    /// Its content or its mode is another.
    Modified,
    /// It has another name.
    Renamed,
    /// It is a file turned into a link, or the like.
    TypeChanged,
}

/// What a path of a repository holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A file.
    File,
    /// A symbolic link.
    Link,
    /// Another repository, of which only a commit is named.
    Submodule,
}

impl EntryKind {
    /// Of a mode as git writes it; `None` for a path that does not exist.
    pub(super) fn of_mode(mode: &str) -> Option<Self> {
        match mode {
            "000000" => None,
            "120000" => Some(Self::Link),
            "160000" => Some(Self::Submodule),
            _ => Some(Self::File),
        }
    }
}

/// A file that changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedFile {
    /// Its path, the new one where it has two.
    pub path: RepoPath,
    /// The path that it had.
    pub old_path: Option<RepoPath>,
    /// What became of it.
    pub change: Change,
    /// What it was.
    pub old: Option<EntryKind>,
    /// What it is.
    pub new: Option<EntryKind>,
}

impl ChangedFile {
    /// Both of its paths, where it has two.
    pub fn paths(&self) -> impl Iterator<Item = &RepoPath> {
        self.old_path.iter().chain([&self.path])
    }

    /// Whether it is or was another repository.
    #[must_use]
    pub fn is_submodule(&self) -> bool {
        [self.old, self.new].contains(&Some(EntryKind::Submodule))
    }
}

/// How a file changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patch {
    /// The text, or its beginning.
    pub bytes: Vec<u8>,
    /// Whether there is more.
    pub cut: bool,
}

impl Git {
    /// The files that differ between two commits, in git's order.
    pub async fn changed_files(&self, from: &CommitId, to: &CommitId) -> Result<Vec<ChangedFile>, GitError> {
        let words = ["diff-tree", "-r", "-z", "--raw", "-M", "--no-ext-diff", "--no-textconv"];
        let words: Vec<&OsStr> = words
            .into_iter()
            .chain(["--no-relative", "--ignore-submodules=none", from.as_str(), to.as_str(), "--"])
            .map(OsStr::new)
            .collect();
        let list = self.read(&words, LIST_BYTES).await?.whole("diff-tree", LIST_BYTES)?;
        parse(&list).ok_or_else(|| GitError::Unexpected {
            command: "diff-tree".to_owned(),
            answer: String::from_utf8_lossy(&list).chars().filter(|c| !c.is_control()).take(80).collect(),
        })
    }
}

/// The records of `--raw -z`: `:modes hashes STATUS`, then one path, or two for a rename.
fn parse(list: &[u8]) -> Option<Vec<ChangedFile>> {
    let mut fields = list.split(|b| *b == 0);
    let mut files = Vec::new();
    while let Some(head) = fields.next() {
        if head.is_empty() {
            // After the last record.
            return fields.next().is_none().then_some(files);
        }
        let head = std::str::from_utf8(head).ok()?.strip_prefix(':')?;
        let mut parts = head.split(' ');
        let (old, new) = (parts.next()?, parts.next()?);
        let status = parts.nth(2)?.chars().next()?;
        let mut path = || fields.next().filter(|path| !path.is_empty()).map(RepoPath::new);
        let first = path()?;
        let (old_path, path) = match status {
            'R' | 'C' => (Some(first), path()?),
            _ => (None, first),
        };
        let change = match status {
            'A' | 'C' => Change::Added,
            'D' => Change::Deleted,
            'M' => Change::Modified,
            'R' => Change::Renamed,
            'T' => Change::TypeChanged,
            _ => return None,
        };
        // The file that was copied did not change.
        let old_path = old_path.filter(|_| status == 'R');
        files.push(ChangedFile { path, old_path, change, old: EntryKind::of_mode(old), new: EntryKind::of_mode(new) });
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_record_is_read() {
        let list = b":100644 100644 a b M\0a b\tc\0:000000 120000 0 b A\0l\0:160000 000000 a 0 D\0sub\0\
            :100644 100755 a b R087\0old\0d\xff/new\0:100644 120000 a b T\0t\0";
        let files = parse(list).unwrap();
        let shown: Vec<String> = files
            .iter()
            .map(|f| format!("{:?} {:?} {:?} {:?} {}", f.change, f.old, f.new, f.old_path, f.path))
            .collect();
        insta::assert_snapshot!(shown.join("\n"), @r#"
        Modified Some(File) Some(File) None a b\x09c
        Added None Some(Link) None l
        Deleted Some(Submodule) None None sub
        Renamed Some(File) Some(File) Some("old") d\xff/new
        TypeChanged Some(File) Some(Link) None t
        "#);
        assert_eq!(parse(b""), Some(Vec::new()));
        assert_eq!(parse(b"nonsense\0"), None);
        assert_eq!(parse(b":100644 100644 a b M\0"), None);
    }
}
