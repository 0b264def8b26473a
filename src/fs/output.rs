//! Files that people name for an output: what is there already decides how it is written.
#![allow(clippy::disallowed_methods, reason = "this is the module that the others are sent to")]

use std::io::{self, Write};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

use fs_err as fs;
use rustix::fs::{Access, AtFlags, CWD};

use super::atomic::{create_dir_all, prepare_replace, replace_with};

/// As many links as the kernel follows.
const MAX_LINKS: usize = 40;

/// Where an output goes.
enum Place {
    /// A regular file, or none yet; links are followed. It is replaced as a whole, with the permissions that it has.
    File { path: PathBuf, permissions: Option<std::fs::Permissions> },
    /// A device or a named pipe: it is opened and written to.
    Stream(PathBuf),
}

/// Writes `bytes` to the output `path`. Links are followed; a regular file is replaced as a whole and keeps its
/// permissions; a device or a named pipe is written to.
///
/// # Errors
/// It is a folder or a socket, may not be written, or the system refused.
pub fn write_output(path: &Path, bytes: &[u8]) -> io::Result<()> {
    match place(path)? {
        Place::File { path, permissions } => replace_with(&path, bytes, permissions),
        Place::Stream(path) => fs::OpenOptions::new().write(true).open(path)?.write_all(bytes),
    }
}

/// Whether [`write_output`] would find its way, without touching what is there; makes the missing folders.
pub fn prepare_output(path: &Path) -> io::Result<()> {
    // What folders there are decides where the path leads.
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        create_dir_all(folder)?;
    }
    match place(path)? {
        Place::File { path, .. } => prepare_replace(&path),
        Place::Stream(_) => Ok(()),
    }
}

/// The file that an output to `path` would be written to: where the links lead. Nothing on the way to it needs to exist.
pub fn output_target(path: &Path) -> io::Result<PathBuf> {
    let target = followed(path)?;
    // The part that exists decides where the rest is.
    for folder in target.ancestors().skip(1) {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        if let Ok(mut real) = folder.canonicalize() {
            for part in target.strip_prefix(folder).unwrap_or(&target).components() {
                match part {
                    Component::ParentDir => drop(real.pop()),
                    part => real.push(part),
                }
            }
            return Ok(real);
        }
    }
    Ok(target)
}

fn place(path: &Path) -> io::Result<Place> {
    let refused = |kind: io::ErrorKind, what: &str| Err(io::Error::new(kind, format!("`{}` {what}", path.display())));
    let found = match fs::metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(Place::File { path: followed(path)?, permissions: None });
        }
        Err(error) => return Err(error),
    };
    let kind = found.file_type();
    if kind.is_dir() {
        return refused(io::ErrorKind::IsADirectory, "is a folder");
    }
    if kind.is_socket() {
        return refused(io::ErrorKind::InvalidInput, "is a socket");
    }
    // A file that nobody may write is meant to stay, whoever asks.
    let is_writable = found.permissions().mode() & 0o222 != 0
        && rustix::fs::accessat(CWD, path, Access::WRITE_OK, AtFlags::EACCESS).is_ok();
    match (is_writable, kind.is_file()) {
        (false, _) => refused(io::ErrorKind::PermissionDenied, "may not be written"),
        (true, true) => Ok(Place::File { path: fs::canonicalize(path)?, permissions: Some(found.permissions()) }),
        (true, false) => Ok(Place::Stream(path.to_owned())),
    }
}

/// Where the last part of `path` leads, if that is a link; what it leads to need not exist.
fn followed(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        if !path.symlink_metadata().is_ok_and(|found| found.is_symlink()) {
            return Ok(path);
        }
        let leads_to = fs::read_link(&path)?;
        path = path.parent().unwrap_or_else(|| Path::new("")).join(leads_to);
    }
    Err(io::Error::other(format!("`{}` is one of too many links in a row", path.display())))
}
