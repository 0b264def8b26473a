//! From the sessions that count to the numbers of each model.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::entry::{Entry, Seat, Voter};
use super::gather::{Gathered, Wanted};
use super::model::{By, Group, ModelStats, Share, Spread, Stats, Sum};
use crate::ids::FormatVersion;
use crate::session::slot::{SlotState, Usage};
use crate::verdict::wilson_interval;

impl Stats {
    /// Counts what was found for `wanted`.
    #[must_use]
    pub fn count(gathered: &Gathered, wanted: &Wanted) -> Self {
        let mut groups: BTreeMap<(bool, Option<String>), Vec<&Entry>> = BTreeMap::new();
        for entry in &gathered.entries {
            groups.entry((entry.imported, name(entry, wanted.by))).or_default().push(entry);
        }
        Self {
            version: FormatVersion::CURRENT,
            since: wanted.since,
            until: wanted.until,
            context: wanted.context.clone(),
            by: wanted.by,
            sessions: number(gathered.entries.len()),
            skipped: gathered.skipped.clone(),
            groups: groups.into_iter().map(|((imported, name), entries)| group(name, imported, &entries)).collect(),
        }
    }
}

fn name(entry: &Entry, by: Option<By>) -> Option<String> {
    let at = |form: &str| Some(entry.started.to_zoned_datetime(TimeZone::UTC).strftime(form).to_string());
    match by? {
        By::Context => entry.context.clone(),
        By::Day => at("%Y-%m-%d"),
        By::Week => at("%G-W%V"),
        By::Month => at("%Y-%m"),
    }
}

/// Everything about one model in one group.
#[derive(Default)]
struct Tally<'a> {
    names: BTreeMap<&'a str, Timestamp>,
    sessions: BTreeSet<&'a str>,
    seats: Vec<&'a Seat>,
    voters: Vec<&'a Voter>,
}

fn group(name: Option<String>, imported: bool, entries: &[&Entry]) -> Group {
    let mut tallies: BTreeMap<&str, Tally<'_>> = BTreeMap::new();
    for entry in entries {
        for seat in &entry.seats {
            let tally = tallies.entry(&seat.who.model).or_default();
            tally.seen(entry, &seat.who.name);
            tally.seats.push(seat);
        }
        for voter in &entry.voters {
            let tally = tallies.entry(&voter.who.model).or_default();
            tally.seen(entry, &voter.who.name);
            tally.voters.push(voter);
        }
    }
    let mut models: Vec<ModelStats> = tallies.into_iter().map(|(model, tally)| tally.count(model)).collect();
    // Equals stay in the order of their names.
    models.sort_by(|a, b| {
        let order = |x: &ModelStats| (x.won.share.unwrap_or(-1.0), x.approved.share.unwrap_or(-1.0));
        let ((a_won, a_approved), (b_won, b_approved)) = (order(a), order(b));
        b_won.total_cmp(&a_won).then(b_approved.total_cmp(&a_approved))
    });
    Group { name, imported, sessions: number(entries.len()), models }
}

impl<'a> Tally<'a> {
    fn seen(&mut self, entry: &'a Entry, name: &'a str) {
        self.sessions.insert(&entry.session);
        let last = self.names.entry(name).or_insert(entry.started);
        *last = (*last).max(entry.started);
    }

    fn count(self, model: &str) -> ModelStats {
        let seats = &self.seats;
        let asked = number(seats.len());
        let ended = |states: &[SlotState]| number(seats.iter().filter(|seat| states.contains(&seat.state)).count());
        let results: Vec<_> = seats.iter().filter_map(|seat| seat.result).collect();
        let sum = |of: fn(&super::entry::SeatResult) -> u32| results.iter().map(of).sum();
        let complete = || seats.iter().filter(|seat| seat.state == SlotState::Completed);
        let tokens = |of: fn(&Usage) -> Option<u64>| total(complete().filter_map(|seat| of(seat.usage.as_ref()?)));
        // The newest name first.
        let mut names: Vec<(Timestamp, &str)> = self.names.iter().map(|(name, last)| (*last, *name)).collect();
        names.sort_by(|a, b| b.cmp(a));
        ModelStats {
            model: model.to_owned(),
            names: names.into_iter().map(|(_, name)| name.to_owned()).collect(),
            sessions: number(self.sessions.len()),
            answered: share(ended(&[SlotState::Completed]), asked),
            failed: share(ended(&[SlotState::Failed, SlotState::Empty, SlotState::Timeout]), asked),
            won: share(number(results.iter().filter(|result| result.won).count()), number(results.len())),
            approved: share(sum(|result| result.approvals), sum(|result| result.votes)),
            agreed: share(
                self.voters.iter().map(|voter| voter.agreed).sum(),
                self.voters.iter().map(|voter| voter.of).sum(),
            ),
            seconds: spread(complete().filter_map(|seat| seat.seconds).collect()),
            input_tokens: tokens(|usage| usage.input_tokens),
            output_tokens: tokens(|usage| usage.output_tokens),
        }
    }
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

fn share(count: u32, of: u32) -> Share {
    let share = (of > 0).then(|| f64::from(count) / f64::from(of));
    // To six decimals, as the interval.
    let share = share.map(|share| (share * 1e6).round() / 1e6);
    Share { count, of, share, interval: wilson_interval(count, of) }
}

fn spread(mut values: Vec<f64>) -> Spread {
    values.sort_by(f64::total_cmp);
    let (Some(least), Some(most)) = (values.first(), values.last()) else { return Spread::default() };
    let half = values.len() / 2;
    let median =
        if values.len().is_multiple_of(2) { f64::midpoint(values[half - 1], values[half]) } else { values[half] };
    let rounded = |value: f64| (value * 1000.0).round() / 1000.0;
    Spread {
        of: number(values.len()),
        median: Some(rounded(median)),
        least: Some(rounded(*least)),
        most: Some(rounded(*most)),
    }
}

fn total(values: impl Iterator<Item = u64>) -> Sum {
    let mut sum = Sum::default();
    for value in values {
        sum.of += 1;
        sum.total = Some(sum.total.unwrap_or(0).saturating_add(value));
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::super::entry::{SeatResult, Who};
    use super::*;

    fn seat(model: &str, state: SlotState, result: Option<(bool, u32, u32)>, seconds: f64) -> Seat {
        Seat {
            who: Who { model: format!("x/{model}"), name: model.to_owned() },
            state,
            seconds: Some(seconds),
            usage: None,
            result: result.map(|(won, approvals, votes)| SeatResult { won, approvals, votes }),
        }
    }

    fn entry(session: &str, day: &str, seats: Vec<Seat>) -> Entry {
        let started = format!("{day}T23:30:00Z").parse().unwrap();
        let context = (session < "s2").then(|| "debug".to_owned());
        Entry { session: session.to_owned(), started, context, imported: false, seats, voters: Vec::new() }
    }

    fn entries() -> Gathered {
        let one = [seat("a", SlotState::Completed, Some((true, 3, 4)), 2.0), seat("b", SlotState::Failed, None, 9.0)];
        let two =
            [seat("a", SlotState::Completed, Some((false, 1, 2)), 4.0), seat("b", SlotState::Cancelled, None, 9.0)];
        let entries = vec![entry("s1", "2026-01-31", one.to_vec()), entry("s2", "2026-02-01", two.to_vec())];
        Gathered { entries, skipped: BTreeMap::new() }
    }

    #[test]
    fn each_share_says_of_how_many_it_is_and_how_uncertain() {
        let stats = Stats::count(&entries(), &Wanted::default());
        let [group] = &stats.groups[..] else { panic!("{stats:?}") };
        let [a, b] = &group.models[..] else { panic!("{group:?}") };
        assert_eq!((a.answered.count, a.answered.of, a.won.count, a.won.of), (2, 2, 1, 2));
        assert_eq!((a.approved.count, a.approved.of, a.approved.share), (4, 6, Some(0.666_667)));
        assert_eq!(a.approved.interval, wilson_interval(4, 6));
        assert_eq!((a.seconds.of, a.seconds.median), (2, Some(3.0)));
        // Stopped is neither answered nor failed, and a time without an answer is none.
        assert_eq!((b.answered.count, b.failed.count, b.failed.of), (0, 1, 2));
        assert_eq!((b.won.of, b.won.share, b.seconds), (0, None, Spread::default()));
        assert_eq!(b.input_tokens, Sum { of: 0, total: None }, "unknown is not zero");
    }

    #[test]
    fn sessions_are_grouped_by_what_is_asked_for() {
        let names = |by| {
            let wanted = Wanted { by: Some(by), ..Wanted::default() };
            let groups = Stats::count(&entries(), &wanted).groups;
            groups.into_iter().map(|group| group.name.unwrap_or_default()).collect::<Vec<_>>()
        };
        assert_eq!(names(By::Month), ["2026-01", "2026-02"]);
        assert_eq!(names(By::Week), ["2026-W05"]);
        assert_eq!(names(By::Day), ["2026-01-31", "2026-02-01"]);
        assert_eq!(names(By::Context), ["", "debug"]);
    }

    #[test]
    fn imported_votes_are_a_group_of_their_own() {
        let mut gathered = entries();
        gathered.entries[0].imported = true;
        let groups = Stats::count(&gathered, &Wanted::default()).groups;
        let found: Vec<_> = groups.iter().map(|group| (group.imported, group.sessions)).collect();
        assert_eq!(found, [(false, 1), (true, 1)]);
    }
}
