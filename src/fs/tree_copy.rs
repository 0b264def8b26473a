//! Copies of folders: files by their contents, links as links, executable bits; nothing else of what they were.
#![allow(clippy::disallowed_methods, reason = "this is the module that the others are sent to")]

use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use fs_err as fs;

use super::tree::{FROZEN_FILE, FROZEN_FOLDER, Tree, open_plain};

/// The permissions of what is copied, whatever the umask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Modes {
    /// The owner's to write.
    Usual,
    /// Nobody's to write.
    Frozen,
}

/// Copies `paths` of the folder `from`, relative to it, into the new folder `to`, which only its owner can enter. What has gone meanwhile is left out;
/// what is no file, folder or link any more as well. Ends with an error of the kind `Interrupted` before the next of them
/// once `stop` is set.
///
/// No part of a path but the last may be a link; that is the caller's to see to.
pub fn copy_paths<'a>(
    from: &Path,
    to: &Path,
    paths: impl IntoIterator<Item = &'a Path>,
    stop: &AtomicBool,
) -> io::Result<()> {
    let until_stopped = paths.into_iter().map(|path| match stop.load(Ordering::Relaxed) {
        true => Err(io::Error::new(io::ErrorKind::Interrupted, "the copy was stopped")),
        false => Ok(path),
    });
    copy(from, to, until_stopped, Modes::Usual)
}

/// Copies the tree that the folder `from` holds into the new folder `to`, where nobody may change it: neither files nor
/// folders can be written.
pub fn copy_frozen(from: &Path, tree: &Tree, to: &Path) -> io::Result<()> {
    copy(from, to, tree.paths().map(Ok), Modes::Frozen)
}

/// Makes everything that was written to the file system of `folder` durable.
pub fn sync_file_system(folder: &Path) -> io::Result<()> {
    Ok(rustix::fs::syncfs(fs::File::open(folder)?)?)
}

fn copy<'a>(
    from: &Path,
    to: &Path,
    paths: impl IntoIterator<Item = io::Result<&'a Path>>,
    modes: Modes,
) -> io::Result<()> {
    // What lies in it may have been nobody else's to read.
    super::create_dir_exclusive(to)?;
    fs::set_permissions(to, std::fs::Permissions::from_mode(0o700))?;
    let mut folders: Vec<PathBuf> = vec![to.to_owned()];
    for path in paths {
        let path = path?;
        let source = from.join(path);
        let found = match fs::symlink_metadata(&source) {
            Ok(found) => found,
            Err(error) if is_gone(&error) => continue,
            Err(error) => return Err(error),
        };
        for folder in missing_parents(to, path) {
            make_folder(&folder)?;
            folders.push(folder);
        }
        let target = to.join(path);
        let kind = found.file_type();
        if kind.is_dir() {
            if !is_folder(&target) {
                make_folder(&target)?;
                folders.push(target);
            }
        } else if kind.is_symlink() {
            match fs::read_link(&source) {
                Ok(leads_to) => super::link(&leads_to, &target)?,
                Err(error) if is_gone(&error) => {}
                Err(error) => return Err(error),
            }
        } else if kind.is_file() {
            let mut reader = match open_plain(&source) {
                Ok(reader) => reader,
                Err(error) if is_gone(&error) => continue,
                Err(error) => return Err(error),
            };
            let mut writer = super::create_exclusive(&target)?;
            // On the files themselves: the kernel may then share the blocks of both.
            io::copy(reader.file_mut(), writer.file_mut()).map_err(|error| {
                io::Error::new(error.kind(), format!("cannot copy `{}`: {error}", source.display()))
            })?;
            let mode = match (modes, found.permissions().mode() & 0o100 != 0) {
                (Modes::Usual, false) => 0o644,
                (Modes::Usual, true) => 0o755,
                (Modes::Frozen, false) => FROZEN_FILE,
                (Modes::Frozen, true) => FROZEN_FOLDER,
            };
            writer.set_permissions(std::fs::Permissions::from_mode(mode))?;
        }
    }
    if modes == Modes::Frozen {
        // The inner ones first: what cannot be entered cannot be changed.
        for folder in folders.iter().rev() {
            fs::set_permissions(folder, std::fs::Permissions::from_mode(FROZEN_FOLDER))?;
        }
    }
    Ok(())
}

fn make_folder(path: &Path) -> io::Result<()> {
    std::fs::DirBuilder::new()
        .mode(0o755)
        .create(path)
        .and_then(|()| fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)))
        .map_err(|error| io::Error::new(error.kind(), format!("cannot create `{}`: {error}", path.display())))
}

/// The folders of `path` that are not there yet below `to`, the outer ones first.
fn missing_parents(to: &Path, path: &Path) -> Vec<PathBuf> {
    let parents = path.ancestors().skip(1).filter(|parent| !parent.as_os_str().is_empty());
    let mut missing: Vec<PathBuf> =
        parents.map(|parent| to.join(parent)).take_while(|parent| !is_folder(parent)).collect();
    missing.reverse();
    missing
}

/// Not one that a link leads to: what is written must stay inside.
fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}

fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fs::{self as files, Permissions, replace};

    fn made() -> (tempfile::TempDir, PathBuf) {
        let place = tempfile::tempdir().unwrap();
        let from = place.path().join("from");
        files::create_dir_all(&from.join("src/deep")).unwrap();
        files::create_dir_all(&from.join("empty")).unwrap();
        replace(&from.join("src/deep/a.rs"), b"fn a() {}").unwrap();
        replace(&from.join("run.sh"), b"#!/bin/sh\n").unwrap();
        fs::set_permissions(from.join("run.sh"), std::fs::Permissions::from_mode(0o700)).unwrap();
        files::link(Path::new("/nonexistent/outside"), &from.join("link")).unwrap();
        (place, from)
    }

    #[test]
    fn a_frozen_copy_has_the_hash_of_what_it_was_made_of() {
        let (place, from) = made();
        let tree = Tree::read(&from).unwrap();
        let copy = place.path().join("copy");
        copy_frozen(&from, &tree, &copy).unwrap();
        assert_eq!(Tree::read(&copy).unwrap().hash(), tree.hash());
        assert_eq!(tree.changed_in(&copy, Permissions::Frozen).unwrap(), None);
        assert_eq!((tree.files(), tree.bytes()), (3, 19));
        assert_eq!(fs::read_link(copy.join("link")).unwrap(), Path::new("/nonexistent/outside"));
        let other = place.path().join("other");
        copy_paths(&from, &other, [Path::new("run.sh")], &AtomicBool::new(false)).unwrap();
        assert_eq!(other.metadata().unwrap().permissions().mode() & 0o7777, 0o700);
        let mode = |name: &str| copy.join(name).symlink_metadata().unwrap().permissions().mode() & 0o7777;
        assert_eq!([mode("run.sh"), mode("src/deep/a.rs"), mode("src")], [0o555, 0o444, 0o555]);
        for folder in ["", "src", "src/deep", "empty"] {
            fs::set_permissions(copy.join(folder), std::fs::Permissions::from_mode(0o755)).unwrap();
        }
    }

    #[test]
    fn every_kind_of_change_is_told_by_name() {
        type Change = fn(&Path);
        let changes: [(&str, Change); 8] = [
            ("`src/deep/a.rs` was changed", |root| replace(&root.join("src/deep/a.rs"), b"fn b() {}").unwrap()),
            ("`new` was added", |root| replace(&root.join("new"), b"").unwrap()),
            ("`link` was removed", |root| files::remove_if_exists(&root.join("link")).unwrap()),
            ("`empty` was removed", |root| files::remove_dir_all(&root.join("empty")).unwrap()),
            ("the permissions of `run.sh` were changed", |root| {
                fs::set_permissions(root.join("run.sh"), std::fs::Permissions::from_mode(0o600)).unwrap();
            }),
            ("`run.sh` was changed", |root| {
                files::remove_if_exists(&root.join("run.sh")).unwrap();
                files::link(Path::new("x"), &root.join("run.sh")).unwrap();
            }),
            ("`src` was removed, and 5 more", |root| {
                fs::rename(root.join("src"), root.join("moved")).unwrap();
            }),
            ("`run.sh` is a named pipe", |root| {
                files::remove_if_exists(&root.join("run.sh")).unwrap();
                let mode = rustix::fs::Mode::RWXU;
                rustix::fs::mknodat(rustix::fs::CWD, root.join("run.sh"), rustix::fs::FileType::Fifo, mode, 0).unwrap();
            }),
        ];
        for (told, change) in changes {
            let (_place, from) = made();
            let tree = Tree::read(&from).unwrap();
            assert_eq!(tree.changed_in(&from, Permissions::Executable).unwrap(), None);
            change(&from);
            assert_eq!(tree.changed_in(&from, Permissions::Executable).unwrap().as_deref(), Some(told));
            assert_ne!(Tree::read(&from).unwrap().hash(), tree.hash(), "{told}");
        }
    }

    #[test]
    fn a_copy_that_is_stopped_ends_before_the_next_file() {
        let (place, from) = made();
        let to = place.path().join("to");
        let stop = AtomicBool::new(false);
        // The second of them is asked for when the first is copied.
        let paths = ["run.sh", "src/deep/a.rs"].map(Path::new).into_iter().inspect(|path| {
            stop.store(path.starts_with("src"), Ordering::Relaxed);
        });
        let error = copy_paths(&from, &to, paths, &stop).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::Interrupted);
        assert!(to.join("run.sh").is_file() && !to.join("src").exists());
    }

    #[test]
    fn what_has_gone_since_it_was_listed_is_left_out() {
        let (place, from) = made();
        let to = place.path().join("to");
        copy_paths(&from, &to, ["gone", "src/deep/a.rs", "src/gone/b"].map(Path::new), &AtomicBool::new(false))
            .unwrap();
        let tree = Tree::read(&to).unwrap();
        assert_eq!(
            tree.paths().map(Path::to_str).collect::<Vec<_>>(),
            [Some("src"), Some("src/deep"), Some("src/deep/a.rs")]
        );
    }
}
