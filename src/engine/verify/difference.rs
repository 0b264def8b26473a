//! The first place at which two JSON values differ.

use serde_json::Value;

/// Texts are shown up to here; the rest is in the files.
const SHOWN: usize = 120;

/// A place in a JSON value, and what is on each side; `None` where nothing is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Difference {
    /// Such as `judges[1].votes[0].verdict`.
    pub(super) place: String,
    pub(super) expected: String,
    pub(super) found: String,
}

/// Where `found` differs from `expected`; `None` when it does not. The order of fields does not matter.
pub(super) fn difference(expected: &Value, found: &Value) -> Option<Difference> {
    at(String::new(), Some(expected), Some(found), Extra::Counts)
}

/// The same, except that fields which only `expected` has are no difference: a later program may add some.
pub(super) fn difference_of_older(expected: &Value, found: &Value) -> Option<Difference> {
    at(String::new(), Some(expected), Some(found), Extra::Added)
}

/// In how many places they differ.
pub(super) fn differences(expected: &Value, found: &Value) -> usize {
    match (expected, found) {
        (Value::Object(expected), Value::Object(found)) => {
            let more = found.keys().filter(|name| !expected.contains_key(*name)).count();
            let each =
                expected.iter().map(|(name, value)| found.get(name).map_or(1, |found| differences(value, found)));
            more + each.sum::<usize>()
        }
        (Value::Array(expected), Value::Array(found)) => {
            let more = expected.len().abs_diff(found.len());
            more + expected.iter().zip(found).map(|(expected, found)| differences(expected, found)).sum::<usize>()
        }
        (expected, found) => usize::from(expected != found),
    }
}

/// What a field is that only the expected value has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extra {
    Counts,
    Added,
}

fn at(place: String, expected: Option<&Value>, found: Option<&Value>, extra: Extra) -> Option<Difference> {
    match (expected, found) {
        (Some(Value::Object(expected)), Some(Value::Object(found))) => {
            let more = found.keys().filter(|name| !expected.contains_key(*name));
            expected.keys().chain(more).find_map(|name| {
                let (expected, found) = (expected.get(name), found.get(name));
                if found.is_none() && extra == Extra::Added {
                    return None;
                }
                let place = if place.is_empty() { name.clone() } else { format!("{place}.{name}") };
                at(place, expected, found, extra)
            })
        }
        (Some(Value::Array(expected)), Some(Value::Array(found))) => (0..expected.len().max(found.len()))
            .find_map(|index| at(format!("{place}[{index}]"), expected.get(index), found.get(index), extra)),
        (expected, found) if expected == found => None,
        (expected, found) => Some(Difference { place, expected: shown(expected), found: shown(found) }),
    }
}

fn shown(value: Option<&Value>) -> String {
    let text = value.map_or_else(|| "nothing".to_owned(), Value::to_string);
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{} [..]", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(expected: &Value, found: &Value) -> Option<(String, String, String)> {
        difference(expected, found).map(|d| (d.place, d.expected, d.found))
    }

    #[test]
    fn the_first_difference_is_named_with_its_place() {
        let vote = |verdict: &str| json!({"judges": [{"id": "01"}, {"votes": [{"verdict": verdict}]}]});
        let expected = ("judges[1].votes[0].verdict".to_owned(), "\"A\"".to_owned(), "\"B\"".to_owned());
        assert_eq!(told(&vote("A"), &vote("B")), Some(expected));
        assert_eq!(told(&json!({"a": 1, "b": 2}), &json!({"b": 2, "a": 1})), None);
        let place = |expected, found| told(&expected, &found).map(|(place, ..)| place);
        assert_eq!(place(json!([1]), json!([1, 2])), Some("[1]".to_owned()));
        assert_eq!(place(json!({"a": 1}), json!({})), Some("a".to_owned()));
        assert_eq!(place(json!({}), json!({"a": null})), Some("a".to_owned()));
    }

    #[test]
    fn a_field_that_an_older_program_did_not_write_is_no_difference_and_any_other_is() {
        let now = json!({"a": {"b": 1, "new": 2}, "new": 3});
        assert_eq!(difference_of_older(&now, &json!({"a": {"b": 1}})), None);
        assert!(difference_of_older(&now, &json!({"a": {"b": 2}})).is_some());
        assert!(difference_of_older(&now, &json!({"a": {"b": 1}, "gone": 1})).is_some());
    }
}
