//! What a session cost, as its `session-meta.json` tells it with the verdict, in words. Where it tells nothing, nothing is
//! known.

use crate::session::{Money, SeatMoney};

/// What is shown where a cost is not known: never zero.
const UNKNOWN: &str = "unknown";

/// What all calls cost, in words.
pub(super) fn total(money: &Money) -> String {
    let Money { known_usd, calls, unknown_calls, .. } = money;
    match unknown_calls {
        0 if *calls > 0 => format!("${known_usd}"),
        unknown if unknown < calls => format!("${known_usd}, and what {unknown} of {calls} calls cost"),
        _ => UNKNOWN.to_owned(),
    }
}

/// What a seat cost over all of its turns, in words; `seat` is `slot 01`, or `judge 01, round 2`.
pub(super) fn of_seat(money: &Money, seat: &str) -> String {
    match money.seats.get(seat) {
        Some(SeatMoney { known_usd: Some(known), unknown_calls: 0, .. }) => format!("${known}"),
        Some(SeatMoney { known_usd: Some(known), .. }) => format!("${known} and more"),
        _ => UNKNOWN.to_owned(),
    }
}

/// What a seat cost, in dollars, where all of it is known.
pub(super) fn seat_usd(money: &Money, seat: &str) -> Option<f64> {
    let seat = money.seats.get(seat).filter(|seat| seat.unknown_calls == 0)?;
    Some(seat.known_usd?.nanos() as f64 / 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_of_costs_is_told_and_the_rest_is_unknown() {
        let money: Money = serde_json::from_str(
            r#"{"known_usd": "0.35", "calls": 3, "unknown_calls": 1, "seats": {
                "slot 01": {"calls": 1, "unknown_calls": 0, "input_tokens": 5, "known_usd": "0.25"},
                "slot 02": {"calls": 2, "unknown_calls": 1, "known_usd": "0.10"},
                "judge 01": {"calls": 1, "unknown_calls": 1, "known_usd": null}}}"#,
        )
        .unwrap();
        assert_eq!(total(&money), "$0.35, and what 1 of 3 calls cost");
        let seats =
            ["slot 01", "slot 02", "judge 01", "slot 09"].map(|seat| (of_seat(&money, seat), seat_usd(&money, seat)));
        assert_eq!(seats[0], ("$0.25".to_owned(), Some(0.25)));
        assert_eq!(seats[1], ("$0.10 and more".to_owned(), None));
        assert_eq!([&seats[2], &seats[3]], [&("unknown".to_owned(), None); 2]);
        assert_eq!(total(&Money::default()), "unknown");
    }
}
