//! What a review is told CI, from its folder.

use std::collections::BTreeMap;

use super::request::ReviewPlan;
use super::subject::SubjectKind;
use crate::config::{GateKind, GateSubject};
use crate::engine::{Decision, Outcome};
use crate::error::{Error, ErrorKind, Result};
use crate::findings::{FindingRecord, LedgerRead, ReviewVerdict};
use crate::ids::{FormatVersion, SlotId};
use crate::report::ci::{FindingsReport, GateOutcome, GateReport, ReportCommand, SeenFile, SubjectReport};
use crate::runner::StopAll;
use crate::session::{Event, History, Layout, Manifest, Record};

/// The report of a review that came to its end, or was stopped before it.
pub fn reported(outcome: &Outcome) -> Result<GateReport> {
    let records = History::read(&outcome.layout.events())?.records;
    let work = ReviewPlan::read(&records)?.review;
    let mut details = Vec::new();
    if let Some(stop) = outcome.stop {
        details.push(format!("stopped ({})", stop.cause()));
    }
    let stopped = matches!(outcome.stop, Some(StopAll::Signal(_) | StopAll::Request));
    let (ended, summary) = match &outcome.decision {
        Decision::Reviewed(verdict) => (GateOutcome::from(verdict.decision), verdict.sentence.clone()),
        Decision::NoDecision { why } => (GateOutcome::NoDecision, format!("no decision: {why}")),
        _ => (GateOutcome::Failed, "no review was held".to_owned()),
    };
    let mut report =
        empty(if stopped { GateOutcome::Failed } else { ended }, summary, details, outcome.exit_code().code());
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
    report.files = work.files;
    report.warnings = work.notes;
    report.session = Some(outcome.layout.root().to_owned());
    if let Decision::Reviewed(verdict) = &outcome.decision {
        report.findings = Some(found(&outcome.layout, verdict)?);
    }
    Ok(report)
}

/// What the session at `layout` found, which `verdict` is about: the vote is over.
pub fn found(layout: &Layout, verdict: &ReviewVerdict) -> Result<FindingsReport> {
    let records = History::read(&layout.events())?.records;
    let findings = LedgerRead::read(&layout.ledger()).map(|read| read.findings).unwrap_or_default();
    let found: Vec<&FindingRecord> = findings.iter().collect();
    Ok(FindingsReport::new(verdict, &found, &models(layout, &records)?))
}

/// The report of a review that could not be held.
#[must_use]
pub fn not_held(error: &Error) -> GateReport {
    let outcome = match error.kind() {
        ErrorKind::NoDecision => GateOutcome::NoDecision,
        _ => GateOutcome::Failed,
    };
    let code = error.kind().exit_code().code();
    empty(outcome, format!("the review was not held: {}", error.chain()), error.hints().to_vec(), code)
}

fn empty(outcome: GateOutcome, summary: String, details: Vec<String>, exit_code: u8) -> GateReport {
    GateReport {
        version: FormatVersion::CURRENT,
        command: ReportCommand::Review,
        kind: GateKind::Review,
        outcome,
        exit_code,
        summary,
        details,
        subject: None,
        settings: Vec::new(),
        settings_changed: Vec::new(),
        files: Vec::<SeenFile>::new(),
        ruling: None,
        findings: None,
        warnings: Vec::new(),
        session: None,
    }
}

/// The model behind each seat of the newest panel; the vote is over.
fn models(layout: &Layout, records: &[Record]) -> Result<BTreeMap<SlotId, String>> {
    let panel = records.iter().rev().find_map(|record| match record.event {
        Event::PanelOpened { panel } => Some(panel),
        _ => None,
    });
    let Some(panel) = panel else { return Ok(BTreeMap::new()) };
    let manifest = Manifest::read(&layout.inner(panel).manifest())?;
    Ok(manifest.models.iter().map(|(slot, member)| (*slot, member.model.clone())).collect())
}
