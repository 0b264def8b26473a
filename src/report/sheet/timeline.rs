//! When each slot and judge was at work, and the tokens that it reported.

use jiff::Timestamp;

use super::collect::Part;
use super::model::{Seat, Side, Span, TimeRow, Timeline};
use crate::ids::SlotId;
use crate::report::format::{grouped, seconds};
use crate::report::money::{of_seat, total};
use crate::session::slot::{SlotState, Usage};
use crate::session::{Event, Money, SlotStatus};

const UNKNOWN: &str = "unknown";

/// `money` is there when the vote is over: it and tokens would tell models apart before.
pub(super) fn of(parts: &[Part], start: Timestamp, now: Timestamp, money: Option<&Money>) -> Timeline {
    let is_named = money.is_some();
    let mut rows: Vec<TimeRow> = parts.iter().flat_map(|part| rows(part, start, now, money)).collect();
    let total_ms = rows.iter().flat_map(|row| &row.spans).map(|span| span.to_ms).max().unwrap_or(0);
    for span in rows.iter_mut().flat_map(|row| &mut row.spans) {
        let mille = |ms: u64| ms * 1000 / total_ms.max(1);
        span.from_mille = mille(span.from_ms).min(998);
        span.length_mille = mille(span.to_ms).saturating_sub(span.from_mille).max(2);
    }
    let usages = || parts.iter().flat_map(|part| part.status.models.values());
    Timeline {
        total_ms,
        total: seconds(total_ms.div_ceil(1000)),
        tokens: is_named.then(|| tokens(usages())),
        cost: money.map(total),
        rows,
    }
}

fn rows(part: &Part, start: Timestamp, now: Timestamp, money: Option<&Money>) -> Vec<TimeRow> {
    let row = |(id, entry): (&SlotId, &SlotStatus)| {
        let spans = spans(part, *id, entry, start, now);
        let retries =
            part.records.iter().filter(|record| matches!(&record.event, Event::SlotRetry { slot, .. } if slot == id));
        let usage = entry.usage.as_ref().filter(|_| money.is_some());
        let count =
            |number: fn(&Usage) -> Option<u64>| usage.and_then(number).map_or_else(|| UNKNOWN.to_owned(), grouped);
        TimeRow {
            seat: Seat { id: *id, name: part.name_of(*id) },
            side: part.side,
            turn: part.turn_told(),
            state: entry.state.as_str(),
            began: spans.first().map_or_else(|| "-".to_owned(), |span| format!("+{}", tenths(span.from_ms))),
            took: spans.last().map_or_else(|| "-".to_owned(), |span| tenths(span.to_ms - span.from_ms)),
            retries: u32::try_from(retries.count()).unwrap_or(u32::MAX),
            input_tokens: count(|usage| usage.input_tokens),
            output_tokens: count(|usage| usage.output_tokens),
            // What a seat cost is of all of its turns, and stands with the first.
            cost: match (money, part.turn) {
                (Some(money), None) => of_seat(money, &seat_name(part, *id)),
                (Some(_), Some(_)) => "with the first".to_owned(),
                (None, _) => UNKNOWN.to_owned(),
            },
            spans,
        }
    };
    part.status.models.iter().map(row).collect()
}

/// A seat as `session-meta.json` calls it.
fn seat_name(part: &Part, id: SlotId) -> String {
    if let Some(inner) = &part.inner {
        let side = if part.side == Side::Judge { "judge" } else { "slot" };
        return format!("{side} {id}, {inner}");
    }
    // `judging-2/` is the second round's folder.
    match part.prefix.trim_end_matches('/').strip_prefix("judging-") {
        Some(round) => format!("judge {id}, round {round}"),
        None => format!("{} {id}", part.side.as_str()),
    }
}

/// The attempts of a slot from its record; without one the last attempt as the status has it.
fn spans(part: &Part, id: SlotId, entry: &SlotStatus, start: Timestamp, now: Timestamp) -> Vec<Span> {
    let since = |at: Timestamp| u64::try_from(at.as_millisecond() - start.as_millisecond()).unwrap_or(0);
    let span = |from: Timestamp, to: Timestamp, state: SlotState| Span {
        from_ms: since(from),
        to_ms: since(to).max(since(from)),
        from_mille: 0,
        length_mille: 0,
        state: state.as_str(),
    };
    let mut spans = Vec::new();
    let mut open = None;
    for record in &part.records {
        match &record.event {
            Event::SlotStarted { slot, .. } if *slot == id => open = Some(record.at),
            Event::SlotEnded { slot, end } if *slot == id => {
                spans.extend(open.take().map(|from| span(from, record.at, end.state)));
            }
            _ => {}
        }
    }
    match (open, entry.started_at) {
        (Some(from), _) => {
            // Of a slot whose owner died nobody knows for how long it went on.
            let last = part.records.last().map_or(from, |record| record.at);
            spans.push(span(from, if entry.state == SlotState::Running { now } else { last }, entry.state));
        }
        (None, Some(from)) if spans.is_empty() => {
            spans.push(span(from, entry.completed_at.unwrap_or(from), entry.state));
        }
        _ => {}
    }
    spans
}

/// `0.4s`, `12.3s`, `2m05s`.
fn tenths(ms: u64) -> String {
    if ms < 60_000 { format!("{}.{}s", ms / 1000, ms % 1000 / 100) } else { seconds(ms / 1000) }
}

fn tokens<'a>(all: impl Iterator<Item = &'a SlotStatus>) -> String {
    let (mut input, mut output, mut silent, mut asked) = (0_u64, 0_u64, 0_u32, 0_u32);
    for entry in all.filter(|entry| entry.attempts > 0) {
        asked += 1;
        match &entry.usage {
            Some(Usage { input_tokens: Some(read), output_tokens: Some(written), .. }) => {
                input += read;
                output += written;
            }
            _ => silent += 1,
        }
    }
    if silent == asked {
        return UNKNOWN.to_owned();
    }
    let rest = if silent > 0 { format!(", and what {silent} of {asked} did not report") } else { String::new() };
    format!("{} in, {} out{rest}", grouped(input), grouped(output))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_times_have_tenths() {
        assert_eq!([0, 449, 12_300, 125_000].map(tenths), ["0.0s", "0.4s", "12.3s", "2m05s"]);
    }
}
