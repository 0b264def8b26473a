//! What a terminal shows while slots are at work: a line per slot and a summary, as text. Pure.

use jiff::Timestamp;

use super::format::{bytes, cut, one_line, seconds};
use super::ink::Look;
use crate::ids::SlotId;
use crate::session::slot::{Activity, SlotState};
use crate::session::{Phase, SlotStatus, Status};

/// How many seconds without a byte are worth telling.
const QUIET: u64 = 10;

/// The room on a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) columns: usize,
    pub(super) rows: usize,
}

/// One line, no wider than its terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) text: String,
    pub(super) look: Look,
}

/// The lines for `status` at `now`, nothing when nobody is at work.
///
/// One column stays free: there the cursor of a full line would stand between two lines, and a terminal that takes a
/// character for wider than it is here has some room. One row stays free for the cursor below the last line.
pub(super) fn picture(status: &Status, now: Timestamp, size: Size) -> Vec<Line> {
    let all_ended = status.models.values().all(|slot| slot.state.is_terminal());
    let columns = size.columns.saturating_sub(1);
    let Some(room) = size.rows.checked_sub(2).filter(|_| !all_ended && status.state.is_active()) else {
        return Vec::new();
    };
    let mut lines = slots(status, now, room);
    lines.push(Line { text: summary(status, now, columns), look: Look::Plain });
    for line in &mut lines {
        line.text = cut(&line.text, columns);
    }
    lines
}

/// A line for each slot that has not ended. Those at work come first when there is not room for all.
fn slots(status: &Status, now: Timestamp, room: usize) -> Vec<Line> {
    let pending = status.count(SlotState::Pending);
    let open = status.count(SlotState::Running) + pending;
    let at_work = in_state(status, SlotState::Running).map(|(id, entry)| (*id, working(*id, entry, now)));
    let waiting = in_state(status, SlotState::Pending);
    let in_line = |(place, (id, _)): (usize, (&SlotId, _))| (*id, in_line(*id, place + 1, pending));
    let waiting = waiting.enumerate().map(in_line);
    // A line that counts the others takes the place of a slot's, where there is more than that one.
    let shown = if open > room && room > 1 { room - 1 } else { room };
    let mut lines: Vec<(SlotId, Line)> = at_work.chain(waiting).take(shown).collect();
    lines.sort_by_key(|(id, _)| *id);
    let mut lines: Vec<Line> = lines.into_iter().map(|(_, line)| line).collect();
    if lines.len() < open && room > 1 {
        lines.push(Line { text: format!("    .. and {} more", open - lines.len()), look: Look::Faint });
    }
    lines
}

fn in_state(status: &Status, state: SlotState) -> impl Iterator<Item = (&SlotId, &SlotStatus)> {
    status.models.iter().filter(move |(_, entry)| entry.state == state)
}

fn working(slot: SlotId, entry: &SlotStatus, now: Timestamp) -> Line {
    let size = entry.live.as_ref().map_or(0, |live| live.live_bytes);
    let took = entry.started_at.map_or(0, |start| seconds_between(start, now));
    let (doing, look) = doing(entry);
    Line { text: row(slot, &bytes(size), &seconds(took), &doing), look }
}

fn in_line(slot: SlotId, place: usize, of: usize) -> Line {
    Line { text: row(slot, "-", "-", &format!("waiting, {place} of {of}")), look: Look::Faint }
}

/// Numbers first: they have their places, and what is cut on a narrow terminal is the end of the words.
fn row(slot: SlotId, size: &str, took: &str, doing: &str) -> String {
    format!("{slot} {size:>7} {took:>6}  {doing}")
}

/// What a running slot does, for a person, and how that looks.
fn doing(entry: &SlotStatus) -> (String, Look) {
    let Some(live) = &entry.live else { return ("starting".to_owned(), Look::Plain) };
    match live.activity.as_str() {
        Activity::QUEUED => ("waiting for a turn".to_owned(), Look::Faint),
        // The time beside it says for how long.
        Activity::WAITING => ("no output yet".to_owned(), Look::Plain),
        retry if retry.starts_with(Activity::RETRY) => (one_line(retry), Look::Warn),
        other if live.idle_seconds >= QUIET => {
            (format!("{}, quiet {}", one_line(other), seconds(live.idle_seconds)), Look::Plain)
        }
        other => (one_line(other), Look::Plain),
    }
}

/// What a running slot does, in the words of the live lines.
pub(super) fn doing_text(entry: &SlotStatus) -> String {
    doing(entry).0
}

/// How many slots are at work, and how many wait: for a place among `--jobs`, or for one at their provider.
pub(super) fn at_work_and_waiting(status: &Status) -> (usize, usize) {
    let queued = |entry: &SlotStatus| entry.live.as_ref().is_some_and(|live| live.activity == Activity::QUEUED);
    let queued = in_state(status, SlotState::Running).filter(|(_, entry)| queued(entry)).count();
    (status.count(SlotState::Running) - queued, status.count(SlotState::Pending) + queued)
}

/// What the members of the panel are called.
pub(super) const fn members(status: &Status) -> &'static str {
    match status.phase {
        Phase::Judge | Phase::Vote => "judges",
        Phase::Review | Phase::Certify => "reviewers",
        Phase::Fix(_) => "fixers",
        Phase::Init | Phase::Run | Phase::Verdict | Phase::Report => "slots",
    }
}

/// The last line: in full, or shorter where that does not fit.
fn summary(status: &Status, now: Timestamp, columns: usize) -> String {
    let all = status.models.len();
    let done = status.count(SlotState::Completed);
    let (running, waiting) = at_work_and_waiting(status);
    let failed = all - done - status.count(SlotState::Running) - status.count(SlotState::Pending);
    let elapsed = seconds(seconds_between(status.started_at, now));
    let rest = |separator: &str, words: [&str; 3]| {
        let counted = [running, waiting, failed].into_iter().zip(words);
        let told = counted.filter(|(count, word)| *count > 0 || *word == words[0]);
        told.fold(String::new(), |text, (count, word)| format!("{text}{separator}{count} {word}"))
    };
    let words = rest(", ", ["running", "waiting", "failed"]);
    let who = if all == 1 { members(status).trim_end_matches('s') } else { members(status) };
    let full = format!("{done} of {all} {who} done{words}, {elapsed}");
    let shorter = format!("{done}/{all} done{words}, {elapsed}");
    let shortest = format!("{done}/{all} done{} {elapsed}", rest(" ", ["run", "wait", "fail"]));
    [full, shorter].into_iter().find(|text| text.len() <= columns).unwrap_or(shortest)
}

/// Whole seconds; none when the clock was set back meanwhile.
pub(super) fn seconds_between(from: Timestamp, to: Timestamp) -> u64 {
    u64::try_from(to.duration_since(from).as_secs()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::slot::Reason;
    use crate::session::{Event, Live, Record, SlotEnd, SlotError};

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    /// A panel of `count` slots, of which `started` are at work since second 10 with these activities in turn.
    fn panel(count: usize, started: usize, doing: &[(&str, u64)]) -> Status {
        let slots: Vec<SlotId> = SlotId::panel(count).collect();
        let mut status = Status::new("s".to_owned(), &slots, Phase::Run, at(8));
        for (index, slot) in slots.iter().take(started).enumerate() {
            record(&mut status, Event::SlotStarted { slot: *slot, attempt: 1 });
            if let Some((activity, idle)) = doing.get(index % doing.len().max(1)) {
                let live = Live { activity: (*activity).to_owned(), live_bytes: 1234, idle_seconds: *idle };
                status.models.get_mut(slot).unwrap().live = Some(live);
            }
        }
        status
    }

    fn record(status: &mut Status, event: Event) {
        status.apply(&Record { seq: 1, prev: None, at: at(10), event }).unwrap();
    }

    fn text(status: &Status, columns: usize, rows: usize) -> String {
        let lines = picture(status, at(75), Size { columns, rows });
        lines.into_iter().map(|line| line.text).collect::<Vec<_>>().join("\n")
    }

    const DOING: [(&str, u64); 5] = [
        ("answering", 0),
        ("retry 1/2 in 5s (HTTP 429)", 12),
        ("tool 検索検索検索検索\u{1b}[2J\nx", 125),
        ("queued", 65),
        ("waiting", 65),
    ];

    #[test]
    fn each_slot_has_a_line_and_the_last_line_sums_up() {
        let mut status = panel(9, 7, &DOING);
        let slots: Vec<SlotId> = SlotId::panel(9).collect();
        let error = SlotError::new(Reason::Auth, "no");
        record(&mut status, Event::SlotEnded { slot: slots[5], end: Box::new(SlotEnd::without_answer(1, error)) });
        status.models.get_mut(&slots[6]).unwrap().live = None;
        insta::assert_snapshot!(text(&status, 200, 50), @r"
        01  1.2 KB  1m05s  answering
        02  1.2 KB  1m05s  retry 1/2 in 5s (HTTP 429)
        03  1.2 KB  1m05s  tool 検索検索検索検索�[2J x, quiet 2m05s
        04  1.2 KB  1m05s  waiting for a turn
        05  1.2 KB  1m05s  no output yet
        07     0 B  1m05s  starting
        08       -      -  waiting, 1 of 2
        09       -      -  waiting, 2 of 2
        0 of 9 slots done, 5 running, 3 waiting, 1 failed, 1m07s
        ");
        insta::assert_snapshot!(text(&status, 40, 12), @r"
        01  1.2 KB  1m05s  answering
        02  1.2 KB  1m05s  retry 1/2 in 5s (HT…
        03  1.2 KB  1m05s  tool 検索検索検索検…
        04  1.2 KB  1m05s  waiting for a turn
        05  1.2 KB  1m05s  no output yet
        07     0 B  1m05s  starting
        08       -      -  waiting, 1 of 2
        09       -      -  waiting, 2 of 2
        0/9 done 5 run 3 wait 1 fail 1m07s
        ");
    }

    #[test]
    fn those_at_work_come_first_when_there_are_more_slots_than_rows() {
        let status = panel(120, 3, &DOING);
        insta::assert_snapshot!(text(&status, 60, 7), @r"
        001  1.2 KB  1m05s  answering
        002  1.2 KB  1m05s  retry 1/2 in 5s (HTTP 429)
        003  1.2 KB  1m05s  tool 検索検索検索検索�[2J x, quiet 2m0…
        004       -      -  waiting, 1 of 117
            .. and 116 more
        0 of 120 slots done, 3 running, 117 waiting, 1m07s
        ");
        assert_eq!(text(&status, 60, 3).lines().count(), 2);
        assert_eq!(text(&status, 60, 2), "0 of 120 slots done, 3 running, 117 waiting, 1m07s");
        assert_eq!(text(&status, 60, 1), "");
    }

    #[test]
    fn no_line_is_wider_than_the_terminal_nor_are_there_more_than_rows() {
        for (columns, rows) in [(1, 1), (2, 2), (10, 5), (20, 3), (39, 9), (40, 12), (80, 24), (200, 50)] {
            for (count, started) in [(1, 1), (9, 0), (12, 12), (130, 64)] {
                let lines = picture(&panel(count, started, &DOING), at(9_999), Size { columns, rows });
                assert!(lines.len() < rows.max(1), "{columns}x{rows}: {lines:#?}");
                for line in lines {
                    let width = unicode_width::UnicodeWidthStr::width(line.text.as_str());
                    assert!(width < columns.max(2), "{columns}: {line:?}");
                }
            }
        }
    }

    #[test]
    fn nothing_is_shown_when_all_have_ended() {
        let mut status = panel(1, 1, &[]);
        let slot = *status.models.keys().next().unwrap();
        let end = SlotEnd::without_answer(1, SlotError::new(Reason::Auth, "no"));
        record(&mut status, Event::SlotEnded { slot, end: Box::new(end) });
        assert_eq!(text(&status, 80, 24), "");
    }
}
