//! SARIF 2.1.0, as much of it as a gate has to say: a result for each finding that a review sustained; where a vote does not
//! pass, or the gate did not come to an end, one for that.

use serde_json::{Value, json};

use super::findings::{FindingReport, rule};
use super::model::{GateOutcome, GateReport, Rule};
use super::plain::{cut, text};
use crate::findings::Severity;
use crate::report::format::without_controls;

/// The most bytes of the message: GitHub shows a part of it.
const TEXT_BYTES: usize = 16 * 1024;

/// The most bytes of the message of one finding.
const FINDING_BYTES: usize = 4 * 1024;

/// The most findings: hosts show some thousand, and take no more than 10 MB.
const MOST_RESULTS: usize = 1000;

/// Where the schema is published.
const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// The report as SARIF.
#[must_use]
pub fn sarif(report: &GateReport) -> Value {
    let text = text(report);
    let text = cut(&text, TEXT_BYTES);
    let mut rules: Vec<Value> = Rule::ALL
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
    if report.findings.is_some() {
        rules.extend(Severity::ALL.map(|severity| {
            let told = format!("Reviewers found it, and a blind vote sustained it: {severity}");
            json!({
                "id": rule(severity),
                "shortDescription": {"text": told},
                "fullDescription": {"text": told},
                "defaultConfiguration": {"level": severity_level(severity)},
            })
        }));
    }
    let mut results: Vec<Value> = report
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
    let sustained = report.sustained().count();
    results.extend(report.sustained().take(MOST_RESULTS).map(|finding| finding_result(report, finding)));
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
    if sustained > MOST_RESULTS
        && let Some(fields) = invocation.as_object_mut()
    {
        let told = format!("{} findings of {sustained} are left out, the mildest", sustained - MOST_RESULTS);
        let notifications = fields.entry("toolExecutionNotifications").or_insert_with(|| json!([]));
        notifications.as_array_mut().into_iter().for_each(|list| {
            list.push(json!({"level": "warning", "message": {"text": told}}));
        });
    }
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": report.command.as_str(),
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            // A host keeps the alerts of each apart.
            "automationDetails": {"id": format!("{}/", report.command.as_str().replace(' ', "-"))},
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

/// The result of one finding.
fn finding_result(report: &GateReport, finding: &FindingReport) -> Value {
    let (path, start, end) = report.place_of(finding);
    let told = without_controls(&finding.told());
    let fingerprint = finding.fingerprint.to_string();
    let at = Severity::ALL.iter().position(|severity| *severity == finding.severity).unwrap_or_default();
    json!({
        "ruleId": finding.rule(),
        "ruleIndex": Rule::ALL.len() + at,
        "level": severity_level(finding.severity),
        "message": {"text": cut(&told, FINDING_BYTES)},
        "locations": [{
            "physicalLocation": {
                "artifactLocation": {"uri": uri(path), "uriBaseId": "%SRCROOT%"},
                "region": {"startLine": start, "endLine": end},
            },
        }],
        "partialFingerprints": {
            "primaryLocationLineHash": format!("{}:1", fingerprint.get(..16).unwrap_or(&fingerprint)),
            "teamReview/v1": fingerprint,
        },
    })
}

const fn severity_level(severity: Severity) -> &'static str {
    match severity {
        Severity::Critical | Severity::High => "error",
        Severity::Medium => "warning",
        Severity::Low | Severity::Info => "note",
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
