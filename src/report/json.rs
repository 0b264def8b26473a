//! One event per line on standard output, as in `events.jsonl`.

use std::io::Write;

use crate::runner::Observer;
use crate::session::{Record, Status};

/// Writes each event as a line of JSON.
#[derive(Debug)]
pub struct JsonLines<W> {
    out: W,
    /// The reader went away; nobody listens any more, and the run goes on.
    closed: bool,
}

impl<W: Write> JsonLines<W> {
    /// Events go to `out`, flushed line by line.
    pub const fn new(out: W) -> Self {
        Self { out, closed: false }
    }
}

impl<W: Write + Send> Observer for JsonLines<W> {
    fn event(&mut self, record: &Record, _: &Status) {
        if self.closed {
            return;
        }
        let written = serde_json::to_string(record)
            .map_err(std::io::Error::other)
            .and_then(|line| writeln!(self.out, "{line}").and_then(|()| self.out.flush()));
        self.closed = written.is_err();
    }

    fn live(&mut self, _: &Status) {}
}
