//! Progress on a terminal: one live line per slot, redrawn in place, and a line that stays for each end.
//!
//! Every change is one write: what was drawn is wiped and drawn anew. Lines are cut to the terminal's width and never
//! padded to it, so that a terminal of another size has nothing to wrap.

use std::collections::BTreeSet;
use std::io::{Stderr, Write};

use rustix::termios::tcgetwinsize;
use unicode_width::UnicodeWidthStr;

use super::format::{bytes, cut, seconds, without_controls};
use super::lines::change;
use crate::ids::SlotId;
use crate::runner::Observer;
use crate::session::slot::SlotState;
use crate::session::{Event, Phase, Record, Status};

/// How many slots have a line of their own; more are counted in the summary line.
const MOST_LINES: usize = 20;

/// To the beginning of the line, and everything from there on wiped.
const WIPE: &str = "\r\x1b[J";

/// Draws live lines on standard error.
#[derive(Debug)]
pub struct LiveLines {
    out: Stderr,
    /// The slots that have a line.
    shown: BTreeSet<SlotId>,
    /// The width of each line on the screen that is to be wiped.
    drawn: Vec<usize>,
    verbose: bool,
}

impl LiveLines {
    /// `verbose` also shows starts and retries.
    #[must_use]
    pub fn new(verbose: bool) -> Self {
        Self { out: std::io::stderr(), shown: BTreeSet::new(), drawn: Vec::new(), verbose }
    }

    /// Replaces the live lines by `lasting`, which stays, and `lines` below it.
    fn draw(&mut self, lasting: Option<&str>, mut lines: Vec<String>) {
        let (columns, rows) = tcgetwinsize(&self.out).map_or((0, 0), |size| (size.ws_col.into(), size.ws_row.into()));
        let columns: usize = if columns == 0 { 80 } else { columns };
        let rows: usize = if rows == 0 { 24 } else { rows };
        // What has left the screen at the top cannot be wiped. The summary is the last line, and the one to keep.
        lines.drain(..(lines.len() + 1).saturating_sub(rows));
        let mut frame = String::new();
        // A terminal that became narrower has wrapped what was drawn before.
        let up: usize = self.drawn.iter().map(|width| width.div_ceil(columns).max(1)).sum();
        if up > 0 {
            frame.push_str(&format!("\x1b[{up}A{WIPE}"));
        }
        if let Some(text) = lasting {
            frame.push_str(text);
            frame.push('\n');
        }
        self.drawn.clear();
        for line in lines {
            let line = cut(&line, columns);
            self.drawn.push(line.width());
            frame.push_str(&line);
            frame.push('\n');
        }
        // Nobody may be looking; the run goes on.
        self.out.write_all(frame.as_bytes()).and_then(|()| self.out.flush()).ok();
    }

    fn lines(&self, status: &Status) -> Vec<String> {
        if status.models.values().all(|slot| slot.state.is_terminal()) || !status.state.is_active() {
            return Vec::new();
        }
        let now = jiff::Timestamp::now();
        let slots = self.shown.iter().filter_map(|slot| {
            let entry = status.models.get(slot)?;
            let Some(live) = &entry.live else { return Some(format!("{slot}  starting")) };
            let took = entry.started_at.map_or(0, |start| now.duration_since(start).as_secs().max(0));
            let activity = without_controls(&live.activity);
            let mut text =
                format!("{slot}  {activity:<12} {:>7} {:>6}", bytes(live.live_bytes), seconds(took.unsigned_abs()));
            if live.idle_seconds >= 10 {
                text.push_str(&format!("  quiet for {}", seconds(live.idle_seconds)));
            }
            Some(text)
        });
        slots.chain([summary(status)]).collect()
    }
}

fn summary(status: &Status) -> String {
    let what = if status.phase == Phase::Judge { "judges" } else { "slots" };
    let done = status.models.values().filter(|slot| slot.state.is_terminal()).count();
    let mut text =
        format!("{done} of {} {what} done, {} running", status.models.len(), status.count(SlotState::Running));
    let waiting = status.count(SlotState::Pending);
    if waiting > 0 {
        text.push_str(&format!(", {waiting} waiting"));
    }
    text
}

impl Observer for LiveLines {
    fn event(&mut self, record: &Record, status: &Status) {
        match &record.event {
            Event::SlotStarted { slot, .. } if self.shown.len() < MOST_LINES => {
                self.shown.insert(*slot);
            }
            Event::SlotEnded { slot, .. } => {
                self.shown.remove(slot);
            }
            Event::Closed { .. } => self.shown.clear(),
            _ => {}
        }
        let lasting = change(record, status, self.verbose);
        let lines = self.lines(status);
        self.draw(lasting.as_deref(), lines);
    }

    fn live(&mut self, status: &Status) {
        let lines = self.lines(status);
        self.draw(None, lines);
    }

    fn enter(&mut self, _: &str) {
        self.shown.clear();
        self.draw(None, Vec::new());
    }

    fn trouble(&mut self, text: &str) {
        self.draw(Some(&super::warning(text)), Vec::new());
    }

    fn suspend(&mut self) {
        self.draw(None, Vec::new());
    }
}

impl Drop for LiveLines {
    fn drop(&mut self) {
        self.draw(None, Vec::new());
    }
}
