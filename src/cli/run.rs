//! `team run` and `team run-and-judge`.

use super::args::{AskArgs, GlobalArgs, JudgingArgs, LimitArgs, RunAndJudgeArgs, RunArgs};
use super::panel::{Surroundings, checks, conclude, prepare};
use super::printer::Printer;
use crate::engine::{self, RunRequest, contained, read_input};
use crate::error::{ExitCode, Result};
use crate::session::SessionKind;

/// Asks a panel.
pub(super) async fn run(args: RunArgs, global: &GlobalArgs, printer: &Printer) -> Result<ExitCode> {
    ask(&args.ask, &args.limits, None, global, printer).await
}

/// Asks a panel, and lets judges vote.
pub(super) async fn run_and_judge(args: RunAndJudgeArgs, global: &GlobalArgs, printer: &Printer) -> Result<ExitCode> {
    ask(&args.ask, &args.limits, Some(&args.judging), global, printer).await
}

async fn ask(
    ask: &AskArgs,
    limits: &LimitArgs,
    judging: Option<&JudgingArgs>,
    global: &GlobalArgs,
    printer: &Printer,
) -> Result<ExitCode> {
    let mut flags = global.settings();
    ask.apply(&mut flags);
    limits.apply(&mut flags);
    if let Some(judging) = judging {
        judging.apply(&mut flags);
    }
    let surroundings = Surroundings::load(flags, printer)?;
    let input = read_input(ask.input.as_deref(), &ask.words, &surroundings.cwd)?;
    let models = surroundings.resolve(surroundings.config.panel()?)?;
    let judge = judging.map(|judging| surroundings.judge_request(judging)).transpose()?;
    let checks = checks(limits)?;
    if let Some(judge) = &judge
        && let Some(note) = judge.check(&models)?.note()
    {
        printer.note(format!("note: {note}"));
    }
    let option = ask.session_path.as_deref().map(|path| contained(path, &surroundings.cwd, "`--session-path`"));
    let base = match option.transpose()?.or_else(|| input.session_path.clone()) {
        Some(inside) => inside,
        None => surroundings.config.settings().sessions_dir.clone(),
    };
    let asked: Vec<_> = models.iter().chain(judge.iter().flat_map(|judge| judge.judges.iter().flatten())).collect();
    let prepared = prepare(&surroundings, &asked, limits.require_blind, printer).await?;
    let request = RunRequest {
        kind: SessionKind::Team,
        base,
        title: ask.name.clone().unwrap_or_else(|| input.title().to_owned()),
        input: input.text,
        models: models.clone(),
        limits: surroundings.limits(),
        checks,
        strict: limits.strict,
        judge,
        notes: Vec::new(),
    };
    conclude(global, printer, prepared, async |context| engine::run(request, context, &mut rand::rng()).await).await
}
