//! The workspace of a slot: the snapshot itself where nothing can change it, else a copy of the slot's own.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::private::PrivateFolder;
use crate::fs::{self, Permissions, Tree};
use crate::isolation::Mechanism;

/// A snapshot that slots work in, and what it holds.
#[derive(Debug)]
pub struct Workspace {
    folder: PathBuf,
    tree: Tree,
    /// How many comparisons of the shared snapshot were begun.
    begun: AtomicU64,
    /// The number of the last one that ended, from 1, and what it found. Held while one runs, so that only one does.
    compared: Mutex<(u64, Option<String>)>,
}

/// Where one slot finds it.
#[derive(Debug, Clone)]
pub(crate) struct Placed {
    /// Without links.
    pub(crate) directory: PathBuf,
    /// What of its permissions must stay.
    permissions: Permissions,
}

impl Workspace {
    /// The snapshot in `folder`, which holds `tree`.
    #[must_use]
    pub const fn new(folder: PathBuf, tree: Tree) -> Self {
        Self { folder, tree, begun: AtomicU64::new(0), compared: Mutex::new((0, None)) }
    }

    /// Where it lies.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where one slot finds it, or will.
    pub(crate) fn directory(&self, mechanism: Mechanism, private: &PrivateFolder) -> io::Result<PathBuf> {
        match mechanism {
            Mechanism::Namespaces { .. } => self.folder.canonicalize(),
            Mechanism::Landlock | Mechanism::TreeWalk => Ok(private.path().join("workspace")),
        }
    }

    /// Makes it ready for one slot. Where mounts keep it as it is, all slots share it; elsewhere a program could at least
    /// change permissions, and what one of them does another must not find.
    pub(crate) fn place(&self, mechanism: Mechanism, private: &mut PrivateFolder) -> io::Result<Placed> {
        let directory = self.directory(mechanism, private)?;
        match mechanism {
            Mechanism::Namespaces { .. } => Ok(Placed { directory, permissions: Permissions::Executable }),
            Mechanism::Landlock | Mechanism::TreeWalk => {
                private.make()?;
                fs::copy_frozen(&self.folder, &self.tree, &directory)?;
                Ok(Placed { directory, permissions: Permissions::Frozen })
            }
        }
    }

    /// What is not as it was when the snapshot was taken, in words.
    pub(crate) fn changed(&self, placed: &Placed) -> Option<String> {
        if placed.permissions == Permissions::Frozen {
            return self.compare(placed);
        }
        // Slots that come while one comparison runs share the next: reading all of it once for each would take long.
        let before = self.begun.load(Ordering::SeqCst);
        let mut compared = self.compared.lock().unwrap_or_else(PoisonError::into_inner);
        if compared.0 <= before {
            let number = self.begun.fetch_add(1, Ordering::SeqCst) + 1;
            *compared = (number, self.compare(placed));
        }
        compared.1.clone()
    }

    fn compare(&self, placed: &Placed) -> Option<String> {
        let shown = |path: &Path| path.display().to_string();
        self.tree
            .changed_in(&placed.directory, placed.permissions)
            .unwrap_or_else(|error| Some(format!("it cannot be read: {error}")))
            // Where it lies is of no use to anybody, and is gone with the slot.
            .map(|what| what.replace(&shown(&placed.directory), "the workspace"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_that_come_at_the_same_time_share_a_comparison_that_began_after_they_came() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("shared");
        fs::create_dir_all(&folder).unwrap();
        fs::replace(&folder.join("a"), b"one").unwrap();
        let workspace = Workspace::new(folder.clone(), Tree::read(&folder).unwrap());
        let placed = Placed { directory: folder.clone(), permissions: Permissions::Executable };
        assert_eq!(workspace.changed(&placed), None);
        std::thread::scope(|scope| {
            let held = workspace.compared.lock().unwrap();
            let waiting: Vec<_> = (0..8).map(|_| scope.spawn(|| workspace.changed(&placed))).collect();
            fs::replace(&folder.join("a"), b"two").unwrap();
            drop(held);
            for slot in waiting {
                assert_eq!(slot.join().unwrap().as_deref(), Some("`a` was changed"));
            }
        });
        fs::replace(&folder.join("a"), b"one").unwrap();
        assert_eq!(workspace.changed(&placed), None, "what was found before is not taken for what is");
    }
}
