//! The owner of one slot's answer on disk.
//!
//! The text grows in `.response-NN.md.part`. [`AnswerFile::complete`] renames it to `response-NN.md`, so that this name
//! exists only for a complete answer; [`AnswerFile::set_aside`] moves it beside the slot's log. Dropped unfinished it
//! stays what it is, a hidden part that claims nothing; the next attempt removes it.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::fault::{self, Point};
use crate::fs::{self, SharedSync};
use crate::ids::Sha256Hash;

/// Bytes that are collected before a write; a crash loses no more than this.
const BUFFER: usize = 64 << 10;

/// What is known about a finished file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerFacts {
    /// Bytes written.
    pub bytes: u64,
    /// SHA-256 of them.
    pub sha256: Sha256Hash,
    /// Whether there is nothing but white space.
    pub blank: bool,
}

/// An answer that is being written.
pub struct AnswerFile {
    file: fs_err::File,
    path: PathBuf,
    buffer: Vec<u8>,
    hash: Sha256,
    bytes: u64,
    visible: Visible,
    /// A write failed: what is on disk is no longer what was counted.
    broken: bool,
}

impl AnswerFile {
    /// Begins an answer at `part`; one that an earlier attempt left there is removed.
    pub fn create(part: &Path) -> io::Result<Self> {
        fs::remove_if_exists(part)?;
        Ok(Self {
            file: fs::create_exclusive(part)?,
            path: part.to_owned(),
            buffer: Vec::with_capacity(BUFFER),
            hash: Sha256::new(),
            bytes: 0,
            visible: Visible::default(),
            broken: false,
        })
    }

    /// Adds a piece of the answer. After an error the file takes no more and cannot become complete.
    pub fn push(&mut self, piece: &[u8]) -> io::Result<()> {
        self.unbroken()?;
        self.hash.update(piece);
        self.bytes += piece.len() as u64;
        self.visible.look_at(piece);
        if self.buffer.len() + piece.len() > BUFFER {
            self.flush()?;
        }
        if piece.len() >= BUFFER {
            let written = self.file.write_all(piece);
            return self.note(written);
        }
        self.buffer.extend_from_slice(piece);
        Ok(())
    }

    /// Hands what was collected to the operating system.
    pub fn flush(&mut self) -> io::Result<()> {
        self.unbroken()?;
        let written = self.file.write_all(&self.buffer);
        self.buffer.clear();
        self.note(written)
    }

    /// Bytes of the answer so far.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// SHA-256 of the answer so far.
    #[must_use]
    pub fn sha256(&self) -> Sha256Hash {
        Sha256Hash::finish(self.hash.clone())
    }

    /// Whether there is nothing but white space so far.
    #[must_use]
    pub const fn is_blank(&self) -> bool {
        !self.visible.seen
    }

    /// Where the part is; what was pushed is all in it after [`flush`](Self::flush).
    #[must_use]
    pub fn part(&self) -> &Path {
        &self.path
    }

    /// Makes the answer durable and then visible as `answer`, which must not exist; `folder` is the one it is in.
    ///
    /// On an error the part stays where it is, if its folder still exists.
    pub fn complete(mut self, answer: &Path, folder: &SharedSync) -> io::Result<AnswerFacts> {
        self.flush()?;
        if answer.symlink_metadata().is_ok() {
            let text = format!("`{}` exists already", answer.display());
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, text));
        }
        fault::reach(Point::AnswerWritten);
        self.file.sync_all()?;
        fault::reach(Point::AnswerSynced);
        folder.publish(&self.path, answer)?;
        fault::reach(Point::AnswerNamed);
        Ok(self.facts())
    }

    /// Moves the text of a failed slot to `partial`, making its folder; removes it when there is none.
    ///
    /// Works on what could be written when an earlier write failed.
    pub fn set_aside(mut self, partial: &Path) -> io::Result<Option<AnswerFacts>> {
        if !self.broken {
            self.flush()?;
        }
        if self.bytes == 0 {
            fs::remove_if_exists(&self.path)?;
            return Ok(None);
        }
        if let Some(dir) = partial.parent() {
            fs::ensure_dir(dir)?;
        }
        fs::publish(&self.path, partial)?;
        if self.broken {
            // What was pushed is not what the disk took.
            let mut hash = Sha256::new();
            let bytes = io::copy(&mut fs_err::File::open(partial)?, &mut HashOnly(&mut hash))?;
            return Ok(Some(AnswerFacts { bytes, sha256: Sha256Hash::finish(hash), blank: self.is_blank() }));
        }
        Ok(Some(self.facts()))
    }

    fn facts(&self) -> AnswerFacts {
        AnswerFacts { bytes: self.bytes, sha256: self.sha256(), blank: self.is_blank() }
    }

    fn unbroken(&self) -> io::Result<()> {
        if self.broken {
            return Err(io::Error::other(format!("`{}` is incomplete after a failed write", self.path.display())));
        }
        Ok(())
    }

    fn note(&mut self, written: io::Result<()>) -> io::Result<()> {
        self.broken |= written.is_err();
        written
    }
}

/// Hashes what is written to it.
struct HashOnly<'a>(&'a mut Sha256);

impl Write for HashOnly<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl std::fmt::Debug for AnswerFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AnswerFile").field("path", &self.path).field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

impl Drop for AnswerFile {
    fn drop(&mut self) {
        if !self.broken && !self.buffer.is_empty() {
            // Nothing can be reported here; the part is evidence, not an answer.
            self.file.write_all(&self.buffer).ok();
        }
    }
}

/// Looks for a visible character in a text that comes in pieces.
#[derive(Debug, Default)]
struct Visible {
    seen: bool,
    /// The beginning of a character that the last piece ended in.
    cut: Vec<u8>,
}

impl Visible {
    fn look_at(&mut self, piece: &[u8]) {
        if self.seen || piece.iter().all(u8::is_ascii_whitespace) && self.cut.is_empty() {
            return;
        }
        let mut bytes = std::mem::take(&mut self.cut);
        // The first visible character is near; a long piece of wide blanks is rare and copied once.
        bytes.extend_from_slice(piece);
        for chunk in bytes.utf8_chunks() {
            if chunk.valid().chars().any(|c| !is_blank(c)) {
                self.seen = true;
                return;
            }
        }
        match std::str::from_utf8(&bytes) {
            Ok(_) => {}
            Err(error) if error.error_len().is_none() => {
                self.cut = bytes[error.valid_up_to()..].to_vec();
            }
            // Bytes that are no text are not blank either.
            Err(_) => self.seen = true,
        }
    }
}

/// White space, and the characters that show nothing, NUL and other controls among them.
fn is_blank(c: char) -> bool {
    c.is_whitespace() || c.is_control() || matches!(c, '\u{feff}' | '\u{200b}'..='\u{200d}' | '\u{2060}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(path: &Path) -> String {
        fs_err::read_to_string(path).unwrap()
    }

    #[test]
    fn an_answer_has_its_name_only_when_complete() {
        let dir = tempfile::tempdir().unwrap();
        let (part, answer) = (dir.path().join(".response-01.md.part"), dir.path().join("response-01.md"));
        let mut file = AnswerFile::create(&part).unwrap();
        file.push(b"hel").unwrap();
        file.push(b"lo\n").unwrap();
        assert!(!answer.exists());
        let facts = file.complete(&answer, &SharedSync::new(dir.path())).unwrap();
        assert_eq!(read(&answer), "hello\n");
        assert!(!part.exists());
        assert_eq!(facts.bytes, 6);
        assert!(!facts.blank);
        assert_eq!(facts.sha256.to_string(), "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03");
    }

    #[test]
    fn an_existing_answer_is_never_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let (part, answer) = (dir.path().join("part"), dir.path().join("answer"));
        crate::fs::replace(&answer, b"old").unwrap();
        let mut file = AnswerFile::create(&part).unwrap();
        file.push(b"new").unwrap();
        assert_eq!(
            file.complete(&answer, &SharedSync::new(dir.path())).unwrap_err().kind(),
            io::ErrorKind::AlreadyExists
        );
        assert_eq!((read(&answer), read(&part)), ("old".to_owned(), "new".to_owned()));
    }

    #[test]
    fn the_part_of_an_earlier_attempt_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let part = dir.path().join("part");
        let mut file = AnswerFile::create(&part).unwrap();
        file.push(b"first attempt").unwrap();
        drop(file);
        assert_eq!(read(&part), "first attempt", "text of a dropped file is flushed");
        let file = AnswerFile::create(&part).unwrap();
        assert_eq!(file.bytes(), 0);
        assert_eq!(read(&part), "");
    }

    #[test]
    fn partial_text_is_kept_beside_the_log_and_nothing_is_left_of_no_text() {
        let dir = tempfile::tempdir().unwrap();
        let (part, partial) = (dir.path().join("part"), dir.path().join("errors/01.partial.md"));
        assert_eq!(AnswerFile::create(&part).unwrap().set_aside(&partial).unwrap(), None);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
        let mut file = AnswerFile::create(&part).unwrap();
        file.push(b"half").unwrap();
        assert_eq!(file.set_aside(&partial).unwrap().unwrap().bytes, 4);
        assert_eq!(read(&partial), "half");
        assert!(!part.exists());
    }

    #[test]
    fn a_deleted_folder_is_an_error_and_no_panic() {
        let dir = tempfile::tempdir().unwrap();
        let session = dir.path().join("s");
        crate::fs::create_dir_exclusive(&session).unwrap();
        let mut file = AnswerFile::create(&session.join("part")).unwrap();
        file.push(b"text").unwrap();
        crate::fs::remove_dir_all(&session).unwrap();
        let error = file.complete(&session.join("response-01.md"), &SharedSync::new(&session)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(error.to_string().contains("response-01.md"), "{error}");
        assert!(AnswerFile::create(&session.join("part")).is_err());
    }

    #[test]
    fn a_full_disk_is_an_error_and_the_answer_cannot_become_complete() {
        let dir = tempfile::tempdir().unwrap();
        let mut file = AnswerFile::create(&dir.path().join("part")).unwrap();
        // The device that is always full stands for the disk.
        file.file = fs_err::OpenOptions::new().write(true).open("/dev/full").unwrap();
        assert_eq!(file.push(&vec![b'x'; BUFFER]).unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert!(file.push(b"more").is_err());
        assert!(file.complete(&dir.path().join("answer"), &SharedSync::new(dir.path())).is_err());
        assert!(!dir.path().join("answer").exists());
    }

    #[test]
    fn the_partial_text_that_a_full_disk_left_is_recorded_with_its_own_hash() {
        let dir = tempfile::tempdir().unwrap();
        let (part, partial) = (dir.path().join("part"), dir.path().join("partial"));
        let mut file = AnswerFile::create(&part).unwrap();
        file.push(b"kept").unwrap();
        file.flush().unwrap();
        file.file = fs_err::OpenOptions::new().write(true).open("/dev/full").unwrap();
        file.push(&vec![b'x'; BUFFER]).unwrap_err();
        let facts = file.set_aside(&partial).unwrap().unwrap();
        assert_eq!((facts.bytes, facts.sha256), (4, Sha256Hash::of(b"kept")));
        assert_eq!(read(&partial), "kept");
    }

    #[test]
    fn a_long_answer_that_ends_in_blanks_is_not_blank_and_only_blanks_are() {
        let dir = tempfile::tempdir().unwrap();
        let mut file = AnswerFile::create(&dir.path().join("part")).unwrap();
        for piece in [&b"\n"[..], b" \t\r\n", b"\xe3\x80", b"\x80", "\u{feff}\u{200b}".as_bytes()] {
            file.push(piece).unwrap();
            assert!(file.is_blank());
        }
        file.push(b"x").unwrap();
        file.push(&vec![b' '; 200_000]).unwrap();
        assert!(!file.is_blank());
        assert_eq!(file.complete(&dir.path().join("answer"), &SharedSync::new(dir.path())).unwrap().bytes, 200_015);
    }
}
