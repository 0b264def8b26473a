//! GitLab's code quality report: a list of findings, empty where the gate passes.

use serde_json::{Value, json};

use super::model::{GateReport, Rule};
use super::plain::{line, votes};
use crate::findings::Severity;

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
    let found = report.sustained().map(|finding| {
        let (path, begin, end) = report.place_of(finding);
        json!({
            "description": line(&format!("{}: {}", finding.title, finding.description), 600),
            "check_name": finding.rule(),
            "fingerprint": finding.fingerprint,
            "severity": match finding.severity {
                Severity::Critical => "blocker",
                Severity::High => "critical",
                Severity::Medium => "major",
                Severity::Low => "minor",
                Severity::Info => "info",
            },
            "location": {"path": path, "lines": {"begin": begin, "end": end}},
        })
    });
    Value::Array(entry.into_iter().chain(found).collect())
}
