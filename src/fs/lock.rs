//! Ownership of a session: a kernel file lock that ends with its process.
//!
//! The lock file is never renamed or deleted: a deleted one would let two owners hold two files of one name. Its
//! text (process id and start time of the owner) is for messages only; the kernel lock alone decides.
#![allow(clippy::disallowed_methods, reason = "this is the module that the others are sent to")]

use std::io::{self, Read, Seek, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use fs_err as fs;
use fs_err::os::unix::fs::OpenOptionsExt;
use rustix::fs::{FlockOperation, flock};

/// Whether somebody owns a session now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LockState {
    /// Nobody holds the lock.
    Free,
    /// A living process holds it; the text names it.
    Held(String),
}

/// The lock of a living owner; dropped, it is free.
#[derive(Debug)]
pub struct OwnerLock {
    _file: fs::File,
}

impl OwnerLock {
    /// Takes the lock at `path`, trying for `patience`, and notes `owner` in it.
    ///
    /// Gives back the text of the present owner when it stays held.
    pub fn acquire(path: &Path, owner: &str, patience: Duration) -> io::Result<Result<Self, String>> {
        // The standard library opens files close-on-exec, so no child can inherit the lock.
        let mut file = fs::OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        let deadline = Instant::now() + patience;
        loop {
            match flock(file.file(), FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => break,
                Err(rustix::io::Errno::WOULDBLOCK) if Instant::now() < deadline => {
                    std::thread::sleep(Duration::from_millis(20));
                }
                Err(rustix::io::Errno::WOULDBLOCK) => return Ok(Err(text_of(&mut file))),
                Err(errno) => return Err(errno.into()),
            }
        }
        file.set_len(0)?;
        file.rewind()?;
        file.write_all(owner.as_bytes())?;
        Ok(Ok(Self { _file: file }))
    }

    /// Looks whether the lock is held, without waiting and without creating anything.
    pub fn probe(path: &Path) -> io::Result<LockState> {
        // A pipe in its place, in a folder from elsewhere, must not hold up who looks.
        let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
        let mut file = match fs::OpenOptions::new().read(true).custom_flags(flags).open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(LockState::Free),
            Err(error) => return Err(error),
        };
        match flock(file.file(), FlockOperation::NonBlockingLockShared) {
            Ok(()) => Ok(LockState::Free),
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(LockState::Held(text_of(&mut file))),
            Err(errno) => Err(errno.into()),
        }
    }
}

fn text_of(file: &mut fs::File) -> String {
    let mut text = String::new();
    file.rewind().and_then(|()| file.take(200).read_to_string(&mut text)).ok();
    let text = text.trim().to_owned();
    if text.is_empty() { "another process".to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_owner_is_refused_and_told_who_the_first_is() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(".lock");
        assert_eq!(OwnerLock::probe(&path).unwrap(), LockState::Free);
        assert!(!path.exists(), "looking creates nothing");
        let first = OwnerLock::acquire(&path, "process 7", Duration::ZERO).unwrap().unwrap();
        let second = OwnerLock::acquire(&path, "process 8", Duration::ZERO).unwrap();
        assert_eq!(second.unwrap_err(), "process 7");
        assert_eq!(OwnerLock::probe(&path).unwrap(), LockState::Held("process 7".to_owned()));
        drop(first);
        assert_eq!(OwnerLock::probe(&path).unwrap(), LockState::Free);
        assert!(OwnerLock::acquire(&path, "process 9", Duration::ZERO).unwrap().is_ok());
    }
}
