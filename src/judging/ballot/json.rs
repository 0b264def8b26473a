//! Ballots in the JSON of the schema.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use super::Entry;
use super::field::{issue, issues};

/// An object's members in their order. A name that is there twice is here twice: each is something that was said.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Each;
        impl<'de> Visitor<'de> for Each {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Each)
    }
}

impl<'a> Members<'a> {
    fn read(text: &'a str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }
}

/// The ballots in `text`; `None` when it is not JSON with ballots.
///
/// `votes` is an object by name, as the schema has it, or an array of votes that each have a `response`.
pub(crate) fn entries(text: &str) -> Option<Vec<Entry>> {
    // Here for what is no JSON: the parts are taken without a look into them.
    serde_json::from_str::<Value>(text).ok()?;
    let Some(Members(members)) = Members::read(text) else { return votes(text) };
    let lists: Option<Vec<Vec<Entry>>> =
        members.iter().filter(|(name, _)| name == "votes").map(|(_, list)| votes(list.get())).collect();
    lists.filter(|lists| !lists.is_empty()).map(|lists| lists.concat())
}

/// The votes on the task itself in `text`: an object with a `verdict` is one. `None` when it is not JSON with ballots.
pub(super) fn task_entries(text: &str) -> Option<Vec<Entry>> {
    serde_json::from_str::<Value>(text).ok()?;
    match Members::read(text) {
        Some(vote) if vote.0.iter().any(|(name, _)| name.eq_ignore_ascii_case("verdict")) => Some(vec![entry(&vote)]),
        _ => entries(text),
    }
}

/// The ballots of an object by name or of an array.
fn votes(text: &str) -> Option<Vec<Entry>> {
    if let Some(Members(votes)) = Members::read(text) {
        let named = votes
            .into_iter()
            .filter_map(|(name, vote)| Some(Entry { response: Some(name), ..entry(&Members::read(vote.get())?) }));
        return Some(named.collect());
    }
    let votes: Vec<&RawValue> = serde_json::from_str(text).ok()?;
    Some(votes.into_iter().filter_map(|vote| Members::read(vote.get())).map(|vote| entry(&vote)).collect())
}

/// One vote. As in a block every verdict counts, and of what is said twice besides it the last.
fn entry(vote: &Members<'_>) -> Entry {
    let mut entry = Entry::default();
    for (name, value) in &vote.0 {
        let value = serde_json::from_str(value.get()).unwrap_or(Value::Null);
        let text = match &value {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        };
        match name.to_ascii_lowercase().as_str() {
            "response" | "finding" | "alias" => entry.response = text,
            // What is no text is a verdict that nobody can read.
            "verdict" => entry.verdicts.push(text.unwrap_or_default()),
            "confidence" => entry.confidence = text,
            "summary" => entry.summary = text.unwrap_or_default(),
            "key_issues" | "keyissues" => match value {
                Value::Array(list) => entry.issues.extend(list.iter().filter_map(Value::as_str).filter_map(issue)),
                Value::String(text) => entry.issues.extend(issues(&text)),
                _ => {}
            },
            _ => {}
        }
    }
    entry
}
