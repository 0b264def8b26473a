//! The folder of one attempt: what a program must be told by a file, and what it finds in place of shared folders. Outside
//! the session, its owner's alone, and gone with the attempt.

use std::io;
use std::path::{Path, PathBuf};

use crate::fs;
use crate::isolation::Scratch;
use crate::slots::agents::PrivateFile;

/// A folder that is removed with [`Self::remove`], and by the process's supervisor where this program is killed.
///
/// It has a path from the beginning, and is made with the first thing in it: many slots need none.
pub(crate) struct PrivateFolder {
    own: PathBuf,
    program: PathBuf,
    made: bool,
}

impl PrivateFolder {
    /// The folder `name` in the folder of the command, whose path has no symbolic links.
    pub(super) fn new(command: &Path, name: &str) -> Self {
        let own = command.join(name);
        Self { program: own.join("program"), own, made: false }
    }

    /// Where it is or would be.
    pub(crate) fn path(&self) -> &Path {
        &self.own
    }

    /// Where the program's own files are, or would be.
    pub(crate) fn program(&self) -> &Path {
        &self.program
    }

    /// Its path, if it has been made.
    pub(super) fn made(&self) -> Option<&Path> {
        self.made.then_some(self.own.as_path())
    }

    /// Makes it, if it is not there yet.
    pub(super) fn make(&mut self) -> io::Result<()> {
        if !self.made {
            fs::create_private_dir(&self.own)?;
            self.made = true;
        }
        Ok(())
    }

    /// Removes it; nobody may be left who writes into it.
    pub(crate) fn remove(self) {
        if let Some(scratch) = self.made().and_then(Scratch::open) {
            scratch.remove();
        }
    }

    /// Puts the program's files into it.
    pub(crate) fn fill(&mut self, files: &[PrivateFile]) -> io::Result<()> {
        if files.is_empty() {
            return Ok(());
        }
        self.make()?;
        fs::create_private_dir(&self.program)?;
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
        let mut folder = PrivateFolder::new(command.path(), "slot-1");
        let path = folder.program().to_owned();
        folder
            .fill(&[
                PrivateFile::Folder("tmp".into()),
                PrivateFile::Text("home/.x/settings.json".into(), "{}".to_owned()),
                PrivateFile::Link("home/.x/users".into(), users.path().to_owned()),
            ])
            .unwrap();
        for private in [path.as_path(), folder.path()] {
            assert_eq!(private.metadata().unwrap().permissions().mode() & 0o777, 0o700, "{}", private.display());
        }
        assert_eq!(fs_err::read_to_string(path.join("home/.x/users/credentials")).unwrap(), "kept");
        let own = folder.path().to_owned();
        folder.remove();
        assert!(!own.exists() && command.path().exists());
        assert!(users.path().join("credentials").exists());
    }

    #[test]
    fn a_program_without_files_of_its_own_costs_no_folder() {
        let command = tempfile::tempdir().unwrap();
        let mut folder = PrivateFolder::new(command.path(), "slot-1");
        folder.fill(&[]).unwrap();
        assert_eq!((folder.made(), folder.path().exists()), (None, false));
        folder.remove();
    }
}
