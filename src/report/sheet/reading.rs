//! Texts of a folder that somebody else may have put together: plain files only, within limits, nothing that was changed.

use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::model::{Integrity, Quoted};
use crate::report::format::bytes;
use crate::secrets::Redactor;

/// Reads texts and keeps count of how much was taken.
pub(super) struct Reader<'a> {
    root: &'a Path,
    integrity: &'a Integrity,
    redactor: &'a Redactor,
    /// Bytes that may still be taken of all texts together.
    left: u64,
}

/// Why a text is not shown.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unreadable {
    /// The check of the folder found it changed.
    #[error("`{0}` is not as it was recorded, so it is not shown")]
    Changed(String),
    /// It is no plain file.
    #[error("`{0}` is no plain file, so it is not shown")]
    NotPlain(String),
    /// The system refused.
    #[error("`{file}` cannot be read: {source}")]
    Io {
        /// The file.
        file: String,
        /// Why.
        source: io::Error,
    },
}

impl<'a> Reader<'a> {
    /// Of the session at `root`; `budget` is how many bytes of all texts together are taken.
    pub(super) const fn new(root: &'a Path, integrity: &'a Integrity, redactor: &'a Redactor, budget: u64) -> Self {
        Self { root, integrity, redactor, left: budget }
    }

    /// The beginning of `file`, at most `limit` bytes of it.
    pub(super) fn head(&mut self, file: &str, limit: u64) -> Result<Quoted, Unreadable> {
        self.read(file, limit, 0)
    }

    /// The beginning and the end of `file`: of a log the end tells most.
    pub(super) fn both_ends(&mut self, file: &str, limit: u64) -> Result<Quoted, Unreadable> {
        self.read(file, limit, limit / 2)
    }

    /// The same where the file need not be there.
    pub(super) fn both_ends_if_any(&mut self, file: &str, limit: u64) -> Option<Quoted> {
        let exists = self.root.join(file).symlink_metadata().is_ok();
        exists.then(|| {
            let not_shown =
                |error: Unreadable| Quoted { file: file.to_owned(), text: error.to_string(), ..Quoted::default() };
            self.both_ends(file, limit).unwrap_or_else(not_shown)
        })
    }

    fn read(&mut self, file: &str, limit: u64, tail: u64) -> Result<Quoted, Unreadable> {
        // Also what lies in a folder that is not the session's own.
        if self.integrity.is_suspect(file) {
            return Err(Unreadable::Changed(file.to_owned()));
        }
        let refused = |source| Unreadable::Io { file: file.to_owned(), source };
        // Neither through a link, nor waiting for whoever writes into a pipe.
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        let path = self.root.join(file);
        if !path.symlink_metadata().map_err(refused)?.is_file() {
            return Err(Unreadable::NotPlain(file.to_owned()));
        }
        let mut open = std::fs::OpenOptions::new()
            .read(true)
            .custom_flags(flags.bits().cast_signed())
            .open(&path)
            .map_err(refused)?;
        let size = open.metadata().map_err(refused)?.len();
        let limit = limit.min(self.left);
        let quoted = if size <= limit {
            let text = take(&mut open, size).map_err(refused)?;
            Quoted { file: file.to_owned(), text: lossy(&text, Edge::None), bytes: size, cut: None }
        } else {
            let tail = tail.min(limit);
            let mut text = lossy(&take(&mut open, limit - tail).map_err(refused)?, Edge::End);
            let mut cut = format!("shown are the first {} of {}", bytes(limit - tail), bytes(size));
            if tail > 0 {
                open.seek(SeekFrom::Start(size - tail)).map_err(refused)?;
                text.push_str("\n[..]\n");
                text.push_str(&lossy(&take(&mut open, tail).map_err(refused)?, Edge::Start));
                cut.push_str(&format!(", and the last {}", bytes(tail)));
            }
            Quoted { file: file.to_owned(), text, bytes: size, cut: Some(cut) }
        };
        self.left -= limit.min(size);
        Ok(Quoted { text: self.redactor.text(&quoted.text), ..quoted })
    }
}

fn take(file: &mut std::fs::File, count: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(count).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Where a text was cut, perhaps within a character.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Edge {
    None,
    Start,
    End,
}

fn lossy(bytes: &[u8], cut: Edge) -> String {
    let continues = |byte: &u8| byte & 0xc0 == 0x80;
    let whole = match cut {
        Edge::None => bytes,
        Edge::Start => &bytes[bytes.iter().take(3).take_while(|byte| continues(byte)).count()..],
        Edge::End => match std::str::from_utf8(bytes) {
            Err(error) if error.error_len().is_none() => &bytes[..error.valid_up_to()],
            _ => bytes,
        },
    };
    String::from_utf8_lossy(whole).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_between_characters_and_says_so() {
        let dir = tempfile::tempdir().unwrap();
        crate::fs::replace(&dir.path().join("a"), "äöüäöü".as_bytes()).unwrap();
        let integrity = Integrity::default();
        let redactor = Redactor::new(["hunter-2"]);
        let mut reader = Reader::new(dir.path(), &integrity, &redactor, 1000);
        let quoted = reader.head("a", 5).unwrap();
        assert_eq!((quoted.text.as_str(), quoted.bytes), ("äö", 12));
        assert_eq!(quoted.cut.unwrap(), "shown are the first 5 B of 12 B");
        let ends = reader.both_ends("a", 6).unwrap();
        assert_eq!(ends.text, "ä\n[..]\nü");
        assert_eq!(reader.head("a", 12).unwrap().cut, None);
        crate::fs::replace(&dir.path().join("b"), b"the key is hunter-2").unwrap();
        assert_eq!(reader.head("b", 100).unwrap().text, "the key is [redacted]");
    }

    #[test]
    fn all_texts_together_have_a_limit_too() {
        let dir = tempfile::tempdir().unwrap();
        crate::fs::replace(&dir.path().join("a"), b"0123456789").unwrap();
        let integrity = Integrity::default();
        let redactor = Redactor::new(["hunter-2"]);
        let mut reader = Reader::new(dir.path(), &integrity, &redactor, 14);
        assert_eq!(reader.head("a", 100).unwrap().text, "0123456789");
        assert_eq!(reader.head("a", 100).unwrap().text, "0123");
        assert_eq!(reader.head("a", 100).unwrap().text, "");
    }

    #[test]
    fn what_is_changed_or_no_plain_file_is_not_shown() {
        let dir = tempfile::tempdir().unwrap();
        crate::fs::replace(&dir.path().join("a"), b"x").unwrap();
        crate::fs::link(Path::new("/etc/hostname"), &dir.path().join("link")).unwrap();
        let integrity = Integrity { suspects: ["a".to_owned()].into(), ..Integrity::default() };
        let redactor = Redactor::new(["hunter-2"]);
        let mut reader = Reader::new(dir.path(), &integrity, &redactor, 100);
        assert!(matches!(reader.head("a", 10), Err(Unreadable::Changed(_))));
        assert!(matches!(reader.head("link", 10), Err(Unreadable::NotPlain(_))));
        assert!(reader.both_ends_if_any("link", 10).unwrap().text.contains("no plain file"));
        assert!(reader.both_ends_if_any("gone", 10).is_none());
    }
}
