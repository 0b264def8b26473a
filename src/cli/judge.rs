//! `team judge`.

use std::path::PathBuf;

use super::args::JudgeArgs;
use super::context::Context;
use super::estimate;
use super::panel::{conclude, judge_request, prepare, prepare_without_models, terms, warn_of_missing};
use crate::config::{Config, ResolvedModel};
use crate::engine::{self, Estimate, ImportRequest};
use crate::error::{Error, ErrorKind, ExitCode, Result, reason};
use crate::ids::SlotId;
use crate::judging::ImportPattern;
use crate::session::slot::SlotState;
use crate::session::{Catalogue, Layout, Manifest, View};

/// Lets judges vote on a finished run, in a new round.
pub(super) async fn judge(args: &JudgeArgs, context: &Context) -> Result<ExitCode> {
    let mut flags = context.global.settings();
    args.judging.apply(&mut flags);
    args.limits.apply(&mut flags);
    if args.estimate {
        flags.offline = Some(true);
    }
    let config = context.load(flags)?;
    let layout = Catalogue::new(&config.settings().sessions_dir).find(&args.session)?;
    engine::check_judgeable(&layout)?;
    if !args.import.is_empty() {
        return import(args, layout, &config, context).await;
    }
    let request = judge_request(context, &config, &args.judging).await?;
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
    // A session that goes on is refused further down, by its owner's name.
    if !view.state().is_active() {
        let complete = view.status.count(SlotState::Completed);
        // With fewer there is no vote at all, which the engine says with its own code.
        if complete >= 2 {
            let whole = complete == panel.len();
            let coverage = request.check(&panel).map_err(|error| match whole {
                true => error,
                false => error.hint("slots without an answer count too: the verdict first tells which models they are"),
            })?;
            let note = if whole { coverage.forecast() } else { coverage.forecast_of_slots() };
            if let Some(note) = note {
                context.printer.note(format!("note: {note}"));
            }
        }
    }
    if args.estimate {
        let size = |slot: &SlotId| {
            let entry = view.status.models.get(slot)?;
            (entry.state == SlotState::Completed).then_some(entry.output_size).flatten()
        };
        let sizes: Vec<Option<u64>> = manifest.shuffle_order.iter().map(size).collect();
        if view.state().is_active() || sizes.iter().flatten().count() < 2 {
            let why = format!("`{}` has no two complete answers that could be judged now", layout.name());
            return Err(Error::usage(why).hint(format!("`team status {}` shows how far it is", layout.name())));
        }
        let task = fs_err::metadata(layout.input())?.len();
        return estimate::show(context, &Estimate::of_judging(&panel, &sizes, &request, task));
    }
    // The panel itself, as judges, stands in the order of its slots, which is nobody's to see yet.
    warn_of_missing(context, request.judges.iter().flatten());
    let judges = request.judges_of(&panel);
    let asked: Vec<_> = judges.iter().collect();
    // A session that was named by its path may lie elsewhere than the others.
    let base = layout.root().parent().map(std::path::Path::to_owned);
    let prepared = prepare(context, &config, &asked, base.as_deref(), args.limits.require_blind).await?;
    let terms = terms(config.settings(), args.limits.require_blind);
    let judged = conclude(context, prepared, async |context| {
        engine::judge(layout, &request, terms, context, &mut rand::rng()).await
    })
    .await?;
    Ok(judged.exit_code())
}

/// Counts ballots from elsewhere. Everything in them is checked before the session is touched.
async fn import(args: &JudgeArgs, layout: Layout, config: &Config, context: &Context) -> Result<ExitCode> {
    let pattern = args.import_pattern.as_deref().map(ImportPattern::new).transpose().map_err(|error| {
        Error::usage(format!("`--import-pattern`: {error}")).hint("nothing was counted; correct the pattern")
    })?;
    let read = |path: &PathBuf| {
        let bytes = fs_err::read(context.cwd.join(path)).map_err(|source| {
            Error::usage(format!("`--import`: cannot read `{}`: {}", path.display(), reason(&source)))
                .hint("name a file of ballots: a `votes.json`, or with `--import-pattern` a text")
        })?;
        Ok((path.display().to_string(), bytes))
    };
    let files = args.import.iter().map(read).collect::<Result<Vec<_>>>()?;
    let request = ImportRequest { files, pattern };
    let view = View::read(layout.clone())?;
    // A session that goes on is refused further down, by its owner's name.
    if !view.state().is_active() {
        engine::enough_answers(&view.status)?;
        request.judges(&Manifest::read(&layout.manifest())?, &view.status)?;
    }
    let prepared = prepare_without_models(context, config)?;
    let judged =
        conclude(context, prepared, async |context| engine::import(layout, &request, context, &mut rand::rng()).await)
            .await?;
    Ok(judged.exit_code())
}
