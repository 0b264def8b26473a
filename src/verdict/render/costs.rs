//! What the panel has spent, told with the verdict and never before.

use crate::session::SeatMoney;

use super::{Context, Names, Seat};

/// A table by seat, and of how much nothing is known. `None` where nothing was counted and nothing spent.
pub(super) fn costs(names: &Names, context: &Context) -> Option<String> {
    let counted = |seat: &SeatMoney| {
        seat.input_tokens.is_some()
            || seat.output_tokens.is_some()
            || seat.known_usd.is_some_and(|cost| cost > crate::money::Usd::ZERO)
    };
    if !context.costs.iter().any(|(_, seat)| counted(seat)) {
        return None;
    }
    let mut text = String::from(
        "## Cost\n\n| Seat | Model | Calls | Tokens in | Tokens out | US dollars |\n| :--- | :--- | ---: | ---: | ---: | :--- |",
    );
    let number = |tokens: Option<u64>| tokens.map_or_else(|| "unknown".to_owned(), |count| count.to_string());
    let mut sum = SeatMoney::default();
    for (seat, money) in &context.costs {
        let (seat, name) = match seat {
            Seat::Slot(id) => (format!("slot {id}"), names.slot(*id)),
            Seat::Judge(id) => (format!("judge {id}"), names.judge(*id)),
        };
        text.push_str(&format!(
            "\n| {seat} | {name} | {} | {} | {} | {} |",
            money.calls,
            number(money.input_tokens),
            number(money.output_tokens),
            dollars(money)
        ));
        sum.calls += money.calls;
        sum.unknown_calls += money.unknown_calls;
        for (sum, more) in [(&mut sum.input_tokens, money.input_tokens), (&mut sum.output_tokens, money.output_tokens)]
        {
            if let Some(more) = more {
                *sum = Some(sum.unwrap_or(0).saturating_add(more));
            }
        }
        if let Some(cost) = money.known_usd {
            sum.known_usd = Some(sum.known_usd.unwrap_or_default().plus(cost));
        }
    }
    text.push_str(&format!(
        "\n| all | | {} | {} | {} | {} |",
        sum.calls,
        number(sum.input_tokens),
        number(sum.output_tokens),
        dollars(&sum)
    ));
    if sum.unknown_calls > 0 {
        let share = sum.unknown_calls * 100 / sum.calls.max(1);
        text.push_str(&format!(
            "\n\nThe cost of {} of {} calls ({share} %) is unknown; the sum is of the others.",
            sum.unknown_calls, sum.calls
        ));
    }
    Some(text)
}

fn dollars(money: &SeatMoney) -> String {
    match (money.known_usd, money.unknown_calls) {
        (None, _) => "unknown".to_owned(),
        (Some(cost), 0) => cost.to_string(),
        (Some(cost), _) => format!("{cost} and more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seat(calls: u64, unknown_calls: u64, tokens: Option<u64>, usd: Option<&str>) -> SeatMoney {
        SeatMoney {
            calls,
            unknown_calls,
            input_tokens: tokens,
            output_tokens: tokens,
            known_usd: usd.map(|usd| usd.parse().unwrap()),
        }
    }

    fn told(costs: Vec<(Seat, SeatMoney)>) -> Option<String> {
        let context = Context {
            session: "s".to_owned(),
            head: None,
            failed: Vec::new(),
            isolation: String::new(),
            first: Vec::new(),
            notes: Vec::new(),
            costs,
        };
        super::costs(&Names::default(), &context)
    }

    #[test]
    fn what_is_unknown_is_said_and_never_a_zero() {
        let one = Seat::Slot("01".parse().unwrap());
        let two = Seat::Judge("02".parse().unwrap());
        let all = vec![(one, seat(2, 0, Some(1200), Some("0.0123"))), (two, seat(2, 1, None, Some("0.1")))];
        insta::assert_snapshot!(told(all).unwrap(), @r"
        ## Cost

        | Seat | Model | Calls | Tokens in | Tokens out | US dollars |
        | :--- | :--- | ---: | ---: | ---: | :--- |
        | slot 01 | unknown | 2 | 1200 | 1200 | 0.0123 |
        | judge 02 | unknown | 2 | unknown | unknown | 0.10 and more |
        | all | | 4 | 1200 | 1200 | 0.1123 and more |

        The cost of 1 of 4 calls (25 %) is unknown; the sum is of the others.
        ");
        let unknown = told(vec![(one, seat(1, 1, Some(7), None))]).unwrap();
        assert!(unknown.contains("| slot 01 | unknown | 1 | 7 | 7 | unknown |"), "{unknown}");
        assert!(unknown.contains("The cost of 1 of 1 calls (100 %) is unknown"), "{unknown}");
    }

    #[test]
    fn where_nothing_was_counted_there_is_nothing_to_tell() {
        let one = Seat::Slot("01".parse().unwrap());
        assert_eq!(told(vec![(one, seat(1, 1, None, None))]), None);
        assert_eq!(told(vec![(one, seat(1, 0, None, Some("0")))]), None);
    }
}
