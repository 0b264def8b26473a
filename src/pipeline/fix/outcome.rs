//! What a fix is told CI, from its folder: what is open at its end, what was mended, and where the repairs are.

use super::request::FixPlan;
use crate::engine::{Decision, Outcome};
use crate::error::{Error, Result};
use crate::findings::{LedgerRead, decide_review};
use crate::pipeline::review::{about, empty, found, not_done, was_stopped};
use crate::report::FixRecord;
use crate::report::ci::{GateOutcome, GateReport, ReportCommand};
use crate::session::{History, Manifest};

/// The report of a fix that came to its end, waits for a person, or was stopped.
pub fn reported(outcome: &Outcome) -> Result<GateReport> {
    let records = History::read(&outcome.layout.events())?.records;
    let plan = FixPlan::read(&records)?;
    let fix = FixRecord::of(&records);
    let mut details = Vec::new();
    if let Some(stop) = outcome.stop {
        details.push(format!("stopped ({})", stop.cause()));
    }
    let code = outcome.exit_code();
    let (ended, summary) = match &outcome.decision {
        Decision::Fix { sentence, .. } => {
            let ended = match code.code() {
                0 => GateOutcome::Approved,
                1 => GateOutcome::Rejected,
                4 => GateOutcome::Failed,
                _ => GateOutcome::NoDecision,
            };
            (ended, sentence.clone())
        }
        Decision::NoDecision { why } => (GateOutcome::NoDecision, format!("no decision: {why}")),
        _ => (GateOutcome::Failed, "nothing was reviewed".to_owned()),
    };
    let ended = if was_stopped(outcome) { GateOutcome::Failed } else { ended };
    let mut report = empty(ReportCommand::Fix, ended, summary, details, code);
    about(&mut report, &plan.review, &outcome.layout);
    if let Decision::Fix { .. } = &outcome.decision {
        let findings = LedgerRead::read(&outcome.layout.ledger()).map(|read| read.findings).unwrap_or_default();
        let panel = Manifest::read(&outcome.layout.manifest())?.cast.map_or(0, |cast| cast.panel.len());
        let usable = fix.reviews.last().map_or(0, |review| review.usable as usize).min(panel);
        let verdict = decide_review(findings.judged(), plan.review.fail_on, plan.review.seats(panel, usable));
        report.findings = Some(found(&outcome.layout, &verdict)?);
    }
    report.fix = Some(fix);
    Ok(report)
}

/// The report of a fix that was not begun.
#[must_use]
pub fn not_begun(error: &Error) -> GateReport {
    not_done(ReportCommand::Fix, "the fix was not begun", error)
}
