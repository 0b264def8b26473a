//! What is told of earlier declines, a line each.

use crate::findings::{Declined, EarlierDecline, EarlierDeclines, FindingState, Findings};

/// What a reader should know: which findings were declined before, and which are worse than what was declined.
pub(in crate::pipeline) fn told(findings: &Findings, earlier: &EarlierDeclines) -> Vec<String> {
    let mut lines = Vec::new();
    for record in findings.iter() {
        let id = record.id;
        if let Some(origin) = &record.declined_before {
            let now = match record.state {
                FindingState::Declined => {
                    let note = record.note.as_ref().map(|note| note.as_str()).filter(|note| !note.is_empty());
                    note.map_or_else(|| "no reason was given".to_owned(), |note| format!("\"{note}\""))
                }
                _ => "that was taken back here".to_owned(),
            };
            lines.push(format!("{id} was declined before, {}: {now}", origin.told()));
        } else if record.state != FindingState::Declined
            && let Some(Declined::Worse(EarlierDecline { origin, content, .. })) = earlier.of_record(record)
        {
            lines.push(format!(
                "{id} is one that was declined as {}, {}; it is said to be {} now, so it was raised anew",
                content.severity,
                origin.told(),
                record.finding.severity
            ));
        }
    }
    lines
}
