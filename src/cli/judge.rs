//! `team judge`.

use super::args::{GlobalArgs, JudgeArgs};
use super::panel::{Surroundings, conclude, prepare};
use super::printer::Printer;
use crate::config::ResolvedModel;
use crate::engine;
use crate::error::{Error, ErrorKind, ExitCode, Result};
use crate::session::{Catalogue, Manifest};

/// Lets judges vote on a finished run, in a new round.
pub(super) async fn judge(args: JudgeArgs, global: &GlobalArgs, printer: &Printer) -> Result<ExitCode> {
    let mut flags = global.settings();
    args.judging.apply(&mut flags);
    args.limits.apply(&mut flags);
    let surroundings = Surroundings::load(flags, printer)?;
    let layout = Catalogue::new(&surroundings.config.settings().sessions_dir).find(&args.session)?;
    let request = surroundings.judge_request(&args.judging)?;
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
    if let Some(note) = request.check(&panel)?.note() {
        printer.note(format!("note: {note}"));
    }
    let judges = request.judges_of(&panel);
    let asked: Vec<_> = judges.iter().collect();
    let prepared = prepare(&surroundings, &asked, args.limits.require_blind, printer).await?;
    let limits = surroundings.limits();
    conclude(global, printer, prepared, async |context| {
        engine::judge(layout, &request, limits, context, &mut rand::rng()).await
    })
    .await
}
