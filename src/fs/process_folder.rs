//! Temporary folders of one process: gone with it, and where it was killed, known to be nobody's.
//!
//! The process holds the kernel lock of the folder itself. Who removes one that was left behind takes that lock first, so
//! that two do not, and nobody removes one that is in use.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::folder::{EntryKind, Folder};

/// How often another name is tried for a folder that is taken away while it is made.
const ATTEMPTS: usize = 16;

/// What a process has a temporary folder for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FolderUse {
    /// The private folders of its slots.
    Slots,
    /// The self-test of the isolation.
    Canary,
    /// The session of a check that asks.
    Doctor,
    /// What git makes on the way to a snapshot.
    Git,
}

impl FolderUse {
    /// Every purpose.
    pub const ALL: [Self; 4] = [Self::Slots, Self::Canary, Self::Doctor, Self::Git];

    /// How the folder's name begins.
    #[must_use]
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::Slots => "team-slots-",
            Self::Canary => "team-canary-",
            Self::Doctor => "team-doctor-",
            Self::Git => "team-git-",
        }
    }
}

/// A temporary folder that goes with its process.
#[derive(Debug)]
pub struct ProcessFolder {
    // Removed before the lock is given back.
    dir: TempDir,
    _lock: Folder,
}

impl ProcessFolder {
    /// Makes one below the system's temporary folder, for its owner alone. Its path has no symbolic links, which is what
    /// mounts are told by.
    pub fn make(purpose: FolderUse) -> io::Result<Self> {
        for _ in 0..ATTEMPTS {
            let dir = super::temporary_dir(purpose.prefix())?;
            let Ok(lock) = Folder::open(dir.path()) else { continue };
            // Where a folder cannot be locked nobody can take it for abandoned either.
            if lock.lock().unwrap_or(true) && lock.is_at(dir.path()) {
                return Ok(Self { dir, _lock: lock });
            }
        }
        Err(io::Error::other(format!("every folder `{}..` was taken away at once", purpose.prefix())))
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.dir.path()
    }
}

/// A temporary folder of a process that is gone, locked.
#[derive(Debug)]
pub struct AbandonedFolder {
    above: Folder,
    name: OsString,
    folder: Folder,
}

impl AbandonedFolder {
    /// The temporary folders of this user's processes, in use or not. A link by such a name is none.
    pub fn candidates() -> io::Result<Vec<PathBuf>> {
        let of_a_process = |name: &OsString| {
            FolderUse::ALL.iter().any(|purpose| name.as_encoded_bytes().starts_with(purpose.prefix().as_bytes()))
        };
        own_temporary_folders(of_a_process)
    }

    /// Whether a living process has the folder at `path`; an absent one has none.
    pub fn is_in_use(path: &Path) -> io::Result<bool> {
        match Folder::open(path) {
            Ok(folder) => folder.is_locked(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Takes the folder at `path`; `None` where a living process has it, or somebody has removed it meanwhile.
    pub fn claim(path: &Path) -> io::Result<Option<Self>> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Ok(None) };
        let above = Folder::open(parent)?;
        let folder = match above.inside(name) {
            Ok(folder) => folder,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let claimed = folder.lock()? && folder.is_at(path);
        Ok(claimed.then(|| Self { above, name: name.to_owned(), folder }))
    }

    /// How much is in it.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.folder.bytes()
    }

    /// Removes it.
    pub fn remove(self) -> io::Result<()> {
        self.folder.clear().and(self.above.remove_empty(&self.name))
    }
}

/// The folders of this user right below the system's temporary folder whose names are wanted, in order.
pub fn own_temporary_folders(wanted: impl Fn(&OsString) -> bool) -> io::Result<Vec<PathBuf>> {
    let place = super::temporary_place()?;
    let above = Folder::open(&place)?;
    let user = rustix::process::geteuid().as_raw();
    let mut found: Vec<PathBuf> = above
        .entries()?
        .into_iter()
        .filter(|(name, kind)| *kind == EntryKind::Folder && wanted(name))
        .filter(|(name, _)| above.inside(name).and_then(|folder| folder.owner()).is_ok_and(|owner| owner == user))
        .map(|(name, _)| place.join(name))
        .collect();
    found.sort_unstable();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_in_use_is_not_taken_and_one_left_behind_is_taken_once() {
        let folder = ProcessFolder::make(FolderUse::Canary).unwrap();
        let path = folder.path().to_owned();
        assert!(AbandonedFolder::candidates().unwrap().contains(&path));
        assert!(AbandonedFolder::is_in_use(&path).unwrap() && AbandonedFolder::claim(&path).unwrap().is_none());
        let ProcessFolder { dir, _lock } = folder;
        // As by `kill -9`.
        drop(_lock);
        let left = dir.keep();
        super::super::create_dir_all(&left.join("slot-0")).unwrap();
        assert!(!AbandonedFolder::is_in_use(&left).unwrap());
        let first = AbandonedFolder::claim(&left).unwrap().unwrap();
        assert!(AbandonedFolder::claim(&left).unwrap().is_none(), "another has it");
        first.remove().unwrap();
        assert!(!left.exists() && AbandonedFolder::claim(&left).unwrap().is_none());
    }

    #[test]
    fn it_goes_with_its_process() {
        let folder = ProcessFolder::make(FolderUse::Doctor).unwrap();
        let path = folder.path().to_owned();
        drop(folder);
        assert!(!path.exists());
    }
}
