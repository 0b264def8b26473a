//! Standard error of one slot, and the log of a failed one.
//!
//! What comes is redacted first, then kept in a hidden part file up to [`ON_DISK`] and in memory at both ends. Only a
//! slot that failed gets a log: the diagnosis, then the text. Nothing is created for a program that is silent.

use std::io::{self, BufRead, Read, Write};
use std::path::{Path, PathBuf};

use super::HeadTail;
use crate::fs;
use crate::ids::Sha256Hash;

/// Bytes of standard error that reach the disk.
const ON_DISK: u64 = 4 << 20;
/// Bytes of either end that stay in memory.
const IN_MEMORY: usize = 32 << 10;

/// Bytes of the part file that are read at once.
const COPIED: usize = 64 << 10;

/// Takes secrets out of a stream that comes in any pieces.
pub trait Redact: Send {
    /// Takes the next bytes and appends what may be shown now; the rest comes with a later call.
    fn push(&mut self, bytes: &[u8], into: &mut Vec<u8>);
    /// The stream is at its end: appends what was held back.
    fn finish(&mut self, into: &mut Vec<u8>);
}

/// Redacts nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unchanged;

impl Redact for Unchanged {
    fn push(&mut self, bytes: &[u8], into: &mut Vec<u8>) {
        into.extend_from_slice(bytes);
    }
    fn finish(&mut self, _: &mut Vec<u8>) {}
}

/// Where a slot's standard error goes.
pub struct ErrorLog {
    part: PathBuf,
    file: Option<fs_err::File>,
    on_disk: u64,
    kept: HeadTail,
    redact: Box<dyn Redact>,
    clean: Vec<u8>,
    /// The first refused write; a full disk must not stop the slot itself.
    refused: Option<io::Error>,
}

impl ErrorLog {
    /// A log whose hidden part file will be `part` (in `errors/`); one of an earlier attempt is removed.
    pub fn new(part: &Path, redact: Box<dyn Redact>) -> io::Result<Self> {
        fs::remove_if_exists(part)?;
        Ok(Self {
            part: part.to_owned(),
            file: None,
            on_disk: 0,
            kept: HeadTail::new(IN_MEMORY),
            redact,
            clean: Vec::new(),
            refused: None,
        })
    }

    /// Takes the next bytes of standard error. A refused write is reported by [`publish`](Self::publish).
    pub fn push(&mut self, bytes: &[u8]) {
        let mut clean = std::mem::take(&mut self.clean);
        clean.clear();
        self.redact.push(bytes, &mut clean);
        self.keep(&clean);
        self.clean = clean;
    }

    /// Standard error is at its end: what the redaction held back comes out now.
    pub fn end(&mut self) {
        let mut clean = Vec::new();
        self.redact.finish(&mut clean);
        self.keep(&clean);
    }

    /// Beginning and end of it, redacted.
    #[must_use]
    pub const fn kept(&self) -> &HeadTail {
        &self.kept
    }

    /// Writes the log of a failed slot to `log`: `diagnosis`, then what came on standard error.
    ///
    /// The caller has redacted `diagnosis`. The text goes through `redact` once more: what must not be in it may have been
    /// learned after it came. An error of an earlier write is in the log too; the log is written
    /// from memory then. Gives the log's hash.
    pub fn publish(mut self, log: &Path, diagnosis: &str, redact: &mut dyn Redact) -> io::Result<Sha256Hash> {
        if let Some(dir) = log.parent() {
            fs::ensure_dir(dir)?;
        }
        let temp = self.part.with_extension("log");
        fs::remove_if_exists(&temp)?;
        let written = self.write_log(&temp, diagnosis, redact).and_then(|()| {
            // A few MiB at most, and only of a slot that failed.
            let sha256 = Sha256Hash::of(&fs_err::read(&temp)?);
            fs::publish(&temp, log)?;
            Ok(sha256)
        });
        if written.is_err() {
            fs::remove_if_exists(&temp).ok();
        }
        self.file = None;
        fs::remove_if_exists(&self.part)?;
        written
    }

    /// Removes what was kept on disk: the slot succeeded.
    pub fn discard(mut self) -> io::Result<()> {
        self.file = None;
        fs::remove_if_exists(&self.part)
    }

    fn write_log(&self, temp: &Path, diagnosis: &str, redact: &mut dyn Redact) -> io::Result<()> {
        let file = fs::create_exclusive(temp)?;
        let mut log = io::BufWriter::new(file);
        writeln!(log, "{}", diagnosis.trim_end())?;
        let total = self.kept.total();
        if let Some(error) = &self.refused {
            writeln!(log, "\nstandard error could not be kept whole: {error}")?;
        }
        if total == 0 {
            writeln!(log, "\nstandard error: nothing")?;
        } else {
            writeln!(log, "\nstandard error, {total} bytes:\n")?;
            let end = self.kept.end();
            if self.refused.is_none() && self.file.is_some() {
                let part = fs_err::File::open(&self.part)?.take(self.on_disk);
                let mut part = io::BufReader::with_capacity(COPIED, part);
                let beyond = total - self.on_disk;
                let tail = &end[end.len() - end.len().min(usize::try_from(beyond).unwrap_or(usize::MAX))..];
                let left_out = beyond - tail.len() as u64;
                let gap = format!("\n[... {left_out} bytes left out ...]\n");
                let gap = if left_out > 0 { gap.as_str() } else { "" };
                redacted(&mut (&mut part).chain(gap.as_bytes()).chain(tail), redact, &mut log)?;
            } else {
                let text = self.kept.snippet(IN_MEMORY).unwrap_or_default();
                redacted(&mut text.as_bytes(), redact, &mut log)?;
            }
            log.write_all(b"\n")?;
        }
        log.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
    }

    fn keep(&mut self, clean: &[u8]) {
        self.kept.push(clean);
        let room = usize::try_from(ON_DISK - self.on_disk).unwrap_or(usize::MAX);
        let piece = &clean[..clean.len().min(room)];
        if piece.is_empty() || self.refused.is_some() {
            return;
        }
        match self.write(piece) {
            Ok(()) => self.on_disk += piece.len() as u64,
            Err(error) => self.refused = Some(error),
        }
    }

    fn write(&mut self, piece: &[u8]) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            None => {
                if let Some(dir) = self.part.parent() {
                    fs::ensure_dir(dir)?;
                }
                self.file.insert(fs::create_exclusive(&self.part)?)
            }
        };
        file.write_all(piece)
    }
}

/// Copies `from` to `into` through `redact`.
fn redacted(from: &mut dyn BufRead, redact: &mut dyn Redact, into: &mut dyn Write) -> io::Result<()> {
    let mut clean = Vec::new();
    loop {
        let piece = from.fill_buf()?;
        if piece.is_empty() {
            break;
        }
        redact.push(piece, &mut clean);
        let taken = piece.len();
        from.consume(taken);
        into.write_all(&clean)?;
        clean.clear();
    }
    redact.finish(&mut clean);
    into.write_all(&clean)
}

impl std::fmt::Debug for ErrorLog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ErrorLog").field("part", &self.part).field("total", &self.kept.total()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log_in(dir: &Path, redact: Box<dyn Redact>) -> ErrorLog {
        ErrorLog::new(&dir.join("errors/.01.stderr.part"), redact).unwrap()
    }

    #[test]
    fn a_silent_program_leaves_nothing_and_a_healthy_one_neither() {
        let dir = tempfile::tempdir().unwrap();
        log_in(dir.path(), Box::new(Unchanged)).discard().unwrap();
        assert!(!dir.path().join("errors").exists());
        let mut log = log_in(dir.path(), Box::new(Unchanged));
        log.push(b"one line of noise\n");
        log.end();
        log.discard().unwrap();
        assert_eq!(std::fs::read_dir(dir.path().join("errors")).unwrap().count(), 0);
    }

    #[test]
    fn a_log_has_the_diagnosis_first_and_then_standard_error() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("errors/01.log");
        let mut log = log_in(dir.path(), Box::new(Unchanged));
        log.push(b"went wrong");
        log.end();
        let sha256 = log.publish(&path, "FAILED auth: status 401\n", &mut Unchanged).unwrap();
        assert_eq!(sha256, Sha256Hash::of(&fs_err::read(&path).unwrap()), "what the record will say of it");
        let text = fs_err::read_to_string(&path).unwrap();
        assert_eq!(text, "FAILED auth: status 401\n\nstandard error, 10 bytes:\n\nwent wrong\n");
        assert_eq!(std::fs::read_dir(dir.path().join("errors")).unwrap().count(), 1);
        log_in(dir.path(), Box::new(Unchanged)).publish(&path, "EMPTY", &mut Unchanged).unwrap();
        assert_eq!(fs_err::read_to_string(&path).unwrap(), "EMPTY\n\nstandard error: nothing\n");
    }

    #[test]
    fn a_flood_is_cut_in_the_middle_and_counted() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("errors/01.log");
        let mut log = log_in(dir.path(), Box::new(Unchanged));
        log.push(b"FIRST ");
        for _ in 0..6 {
            log.push(&vec![b'x'; 1 << 20]);
        }
        log.push(b" LAST");
        log.end();
        log.publish(&path, "FAILED", &mut Unchanged).unwrap();
        let text = fs_err::read_to_string(&path).unwrap();
        assert!(text.contains("\n\nFIRST xxx") && text.ends_with("xxx LAST\n"));
        let left_out = (6 << 20) + 11 - ON_DISK - IN_MEMORY as u64;
        assert!(text.contains(&format!("[... {left_out} bytes left out ...]")));
        assert!((text.len() as u64) < ON_DISK + 2 * IN_MEMORY as u64);
    }

    #[test]
    fn only_redacted_bytes_reach_disk_and_memory() {
        /// Takes out `KEY`, also when it comes in pieces.
        #[derive(Default)]
        struct NoKey(Vec<u8>);
        impl Redact for NoKey {
            fn push(&mut self, bytes: &[u8], into: &mut Vec<u8>) {
                self.0.extend_from_slice(bytes);
                let text = String::from_utf8_lossy(&self.0).replace("KEY", "***");
                let ready = text.len().saturating_sub(2);
                into.extend_from_slice(&text.as_bytes()[..ready]);
                self.0 = text.as_bytes()[ready..].to_vec();
            }
            fn finish(&mut self, into: &mut Vec<u8>) {
                into.append(&mut self.0);
            }
        }
        /// Takes out a word that nobody knew before.
        struct LateKey;
        impl Redact for LateKey {
            fn push(&mut self, bytes: &[u8], into: &mut Vec<u8>) {
                into.extend(bytes.iter().map(|b| if *b == b'b' { b'-' } else { *b }));
            }
            fn finish(&mut self, _: &mut Vec<u8>) {}
        }
        let dir = tempfile::tempdir().unwrap();
        let mut log = log_in(dir.path(), Box::<NoKey>::default());
        for byte in b"a KEY b KEY" {
            log.push(&[*byte]);
            if let Ok(part) = fs_err::read_to_string(dir.path().join("errors/.01.stderr.part")) {
                assert!(!part.contains("KE"), "{part}");
            }
        }
        log.end();
        assert_eq!(log.kept().snippet(100).unwrap(), "a *** b ***");
        log.publish(&dir.path().join("errors/01.log"), "FAILED", &mut LateKey).unwrap();
        let text = fs_err::read_to_string(dir.path().join("errors/01.log")).unwrap();
        assert!(text.contains("a *** - ***\n"), "what is learned late is taken out as well: {text}");
    }

    #[test]
    fn a_full_disk_does_not_stop_the_slot_and_is_said() {
        let dir = tempfile::tempdir().unwrap();
        let mut log = log_in(dir.path(), Box::new(Unchanged));
        log.file = Some(fs_err::OpenOptions::new().write(true).open("/dev/full").unwrap());
        log.push(b"lost on disk, kept in memory");
        log.end();
        let path = dir.path().join("errors/01.log");
        log.publish(&path, "FAILED", &mut Unchanged).unwrap();
        let text = fs_err::read_to_string(&path).unwrap();
        assert!(text.contains("could not be kept whole") && text.contains("kept in memory"), "{text}");
    }
}
