//! Progress where there is no terminal: a line per change of state, and a heartbeat a minute.

use std::io::Write;
use std::time::{Duration, Instant};

use super::format::{bytes, cut, seconds, without_controls};
use crate::runner::Observer;
use crate::session::slot::SlotState;
use crate::session::{Event, Phase, Record, SlotEnd, Status};

/// How long it may be quiet before a heartbeat.
const HEARTBEAT: Duration = Duration::from_secs(60);

/// Writes plain lines.
#[derive(Debug)]
pub struct PlainLines<W> {
    out: W,
    last: Instant,
    verbose: bool,
}

impl<W: Write> PlainLines<W> {
    /// Lines go to `out`; `verbose` also shows starts and retries.
    pub fn new(out: W, verbose: bool) -> Self {
        Self { out, last: Instant::now(), verbose }
    }

    fn line(&mut self, text: &str) {
        self.last = Instant::now();
        // Nobody may be reading; the run goes on.
        writeln!(self.out, "{text}").and_then(|()| self.out.flush()).ok();
    }
}

impl<W: Write + Send> Observer for PlainLines<W> {
    fn event(&mut self, record: &Record, status: &Status) {
        if let Some(text) = change(record, status, self.verbose) {
            self.line(&text);
        }
    }

    fn trouble(&mut self, text: &str) {
        self.line(&super::warning(text));
    }

    fn live(&mut self, status: &Status) {
        if self.last.elapsed() >= HEARTBEAT {
            let running = status.count(SlotState::Running);
            let waiting = status.count(SlotState::Pending);
            let quietest = status.models.values().filter_map(|slot| slot.live.as_ref()).map(|live| live.idle_seconds);
            let quiet = quietest.max().unwrap_or(0);
            self.line(&format!(
                "still running: {running} at work, {waiting} waiting, quiet for up to {}",
                seconds(quiet)
            ));
        }
    }
}

/// The line for an event, where it has one.
pub(super) fn change(record: &Record, status: &Status, verbose: bool) -> Option<String> {
    let who = if status.phase == Phase::Judge { "judge " } else { "" };
    match &record.event {
        Event::SlotStarted { slot, attempt } if verbose => Some(format!("{who}{slot} started (attempt {attempt})")),
        Event::SlotRetry { slot, why } => Some(format!("{who}{slot} {}", first_line(why))),
        Event::SlotEnded { slot, end } => Some(format!("{who}{slot} {}", ending(end, seconds_of(status, *slot)))),
        Event::StopRequested { cause, slots } if slots.is_empty() => Some(format!("stopping ({cause})")),
        _ => None,
    }
}

fn seconds_of(status: &Status, slot: crate::ids::SlotId) -> Option<u64> {
    let slot = status.models.get(&slot)?;
    let length = slot.completed_at?.duration_since(slot.started_at?);
    u64::try_from(length.as_secs()).ok()
}

/// How a slot ended, in a few words.
fn ending(end: &SlotEnd, took: Option<u64>) -> String {
    let mut text = end.state.as_str().to_owned();
    if let Some(size) = end.output_size {
        text.push_str(&format!(" {}", bytes(size)));
    }
    if let Some(took) = took {
        text.push_str(&format!(" in {}", seconds(took)));
    }
    if end.truncated {
        text.push_str(" (cut by its length limit)");
    }
    if end.lingered {
        text.push_str(" (its program did not end and was stopped)");
    }
    if let Some(error) = &end.error {
        text.push_str(&format!(" {}: {}", error.reason.as_str(), first_line(&error.detail)));
    }
    text
}

fn first_line(text: &str) -> String {
    const WIDTH: usize = 160;
    cut(&without_controls(text.lines().next().unwrap_or("")), WIDTH)
}
