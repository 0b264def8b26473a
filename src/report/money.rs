//! What a session cost, as its `session-meta.json` tells it with the verdict. Where it tells nothing, nothing is known.

use std::collections::BTreeMap;

use fs_err as fs;
use serde::Deserialize;

use crate::session::Layout;

/// What is shown where a cost is not known: never zero.
const UNKNOWN: &str = "unknown";

/// What a session has spent, in US dollars as they are written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct Money {
    known_usd: Option<String>,
    calls: u64,
    unknown_calls: u64,
    seats: BTreeMap<String, SeatMoney>,
}

/// What one seat has spent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
struct SeatMoney {
    unknown_calls: u64,
    known_usd: Option<String>,
}

impl Money {
    /// Of the session at `layout`.
    pub(super) fn read(layout: &Layout) -> Self {
        fs::read(layout.meta()).map(|bytes| Self::parse(&bytes)).unwrap_or_default()
    }

    fn parse(meta: &[u8]) -> Self {
        #[derive(Deserialize)]
        struct Meta {
            money: Option<Money>,
        }
        serde_json::from_slice::<Meta>(meta).ok().and_then(|meta| meta.money).unwrap_or_default()
    }

    /// What all calls cost, in words.
    pub(super) fn total(&self) -> String {
        match (&self.known_usd, self.unknown_calls) {
            (Some(known), 0) if self.calls > 0 => format!("${known}"),
            (Some(known), unknown) if unknown < self.calls => {
                format!("${known}, and what {unknown} of {} calls cost", self.calls)
            }
            _ => UNKNOWN.to_owned(),
        }
    }

    /// What a seat cost over all of its turns, in words; `seat` is `slot 01`, or `judge 01, round 2`.
    pub(super) fn seat(&self, seat: &str) -> String {
        match self.seats.get(seat) {
            Some(SeatMoney { known_usd: Some(known), unknown_calls: 0 }) => format!("${known}"),
            Some(SeatMoney { known_usd: Some(known), .. }) => format!("${known} and more"),
            _ => UNKNOWN.to_owned(),
        }
    }

    /// What a seat cost, in dollars, where all of it is known.
    pub(super) fn seat_usd(&self, seat: &str) -> Option<f64> {
        let seat = self.seats.get(seat).filter(|seat| seat.unknown_calls == 0)?;
        seat.known_usd.as_ref()?.parse().ok().filter(|usd: &f64| usd.is_finite() && *usd >= 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_of_costs_is_told_and_the_rest_is_unknown() {
        let money = Money::parse(
            br#"{"money": {"known_usd": "0.35", "calls": 3, "unknown_calls": 1, "seats": {
                "slot 01": {"calls": 1, "unknown_calls": 0, "input_tokens": 5, "known_usd": "0.25"},
                "slot 02": {"calls": 2, "unknown_calls": 1, "known_usd": "0.10"},
                "judge 01": {"calls": 1, "unknown_calls": 1, "known_usd": null}}}}"#,
        );
        assert_eq!(money.total(), "$0.35, and what 1 of 3 calls cost");
        let seats = ["slot 01", "slot 02", "judge 01", "slot 09"].map(|seat| (money.seat(seat), money.seat_usd(seat)));
        assert_eq!(seats[0], ("$0.25".to_owned(), Some(0.25)));
        assert_eq!(seats[1], ("$0.10 and more".to_owned(), None));
        assert_eq!([&seats[2], &seats[3]], [&("unknown".to_owned(), None); 2]);
        for nothing in [&br#"{"money": null}"#[..], b"{}", b"{"] {
            assert_eq!(Money::parse(nothing).total(), "unknown");
        }
    }
}
