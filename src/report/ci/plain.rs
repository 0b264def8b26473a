//! The report as lines of plain text, for formats that take nothing else.

use super::findings::{FindingReport, FindingsReport};
use super::model::{GateReport, Ruling};
use crate::findings::FindingState;
use crate::report::format::{one_line, without_controls};
use crate::report::{FixBranch, FixRecord};

/// The most characters of one text of a model.
const TEXT: usize = 600;

/// The most members, issues and files that are listed.
const LISTED: usize = 50;

/// `text` on one line, of at most `most` characters.
pub(super) fn line(text: &str, most: usize) -> String {
    let text = one_line(text.trim());
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

/// `text` of at most `most` bytes, cut between characters.
pub(super) fn cut(text: &str, most: usize) -> &str {
    if text.len() <= most {
        return text;
    }
    let end = (0..=most).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    &text[..end]
}

/// All that a person wants to know, in lines.
pub(super) fn lines(report: &GateReport) -> Vec<String> {
    let mut lines = vec![line(&report.summary, TEXT)];
    lines.extend(report.details.iter().map(|text| line(text, TEXT)));
    if let Some(subject) = &report.subject {
        lines.push(format!("commit: {}", line(&subject.head, 80)));
        lines.push(format!("base: {} ({})", line(&subject.base, 200), line(&subject.base_commit, 80)));
    }
    if let Some(ruling) = &report.ruling {
        vote_lines(ruling, &mut lines);
    }
    if let Some(fix) = &report.fix {
        lines.extend(repaired(fix).iter().map(|text| line(text, TEXT)));
    }
    if let Some(found) = &report.findings {
        finding_lines(found, &mut lines);
    }
    if !report.files.is_empty() {
        lines.push(format!("{}{}", report.coverage(), if report.omitted().next().is_some() { "; not:" } else { "" }));
        let omitted = report.omitted().count();
        for (file, reason) in report.omitted().take(LISTED) {
            lines.push(format!("- {}: {}", line(&file.path, 300), reason.describe()));
        }
        if omitted > LISTED {
            lines.push(format!("- and {} more", omitted - LISTED));
        }
    }
    for path in report.settings_changed.iter().take(LISTED) {
        lines.push(format!("the branch changes `{}`; the gate went by the base's", line(path, 300)));
    }
    lines.extend(report.warnings.iter().take(LISTED).map(|text| line(text, TEXT)));
    lines
}

fn vote_lines(ruling: &Ruling, lines: &mut Vec<String>) {
    lines.push(votes(ruling));
    for member in ruling.members.iter().take(LISTED) {
        let vote = member.vote.as_deref().unwrap_or("no vote");
        let confidence = member.confidence.map(|number| format!(" ({number}/10)")).unwrap_or_default();
        let summary = member.summary.as_deref().map(|text| format!(": {}", line(text, TEXT))).unwrap_or_default();
        lines.push(format!("- {} {}: {vote}{confidence}{summary}", member.id, line(&member.model, 200)));
    }
    if !ruling.key_issues.is_empty() {
        lines.push("issues:".to_owned());
    }
    for issue in ruling.key_issues.iter().take(LISTED) {
        lines.push(format!("- {} (named by {})", line(&issue.text, TEXT), issue.count));
    }
}

fn finding_lines(report: &FindingsReport, lines: &mut Vec<String>) {
    lines.push(found(report));
    for finding in report.findings.iter().take(LISTED) {
        let place = finding.file.as_deref().map(|file| format!(" {}", line(file, 300))).unwrap_or_default();
        let at = finding.line.map(|line| format!(":{line}")).unwrap_or_default();
        lines.push(format!("- {}{place}{at}: {}", finding.standing(), line(&finding.title, TEXT)));
    }
    if report.findings.len() > LISTED {
        lines.push(format!("- and {} more", report.findings.len() - LISTED));
    }
}

/// How many findings there are, in words.
pub(super) fn found(report: &FindingsReport) -> String {
    let of = |wanted: fn(&FindingReport) -> bool| report.findings.iter().filter(|finding| wanted(finding)).count();
    let mut told = format!(
        "findings: {} sustained, {} of them in the way ({}); {} rejected; {} not settled",
        of(FindingReport::is_sustained),
        of(|finding| finding.blocking),
        report.fail_on,
        of(|finding| finding.state == FindingState::Rejected),
        of(|finding| matches!(finding.state, FindingState::Raised | FindingState::NeedsPerson)),
    );
    let ended = [
        ("mended", of(|finding| finding.state == FindingState::Verified)),
        ("declined", of(|finding| finding.state == FindingState::Declined)),
    ];
    for (what, count) in ended.into_iter().filter(|(_, count)| *count > 0) {
        told.push_str(&format!("; {count} {what}"));
    }
    told
}

/// How a fix went, in lines.
pub(super) fn repaired(fix: &FixRecord) -> Vec<String> {
    let count = |number: usize, one: &str, many: &str| match number {
        1 => format!("1 {one}"),
        number => format!("{number} {many}"),
    };
    let commits = count(fix.commits(), "commit", "commits");
    let mut lines = vec![format!("repairs: {commits} in {}", count(fix.rounds.len(), "round", "rounds"))];
    if let Some(FixBranch { name, commit }) = &fix.branch {
        let short = commit.get(..12).unwrap_or(commit);
        lines.push(format!("they are on the branch {name} ({short}), which was not pushed"));
    }
    lines
}

/// The count, in words.
pub(super) fn votes(ruling: &Ruling) -> String {
    format!(
        "votes: {} approve, {} reject, {} abstain, {} missing; {} needed ({}), quorum {}",
        ruling.approvals,
        ruling.rejections,
        ruling.abstentions,
        ruling.missing,
        ruling.needed,
        line(&ruling.threshold, 40),
        ruling.quorum
    )
}

/// The lines as one text.
pub(super) fn text(report: &GateReport) -> String {
    without_controls(&lines(report).join("\n"))
}
