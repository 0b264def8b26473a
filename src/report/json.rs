//! One event per line on standard output, as in `events.jsonl`.

use std::io::Write;

use serde::Serialize;

use crate::runner::Observer;
use crate::session::{Record, Status};

/// Writes each event as a line of JSON.
#[derive(Debug)]
pub struct JsonLines<W> {
    out: W,
    folder: String,
    /// The reader went away; nobody listens any more, and the run goes on.
    closed: bool,
}

impl<W: Write> JsonLines<W> {
    /// Events go to `out`, flushed line by line.
    pub const fn new(out: W) -> Self {
        Self { out, folder: String::new(), closed: false }
    }
}

/// An event, and the folder whose record it is in.
#[derive(Serialize)]
struct Line<'a> {
    folder: &'a str,
    #[serde(flatten)]
    record: &'a Record,
}

impl<W: Write + Send> Observer for JsonLines<W> {
    fn event(&mut self, record: &Record, _: &Status) {
        if self.closed {
            return;
        }
        let line = Line { folder: &self.folder, record };
        let written = serde_json::to_string(&line)
            .map_err(std::io::Error::other)
            .and_then(|line| writeln!(self.out, "{line}").and_then(|()| self.out.flush()));
        self.closed = written.is_err();
    }

    fn live(&mut self, _: &Status) {}

    fn enter(&mut self, folder: &str) {
        folder.clone_into(&mut self.folder);
    }
}
