//! The private folders of a slot, and how they are removed: by `team` when the slot has ended, by the outer stage when
//! `team` is gone.

use std::ffi::OsString;
use std::path::Path;

use crate::fs::Folder;

/// A folder that can be removed whatever has been mounted over its path since.
pub(crate) struct Scratch {
    above: Folder,
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
            above: Folder::open(shared.parent()?).ok()?,
            shared: shared.file_name()?.to_owned(),
            own: path.file_name()?.to_owned(),
        })
    }

    /// Removes what it can. Links are not followed, and what the agent has forbidden its owner is allowed again first.
    pub(crate) fn remove(&self) {
        if let Ok(shared) = self.above.inside(&self.shared) {
            shared.remove_tree(&self.own).ok();
        }
    }

    /// The same, and the folder of the command with the last slot's.
    pub(crate) fn remove_with_folder(&self) {
        self.remove();
        self.above.remove_empty(&self.shared).ok();
    }
}

#[cfg(test)]
mod tests {
    use rustix::fs::Mode;

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
