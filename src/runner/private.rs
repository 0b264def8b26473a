//! The folder of one attempt: what a program must be told by a file, and what it finds in place of shared folders. Outside
//! the session, its owner's alone, and gone with the attempt.

use std::io;
use std::path::{Path, PathBuf};

use crate::fs;
use crate::isolation::Scratch;
use crate::slots::agents::PrivateFile;

/// A folder that is removed with [`Self::remove`], and by the process's supervisor where this program is killed.
pub(crate) struct PrivateFolder {
    own: PathBuf,
    program: PathBuf,
    scratch: Option<Scratch>,
}

impl PrivateFolder {
    /// Makes one in the folder of the command; its path has no symbolic links.
    pub(super) fn create(command: &Path) -> io::Result<Self> {
        let own = tempfile::Builder::new().prefix("slot-").tempdir_in(command)?.keep();
        let program = own.join("program");
        fs::create_private_dir(&program)?;
        Ok(Self { scratch: Scratch::open(&own), own, program })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.own
    }

    /// Where the program's own files are.
    pub(crate) fn program(&self) -> &Path {
        &self.program
    }

    /// Removes it; nobody may be left who writes into it.
    pub(crate) fn remove(self) {
        if let Some(scratch) = self.scratch {
            scratch.remove();
        }
    }

    /// Puts the program's files into it.
    pub(crate) fn fill(&self, files: &[PrivateFile]) -> io::Result<()> {
        for file in files {
            let (PrivateFile::Folder(name) | PrivateFile::Text(name, _) | PrivateFile::Link(name, _)) = file;
            let path = self.program.join(name);
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)?;
            }
            match file {
                PrivateFile::Folder(_) => fs::ensure_dir(&path)?,
                PrivateFile::Text(_, text) => io::Write::write_all(&mut fs::create_exclusive(&path)?, text.as_bytes())?,
                PrivateFile::Link(_, target) => fs::link(target, &path)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn it_is_its_owners_alone_and_goes_without_what_it_links_to() {
        let users = tempfile::tempdir().unwrap();
        fs::replace(&users.path().join("credentials"), b"kept").unwrap();
        let command = tempfile::tempdir().unwrap();
        let folder = PrivateFolder::create(command.path()).unwrap();
        let path = folder.program().to_owned();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        folder
            .fill(&[
                PrivateFile::Folder("tmp".into()),
                PrivateFile::Text("home/.x/settings.json".into(), "{}".to_owned()),
                PrivateFile::Link("home/.x/users".into(), users.path().to_owned()),
            ])
            .unwrap();
        assert_eq!(fs_err::read_to_string(path.join("home/.x/users/credentials")).unwrap(), "kept");
        let own = folder.path().to_owned();
        folder.remove();
        assert!(!own.exists() && command.path().exists());
        assert!(users.path().join("credentials").exists());
    }
}
