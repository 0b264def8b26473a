//! The schemas of what this program writes, made from the types that write it (JSON Schema, draft 2020-12).

use std::collections::BTreeSet;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value};

use super::ci::GateReport;
use super::json::StreamLine;
use super::stats::Stats;
use super::views::{ListEntry, SessionReport, StatusReport};
use crate::findings::{FindingStandings, FindingVotes, LedgerLine, ReviewResult, findings_schema};
use crate::judging::Votes;
use crate::session::gc::GcReport;
use crate::session::{Manifest, Meta, Record, Status};
use crate::verdict::{TaskVerdict, Verdict};

/// A format of ours, or of what a command prints with `--json`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Each line of `events.jsonl`.
    Events,
    /// Each line of a command that goes on.
    Stream,
    /// `status.json`.
    Status,
    /// `session-meta.json`.
    Meta,
    /// `manifest.json`.
    Manifest,
    /// `votes.json`.
    Votes,
    /// `verdict.json`.
    Verdict,
    /// `verdict.json` of a vote on a task.
    TaskVerdict,
    /// `verdict.json` of a review or a fix.
    ReviewVerdict,
    /// `votes.json` of a vote on findings.
    FindingVotes,
    /// `verdict.json` of a vote on findings.
    FindingStandings,
    /// The `findings` block of a reviewer.
    Findings,
    /// Each line of `findings.jsonl`.
    Ledger,
    /// `team status --json`.
    StatusOutput,
    /// `team list --json`.
    ListOutput,
    /// `team show --json`.
    ShowOutput,
    /// `team gate --json`.
    GateOutput,
    /// `team stats --json`.
    StatsOutput,
    /// `team gc --json`.
    GcOutput,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 19] = [
        Self::Events,
        Self::Stream,
        Self::Status,
        Self::Meta,
        Self::Manifest,
        Self::Votes,
        Self::Verdict,
        Self::TaskVerdict,
        Self::ReviewVerdict,
        Self::FindingVotes,
        Self::FindingStandings,
        Self::Findings,
        Self::Ledger,
        Self::StatusOutput,
        Self::ListOutput,
        Self::ShowOutput,
        Self::GateOutput,
        Self::StatsOutput,
        Self::GcOutput,
    ];

    /// The name on the command line.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Events => "events",
            Self::Stream => "stream",
            Self::Status => "status",
            Self::Meta => "meta",
            Self::Manifest => "manifest",
            Self::Votes => "votes",
            Self::Verdict => "verdict",
            Self::TaskVerdict => "task-verdict",
            Self::ReviewVerdict => "review-verdict",
            Self::FindingVotes => "finding-votes",
            Self::FindingStandings => "finding-standings",
            Self::Findings => "findings",
            Self::Ledger => "ledger",
            Self::StatusOutput => "status-output",
            Self::ListOutput => "list-output",
            Self::ShowOutput => "show-output",
            Self::GateOutput => "gate-output",
            Self::StatsOutput => "stats-output",
            Self::GcOutput => "gc-output",
        }
    }

    /// What it is the schema of.
    #[must_use]
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Events => "each line of `events.jsonl`",
            Self::Stream => {
                "each line of `run`, `judge`, `run-and-judge`, `vote`, `demo` and `status --watch` with `--json`"
            }
            Self::Status => "`status.json`",
            Self::Meta => "`session-meta.json`",
            Self::Manifest => "`manifest.json`",
            Self::Votes => "`votes.json`",
            Self::Verdict => "`verdict.json`",
            Self::TaskVerdict => "`verdict.json` of `vote`",
            Self::ReviewVerdict => "`verdict.json` of `review` and `fix`",
            Self::FindingVotes => "`votes.json` of a vote on findings",
            Self::FindingStandings => "`verdict.json` of a vote on findings",
            Self::Findings => "the `findings` block that a reviewer ends with",
            Self::Ledger => "each line of `findings.jsonl`",
            Self::StatusOutput => "what `status --json` prints",
            Self::ListOutput => "what `list --json` prints",
            Self::ShowOutput => "what `show --json` prints",
            Self::GateOutput => "what `gate --json` prints",
            Self::StatsOutput => "what `stats --json` prints",
            Self::GcOutput => "what `gc --json` prints",
        }
    }

    /// The schema. It is closed: a field that it does not name is not written.
    #[must_use]
    pub fn schema(self) -> Value {
        let schema = match self {
            Self::Events => of::<Record>(),
            Self::Stream => of::<StreamLine<'static>>(),
            Self::Status => of::<Status>(),
            Self::Meta => of::<Meta>(),
            Self::Manifest => of::<Manifest>(),
            Self::Votes => of::<Votes>(),
            Self::Verdict => of::<Verdict>(),
            Self::TaskVerdict => of::<TaskVerdict>(),
            Self::ReviewVerdict => of::<ReviewResult>(),
            Self::FindingVotes => of::<FindingVotes>(),
            Self::FindingStandings => of::<FindingStandings>(),
            // What a model is asked for, which is less than what is read.
            Self::Findings => return self.headed(drafted(findings_schema())),
            Self::Ledger => of::<LedgerLine>(),
            Self::StatusOutput => of::<StatusReport>(),
            Self::ListOutput => of::<Vec<ListEntry>>(),
            Self::ShowOutput => of::<SessionReport>(),
            Self::GateOutput => of::<GateReport>(),
            Self::StatsOutput => of::<Stats>(),
            Self::GcOutput => of::<GcReport>(),
        };
        let mut schema = schema.to_value();
        let parts = parts(&schema);
        close(&mut schema, Object::Whole, &parts);
        self.headed(schema)
    }

    /// The schema with what a reader wants to know first at its head.
    fn headed(self, schema: Value) -> Value {
        let Value::Object(mut fields) = schema else { return schema };
        let title = Value::from(format!("team {}: {}", self.as_str(), self.describe()));
        let mut headed = Map::new();
        headed.extend(fields.shift_remove("$schema").map(|draft| ("$schema".to_owned(), draft)));
        headed.insert("title".to_owned(), title);
        headed.extend(fields.shift_remove("description").map(|text| ("description".to_owned(), text)));
        fields.shift_remove("title");
        headed.extend(fields);
        Value::Object(headed)
    }
}

/// A schema that was written by hand, with the draft that it is one of.
fn drafted(schema: Value) -> Value {
    let mut drafted = Map::new();
    drafted.insert("$schema".to_owned(), "https://json-schema.org/draft/2020-12/schema".into());
    if let Value::Object(fields) = schema {
        drafted.extend(fields);
    }
    Value::Object(drafted)
}

/// As the type is written, which is not in all as it may be read.
fn of<T: JsonSchema>() -> Schema {
    SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<T>()
}

/// Whether a schema describes all of an object, or one part of it next to others.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Object {
    Whole,
    Part,
}

/// The definitions that are parts of objects with fields of their own, such as what a tagged variant holds.
fn parts(schema: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    match schema {
        Value::Object(fields) => {
            let named = fields.get("$ref").and_then(Value::as_str).and_then(|path| path.strip_prefix("#/$defs/"));
            found.extend(named.filter(|_| fields.contains_key("properties")).map(str::to_owned));
            fields.values().for_each(|inner| found.extend(parts(inner)));
        }
        Value::Array(items) => items.iter().for_each(|inner| found.extend(parts(inner))),
        _ => {}
    }
    found
}

/// Closes every object: what it does not name is an error. A part cannot know what the other parts name.
fn close(schema: &mut Value, object: Object, parts: &BTreeSet<String>) {
    let Value::Object(fields) = schema else { return };
    let names_fields = fields.contains_key("properties");
    for (keyword, value) in fields.iter_mut() {
        match (keyword.as_str(), value) {
            ("allOf" | "anyOf" | "oneOf", Value::Array(choices)) => {
                let inner = if names_fields { Object::Part } else { object };
                choices.iter_mut().for_each(|choice| close(choice, inner, parts));
            }
            ("$defs", Value::Object(named)) => {
                for (name, definition) in named {
                    let object = if parts.contains(name) { Object::Part } else { Object::Whole };
                    close(definition, object, parts);
                }
            }
            ("properties" | "patternProperties", Value::Object(named)) => {
                named.values_mut().for_each(|field| close(field, Object::Whole, parts));
            }
            ("items" | "additionalProperties", value) => close(value, Object::Whole, parts),
            _ => {}
        }
    }
    if names_fields && object == Object::Whole && !fields.contains_key("additionalProperties") {
        fields.insert("unevaluatedProperties".to_owned(), Value::Bool(false));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepts(format: Format, document: &Value) -> bool {
        jsonschema::draft202012::new(&format.schema()).unwrap().is_valid(document)
    }

    #[test]
    fn every_schema_is_one_of_its_draft_and_says_so() {
        for format in Format::ALL {
            let schema = format.schema();
            assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
            jsonschema::meta::validate(&schema).unwrap_or_else(|error| panic!("{}: {error}", format.as_str()));
        }
    }

    #[test]
    fn what_is_closed_in_the_code_is_closed_in_the_schema() {
        let mut event = serde_json::json!({
            "seq": 2, "prev": "a".repeat(64), "at": "2026-01-01T00:00:00Z", "event": "slot_ended", "slot": "01",
            "attempt": 1, "state": "COMPLETED", "exitCode": 0, "signal": null, "outputSize": 3, "sha256": "b".repeat(64),
            "truncated": false, "usage": null, "error": null,
        });
        assert!(accepts(Format::Events, &event));
        assert!(!accepts(Format::Stream, &event), "a line of the stream names its folder");
        for (field, wrong) in [
            ("state", "DONE".into()),
            ("slot", "1".into()),
            ("sha256", "B".repeat(64).into()),
            ("event", "slot_finished".into()),
            ("outputSize", Value::from(-1)),
            ("unknown", Value::Null),
        ] {
            let right = event.as_object_mut().unwrap().insert(field.to_owned(), wrong);
            assert!(!accepts(Format::Events, &event), "{field}");
            match right {
                Some(right) => event[field] = right,
                None => drop(event.as_object_mut().unwrap().remove(field)),
            }
        }
        for field in ["seq", "at", "event", "slot", "attempt", "exitCode", "error"] {
            let mut less = event.clone();
            less.as_object_mut().unwrap().remove(field);
            assert!(!accepts(Format::Events, &less), "without {field}");
        }
    }

    #[test]
    fn every_field_is_documented() {
        for format in Format::ALL {
            let mut bare = Vec::new();
            undocumented(&format.schema(), format.as_str(), &mut bare);
            assert_eq!(bare, [""; 0]);
        }
    }

    /// The fields below `schema` that have neither a description nor one value only.
    fn undocumented(schema: &Value, place: &str, bare: &mut Vec<String>) {
        match schema {
            Value::Object(fields) => {
                for (name, field) in fields.get("properties").and_then(Value::as_object).into_iter().flatten() {
                    if field.get("description").is_none() && field.get("const").is_none() {
                        bare.push(format!("{place}.{name}"));
                    }
                }
                fields.iter().for_each(|(name, inner)| undocumented(inner, &format!("{place}.{name}"), bare));
            }
            Value::Array(items) => items.iter().for_each(|inner| undocumented(inner, place, bare)),
            _ => {}
        }
    }
}
