//! The JSON equivalent of the fenced ballot, for judges that can be held to a schema.

use serde_json::{Value, json};

use super::{Alias, Assignment};

/// The JSON schema of the reply to `assignment`: an object with an array `votes`, one entry per answer shown.
///
/// Only keywords that strict modes know are used: every property is required and no other is allowed.
#[must_use]
pub fn schema(assignment: &Assignment) -> Value {
    let aliases: Vec<&str> = assignment.shown.iter().map(|(_, alias)| Alias::as_str(alias)).collect();
    let count = aliases.len();
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["votes"],
        "properties": {
            "votes": {
                "type": "array",
                "minItems": count,
                "maxItems": count,
                "items": {
                    "type": "object",
                    "additionalProperties": false,
                    "required": ["response", "verdict", "confidence", "summary", "key_issues"],
                    "properties": {
                        "response": { "type": "string", "enum": aliases },
                        "verdict": { "type": "string", "enum": ["APPROVE", "REJECT", "ABSTAIN"] },
                        "confidence": { "type": "integer", "minimum": 1, "maximum": 10 },
                        "summary": { "type": "string" },
                        "key_issues": { "type": "array", "items": { "type": "string" } }
                    }
                }
            }
        }
    })
}
