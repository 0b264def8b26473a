//! The JSON equivalent of the fenced ballot, for judges that can be held to a schema.

use serde_json::{Map, Value, json};

use super::{Alias, Assignment};

/// The JSON schema of the reply to `assignment`: an object `votes` with one property per name shown.
///
/// Names as properties, all required, rather than an array of votes: then every name has exactly one vote by
/// construction. With an array, a small model votes twice on one name and contradicts itself. Only keywords that
/// strict modes know are used: every property is required and no other is allowed.
#[must_use]
pub fn schema(assignment: &Assignment) -> Value {
    let aliases: Vec<&str> = assignment.shown.iter().map(|(_, alias)| Alias::as_str(alias)).collect();
    let votes: Map<String, Value> = aliases.iter().map(|alias| ((*alias).to_owned(), vote())).collect();
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["votes"],
        "properties": {
            "votes": {
                "type": "object",
                "additionalProperties": false,
                "required": aliases,
                "properties": votes
            }
        }
    })
}

/// The JSON schema of a vote on the task itself.
#[must_use]
pub fn task_schema() -> Value {
    vote()
}

fn vote() -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["verdict", "confidence", "summary", "key_issues"],
        "properties": {
            "verdict": { "type": "string", "enum": ["APPROVE", "REJECT", "ABSTAIN"] },
            "confidence": { "type": "integer", "minimum": 1, "maximum": 10 },
            "summary": { "type": "string" },
            "key_issues": { "type": "array", "items": { "type": "string" } }
        }
    })
}
