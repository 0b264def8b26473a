//! Ballots in the JSON of the schema.

use serde_json::{Map, Value};

use super::Entry;
use super::field::issue;

/// The ballots in `text`; `None` when it is not JSON with ballots.
///
/// `votes` is an object by name, as the schema has it, or an array of votes that each have a `response`.
pub(super) fn entries(text: &str) -> Option<Vec<Entry>> {
    let value: Value = serde_json::from_str(text).ok()?;
    let votes = match &value {
        Value::Object(object) => object.get("votes")?,
        other => other,
    };
    match votes {
        Value::Object(votes) => Some(
            votes
                .iter()
                .filter_map(|(name, vote)| Some(Entry { response: Some(name.clone()), ..entry(vote.as_object()?) }))
                .collect(),
        ),
        Value::Array(votes) => Some(votes.iter().filter_map(Value::as_object).map(entry).collect()),
        _ => None,
    }
}

/// The votes on the task itself in `text`: an object with a `verdict` is one. `None` when it is not JSON with ballots.
pub(super) fn task_entries(text: &str) -> Option<Vec<Entry>> {
    let value: Value = serde_json::from_str(text).ok()?;
    match &value {
        Value::Object(vote) if vote.keys().any(|key| key.eq_ignore_ascii_case("verdict")) => Some(vec![entry(vote)]),
        _ => entries(text),
    }
}

fn entry(vote: &Map<String, Value>) -> Entry {
    let get = |names: &[&str]| {
        vote.iter().find(|(key, _)| names.iter().any(|name| key.eq_ignore_ascii_case(name))).map(|(_, value)| value)
    };
    let text = |names: &[&str]| match get(names) {
        Some(Value::String(text)) => Some(text.clone()),
        Some(Value::Number(number)) => Some(number.to_string()),
        _ => None,
    };
    Entry {
        response: text(&["response", "alias"]),
        verdicts: text(&["verdict"]).into_iter().collect(),
        confidence: text(&["confidence"]),
        summary: text(&["summary"]).unwrap_or_default(),
        issues: match get(&["key_issues", "keyIssues"]) {
            Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).filter_map(issue).collect(),
            Some(Value::String(text)) => super::field::issues(text),
            _ => Vec::new(),
        },
    }
}
