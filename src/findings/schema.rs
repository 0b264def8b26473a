//! The JSON schema of a reviewer's findings.

use serde_json::{Map, Value, json};

use super::{Action, Severity};

/// The JSON schema of a `findings` block, and of the whole reply of a reviewer that is held to a schema.
///
/// Only keywords that strict modes know are used: every field is required and no other is allowed, and what is not known
/// is an empty text or 0, for not every provider takes a field of two types.
#[must_use]
pub fn findings_schema() -> Value {
    let text = |told: &str| json!({"type": "string", "description": told});
    let line = |told: &str| json!({"type": "integer", "minimum": 0, "description": told});
    let severities: Vec<&str> = Severity::ALL.iter().rev().map(|severity| severity.as_str()).collect();
    let actions: Vec<&str> = Action::ALL.iter().map(|action| action.as_str()).collect();
    let fields: [(&str, Value); 9] = [
        ("severity", json!({"type": "string", "enum": severities, "description": "How bad it is."})),
        ("action", json!({"type": "string", "enum": actions, "description": "What should be done about it."})),
        ("file", text("The path of the file, relative to the root of the repository; empty if it is about no file.")),
        ("line", line("The first line of the file that it is about, from 1; 0 if there is none.")),
        ("end_line", line("The last such line; 0 if it is the first one.")),
        ("title", text("What it is, in a few words.")),
        ("description", text("What is wrong, and when it happens.")),
        ("evidence", text("What shows that it is so; empty if nothing does.")),
        ("suggestion", text("What would mend it; empty if that is not known.")),
    ];
    let required: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
    let properties: Map<String, Value> =
        fields.iter().map(|(name, field)| ((*name).to_owned(), field.clone())).collect();
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["findings"],
        "properties": {
            "findings": {
                "type": "array",
                "description": "What is wrong; empty if nothing was found.",
                "items": {
                    "type": "object",
                    "additionalProperties": false,
                    "required": required,
                    "properties": properties
                }
            }
        }
    })
}
