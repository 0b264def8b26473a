//! Progress on a terminal: one live line per slot, redrawn in place, and a line that stays for each end.

use std::io::Write;
use std::os::fd::AsFd;

use jiff::Timestamp;
use rustix::termios::tcgetwinsize;

use super::canvas::Canvas;
use super::ink::Ink;
use super::lines::{Starts, change, warning};
use super::picture::{Line, Size, picture};
use crate::runner::Observer;
use crate::session::{Record, Status};

/// Draws live lines on a terminal.
#[derive(Debug)]
pub struct LiveLines<W: Write + AsFd> {
    out: W,
    ink: Ink,
    starts: Starts,
    canvas: Canvas,
}

impl<W: Write + AsFd> LiveLines<W> {
    /// Draws on the terminal `out`; [`Starts::Told`] also leaves a line for each start.
    pub const fn new(out: W, ink: Ink, starts: Starts) -> Self {
        Self { out, ink, starts, canvas: Canvas::new(ink) }
    }

    /// Replaces the live lines by `lines`, and puts `lasting` above them, in one write.
    fn draw(&mut self, lasting: Option<&str>, lines: Vec<Line>) {
        let size = self.size();
        if let Some(frame) = self.canvas.frame(lasting, lines, size) {
            // Nobody may be looking; the run goes on.
            self.out.write_all(frame.as_bytes()).and_then(|()| self.out.flush()).ok();
        }
    }

    fn size(&self) -> Size {
        let (columns, rows) = tcgetwinsize(&self.out).map_or((0, 0), |size| (size.ws_col.into(), size.ws_row.into()));
        // A terminal that does not know its size says 0.
        let or = |known: usize, usual| if known == 0 { usual } else { known };
        Size { columns: or(columns, 80), rows: or(rows, 24) }
    }

    fn lines(&self, status: &Status) -> Vec<Line> {
        picture(status, Timestamp::now(), self.size())
    }
}

impl<W: Write + AsFd + Send> Observer for LiveLines<W> {
    fn event(&mut self, record: &Record, status: &Status) {
        let lasting = change(record, status, self.starts, self.ink);
        // What leaves no line is drawn with the next look at the live fields: a hundred starts are one frame.
        if lasting.is_some() || !status.state.is_active() {
            let lines = self.lines(status);
            self.draw(lasting.as_deref(), lines);
        }
    }

    fn live(&mut self, status: &Status) {
        let lines = self.lines(status);
        self.draw(None, lines);
    }

    fn enter(&mut self, _: &str) {
        self.draw(None, Vec::new());
    }

    fn trouble(&mut self, text: &str) {
        let lines = self.canvas.drawn();
        self.draw(Some(&warning(text, self.ink)), lines);
    }

    fn suspend(&mut self) {
        self.draw(None, Vec::new());
    }
}

impl<W: Write + AsFd> Drop for LiveLines<W> {
    fn drop(&mut self) {
        self.draw(None, Vec::new());
    }
}
