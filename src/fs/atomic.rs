//! Whole files: temp file in the same folder, fsync, rename, fsync of the folder.
#![allow(clippy::disallowed_methods, reason = "this is the module that the others are sent to")]

use std::ffi::OsStr;
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use fs_err as fs;
use rustix::fs::FlockOperation;
use serde::Serialize;

use crate::fault::{self, Point};

/// How the name of a file begins that is being written; six letters or digits follow.
const TEMPORARY: &str = ".tmp-";

/// Whether `name` is one under which a whole file is written before it gets its own.
#[must_use]
pub fn is_temporary_name(name: &OsStr) -> bool {
    let chance = name.to_str().and_then(|name| name.strip_prefix(TEMPORARY));
    chance.is_some_and(|chance| chance.len() == 6 && chance.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

/// The system's temporary folder, as it is called. A `TMPDIR` without anything in it is none, as for other programs.
#[must_use]
pub fn temporary_folder() -> PathBuf {
    let place = std::env::temp_dir();
    if place.as_os_str().is_empty() { PathBuf::from("/tmp") } else { place }
}

/// The system's temporary folder, without links.
///
/// # Errors
/// It is not there, or no folder.
pub fn temporary_place() -> io::Result<PathBuf> {
    let place = temporary_folder();
    let refused = |error| named(error, "cannot use the temporary folder", &place);
    let real = place.canonicalize().map_err(refused)?;
    if real.is_dir() { Ok(real) } else { Err(refused(io::ErrorKind::NotADirectory.into())) }
}

/// Replaces `path` by `bytes` so that a reader sees the old file or the new one, never a part of either.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace_with(path, bytes, None)
}

/// The same with the permissions that are given, whatever the umask.
pub(super) fn replace_with(path: &Path, bytes: &[u8], permissions: Option<std::fs::Permissions>) -> io::Result<()> {
    let dir = parent(path)?;
    let temp = written(dir, path, bytes)?;
    if let Some(permissions) = permissions {
        temp.as_file().set_permissions(permissions).map_err(|e| named(e, "cannot write", path))?;
    }
    fault::reach(Point::FileWritten);
    temp.persist(path).map_err(|e| named(e.error, "cannot write", path))?;
    sync_dir(dir)
}

/// Makes the file `path` with these bytes, all at once; one that exists is an error of the kind `AlreadyExists`, and stays.
pub fn create_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let dir = parent(path)?;
    // It need not be written to be known as taken.
    if path.symlink_metadata().is_ok() {
        return Err(named(io::ErrorKind::AlreadyExists.into(), "cannot create", path));
    }
    let temp = written(dir, path, bytes)?;
    fault::reach(Point::CopyWritten);
    temp.persist_noclobber(path).map_err(|e| named(e.error, "cannot create", path))?;
    sync_dir(dir)
}

/// `bytes` under a temporary name in `dir`, durable.
fn written(dir: &Path, path: &Path, bytes: &[u8]) -> io::Result<tempfile::NamedTempFile> {
    let mut temp = tempfile::Builder::new()
        .prefix(TEMPORARY)
        .permissions(permissions())
        .tempfile_in(dir)
        .map_err(|e| named(e, "cannot create a file in", dir))?;
    // By it others know that somebody is at work on the file; a file system without locks has none, and the age tells.
    rustix::fs::flock(temp.as_file(), FlockOperation::NonBlockingLockExclusive).ok();
    temp.write_all(bytes).map_err(|e| named(e, "cannot write", path))?;
    temp.as_file().sync_all().map_err(|e| named(e, "cannot sync", path))?;
    Ok(temp)
}

/// [`replace`] with `value` as indented JSON and a final newline.
pub fn replace_json(path: &Path, value: &impl Serialize) -> io::Result<()> {
    let mut bytes = serde_json::to_vec_pretty(value).map_err(io::Error::other)?;
    bytes.push(b'\n');
    replace(path, &bytes)
}

/// Whether [`replace`] would find its way: makes the missing folders of `path`, and a file beside it that is gone again.
pub(super) fn prepare_replace(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, format!("`{}` is a folder", path.display())));
    }
    let dir = parent(path)?;
    create_dir_all(dir)?;
    tempfile::Builder::new()
        .prefix(TEMPORARY)
        .tempfile_in(dir)
        .map(drop)
        .map_err(|e| named(e, "cannot create a file in", dir))
}

/// Adds `bytes` to the end of a file that belongs to somebody else and is read when this process has ended.
pub fn append(path: &Path, bytes: &[u8]) -> io::Result<()> {
    fs::OpenOptions::new().append(true).create(true).open(path)?.write_all(bytes)
}

/// Makes a finished temporary file visible under its final name, durable before this returns.
///
/// The caller has synced the contents of `temp`.
pub fn publish(temp: &Path, path: &Path) -> io::Result<()> {
    rename(temp, path)?;
    sync_dir(parent(path)?)
}

/// Gives a folder another path on the same file system; there must be nothing yet.
pub fn move_dir(from: &Path, to: &Path) -> io::Result<()> {
    if to.symlink_metadata().is_ok() {
        return Err(named(io::ErrorKind::AlreadyExists.into(), "cannot move a folder to", to));
    }
    fs::rename(from, to)
}

pub(super) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)
}

/// Opens a new file for writing; an existing one is an error.
pub fn create_exclusive(path: &Path) -> io::Result<fs::File> {
    fs::OpenOptions::new().write(true).create_new(true).open(path)
}

/// Makes a folder that did not exist before.
pub fn create_dir_exclusive(path: &Path) -> io::Result<()> {
    fs::create_dir(path)
}

/// Makes a folder and its missing parents.
pub fn create_dir_all(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)
}

/// Makes a folder where it is missing; its parent must exist, so that what somebody removed is not made again.
pub fn ensure_dir(path: &Path) -> io::Result<()> {
    match fs::create_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        other => other,
    }
}

/// Makes a folder that only its owner can enter.
pub fn create_private_dir(path: &Path) -> io::Result<()> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(|e| named(e, "cannot create", path))
}

/// Makes a folder of a new name that begins with `prefix`, below the system's temporary folder and for its owner alone.
/// Nothing removes it but its user. Its path has no symbolic links.
pub fn create_temporary_dir(prefix: &str) -> io::Result<PathBuf> {
    Ok(temporary_dir(prefix)?.keep())
}

/// The same, removed with the value.
pub(super) fn temporary_dir(prefix: &str) -> io::Result<tempfile::TempDir> {
    let place = temporary_place()?;
    let made = tempfile::Builder::new().prefix(prefix).permissions(private()).tempdir_in(&place);
    made.map_err(|e| named(e, "cannot make a folder in", &place))
}

/// Removes a folder with nothing in it; an absent one is fine.
pub fn remove_empty_dir(path: &Path) -> io::Result<()> {
    absent_is_fine(fs::remove_dir(path))
}

/// Makes the link `path` to `target`.
pub fn link(target: &Path, path: &Path) -> io::Result<()> {
    fs_err::os::unix::fs::symlink(target, path)
}

/// Removes a folder and what is in it; an absent one is fine.
pub fn remove_dir_all(path: &Path) -> io::Result<()> {
    absent_is_fine(fs::remove_dir_all(path))
}

/// Removes a file; an absent one is fine.
pub fn remove_if_exists(path: &Path) -> io::Result<()> {
    absent_is_fine(fs::remove_file(path))
}

/// Copies `from` to `to` atomically.
pub fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    replace(to, &fs::read(from)?)
}

/// Makes renames and creations inside `dir` durable.
pub fn sync_dir(dir: &Path) -> io::Result<()> {
    fs::File::open(dir)?.sync_all()
}

fn parent(path: &Path) -> io::Result<&Path> {
    match path.parent() {
        Some(dir) if dir.as_os_str().is_empty() => Ok(Path::new(".")),
        Some(dir) => Ok(dir),
        None => Err(io::Error::other(format!("`{}` has no parent folder", path.display()))),
    }
}

fn permissions() -> std::fs::Permissions {
    use std::os::unix::fs::PermissionsExt;
    // The process umask still applies.
    std::fs::Permissions::from_mode(0o644)
}

fn private() -> std::fs::Permissions {
    use std::os::unix::fs::PermissionsExt;
    std::fs::Permissions::from_mode(0o700)
}

fn absent_is_fine(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

fn named(error: io::Error, what: &str, path: &Path) -> io::Error {
    io::Error::new(error.kind(), format!("{what} `{}`: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replace_leaves_no_temporary_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.json");
        replace_json(&path, &serde_json::json!({"a": 1})).unwrap();
        replace_json(&path, &serde_json::json!({"a": 2})).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "{\n  \"a\": 2\n}\n");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_file_that_is_being_written_is_locked_under_a_name_that_is_known() {
        let dir = tempfile::tempdir().unwrap();
        let temp = written(dir.path(), &dir.path().join("a"), b"x").unwrap();
        let name = temp.path().file_name().unwrap();
        assert!(is_temporary_name(name), "{name:?}");
        let folder = crate::fs::Folder::open(dir.path()).unwrap();
        assert!(!folder.is_abandoned(name, i64::MAX).unwrap());
        let kept = temp.into_temp_path();
        assert!(folder.is_abandoned(kept.file_name().unwrap(), i64::MAX).unwrap());
        assert!(!folder.is_abandoned(kept.file_name().unwrap(), 0).unwrap(), "it is young");
        for other in [".tmp-", ".tmp-abcde", ".tmp-abc/ef", ".tmp-abcdefg", "tmp-abcdef", ".tmp-abc.ef"] {
            assert!(!is_temporary_name(other.as_ref()), "{other}");
        }
    }

    #[test]
    fn a_whole_file_is_made_only_where_there_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        create_whole(&path, b"first").unwrap();
        assert_eq!(create_whole(&path, b"second").unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&path).unwrap(), b"first");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_refused_replace_names_the_path_and_keeps_the_old_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("gone/a.json");
        let error = replace(&path, b"x").unwrap_err().to_string();
        assert!(error.contains("gone"), "{error}");
    }

    #[test]
    fn a_folder_is_ensured_in_an_existing_parent_only() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        assert!(ensure_dir(&path.join("b")).is_err());
        assert!(!path.exists());
        ensure_dir(&path).unwrap();
        ensure_dir(&path).unwrap();
        replace(&path.join("file"), b"").unwrap();
        assert!(ensure_dir(&path.join("file")).is_err());
    }

    #[test]
    fn an_existing_file_is_not_created_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        create_exclusive(&path).unwrap();
        assert_eq!(create_exclusive(&path).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    }
}
