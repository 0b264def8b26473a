//! Progress on a terminal: one live line per slot, redrawn in place, and a line that stays for each end.

use std::collections::BTreeMap;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::format::{bytes, seconds};
use super::lines::change;
use crate::ids::SlotId;
use crate::runner::Observer;
use crate::session::slot::SlotState;
use crate::session::{Event, Phase, Record, Status};

/// How many slots have a line of their own; more are counted in the summary line.
const MOST_LINES: usize = 20;

/// Draws live lines on standard error.
pub struct LiveLines {
    screen: MultiProgress,
    summary: ProgressBar,
    slots: BTreeMap<SlotId, ProgressBar>,
    verbose: bool,
    style: ProgressStyle,
}

impl LiveLines {
    /// Draws at most ten times a second.
    #[must_use]
    pub fn new(verbose: bool) -> Self {
        let screen = MultiProgress::with_draw_target(ProgressDrawTarget::stderr_with_hz(10));
        let style = ProgressStyle::with_template("{wide_msg}").unwrap_or_else(|_| ProgressStyle::default_bar());
        let summary = screen.add(ProgressBar::new_spinner().with_style(style.clone()));
        Self { screen, summary, slots: BTreeMap::new(), verbose, style }
    }

    fn summarise(&self, status: &Status) {
        let what = if status.phase == Phase::Judge { "judges" } else { "slots" };
        let done = status.models.values().filter(|slot| slot.state.is_terminal()).count();
        let running = status.count(SlotState::Running);
        let waiting = status.count(SlotState::Pending);
        let mut text = format!("{done} of {} {what} done, {running} running", status.models.len());
        if waiting > 0 {
            text.push_str(&format!(", {waiting} waiting"));
        }
        self.summary.set_message(text);
    }

    fn clear(&mut self) {
        for bar in std::mem::take(&mut self.slots).into_values() {
            bar.finish_and_clear();
            self.screen.remove(&bar);
        }
    }
}

impl Observer for LiveLines {
    fn event(&mut self, record: &Record, status: &Status) {
        match &record.event {
            Event::SlotStarted { slot, .. } if self.slots.len() < MOST_LINES => {
                let bar = ProgressBar::new_spinner().with_style(self.style.clone());
                let bar = self.screen.insert_before(&self.summary, bar);
                bar.set_message(format!("{slot}  starting"));
                self.slots.insert(*slot, bar);
            }
            Event::SlotEnded { slot, .. } => {
                if let Some(bar) = self.slots.remove(slot) {
                    bar.finish_and_clear();
                    self.screen.remove(&bar);
                }
            }
            Event::Closed { .. } => self.clear(),
            _ => {}
        }
        if let Some(text) = change(record, status, self.verbose) {
            self.screen.println(text).ok();
        }
        if status.models.values().all(|slot| slot.state.is_terminal()) {
            self.summary.set_message("");
            self.screen.clear().ok();
        } else {
            self.summarise(status);
        }
    }

    fn live(&mut self, status: &Status) {
        let now = jiff::Timestamp::now();
        for (slot, bar) in &self.slots {
            let Some(entry) = status.models.get(slot) else { continue };
            let Some(live) = &entry.live else { continue };
            let took = entry.started_at.map_or(0, |start| now.duration_since(start).as_secs().max(0));
            let mut text =
                format!("{slot}  {:<12} {:>7} {:>6}", live.activity, bytes(live.live_bytes), seconds(took as u64));
            if live.idle_seconds >= 10 {
                text.push_str(&format!("  quiet for {}", seconds(live.idle_seconds)));
            }
            bar.set_message(text);
            bar.tick();
        }
        self.summarise(status);
        self.summary.tick();
    }

    fn trouble(&mut self, text: &str) {
        self.screen.println(super::warning(text)).ok();
    }

    fn suspend(&mut self) {
        self.screen.clear().ok();
    }
}

impl Drop for LiveLines {
    fn drop(&mut self) {
        self.clear();
        self.summary.finish_and_clear();
        self.screen.clear().ok();
    }
}
