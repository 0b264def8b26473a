//! `team gate`: a panel votes on what a branch changes, or reviews it, for CI.
//!
//! However it ends, a report is made and every output written.

use super::args::GateArgs;
use super::context::Context;
use super::gate_outputs::Outputs;
use super::gate_run::{Ended, run};
use crate::config::GateKind;
use crate::error::{Error, ExitCode, Result};
use crate::pipeline::gate::{Facts, concluded, needs_person, refused, unchanged};
use crate::report::ci::{GateOutcome, GateReport};

/// Runs the gate.
pub(super) async fn gate(args: &GateArgs, context: &Context) -> Result<ExitCode> {
    // An estimate writes nothing.
    let mut outputs = if args.estimate { Outputs::none() } else { Outputs::of(&args.outputs, context)? };
    // Until the base says otherwise.
    let mut facts = Facts { kind: args.kind.unwrap_or(GateKind::Vote), ..Facts::default() };
    let ended = run(args, context, &mut outputs, &mut facts).await;
    let (report, verdict, error) = match ended {
        Ok(Ended::Estimated(code)) => return Ok(code),
        Err(error) if args.estimate => return Err(error),
        Ok(Ended::Unchanged(why)) => (unchanged(facts, &why), None, None),
        Ok(Ended::Unseen) => (needs_person(facts), None, None),
        Ok(Ended::Asked { outcome, found, head }) => {
            let report = concluded(facts, &outcome, found, &head);
            (report, outcome.verdict, None)
        }
        Err(error) => (refused(facts, &error), None, Some(error)),
    };
    finish(context, &outputs, &report, verdict.as_deref(), error)
}

/// Shows a report and writes it wherever it is wanted. `error` is what ended the command before its end.
pub(super) fn finish(
    context: &Context,
    outputs: &Outputs,
    report: &GateReport,
    verdict: Option<&str>,
    error: Option<Error>,
) -> Result<ExitCode> {
    show(context, outputs, report, verdict)?;
    let written = outputs.write(report, context);
    match (error, written) {
        // What ended the command weighs more than where it is written.
        (Some(error), written) => {
            if let Err(other) = written {
                context.printer.error(&other);
            }
            Err(error)
        }
        (None, Err(other)) if report.outcome.passes() => Err(other),
        (None, written) => {
            if let Err(other) = written {
                context.printer.error(&other);
            }
            Ok(report_code(report))
        }
    }
}

/// The exit code that the report says.
fn report_code(report: &GateReport) -> ExitCode {
    match report.exit_code {
        0 => ExitCode::DONE,
        1 => ExitCode::BAR_NOT_MET,
        3 => ExitCode::NO_DECISION,
        4 => ExitCode::NOTHING_USABLE,
        5 => ExitCode::WAITING,
        code if code > 128 => ExitCode::signal(i32::from(code) - 128),
        _ => ExitCode::INTERNAL,
    }
}

/// Standard output: the verdict, or the whole report with `--json`. What it amounts to goes to standard error.
fn show(context: &Context, outputs: &Outputs, report: &GateReport, verdict: Option<&str>) -> Result<()> {
    let printer = &context.printer;
    if context.global.json {
        let text = serde_json::to_string_pretty(report)
            .map_err(|error| Error::internal("cannot write JSON").with_source(error))?;
        // A workflow command may stand anywhere in a line; in a JSON string the same can be written otherwise.
        printer.line(if outputs.is_github() { text.replace("##[", "##\\u005b") } else { text })?;
    } else if let Some(verdict) = verdict.filter(|_| !outputs.has_stdout()) {
        printer.document(verdict)?;
    }
    // The error tells itself.
    if report.outcome == GateOutcome::Failed && report.ruling.is_none() && report.session.is_none() {
        return Ok(());
    }
    let tell = |text: &str| if report.outcome.passes() { printer.note(text) } else { printer.shortfall(text) };
    tell(&report.summary);
    report.details.iter().for_each(|detail| tell(detail));
    if let Some(session) = &report.session {
        printer.note(format!("session: {}", session.display()));
    }
    Ok(())
}
