//! The workspace of a slot: the snapshot itself where nothing can change it, else a copy of the slot's own.

use std::io;
use std::path::{Path, PathBuf};

use super::private::PrivateFolder;
use crate::fs::{self, Permissions, Tree};
use crate::isolation::Mechanism;

/// A snapshot that slots work in, and what it holds.
#[derive(Debug)]
pub struct Workspace {
    folder: PathBuf,
    tree: Tree,
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
        Self { folder, tree }
    }

    /// Makes it ready for one slot. Where mounts keep it as it is, all slots share it; elsewhere a program could at least
    /// change permissions, and what one of them does another must not find.
    pub(crate) fn place(&self, mechanism: Mechanism, private: &mut PrivateFolder) -> io::Result<Placed> {
        match mechanism {
            Mechanism::Namespaces { .. } => {
                Ok(Placed { directory: self.folder.canonicalize()?, permissions: Permissions::Executable })
            }
            Mechanism::Landlock | Mechanism::TreeWalk => {
                private.make()?;
                let directory = private.path().join("workspace");
                fs::copy_frozen(&self.folder, &self.tree, &directory)?;
                Ok(Placed { directory, permissions: Permissions::Frozen })
            }
        }
    }

    /// What is not as it was when the snapshot was taken, in words.
    pub(crate) fn changed(&self, placed: &Placed) -> Option<String> {
        let shown = |path: &Path| path.display().to_string();
        self.tree
            .changed_in(&placed.directory, placed.permissions)
            .unwrap_or_else(|error| Some(format!("it cannot be read: {error}")))
            // Where it lies is of no use to anybody, and is gone with the slot.
            .map(|what| what.replace(&shown(&placed.directory), "the workspace"))
    }
}
