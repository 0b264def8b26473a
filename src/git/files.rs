//! Which files of a folder are whose, as git sees it.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use super::call::{Git, GitError};

/// The most bytes of a list: about a million files.
const LIST_BYTES: u64 = 256 * 1024 * 1024;

/// The mode of an entry that is a repository of its own.
const SUBMODULE: &[u8] = b"160000 ";

/// A path that git lists, relative to the folder that it was asked about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Listed {
    /// A file or a link.
    File(PathBuf),
    /// The folder of another repository: a submodule, or one that lies in this one's work tree.
    Repository(PathBuf),
}

impl Git {
    /// What is tracked below the folder, whether it is there now or not; ordered, each once.
    pub async fn tracked(&self) -> Result<Vec<Listed>, GitError> {
        self.tracked_below(&["--cached", "--stage"]).await
    }

    /// The same of the one file of this name in the folder, in capitals or not: some file systems do not tell them apart.
    pub async fn tracked_as(&self, name: &str) -> Result<Vec<Listed>, GitError> {
        let only = format!(":(icase,literal){name}");
        self.tracked_below(&["--cached", "--stage", "--", &only]).await
    }

    async fn tracked_below(&self, which: &[&str]) -> Result<Vec<Listed>, GitError> {
        let output = self.list(which).await?;
        let entry = |line: &[u8]| {
            // `MODE HASH STAGE<TAB>PATH`; a file in conflict has a line for each side.
            let tab = line.iter().position(|byte| *byte == b'\t')?;
            let path = PathBuf::from(OsStr::from_bytes(&line[tab + 1..]));
            Some(if line.starts_with(SUBMODULE) { Listed::Repository(path) } else { Listed::File(path) })
        };
        let mut listed: Vec<Listed> = output.split(|byte| *byte == 0).filter_map(entry).collect();
        listed.sort();
        listed.dedup();
        Ok(listed)
    }

    /// What is neither tracked nor ignored below the folder.
    pub async fn untracked(&self) -> Result<Vec<Listed>, GitError> {
        let output = self.list(&["--others", "--exclude-standard"]).await?;
        let entry = |path: &[u8]| match path.strip_suffix(b"/") {
            Some(folder) => Listed::Repository(PathBuf::from(OsStr::from_bytes(folder))),
            None => Listed::File(PathBuf::from(OsStr::from_bytes(path))),
        };
        let mut listed: Vec<Listed> =
            output.split(|byte| *byte == 0).filter(|path| !path.is_empty()).map(entry).collect();
        listed.sort();
        Ok(listed)
    }

    async fn list(&self, which: &[&str]) -> Result<Vec<u8>, GitError> {
        let arguments: Vec<&OsStr> = ["ls-files", "-z"].iter().chain(which).map(OsStr::new).collect();
        self.read(&arguments, LIST_BYTES).await?.whole("ls-files", LIST_BYTES)
    }
}
