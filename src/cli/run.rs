//! `team run` and `team run-and-judge`.

use super::args::{AskArgs, JudgingArgs, LimitArgs, RunAndJudgeArgs, RunArgs, WorkspaceArgs};
use super::choosing::{choose, remember};
use super::context::Context;
use super::estimate;
use super::panel::{checks, conclude, judge_request, prepare, terms, warn_of_missing};
use super::workspace;
use crate::engine::{self, Estimate, Keeping, RunRequest, TopLines, read_input};
use crate::error::{ExitCode, Result};
use crate::session::SessionKind;

/// Asks a panel.
pub(super) async fn run(args: &RunArgs, context: &Context) -> Result<ExitCode> {
    ask(&args.ask, &args.workspace, &args.limits, None, context).await
}

/// Asks a panel, and lets judges vote.
pub(super) async fn run_and_judge(args: &RunAndJudgeArgs, context: &Context) -> Result<ExitCode> {
    ask(&args.ask, &args.workspace, &args.limits, Some(&args.judging), context).await
}

async fn ask(
    ask: &AskArgs,
    workspace_args: &WorkspaceArgs,
    limit_args: &LimitArgs,
    judging: Option<&JudgingArgs>,
    context: &Context,
) -> Result<ExitCode> {
    let mut flags = context.global.settings();
    ask.apply(&mut flags);
    workspace_args.apply(&mut flags);
    limit_args.apply(&mut flags);
    if let Some(judging) = judging {
        judging.apply(&mut flags);
    }
    let config = context.load(flags)?;
    let cwd = &context.cwd;
    let input = read_input(ask.input.as_deref(), &ask.words, TopLines::Directives)?;
    let sessions_dir = &config.settings().sessions_dir;
    let keeping = Keeping::of(&input, ask.session_path.as_deref(), ask.legacy, cwd, sessions_dir)?;
    let chosen = choose(context, &config, &ask.choice, &input.text).await?;
    let models = chosen.models.clone();
    let judge = match judging {
        Some(judging) => Some(judge_request(context, &config, judging).await?),
        None => None,
    };
    let checks = checks(limit_args)?;
    if let Some(judge) = &judge
        && let Some(note) = judge.check(&models)?.forecast()
    {
        context.printer.note(format!("note: {note}"));
    }
    if ask.choice.estimate {
        let bytes = input.text.len() as u64;
        return estimate::show(context, &Estimate::of(&models, bytes, judge.as_ref(), bytes));
    }
    let asked: Vec<_> = models.iter().chain(judge.iter().flat_map(|judge| judge.judges.iter().flatten())).collect();
    remember(context, &config, &ask.choice, &chosen)?;
    warn_of_missing(context, asked.iter().copied());
    let workspace = workspace::select(workspace_args, &config, &models, keeping.folder(), context).await?;
    let prepared = prepare(context, &config, &asked, keeping.folder(), limit_args.require_blind).await?;
    let request = RunRequest {
        kind: SessionKind::Team,
        keeping,
        title: ask.name.clone().unwrap_or_else(|| input.title().to_owned()),
        input: input.text,
        models: models.clone(),
        chosen: Some(chosen.by()),
        terms: terms(config.settings(), limit_args.require_blind),
        checks,
        strict: limit_args.strict,
        judge,
        notes: chosen.notes().into_iter().chain(workspace.iter().map(|_| workspace::note(&models))).collect(),
        workspace,
    };
    let ran =
        conclude(context, prepared, async |context| engine::run(request, context, &mut rand::rng()).await).await?;
    Ok(ran.exit_code())
}
