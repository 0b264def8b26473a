//! The private folders of a slot, and how they are removed: by `team` when the slot has ended, by the outer stage when
//! `team` is gone.

use std::ffi::{CString, OsStr, OsString};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, fchmod, openat, unlinkat};
use rustix::io::Errno;

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// A folder that can be removed whatever has been mounted over its path since.
pub(crate) struct Scratch {
    above: OwnedFd,
    /// The folder of the command, shared with other slots.
    shared: OsString,
    /// The folder of this slot.
    own: OsString,
}

impl Scratch {
    /// Takes hold of `FOLDER/SLOT`.
    pub(crate) fn open(path: &Path) -> Option<Self> {
        let shared = path.parent()?;
        Some(Self {
            above: rustix::fs::open(shared.parent()?, FOLDER, Mode::empty()).ok()?,
            shared: shared.file_name()?.to_owned(),
            own: path.file_name()?.to_owned(),
        })
    }

    /// Removes what it can. Links are not followed, and what the agent has forbidden its owner is allowed again first.
    pub(crate) fn remove(&self) {
        if let Ok(shared) = openat(&self.above, &self.shared, FOLDER, Mode::empty()) {
            remove(&shared, &self.own);
        }
    }

    /// The same, and the folder of the command with the last slot's.
    pub(crate) fn remove_with_folder(&self) {
        self.remove();
        unlinkat(&self.above, &self.shared, AtFlags::REMOVEDIR).ok();
    }
}

fn remove(above: &impl AsFd, name: &OsStr) {
    if let Ok(folder) = openat(above, name, FOLDER, Mode::empty()).or_else(|_| permitted(above, name)) {
        fchmod(&folder, Mode::RWXU).ok();
        for (name, kind) in entries(&folder) {
            match kind {
                FileType::Directory => remove(&folder, &name),
                // Not every file system says what a folder's entries are.
                _ if unlinkat(&folder, &name, AtFlags::empty()) == Err(Errno::ISDIR) => remove(&folder, &name),
                _ => {}
            }
        }
    }
    unlinkat(above, name, AtFlags::REMOVEDIR).ok();
}

/// A folder without read permission.
fn permitted(above: &impl AsFd, name: &OsStr) -> rustix::io::Result<OwnedFd> {
    rustix::fs::chmodat(above, name, Mode::RWXU, AtFlags::empty())?;
    openat(above, name, FOLDER, Mode::empty())
}

/// Read to the end first: a folder that changes while it is read may be read in part.
fn entries(folder: &OwnedFd) -> Vec<(OsString, FileType)> {
    let Ok(dir) = Dir::read_from(folder) else { return Vec::new() };
    dir.flatten()
        .map(|entry| (OsString::from_vec(CString::from(entry.file_name()).into_bytes()), entry.file_type()))
        .filter(|(name, _)| name != "." && name != "..")
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_removed_and_what_a_link_leads_to_stays() {
        let place = tempfile::tempdir().unwrap();
        let kept = place.path().join("kept");
        crate::fs::create_dir_all(&kept).unwrap();
        crate::fs::create_exclusive(&kept.join("file")).unwrap();
        let slot = place.path().join("command/slot");
        let locked = slot.join("tmp/locked");
        crate::fs::create_dir_all(&locked.join("deep")).unwrap();
        rustix::fs::symlink(&kept, slot.join("tmp/link")).unwrap();
        rustix::fs::chmod(&locked, Mode::empty()).unwrap();
        let other = place.path().join("command/other");
        crate::fs::create_dir_all(&other).unwrap();

        Scratch::open(&slot).unwrap().remove_with_folder();
        assert!(!slot.exists() && other.exists(), "the folder stays for the other slot");
        Scratch::open(&other).unwrap().remove_with_folder();
        assert!(!place.path().join("command").exists());
        assert!(kept.join("file").exists());
    }
}
