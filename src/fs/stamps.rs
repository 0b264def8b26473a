//! What there is in folders and when it was last changed, to tell whether anything was.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use fs_err as fs;

/// The most entries that are looked at; more than that cannot be compared in a moment.
const MOST: usize = 500_000;

/// Everything in some folders: of files and links the time of their last change, which nobody can set, of folders that
/// they are there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamps(BTreeMap<PathBuf, Stamp>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    mode: u32,
    inode: u64,
    size: u64,
    changed: (i64, i64),
}

impl Stamps {
    /// Of what is below `roots`, without what is in one of `but`. `None` where there is more than can be compared.
    #[must_use]
    pub fn take(roots: &[PathBuf], but: &[PathBuf]) -> Option<Self> {
        let mut found = BTreeMap::new();
        let mut open: Vec<PathBuf> = roots.to_vec();
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                let path = entry.path();
                // What has gone meanwhile is not there.
                let Ok(data) = fs::symlink_metadata(&path) else { continue };
                if but.contains(&path) {
                    continue;
                }
                let mut stamp = Stamp {
                    mode: data.mode(),
                    inode: data.ino(),
                    size: data.len(),
                    changed: (data.ctime(), data.ctime_nsec()),
                };
                if data.is_dir() {
                    (stamp.size, stamp.changed) = (0, (0, 0));
                    open.push(path.clone());
                }
                found.insert(path, stamp);
                if found.len() > MOST {
                    return None;
                }
            }
        }
        Some(Self(found))
    }

    /// What is not in `later` as it is here, and what is there only, in order.
    #[must_use]
    pub fn changed_until<'a>(&'a self, later: &'a Self) -> Vec<&'a Path> {
        let before = self.0.iter().filter(|(path, stamp)| later.0.get(*path) != Some(stamp));
        let new = later.0.keys().filter(|path| !self.0.contains_key(*path));
        let mut changed: Vec<&Path> = before.map(|(path, _)| path.as_path()).chain(new.map(PathBuf::as_path)).collect();
        changed.sort_unstable();
        changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fs::{create_dir_all, remove_if_exists, replace};

    #[test]
    fn what_was_written_made_and_removed_is_told_and_what_is_left_out_is_not() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("root");
        create_dir_all(&root.join("sub/own")).unwrap();
        for file in ["sub/a", "sub/b", "c"] {
            replace(&root.join(file), b"x").unwrap();
        }
        let (roots, but) = ([root.clone()], [root.join("sub/own")]);
        let take = || Stamps::take(&roots, &but).unwrap();
        let before = take();
        replace(&root.join("sub/own/x"), b"x").unwrap();
        assert_eq!(before.changed_until(&take()), Vec::<&Path>::new());
        remove_if_exists(&root.join("sub/a")).unwrap();
        replace(&root.join("sub/b"), b"y").unwrap();
        std::os::unix::fs::symlink("/", root.join("d")).unwrap();
        let after = take();
        assert_eq!(before.changed_until(&after), [root.join("d"), root.join("sub/a"), root.join("sub/b")]);
    }
}
