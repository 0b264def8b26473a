//! What a review is told CI, from its folder.

use super::request::{ReviewPlan, ReviewWork};
use super::subject::SubjectKind;
use crate::config::{GateKind, GateSubject};
use crate::engine::{Decision, Outcome};
use crate::error::{Error, ErrorKind, ExitCode, Result};
use crate::findings::{FindingRecord, LedgerRead, ReviewVerdict};
use crate::ids::FormatVersion;
use crate::report::ci::{FindingsReport, GateOutcome, GateReport, PanelNames, ReportCommand, SubjectReport};
use crate::runner::StopAll;
use crate::session::{Event, History, InnerKind, Layout, Manifest, Record};

/// The report of a review that came to its end, or was stopped before it.
pub fn reported(outcome: &Outcome) -> Result<GateReport> {
    let records = History::read(&outcome.layout.events())?.records;
    let work = ReviewPlan::read(&records)?.review;
    let mut details = Vec::new();
    if let Some(stop) = outcome.stop {
        details.push(format!("stopped ({})", stop.cause()));
    }
    let (ended, summary) = match &outcome.decision {
        Decision::Reviewed(verdict) => (GateOutcome::from(verdict.decision), verdict.sentence.clone()),
        Decision::NoDecision { why } => (GateOutcome::NoDecision, format!("no decision: {why}")),
        _ => (GateOutcome::Failed, "no review was held".to_owned()),
    };
    let ended = if was_stopped(outcome) { GateOutcome::Failed } else { ended };
    let mut report = empty(ReportCommand::Review, ended, summary, details, outcome.exit_code());
    about(&mut report, &work, &outcome.layout);
    if let Decision::Reviewed(verdict) = &outcome.decision {
        report.findings = Some(found(&outcome.layout, verdict)?);
    }
    Ok(report)
}

/// Whether somebody stopped the command.
pub(in crate::pipeline) fn was_stopped(outcome: &Outcome) -> bool {
    matches!(outcome.stop, Some(StopAll::Signal(_) | StopAll::Request))
}

/// Puts into `report` what was reviewed in the session at `layout`.
pub(in crate::pipeline) fn about(report: &mut GateReport, work: &ReviewWork, layout: &Layout) {
    report.subject = match (work.kind, &work.base, &work.from, &work.head) {
        (SubjectKind::Diff, Some(base), Some(from), Some(head)) => Some(SubjectReport {
            what: GateSubject::Diff,
            name: None,
            base: base.clone(),
            base_commit: from.clone(),
            merge_base: from.clone(),
            head: head.clone(),
            pull_request_head: None,
        }),
        _ => None,
    };
    report.files.clone_from(&work.files);
    report.warnings.clone_from(&work.notes);
    report.session = Some(layout.root().to_owned());
}

/// What the session at `layout` found, which `verdict` is about. Models are named when a verdict is on record.
pub fn found(layout: &Layout, verdict: &ReviewVerdict) -> Result<FindingsReport> {
    let records = History::read(&layout.events())?.records;
    let findings = LedgerRead::read(&layout.ledger()).map(|read| read.findings).unwrap_or_default();
    let found: Vec<&FindingRecord> = findings.iter().collect();
    Ok(FindingsReport::new(verdict, &found, &names(layout, &records)?))
}

/// The report of a review that could not be held.
#[must_use]
pub fn not_held(error: &Error) -> GateReport {
    not_done(ReportCommand::Review, "the review was not held", error)
}

/// The report of a command of which `told` says that nothing came of it.
pub(in crate::pipeline) fn not_done(command: ReportCommand, told: &str, error: &Error) -> GateReport {
    let outcome = match error.kind() {
        ErrorKind::NoDecision => GateOutcome::NoDecision,
        _ => GateOutcome::Failed,
    };
    let summary = format!("{told}: {}", error.chain());
    empty(command, outcome, summary, error.hints().to_vec(), error.kind().exit_code())
}

/// A report that knows of nothing but how it ended.
pub(in crate::pipeline) fn empty(
    command: ReportCommand,
    outcome: GateOutcome,
    summary: String,
    details: Vec<String>,
    code: ExitCode,
) -> GateReport {
    GateReport {
        version: FormatVersion::CURRENT,
        command,
        kind: GateKind::Review,
        outcome,
        exit_code: code.code(),
        summary,
        details,
        subject: None,
        settings: Vec::new(),
        settings_changed: Vec::new(),
        files: Vec::new(),
        ruling: None,
        findings: None,
        fix: None,
        warnings: Vec::new(),
        session: None,
    }
}

/// The model behind each seat of each panel of reviewers; nobody before the vote is over.
fn names(layout: &Layout, records: &[Record]) -> Result<PanelNames> {
    let mut names = PanelNames::new();
    if !records.iter().any(|record| matches!(record.event, Event::Verdict { .. })) {
        return Ok(names);
    }
    for record in records {
        let Event::PanelOpened { panel } = record.event else { continue };
        if panel.kind == InnerKind::Fix {
            continue;
        }
        let manifest = Manifest::read(&layout.inner(panel).manifest())?;
        let of_panel = manifest.models.iter().map(|(slot, member)| (*slot, member.model.clone()));
        names.insert(panel.folder(), of_panel.collect());
    }
    Ok(names)
}
