//! GitHub Actions: annotations by workflow commands, and the summary of the step.

use super::markdown::markdown;
use super::model::{GateOutcome, GateReport};
use super::plain::{cut, line, text};
use crate::findings::Severity;
use crate::report::format::without_controls;

/// A step shows no more annotations of one kind.
const ANNOTATIONS: usize = 10;

/// The largest summary of a step: 1 MiB.
const SUMMARY_BYTES: usize = 1024 * 1024;

/// The most bytes of the text of an annotation.
const TEXT_BYTES: usize = 4 * 1024;

/// The commands, a line each.
#[must_use]
pub fn annotations(report: &GateReport) -> Vec<String> {
    let mut errors = Vec::new();
    let mut warnings = Vec::new();
    let mut notices = Vec::new();
    let text = text(report);
    let command = report.command.as_str();
    match report.finding() {
        Some(finding) => {
            let title = format!("{command}: {}", line(&report.summary, 120));
            let (kind, list) = match report.outcome {
                GateOutcome::NoDecision => ("warning", &mut warnings),
                _ => ("error", &mut errors),
            };
            list.push(annotation(kind, Some(finding.path), &title, cut(&text, TEXT_BYTES)));
        }
        None => notices.push(annotation("notice", None, command, cut(&text, TEXT_BYTES))),
    }
    for finding in report.sustained() {
        let (path, start, end) = report.place_of(finding);
        let title = format!("team review: {}", line(&finding.title, 120));
        let told = without_controls(&finding.told());
        let (kind, list) = match finding.severity {
            _ if finding.blocking => ("error", &mut errors),
            Severity::Critical | Severity::High | Severity::Medium => ("warning", &mut warnings),
            Severity::Low | Severity::Info => ("notice", &mut notices),
        };
        list.push(annotation_at(kind, path, (start, end), &title, cut(&told, TEXT_BYTES)));
    }
    for path in &report.settings_changed {
        let told = "The branch changes how the gate works. The gate went by the base's settings.";
        warnings.push(annotation("warning", Some(path), &format!("{command}: settings"), told));
    }
    for (file, reason) in report.omitted() {
        let told = format!("Not looked at: {}", reason.describe());
        warnings.push(annotation("warning", Some(&file.path), &format!("{command}: not looked at"), &told));
    }
    for list in [&mut errors, &mut warnings, &mut notices] {
        let more = list.len().saturating_sub(ANNOTATIONS);
        if more > 0 {
            list.truncate(ANNOTATIONS - 1);
            let told = format!("{} more of this kind are in the summary of the step", more + 1);
            list.push(annotation("warning", None, command, &told));
        }
    }
    [errors, warnings, notices].concat()
}

/// The summary, where the file for it holds `there` bytes already.
#[must_use]
pub fn step_summary(report: &GateReport, there: u64) -> String {
    let room = SUMMARY_BYTES.saturating_sub(usize::try_from(there).unwrap_or(usize::MAX));
    let text = markdown(report);
    if text.len() <= room {
        return text;
    }
    const CUT: &str = "\n\n(cut)\n";
    match room.checked_sub(CUT.len()) {
        Some(room) => format!("{}{CUT}", cut(&text, room)),
        None => String::new(),
    }
}

/// The same at lines of a file.
fn annotation_at(kind: &str, path: &str, (start, end): (u32, u32), title: &str, text: &str) -> String {
    let place = format!("file={},line={start},endLine={end}", property(path));
    format!("::{kind} {place},title={}::{}", property(title), data(text))
}

/// `::kind file=..,line=1,title=..::text`. What would end a property, the command or the line is escaped.
fn annotation(kind: &str, path: Option<&str>, title: &str, text: &str) -> String {
    let place = path.map(|path| format!("file={},line=1,", property(path))).unwrap_or_default();
    format!("::{kind} {place}title={}::{}", property(title), data(text))
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
