//! `team vote`.

use std::sync::Arc;

use super::args::VoteArgs;
use super::choosing::{choose, remember};
use super::context::Context;
use super::estimate;
use super::panel::{checks, conclude, prepare, prompts, terms, warn_of_missing};
use crate::engine::{self, Estimate, Keeping, TopLines, VoteRequest, read_input};
use crate::error::{ExitCode, Result};
use crate::session::SessionKind;

/// Lets a panel vote on a text.
pub(super) async fn vote(args: &VoteArgs, context: &Context) -> Result<ExitCode> {
    let mut flags = context.global.settings();
    args.ask.apply(&mut flags);
    args.limits.apply(&mut flags);
    args.voting.apply(&mut flags);
    let config = context.load(flags)?;
    let cwd = &context.cwd;
    let ask = &args.ask;
    let input = read_input(ask.input.as_deref(), &ask.words, TopLines::Directives)?;
    let sessions_dir = &config.settings().sessions_dir;
    let keeping = Keeping::of(&input, ask.session_path.as_deref(), ask.legacy, cwd, sessions_dir)?;
    let chosen = choose(context, &config, &ask.choice, &input.text).await?;
    let (prompts, prompts_dir) = prompts(context, args.voting.prompts.as_deref())?;
    let request = VoteRequest {
        kind: SessionKind::Team,
        keeping,
        title: ask.name.clone().unwrap_or_else(|| input.title().to_owned()),
        task: input.text,
        models: chosen.models.clone(),
        chosen: Some(chosen.by()),
        threshold: config.settings().threshold,
        quorum: args.voting.quorum.map(std::num::NonZeroU32::get),
        repair: config.settings().vote.repair,
        strict: args.limits.strict,
        terms: terms(config.settings(), args.limits.require_blind),
        checks: checks(&args.limits)?,
        prompts: Arc::new(prompts),
        prompts_dir,
        notes: chosen.notes(),
    };
    request.check()?;
    if ask.choice.estimate {
        let bytes = request.prompts.longest().saturating_add(request.task.len()) as u64;
        return estimate::show(context, &Estimate::of_vote(&request.models, (bytes, bytes), request.repair));
    }
    if let Some(workspace) = &config.settings().workspace {
        context.printer.note(format!(
            "note: `{}` is the workspace of those who answer; members of a vote see the text and no files",
            workspace.display()
        ));
    }
    remember(context, &config, &ask.choice, &chosen)?;
    warn_of_missing(context, &request.models);
    let asked: Vec<_> = request.models.iter().collect();
    let prepared = prepare(context, &config, &asked, request.keeping.folder(), args.limits.require_blind).await?;
    let voted =
        conclude(context, prepared, async |context| engine::vote(request, context, &mut rand::rng()).await).await?;
    Ok(voted.exit_code())
}
