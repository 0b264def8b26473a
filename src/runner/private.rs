//! The folder of one call, for what a program must be told by a file: outside the session, its owner's alone, and gone
//! with the call.

use std::io;
use std::path::Path;

use tempfile::TempDir;

use crate::fs;
use crate::slots::agents::PrivateFile;

/// A folder that is removed with this value, and by the process's supervisor where this program is killed.
pub(crate) struct PrivateFolder(TempDir);

impl PrivateFolder {
    /// Makes an empty one.
    pub(crate) fn create() -> io::Result<Self> {
        let place = std::path::absolute(std::env::temp_dir())?;
        let owner_only = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        tempfile::Builder::new().prefix("team-").permissions(owner_only).tempdir_in(&place).map(Self).map_err(|error| {
            io::Error::new(error.kind(), format!("cannot make a private folder in `{}`: {error}", place.display()))
        })
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Puts `files` into it.
    pub(crate) fn fill(&self, files: &[PrivateFile]) -> io::Result<()> {
        for file in files {
            let (PrivateFile::Folder(name) | PrivateFile::Text(name, _) | PrivateFile::Link(name, _)) = file;
            let path = self.path().join(name);
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
        let folder = PrivateFolder::create().unwrap();
        let path = folder.path().to_owned();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        folder
            .fill(&[
                PrivateFile::Folder("tmp".into()),
                PrivateFile::Text("home/.x/settings.json".into(), "{}".to_owned()),
                PrivateFile::Link("home/.x/users".into(), users.path().to_owned()),
            ])
            .unwrap();
        assert_eq!(fs_err::read_to_string(path.join("home/.x/users/credentials")).unwrap(), "kept");
        drop(folder);
        assert!(!path.exists());
        assert!(users.path().join("credentials").exists());
    }
}
