//! A file that only grows, a whole line at a time.
#![allow(clippy::disallowed_methods, reason = "this is the module that the others are sent to")]

use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use fs_err as fs;
use fs_err::os::unix::fs::OpenOptionsExt;

/// An append-only file of lines.
#[derive(Debug)]
pub struct AppendLog {
    file: fs::File,
    path: PathBuf,
    /// Bytes that are known to be whole lines.
    length: u64,
}

impl AppendLog {
    /// Starts a new log; an existing file is an error.
    pub fn create(path: &Path) -> io::Result<Self> {
        let file = fs::OpenOptions::new().append(true).create_new(true).open(path)?;
        Ok(Self { file, path: path.to_owned(), length: 0 })
    }

    /// Goes on with a log of `length` valid bytes and cuts off a torn last line after them.
    pub fn resume(path: &Path, length: u64) -> io::Result<Self> {
        let file = fs::OpenOptions::new().append(true).open(path)?;
        if file.metadata()?.len() != length {
            file.set_len(length)?;
        }
        Ok(Self { file, path: path.to_owned(), length })
    }

    /// Appends one line; a failed write leaves the log as it was.
    pub fn append(&mut self, line: &[u8]) -> io::Result<()> {
        debug_assert!(!line.contains(&b'\n'), "a log line holds no newline");
        let mut bytes = Vec::with_capacity(line.len() + 1);
        bytes.extend_from_slice(line);
        bytes.push(b'\n');
        match self.file.write_all(&bytes) {
            Ok(()) => {
                self.length += bytes.len() as u64;
                Ok(())
            }
            Err(error) => {
                // A full disk may have taken a part of the line; without it the next line stays readable.
                self.file.set_len(self.length).ok();
                Err(error)
            }
        }
    }

    /// Makes the lines so far durable.
    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    /// Where the log is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Adds a line to a file that several processes add to, and makes it if it is not there. What one of them left without
/// its end does not become a part of the line. Durable when this returns; a link is not followed.
pub fn append_line(path: &Path, line: &[u8]) -> io::Result<()> {
    debug_assert!(!line.contains(&b'\n'), "a line holds no newline");
    let flags = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
    let mut file = fs::OpenOptions::new().read(true).append(true).create(true).custom_flags(flags).open(path)?;
    let mut bytes = Vec::with_capacity(line.len() + 2);
    if file.metadata()?.len() > 0 {
        let mut last = [0];
        file.seek(io::SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
        bytes.extend((last != [b'\n']).then_some(b'\n'));
    }
    bytes.extend_from_slice(line);
    bytes.push(b'\n');
    // In one piece: what others add at the same time comes before it or after it.
    file.write_all(&bytes)?;
    file.sync_data()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_added_after_one_that_was_torn_and_through_no_link() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lines");
        append_line(&path, b"one").unwrap();
        fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(b"tor").unwrap();
        append_line(&path, b"two").unwrap();
        append_line(&path, b"three").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "one\ntor\ntwo\nthree\n");
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert!(append_line(&link, b"four").is_err());
    }

    #[test]
    fn resume_cuts_a_torn_last_line() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        let mut log = AppendLog::create(&path).unwrap();
        log.append(b"one").unwrap();
        drop(log);
        fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(b"tor").unwrap();
        let mut log = AppendLog::resume(&path, 4).unwrap();
        log.append(b"two").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "one\ntwo\n");
        assert!(AppendLog::create(&path).is_err());
    }
}
