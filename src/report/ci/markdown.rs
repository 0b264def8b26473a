//! Markdown for people: a comment, or the summary of a job.
//!
//! It begins with a mark that nobody sees, by which a script finds the comment of an earlier run and replaces it.

use super::findings::FindingsReport;
use super::model::{GateOutcome, GateReport, ReportCommand, Ruling};
use super::plain::{cut, found, repaired, votes};
use crate::findings::FindingState;
use crate::verdict::inline_markdown;

/// By this a comment of an earlier run of the same command is found.
fn mark(report: &GateReport) -> String {
    format!("<!-- {} -->", report.command.as_str())
}

/// The largest document: GitHub takes no comment over 65536 characters.
const BYTES: usize = 60_000;

/// The most characters of one text of a model.
const TEXT: usize = 400;

/// The most findings that are listed.
const FINDINGS: usize = 100;

/// The most files that are listed.
const FILES: usize = 100;

/// The report as Markdown.
#[must_use]
pub fn markdown(report: &GateReport) -> String {
    let (mark, command) = (mark(report), report.command.as_str());
    let mut out = format!("{mark}\n## {command}: {}\n\n{}\n", heading(report), safe(&report.summary));
    for detail in &report.details {
        out.push_str(&format!("\n{}\n", safe(detail)));
    }
    if let Some(subject) = &report.subject {
        out.push_str(&format!(
            "\nCommit {}, compared with {} ({}).\n",
            code(&subject.head),
            safe(&subject.base),
            code(&subject.merge_base)
        ));
    }
    if let Some(ruling) = &report.ruling {
        push_ruling(&mut out, ruling);
    }
    for line in report.fix.iter().flat_map(repaired) {
        out.push_str(&format!("\n{}.\n", safe(&line)));
    }
    if let Some(found) = &report.findings {
        push_findings(&mut out, found);
    }
    push_files(&mut out, report);
    for path in &report.settings_changed {
        out.push_str(&format!("\n> The branch changes {}. The gate went by the base's.\n", safe(path)));
    }
    for warning in &report.warnings {
        out.push_str(&format!("\n> {}\n", safe(warning)));
    }
    if let Some(name) = report.session.as_ref().and_then(|path| path.file_name()) {
        out.push_str(&format!("\nSession {}.\n", safe(&name.to_string_lossy())));
    }
    if out.len() > BYTES {
        return format!("{}\n\n(cut)\n", cut(&out, BYTES));
    }
    out
}

const fn heading(report: &GateReport) -> &'static str {
    match (report.command, report.outcome) {
        (ReportCommand::Gate, GateOutcome::Approved) => "approved",
        (ReportCommand::Gate, GateOutcome::Rejected) => "rejected",
        (_, GateOutcome::Approved) => "passed",
        (_, GateOutcome::Rejected) => "blocked",
        (_, GateOutcome::Unchanged) => "nothing changed",
        (_, GateOutcome::NoDecision) => "no decision",
        (_, GateOutcome::Failed) => "could not run",
    }
}

fn push_ruling(out: &mut String, ruling: &Ruling) {
    out.push_str(&format!("\nDecision: {}; {}.\n", safe(&ruling.decision), safe(&votes(ruling))));
    out.push_str("\n| Member | Model | Vote | Confidence | Reason |\n| :--- | :--- | :--- | ---: | :--- |\n");
    for member in &ruling.members {
        out.push_str(&format!(
            "| {} | {} | {} | {} | {} |\n",
            safe(&member.id),
            safe(&member.model),
            safe(member.vote.as_deref().unwrap_or("none")),
            member.confidence.map(|number| number.to_string()).unwrap_or_default(),
            safe(member.summary.as_deref().unwrap_or_default())
        ));
    }
    if !ruling.key_issues.is_empty() {
        out.push_str("\nIssues, by how many named them:\n\n");
    }
    for issue in &ruling.key_issues {
        out.push_str(&format!("- {} ({})\n", safe(&issue.text), issue.count));
    }
}

fn push_findings(out: &mut String, report: &FindingsReport) {
    out.push_str(&format!("\n{}.\n", safe(&found(report))));
    let listed: Vec<_> = report.findings.iter().filter(|finding| finding.state != FindingState::Rejected).collect();
    if listed.is_empty() {
        return;
    }
    out.push_str("\n| Finding | Severity | State | Place | What |\n| :--- | :--- | :--- | :--- | :--- |\n");
    for finding in listed.iter().take(FINDINGS) {
        let at = finding.line.map(|line| format!(":{line}")).unwrap_or_default();
        let mark = if finding.blocking { " (in the way)" } else { "" };
        out.push_str(&format!(
            "| {} | {} | {}{mark} | {}{at} | {} |\n",
            finding.id,
            finding.severity,
            finding.state,
            safe(finding.file.as_deref().unwrap_or_default()),
            safe(&finding.title)
        ));
    }
    if listed.len() > FINDINGS {
        out.push_str(&format!("\nAnd {} more.\n", listed.len() - FINDINGS));
    }
}

fn push_files(out: &mut String, report: &GateReport) {
    if report.files.is_empty() {
        return;
    }
    out.push_str(&format!("\n{}.\n", report.coverage()));
    let omitted: Vec<_> = report.omitted().collect();
    if !omitted.is_empty() {
        out.push_str("\nNot looked at:\n\n");
    }
    for (file, reason) in omitted.iter().take(FILES) {
        out.push_str(&format!("- {}: {}\n", safe(&file.path), reason.describe()));
    }
    if omitted.len() > FILES {
        out.push_str(&format!("- and {} more\n", omitted.len() - FILES));
    }
    out.push_str("\n<details><summary>Looked at</summary>\n\n");
    let looked: Vec<_> = report.files.iter().filter(|file| file.omitted.is_none()).collect();
    for file in looked.iter().take(FILES) {
        let note = file.note.as_deref().map(|note| format!(", {}", safe(note))).unwrap_or_default();
        out.push_str(&format!("- {} ({}{note})\n", safe(&file.path), file.change.as_str()));
    }
    if looked.len() > FILES {
        out.push_str(&format!("- and {} more\n", looked.len() - FILES));
    }
    out.push_str("\n</details>\n");
}

/// Letters and digits only.
fn code(hash: &str) -> String {
    format!("`{}`", hash.chars().filter(char::is_ascii_alphanumeric).take(64).collect::<String>())
}

/// `text` as one line that is no markup, calls nobody, closes no issue and links to nothing.
fn safe(text: &str) -> String {
    let escaped = inline_markdown(text, TEXT);
    let mut out = String::with_capacity(escaped.len());
    let mut rest = escaped.as_str();
    // A host links these in what is left when the markup is gone, whatever was escaped.
    while let Some(at) = rest.find(['@', '#', ':', '.']) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let acts = from.starts_with('@')
            || from.starts_with('#')
            || from.starts_with("://")
            || from.starts_with('.') && before.to_ascii_lowercase().ends_with("www");
        out.push_str(&from[..1]);
        if acts {
            out.push('\u{200b}');
        }
        rest = &from[1..];
    }
    out + rest
}
