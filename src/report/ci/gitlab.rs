//! GitLab's code quality report: a list of findings, empty where the gate passes.

use serde_json::{Value, json};

use super::model::{GateReport, Rule};
use super::plain::{line, votes};

/// The report as GitLab reads it.
#[must_use]
pub fn code_quality(report: &GateReport) -> Value {
    let entry = report.finding().map(|finding| {
        let counted = report.ruling.as_ref().map(|ruling| format!(" ({})", votes(ruling))).unwrap_or_default();
        json!({
            "description": format!("{}{counted}", line(&report.summary, 600)),
            "check_name": finding.rule.id(),
            "fingerprint": report.fingerprint(finding.rule),
            "severity": match finding.rule {
                Rule::Rejected => "critical",
                Rule::Failed => "blocker",
                Rule::NoDecision => "major",
            },
            "location": {"path": finding.path, "lines": {"begin": 1}},
        })
    });
    Value::Array(entry.into_iter().collect())
}
