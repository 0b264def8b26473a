//! Progress where there is no terminal: a line per change of state, and a heartbeat a minute.

use std::io::Write;
use std::time::{Duration, Instant};

use super::format::{bytes, cut, one_line, seconds};
use super::ink::{Ink, Look};
use super::picture::{at_work_and_waiting, members};
use crate::ids::SlotId;
use crate::runner::Observer;
use crate::session::slot::{Activity, HAS_NO_CONVERSATIONS, SlotState};
use crate::session::{Event, InnerKind, Phase, Record, SlotEnd, Status, Turn};

/// How long it may be quiet before a heartbeat.
const HEARTBEAT: Duration = Duration::from_secs(60);

/// Whether starts of slots are told, each on a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Starts {
    /// They are.
    Told,
    /// They show in another way.
    Silent,
}

/// Writes plain lines.
#[derive(Debug)]
pub struct PlainLines<W> {
    out: W,
    /// When the last line was written.
    last: Instant,
    /// Whether it was said that some slots wait; once for each panel.
    told_waiting: bool,
}

impl<W: Write> PlainLines<W> {
    /// Lines go to `out`; the first heartbeat comes a minute after `now`.
    pub const fn new(out: W, now: Instant) -> Self {
        Self { out, last: now, told_waiting: false }
    }

    fn line(&mut self, text: &str, now: Instant) {
        self.last = now;
        // Nobody may be reading; the run goes on.
        writeln!(self.out, "{text}").and_then(|()| self.out.flush()).ok();
    }

    fn changed(&mut self, record: &Record, status: &Status, now: Instant) {
        if let Some(text) = change(record, status, Starts::Told, Ink::Black) {
            self.line(&text, now);
        }
    }

    /// Time passed: tells who waits, once, and that all goes on when nothing else was told for a minute.
    fn tick(&mut self, status: &Status, now: Instant) {
        let waiting = status.count(SlotState::Pending);
        if waiting > 0 && !self.told_waiting && status.count(SlotState::Running) > 0 {
            self.told_waiting = true;
            let all = status.models.len();
            self.line(&format!("{waiting} of {all} {} wait for their turn", members(status)), now);
        } else if now.saturating_duration_since(self.last) >= HEARTBEAT {
            self.line(&heartbeat(status), now);
        }
    }
}

impl<W: Write + Send> Observer for PlainLines<W> {
    fn event(&mut self, record: &Record, status: &Status) {
        self.changed(record, status, Instant::now());
    }

    fn live(&mut self, status: &Status) {
        self.tick(status, Instant::now());
    }

    fn enter(&mut self, _: &str) {
        self.told_waiting = false;
    }

    fn trouble(&mut self, text: &str) {
        self.line(&warning(text, Ink::Black), Instant::now());
    }
}

/// Writes trouble and nothing else: for a program that follows the events themselves.
#[derive(Debug)]
pub struct TroubleLines<W>(pub W);

impl<W: Write + Send> Observer for TroubleLines<W> {
    fn event(&mut self, _: &Record, _: &Status) {}

    fn live(&mut self, _: &Status) {}

    fn trouble(&mut self, text: &str) {
        // Nobody may be reading; the run goes on.
        writeln!(self.0, "{}", warning(text, Ink::Black)).and_then(|()| self.0.flush()).ok();
    }
}

/// The line that says that all goes on.
fn heartbeat(status: &Status) -> String {
    let (at_work, waiting) = at_work_and_waiting(status);
    let live = || status.models.values().filter_map(|slot| slot.live.as_ref());
    let mut text = format!("still running: {at_work} of {} {} at work", status.models.len(), members(status));
    let retrying = live().filter(|live| live.activity.starts_with(Activity::RETRY)).count();
    if retrying > 0 {
        text.push_str(&format!(" ({retrying} between tries)"));
    }
    if waiting > 0 {
        text.push_str(&format!(", {waiting} waiting"));
    }
    let quiet = live().map(|live| live.idle_seconds).max().unwrap_or(0);
    text + &format!(", quiet for up to {}", seconds(quiet))
}

/// How trouble is told.
pub(super) fn warning(text: &str, ink: Ink) -> String {
    format!("{} {text}", ink.paint("warning:", Look::Warn))
}

/// The line for an event, where it has one.
pub(super) fn change(record: &Record, status: &Status, starts: Starts, ink: Ink) -> Option<String> {
    let who = match status.phase {
        Phase::Judge => "judge ",
        Phase::Review => "reviewer ",
        Phase::Fix(_) => "fixer ",
        _ => "",
    };
    match &record.event {
        Event::PhaseStarted { phase: Phase::Fix(round) } if status.models.is_empty() => {
            Some(format!("round {round} of repairs: the fixer's turn"))
        }
        Event::PhaseStarted { phase: Phase::Certify } => {
            Some("certification: reviewers who have seen no repair look at the result".to_owned())
        }
        Event::PanelOpened { panel } if panel.kind != InnerKind::Fix => {
            Some(format!("review {}: the reviewers' turn, then the judges'", panel.number))
        }
        Event::SlotStarted { slot, attempt } if starts == Starts::Told => Some(match attempt {
            1 => format!("{who}{slot} started"),
            again => format!("{who}{slot} started (attempt {again})"),
        }),
        Event::SlotRetry { slot, why } => Some(format!("{who}{slot} {}", ink.paint(&first_line(why), Look::Warn))),
        Event::SlotEnded { slot, end } => Some(format!("{who}{slot} {}", ending(end, seconds_of(status, *slot), ink))),
        Event::StopRequested { cause, slots } if slots.is_empty() => Some(format!("stopping ({cause})")),
        Event::TurnOpened { turn: Turn::SecondPass, .. } => {
            Some("second pass: the judges see the same answers in reverse order".to_owned())
        }
        Event::TurnOpened { turn: Turn::Repair, judges } => {
            let what = match status.phase {
                Phase::Judge => "what ballots lack",
                Phase::Review => "findings that can be read",
                _ => "a vote that can be read",
            };
            Some(format!("asking once more for {what}: {who}{}", listed(judges)))
        }
        Event::TurnOpened { turn: Turn::Fresh, judges } => {
            Some(format!("asking anew, for what was mended cannot be read either: {who}{}", listed(judges)))
        }
        _ => None,
    }
}

fn listed(slots: &[SlotId]) -> String {
    slots.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn seconds_of(status: &Status, slot: SlotId) -> Option<u64> {
    let slot = status.models.get(&slot)?;
    let length = slot.completed_at?.duration_since(slot.started_at?);
    u64::try_from(length.as_secs()).ok()
}

/// How a slot ended, in a few words.
fn ending(end: &SlotEnd, took: Option<u64>, ink: Ink) -> String {
    let look = if end.state == SlotState::Completed { Look::Good } else { Look::Bad };
    let mut text = ink.paint(end.state.as_str(), look);
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
    if !end.dropped_settings.is_empty() {
        // Which setting would say which of the models this is.
        text.push_str(" (asked without a setting that its provider does not take)");
    }
    let why = end.turn.as_ref().and_then(|turn| turn.why.as_deref());
    if let Some(why) = why.filter(|why| *why != HAS_NO_CONVERSATIONS) {
        text.push_str(&format!(" (not in its own conversation: {})", first_line(why)));
    }
    if let Some(error) = &end.error {
        text.push_str(&format!(" {}: {}", error.reason.as_str(), first_line(&error.detail)));
    }
    text
}

/// A line for each slot, or judge, that ended without an answer.
#[must_use]
pub fn unanswered(status: &Status) -> Vec<String> {
    let who = match status.phase {
        Phase::Judge => "judge ",
        Phase::Review => "reviewer ",
        Phase::Fix(_) => "fixer ",
        _ => "slot ",
    };
    let lines = status.models.iter().filter_map(|(slot, entry)| {
        let error = entry.error.as_ref()?;
        let state = entry.state.as_str();
        Some(format!("{who}{slot} {state} {}: {}", error.reason.as_str(), first_line(&error.detail)))
    });
    lines.collect()
}

fn first_line(text: &str) -> String {
    const WIDTH: usize = 160;
    cut(&one_line(text.lines().next().unwrap_or("")), WIDTH)
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::session::slot::Reason;
    use crate::session::{Live, SlotError, Why};

    struct Run {
        lines: PlainLines<Vec<u8>>,
        status: Status,
        start: Instant,
    }

    impl Run {
        fn new(count: usize, phase: Phase) -> Self {
            let start = Instant::now();
            let slots: Vec<SlotId> = SlotId::panel(count).collect();
            let status = Status::new("s".to_owned(), &slots, phase, Timestamp::UNIX_EPOCH);
            Self { lines: PlainLines::new(Vec::new(), start), status, start }
        }

        fn slot(&self, number: usize) -> SlotId {
            *self.status.models.keys().nth(number - 1).unwrap()
        }

        fn event(&mut self, second: u64, event: Event) {
            let at = Timestamp::from_second(second.try_into().unwrap()).unwrap();
            let record = Record { seq: 1, prev: None, at, event };
            self.status.apply(&record).unwrap();
            self.lines.changed(&record, &self.status, self.start + Duration::from_secs(second));
        }

        fn start(&mut self, second: u64, number: usize) {
            self.event(second, Event::SlotStarted { slot: self.slot(number), attempt: 1 });
        }

        fn does(&mut self, number: usize, activity: &str, idle_seconds: u64) {
            let slot = self.slot(number);
            let live = Live { activity: activity.to_owned(), live_bytes: 0, idle_seconds };
            self.status.models.get_mut(&slot).unwrap().live = Some(live);
        }

        fn tick(&mut self, second: u64) {
            self.lines.tick(&self.status, self.start + Duration::from_secs(second));
        }

        fn end(&mut self, second: u64, number: usize, end: SlotEnd) {
            self.event(second, Event::SlotEnded { slot: self.slot(number), end: Box::new(end) });
        }

        fn text(&self) -> String {
            String::from_utf8(self.lines.out.clone()).unwrap()
        }
    }

    #[test]
    fn each_change_of_state_is_a_line() {
        let mut run = Run::new(2, Phase::Run);
        run.start(0, 1);
        run.tick(0);
        run.tick(1);
        let slot = run.slot(1);
        let retry = Activity::Retry { attempt: 1, of: 2, in_seconds: 5, why: "HTTP 429".to_owned() };
        run.event(2, Event::SlotRetry { slot, why: retry.to_string() });
        let completed = SlotEnd {
            state: SlotState::Completed,
            output_size: Some(1234),
            dropped_settings: vec!["temperature".to_owned(), "top_p".to_owned()],
            error: None,
            ..SlotEnd::without_answer(1, SlotError::new(Reason::Auth, ""))
        };
        run.end(9, 1, completed);
        run.start(9, 2);
        run.end(10, 2, SlotEnd::without_answer(1, SlotError::new(Reason::Auth, "no\u{1b}[2J key\nmore")));
        run.event(10, Event::Interrupted);
        let slots = vec![run.slot(2)];
        run.event(
            10,
            Event::Reopened {
                why: Why::Resume,
                slots,
                failed: true,
                drift: Vec::new(),
                accepted: Default::default(),
                isolation: None,
            },
        );
        run.event(10, Event::SlotStarted { slot: run.slot(2), attempt: 2 });
        run.event(11, Event::StopRequested { cause: "deadline".to_owned(), slots: Vec::new() });
        insta::assert_snapshot!(run.text(), @r"
        01 started
        1 of 2 slots wait for their turn
        01 retry 1/2 in 5s (HTTP 429)
        01 COMPLETED 1.2 KB in 9s (asked without a setting that its provider does not take)
        02 started
        02 FAILED in 1s auth: no�[2J key
        02 started (attempt 2)
        stopping (deadline)
        ");
    }

    #[test]
    fn a_heartbeat_comes_after_a_minute_without_a_line_and_not_before() {
        let mut run = Run::new(4, Phase::Judge);
        for number in 1..=3 {
            run.start(0, number);
        }
        run.does(1, "answering", 3);
        run.does(2, "retry 1/2 in 30s (HTTP 503)", 42);
        run.does(3, Activity::QUEUED, 60);
        run.tick(1);
        for second in [30, 60, 61, 90, 120, 121] {
            run.tick(second);
        }
        run.does(1, "answering", 130);
        run.end(150, 2, SlotEnd::without_answer(1, SlotError::new(Reason::RateLimited, "no")));
        run.tick(209);
        run.tick(210);
        insta::assert_snapshot!(run.text(), @r"
        judge 01 started
        judge 02 started
        judge 03 started
        1 of 4 judges wait for their turn
        still running: 2 of 4 judges at work (1 between tries), 2 waiting, quiet for up to 1m00s
        still running: 2 of 4 judges at work (1 between tries), 2 waiting, quiet for up to 1m00s
        judge 02 FAILED in 2m30s rate_limited: no
        still running: 1 of 4 judges at work, 2 waiting, quiet for up to 2m10s
        ");
    }

    #[test]
    fn who_waits_is_told_once_for_each_panel() {
        let mut run = Run::new(2, Phase::Run);
        run.tick(0);
        run.start(0, 1);
        run.tick(1);
        run.tick(2);
        run.lines.enter("judging");
        run.tick(3);
        let told = run.text().matches("wait for their turn").count();
        assert_eq!(told, 2, "{}", run.text());
    }

    #[test]
    fn colour_is_on_the_state_and_the_retry_only() {
        let mut run = Run::new(1, Phase::Run);
        run.start(0, 1);
        let end = SlotEnd::without_answer(1, SlotError::new(Reason::Auth, "no"));
        let event = Event::SlotEnded { slot: run.slot(1), end: Box::new(end) };
        let record = Record { seq: 1, prev: None, at: Timestamp::UNIX_EPOCH, event };
        let line = change(&record, &run.status, Starts::Silent, Ink::Coloured).unwrap();
        assert_eq!(line, "01 \u{1b}[31mFAILED\u{1b}[0m auth: no");
        assert_eq!(warning("full", Ink::Coloured), "\u{1b}[33mwarning:\u{1b}[0m full");
    }
}
