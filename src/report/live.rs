//! Progress on a terminal: one live line per slot, redrawn in place, and a line that stays for each end.

use std::io::Write;
use std::os::fd::AsFd;

use jiff::Timestamp;
use rustix::process::getpgrp;
use rustix::termios::{tcgetpgrp, tcgetwinsize};

use super::aside::Aside;
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
    aside: Aside,
}

impl<W: Write + AsFd> LiveLines<W> {
    /// Draws on the terminal `out`; [`Starts::Told`] also leaves a line for each start. What is written to `aside`
    /// meanwhile stays above the live lines.
    pub fn new(out: W, ink: Ink, starts: Starts, aside: Aside) -> Self {
        aside.hold();
        Self { out, ink, starts, canvas: Canvas::new(ink), aside }
    }

    /// Replaces the live lines by `lines`, and puts `lasting` above them, in one write.
    fn draw(&mut self, lasting: Option<&str>, lines: Vec<Line>) {
        let size = self.size();
        // The screen belongs to the shell or to what runs in front; what stays is told there as well.
        let lines = if self.is_in_front() { lines } else { Vec::new() };
        let aside = self.aside.take();
        let both = match (aside, lasting) {
            (Some(aside), Some(lasting)) => Some(format!("{aside}\n{lasting}")),
            (aside, lasting) => aside.or_else(|| lasting.map(str::to_owned)),
        };
        if let Some(frame) = self.canvas.frame(both.as_deref(), lines, size) {
            // Nobody may be looking; the run goes on.
            self.out.write_all(frame.as_bytes()).and_then(|()| self.out.flush()).ok();
        }
    }

    /// Whether this process is the terminal's job in the foreground (not after `bg`). A terminal that controls no job
    /// has nobody else to draw on it.
    fn is_in_front(&self) -> bool {
        tcgetpgrp(&self.out).map_or(true, |front| front == getpgrp())
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
        self.aside.release();
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Seek};

    use super::*;
    use crate::ids::SlotId;
    use crate::session::slot::Reason;
    use crate::session::{Event, Phase, SlotEnd, SlotError};

    /// What a terminal of the usual size shows of all that was written to `file`.
    fn screen(mut file: &std::fs::File) -> String {
        let mut bytes = String::new();
        file.rewind().unwrap();
        file.read_to_string(&mut bytes).unwrap();
        let mut parser = vt100::Parser::new(24, 80, 0);
        parser.process(bytes.replace('\n', "\r\n").as_bytes());
        parser.screen().contents()
    }

    #[test]
    fn a_warning_from_elsewhere_and_trouble_stay_above_the_live_lines() {
        let file = tempfile::tempfile().unwrap();
        let mut aside = Aside::default();
        let mut live = LiveLines::new(file.try_clone().unwrap(), Ink::Black, Starts::Silent, aside.clone());
        let slots: Vec<SlotId> = SlotId::panel(2).collect();
        let mut status = Status::new("s".to_owned(), &slots, Phase::Run, Timestamp::now());
        let mut happens = |live: &mut LiveLines<_>, event| {
            let record = Record { seq: 1, prev: None, at: Timestamp::now(), event };
            status.apply(&record).unwrap();
            live.event(&record, &status);
            status.clone()
        };
        happens(&mut live, Event::SlotStarted { slot: slots[0], attempt: 1 });
        let status = happens(&mut live, Event::SlotStarted { slot: slots[1], attempt: 1 });
        assert_eq!(screen(&file), "", "starts are drawn together, with the next look");
        live.live(&status);
        aside.write_all(b"warning: odd\n").unwrap();
        live.live(&status);
        live.trouble("the disk is full");
        assert_eq!(
            screen(&file).lines().map(|line| line.split(" done").next().unwrap()).collect::<Vec<_>>(),
            [
                "warning: odd",
                "warning: the disk is full",
                "01     0 B     0s  starting",
                "02     0 B     0s  starting",
                "0 of 2 slots"
            ]
        );
        let end = SlotEnd::without_answer(1, SlotError::new(Reason::Auth, "no"));
        happens(&mut live, Event::SlotEnded { slot: slots[1], end: Box::new(end) });
        aside.write_all(b"warning: late\n").unwrap();
        drop(live);
        assert_eq!(
            screen(&file).trim_end(),
            "warning: odd\nwarning: the disk is full\n02 FAILED in 0s auth: no\nwarning: late"
        );
    }
}
