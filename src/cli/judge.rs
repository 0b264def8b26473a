//! `team judge`.

use super::args::JudgeArgs;
use super::context::Context;
use super::panel::{conclude, judge_request, limits, prepare, warn_of_missing};
use crate::config::ResolvedModel;
use crate::engine;
use crate::error::{Error, ErrorKind, ExitCode, Result};
use crate::ids::SlotId;
use crate::session::slot::SlotState;
use crate::session::{Catalogue, Manifest, View};

/// Lets judges vote on a finished run, in a new round.
pub(super) async fn judge(args: &JudgeArgs, context: &Context) -> Result<ExitCode> {
    let mut flags = context.global.settings();
    args.judging.apply(&mut flags);
    args.limits.apply(&mut flags);
    let config = context.load(flags)?;
    let layout = Catalogue::new(&config.settings().sessions_dir).find(&args.session)?;
    let request = judge_request(context, &config, &args.judging)?;
    let manifest = Manifest::read(&layout.manifest())?;
    let panel: Vec<ResolvedModel> = manifest
        .shuffle_order
        .iter()
        .filter_map(|slot| manifest.member(*slot))
        .map(|member| member.resolved.clone())
        .collect();
    if panel.is_empty() {
        return Err(Error::new(ErrorKind::Integrity, format!("`{}` names no model", layout.manifest().display())));
    }
    let view = View::read(layout.clone())?;
    // Only what is complete needs a judge. A session that goes on is refused further down, by its owner's name.
    if !view.state().is_active() {
        let complete =
            |slot: &SlotId| view.status.models.get(slot).is_some_and(|entry| entry.state == SlotState::Completed);
        let complete: Vec<bool> = manifest.shuffle_order.iter().map(complete).collect();
        let enough = complete.iter().filter(|complete| **complete).count() >= 2;
        // With fewer there is no vote at all, which the engine says with its own code.
        if enough && let Some(note) = request.check_complete(&panel, &complete)?.forecast() {
            context.printer.note(format!("note: {note}"));
        }
    }
    // The panel itself, as judges, stands in the order of its slots, which is nobody's to see yet.
    warn_of_missing(context, request.judges.iter().flatten());
    let judges = request.judges_of(&panel);
    let asked: Vec<_> = judges.iter().collect();
    let prepared = prepare(context, &config, &asked, None, args.limits.require_blind).await?;
    let limits = limits(config.settings());
    let judged = conclude(context, prepared, async |context| {
        engine::judge(layout, &request, limits, context, &mut rand::rng()).await
    })
    .await?;
    Ok(judged.exit_code())
}
