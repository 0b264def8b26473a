//! One event per line on standard output, as in `events.jsonl`.

use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, OnceLock};

use schemars::JsonSchema;
use serde::Serialize;

use crate::runner::Observer;
use crate::session::{Record, Status};

/// Where the session is of which events are written; known once it is made.
#[derive(Debug, Clone, Default)]
pub struct SessionPlace(Arc<OnceLock<String>>);

impl SessionPlace {
    /// It is this folder, now and for good.
    pub fn set(&self, folder: &Path) {
        // A command has one session. JSON has no place for a path that is no text, which is no reason to be silent.
        self.0.set(folder.display().to_string()).ok();
    }
}

/// Writes each event as a line of JSON.
#[derive(Debug)]
pub struct JsonLines<W> {
    out: W,
    place: SessionPlace,
    folder: String,
    /// Why nothing is written any more; the run goes on.
    lost: Arc<OnceLock<io::Error>>,
}

/// Tells afterwards whether everything was written.
#[derive(Debug, Clone)]
pub struct Written(Arc<OnceLock<io::Error>>);

impl Written {
    /// The first error, except that a reader who left is none.
    pub fn check(self) -> io::Result<()> {
        match self.0.get() {
            Some(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(io::Error::new(error.kind(), error.to_string()))
            }
            _ => Ok(()),
        }
    }
}

impl<W: Write> JsonLines<W> {
    /// Events of the session at `place` go to `out`, flushed line by line.
    pub fn new(out: W, place: SessionPlace) -> (Self, Written) {
        let lost = Arc::new(OnceLock::new());
        (Self { out, place, folder: String::new(), lost: Arc::clone(&lost) }, Written(lost))
    }
}

/// An event, and the folder whose record it is in.
#[derive(Serialize, JsonSchema)]
pub(super) struct StreamLine<'a> {
    /// The session's folder.
    path: &'a str,
    /// `.` for the session's own record, or the folder of a round of votes (`judging`, `judging-2`).
    folder: &'a str,
    #[serde(flatten)]
    record: &'a Record,
}

impl<W: Write + Send> Observer for JsonLines<W> {
    fn event(&mut self, record: &Record, _: &Status) {
        if self.lost.get().is_some() {
            return;
        }
        let line = StreamLine { path: self.place.0.get().map_or("", String::as_str), folder: &self.folder, record };
        let written = serde_json::to_string(&line)
            .map_err(io::Error::other)
            .and_then(|line| writeln!(self.out, "{line}").and_then(|()| self.out.flush()));
        if let Err(error) = written {
            // Set at most once: nothing is written after it.
            self.lost.set(error).ok();
        }
    }

    fn live(&mut self, _: &Status) {}

    fn enter(&mut self, folder: &str) {
        folder.clone_into(&mut self.folder);
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::session::{Event, Phase};

    struct Refusing(io::ErrorKind);

    impl Write for Refusing {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn outcome(kind: io::ErrorKind) -> io::Result<()> {
        let record = Record { seq: 1, prev: None, at: Timestamp::UNIX_EPOCH, event: Event::Revealed };
        let status = Status::new("s".to_owned(), &[], Phase::Run, Timestamp::UNIX_EPOCH);
        let (mut lines, written) = JsonLines::new(Refusing(kind), SessionPlace::default());
        lines.event(&record, &status);
        lines.event(&record, &status);
        written.check()
    }

    #[test]
    fn a_full_disk_is_told_and_a_reader_that_left_is_none_of_our_business() {
        assert_eq!(outcome(io::ErrorKind::StorageFull).unwrap_err().kind(), io::ErrorKind::StorageFull);
        outcome(io::ErrorKind::BrokenPipe).unwrap();
    }
}
