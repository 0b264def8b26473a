//! What the calls of a session cost: from the record, the manifests and nothing else, so that whoever has the folder
//! comes to the same.

use std::collections::BTreeMap;
use std::path::Path;

use crate::ids::SlotId;
use crate::money::Usd;
use crate::session::slot::{Reason, Spent, Usage};
use crate::session::{
    Event, History, Layout, Manifest, Money, Record, Round, SeatMoney, Session, SlotEnd, Turn, usage_at_end,
};

/// What the seats of one side have spent, by their ids.
pub(crate) type Seats = BTreeMap<SlotId, SeatMoney>;

/// Adds the calls of a folder's record, which went to the models of `manifest`.
pub(crate) fn add(seats: &mut Seats, manifest: &Manifest, records: &[Record]) {
    let mut begun: Vec<SlotId> = Vec::new();
    for record in records {
        match &record.event {
            Event::SlotStarted { slot, .. } => begun.push(*slot),
            Event::SlotEnded { slot, end } => {
                // One that was stopped before its turn asked nobody.
                let Some(at) = begun.iter().position(|begun| begun == slot) else { continue };
                begun.swap_remove(at);
                if was_asked(end) {
                    let usage = usage_at_end(manifest, record, *slot, end);
                    add_call(seats.entry(*slot).or_default(), usage, cost(manifest, record, *slot, end, usage));
                }
            }
            _ => {}
        }
    }
}

/// Whether a request can have been made: a program that did not start, or a key that is not there, asks nobody.
fn was_asked(end: &SlotEnd) -> bool {
    let reason = end.error.as_ref().map(|error| error.reason);
    end.usage.is_some() || end.sealed_usage.is_some() || !matches!(reason, Some(Reason::SpawnFailed | Reason::Auth))
}

fn cost(manifest: &Manifest, record: &Record, slot: SlotId, end: &SlotEnd, usage: Option<Usage>) -> Option<Usd> {
    let model = &manifest.member(slot)?.resolved;
    let cost = end.sealed_cost.as_ref().and_then(|sealed| sealed.open(&manifest.nonce, slot, record.prev));
    Spent { usage, cost }.cost(model)
}

fn add_call(seat: &mut SeatMoney, usage: Option<Usage>, cost: Option<Usd>) {
    let usage = usage.unwrap_or_default();
    let grow = |sum: &mut Option<u64>, more: Option<u64>| {
        if let Some(more) = more {
            *sum = Some(sum.unwrap_or(0).saturating_add(more));
        }
    };
    seat.calls += 1;
    grow(&mut seat.input_tokens, usage.input_tokens);
    grow(&mut seat.output_tokens, usage.output_tokens);
    match cost {
        Some(cost) => seat.known_usd = Some(seat.known_usd.unwrap_or_default().plus(cost)),
        None => seat.unknown_calls += 1,
    }
}

/// The records of the further turns inside of a round's folder, those of turns inside of turns included.
pub(super) fn turns_of(layout: &Layout) -> Vec<Vec<Record>> {
    let mut found = Vec::new();
    for turn in Turn::ALL {
        let inside = layout.turn(turn);
        if let Some(records) = read(&inside.events()) {
            found.push(records);
            found.extend(turns_of(&inside));
        }
    }
    found
}

/// What cannot be read says nothing of money; that it cannot is told elsewhere.
fn read(path: &Path) -> Option<Vec<Record>> {
    path.is_file().then(|| History::read(path).ok()).flatten().map(|history| history.records)
}

/// The seats of a round's judges, over all of their turns.
fn round_seats(layout: &Layout) -> Option<Seats> {
    let manifest = Manifest::read(&layout.manifest()).ok()?;
    let mut seats = Seats::new();
    for records in read(&layout.events()).into_iter().chain(turns_of(layout)) {
        add(&mut seats, &manifest, &records);
    }
    Some(seats)
}

/// The seats of the panel in `layout`, over its further turns, under the names that `name` gives.
fn seats_of(layout: &Layout, name: impl Fn(SlotId) -> String) -> BTreeMap<String, SeatMoney> {
    round_seats(layout).unwrap_or_default().into_iter().map(|(slot, seat)| (name(slot), seat)).collect()
}

/// Everything that a session has spent, over all rounds.
pub(crate) fn total(session: &Session) -> Money {
    let panel = session.panel();
    let mut seats = Seats::new();
    add(&mut seats, panel.manifest(), panel.records());
    let mut named: BTreeMap<String, SeatMoney> =
        seats.into_iter().map(|(slot, seat)| (format!("slot {slot}"), seat)).collect();
    for round in session.layout().rounds() {
        for (judge, seat) in round_seats(&session.layout().round(round)).unwrap_or_default() {
            let name = if round == Round(1) { String::new() } else { format!(", round {}", round.0) };
            named.insert(format!("judge {judge}{name}"), seat);
        }
    }
    for record in panel.records() {
        let Event::PanelOpened { panel: inner } = record.event else { continue };
        let layout = session.layout().inner(inner);
        let place = inner.folder();
        named.extend(seats_of(&layout, |slot| format!("slot {slot}, {place}")));
        for round in layout.rounds() {
            named.extend(seats_of(&layout.round(round), |judge| format!("judge {judge}, {place}")));
        }
    }
    let sum = |of: fn(&SeatMoney) -> u64| named.values().map(of).sum();
    Money {
        known_usd: named.values().filter_map(|seat| seat.known_usd).sum(),
        calls: sum(|seat| seat.calls),
        unknown_calls: sum(|seat| seat.unknown_calls),
        seats: named,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seat_adds_up_what_is_known_and_counts_what_is_not() {
        let mut seat = SeatMoney::default();
        let usage = Usage { input_tokens: Some(5), ..Usage::default() };
        add_call(&mut seat, Some(usage), Some("0.1".parse().unwrap()));
        add_call(&mut seat, Some(usage), Some("0.2".parse().unwrap()));
        add_call(&mut seat, None, None);
        let expected = SeatMoney {
            calls: 3,
            unknown_calls: 1,
            input_tokens: Some(10),
            output_tokens: None,
            known_usd: Some("0.3".parse().unwrap()),
        };
        assert_eq!(seat, expected);
    }
}
