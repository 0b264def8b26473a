//! SARIF 2.1.0, as much of it as a vote has to say: no result where the gate passes, else one.

use serde_json::{Value, json};

use super::model::{GateOutcome, GateReport, Rule};
use super::plain::{cut, text};

/// The most bytes of the message: GitHub shows a part of it.
const TEXT_BYTES: usize = 16 * 1024;

/// Where the schema is published.
const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// The report as SARIF.
#[must_use]
pub fn sarif(report: &GateReport) -> Value {
    let text = text(report);
    let text = cut(&text, TEXT_BYTES);
    let rules: Vec<Value> = Rule::ALL
        .iter()
        .map(|rule| {
            json!({
                "id": rule.id(),
                "shortDescription": {"text": rule.describe()},
                "fullDescription": {"text": rule.describe()},
                "defaultConfiguration": {"level": level(*rule)},
            })
        })
        .collect();
    let results: Vec<Value> = report
        .finding()
        .map(|finding| {
            let fingerprint = report.fingerprint(finding.rule);
            json!({
                "ruleId": finding.rule.id(),
                "ruleIndex": Rule::ALL.iter().position(|rule| *rule == finding.rule),
                "level": level(finding.rule),
                "message": {"text": text},
                "locations": [{
                    "physicalLocation": {
                        "artifactLocation": {"uri": uri(finding.path), "uriBaseId": "%SRCROOT%"},
                        "region": {"startLine": 1},
                    },
                }],
                // GitHub goes by the first one only.
                "partialFingerprints": {
                    "primaryLocationLineHash": format!("{}:1", fingerprint.get(..16).unwrap_or(&fingerprint)),
                    "teamGate/v1": fingerprint,
                },
            })
        })
        .into_iter()
        .collect();
    let mut invocation = json!({
        "executionSuccessful": report.outcome != GateOutcome::Failed,
        "exitCode": report.exit_code,
    });
    if report.outcome == GateOutcome::Failed
        && let Some(fields) = invocation.as_object_mut()
    {
        let notification = json!({"level": "error", "message": {"text": text}});
        fields.insert("toolExecutionNotifications".to_owned(), json!([notification]));
    }
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "team gate",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "automationDetails": {"id": "team-gate/"},
            "invocations": [invocation],
            "results": results,
        }],
    })
}

const fn level(rule: Rule) -> &'static str {
    match rule {
        Rule::Rejected | Rule::Failed => "error",
        Rule::NoDecision => "warning",
    }
}

/// A path as a relative reference of RFC 3986.
fn uri(path: &str) -> String {
    let mut out = String::new();
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}
