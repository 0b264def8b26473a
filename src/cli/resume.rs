//! `team resume`: a session that was cut off, stopped or failed in part goes on where it was.

use super::args::{PaceArgs, ResumeArgs};
use super::context::Context;
use super::panel::{Prepared, conclude, prepare, show_outcome};
use crate::config::{Config, Limit, ResolvedModel};
use crate::engine::{self, Dropped, Pace, ResumeOptions, Resumption, Terms};
use crate::error::{Error, ErrorKind, ExitCode, Result};
use crate::pipeline::review::{self, Left, finished_review};
use crate::report::without_controls;
use crate::session::{Catalogue, Session, SessionKind, shell_word};

/// Does what is left of a session.
pub(super) async fn resume(args: &ResumeArgs, context: &Context) -> Result<ExitCode> {
    let config = context.load(context.global.settings())?;
    let catalogue = Catalogue::new(&config.settings().sessions_dir);
    let session = Session::open(catalogue.find(&args.session.session)?)?;
    if session.kind() == SessionKind::Gate {
        let why = format!("`{}` is the session of a gate, whose commit may be an old one by now", session.id());
        return Err(Error::usage(why).hint("`team gate` runs the gate again, on what is there now"));
    }
    let called = catalogue.reference(session.layout());
    if session.kind() == SessionKind::Fix {
        return super::respond::resume_fix(session, &called, args, context).await;
    }
    if session.kind() == SessionKind::Review {
        return resume_review(session, &called, args, context).await;
    }
    let options = ResumeOptions { failed: args.failed, accept_drift: args.accept_drift, pace: pace(&args.pace) };
    let left = Resumption::of(&session, options)?;
    let printer = &context.printer;
    for difference in left.drift() {
        printer.warning(difference);
    }
    if let Some(dropped) = left.dropped() {
        printer.warning(told(dropped, &called));
    }
    if left.is_done() {
        let id = session.id().to_owned();
        let outcome = engine::finished(session, &left)?;
        // Nobody is asked any more, so this is the last to look at what there is.
        let found = engine::verify(&outcome.layout, None)?;
        if let Some(first) = found.mismatches.first() {
            let first = without_controls(&first.to_string()).replace('\n', "\u{fffd}");
            return Err(Error::new(ErrorKind::Integrity, format!("nothing is left to do in `{id}`, but {first}"))
                .hint(format!("do not rely on it; `team verify {called}` says what else differs")));
        }
        printer.note(format!("nothing is left to do in `{id}`"));
        show_outcome(context, &outcome, &called)?;
        return Ok(outcome.exit_code());
    }
    let slots: Vec<String> = left.slots().iter().map(ToString::to_string).collect();
    let votes = match (left.is_to_be_judged(), left.is_vote()) {
        (true, false) => "the votes",
        (true, true) => "the count of the votes",
        (false, _) => "the close",
    };
    printer.note(match slots.as_slice() {
        [] => format!("left of `{}`: {votes}", session.id()),
        slots => format!("left of `{}`: slot {}, then {votes}", session.id(), slots.join(", ")),
    });
    if let Some(folder) = left.snapshot_of() {
        printer.note(format!(
            "the snapshot of `{}` was not finished, and nobody has worked in it: it is taken anew, of the files as they \
             are now",
            folder.display()
        ));
    }
    let prepared = prepare_again(context, &session, &left.asked(), left.terms()).await?;
    let resumed =
        conclude(context, prepared, async |context| engine::resume(session, left, context, &mut rand::rng()).await)
            .await?;
    Ok(resumed.exit_code())
}

/// The same of a review.
async fn resume_review(session: Session, called: &str, args: &ResumeArgs, context: &Context) -> Result<ExitCode> {
    let options = ResumeOptions { failed: args.failed, accept_drift: args.accept_drift, pace: pace(&args.pace) };
    let left = Left::of(&session, options)?;
    let printer = &context.printer;
    for difference in left.rest().drift() {
        printer.warning(difference);
    }
    if left.is_done() {
        printer.note(format!("nothing is left to do in `{}`", session.id()));
        let outcome = finished_review(session)?;
        show_outcome(context, &outcome, called)?;
        return Ok(outcome.exit_code());
    }
    printer.note(format!("going on with `{}`", session.id()));
    let prepared = prepare_again(context, &session, &left.rest().asked(), left.rest().terms()).await?;
    let resumed = conclude(context, prepared, async |context| {
        review::resume_review(session, left, context, &mut rand::rng()).await
    })
    .await?;
    Ok(resumed.exit_code())
}

/// Prepares to ask `models` on the terms of the session.
pub(super) async fn prepare_again(
    context: &Context,
    session: &Session,
    models: &[&ResolvedModel],
    terms: Terms,
) -> Result<Prepared> {
    let mut flags = context.global.settings();
    flags.max_cost = terms.max_cost;
    flags.deadline = Some(terms.deadline.map_or(Limit::Unlimited, Limit::After));
    // Loaded a second time for the deadline alone; what there is to warn of was said.
    let config = Config::load(&context.cwd, &context.environment, flags)?;
    // A session that was named by its path may lie elsewhere than the others.
    let base = session.layout().root().parent().map(std::path::Path::to_owned);
    prepare(context, &config, models, base.as_deref(), terms.require_blind).await
}

/// What became of votes that cannot be gone on with, and how they come about all the same.
fn told(dropped: &Dropped, session: &str) -> String {
    match dropped {
        Dropped::Votes => format!("the votes had not begun; `team judge {session}` holds them"),
        Dropped::Ballots { files, pattern } => {
            let mut again = format!("team judge {session}");
            for file in files {
                again.push_str(&format!(" --import {}", shell_word(file)));
            }
            if files.is_empty() {
                again.push_str(" --import FILE");
            }
            if let Some(pattern) = pattern {
                again.push_str(&format!(" --import-pattern {}", shell_word(pattern)));
            }
            let rest = if pattern.is_none() { ", with `--import-pattern` where there was one" } else { "" };
            format!("the import was cut off and its ballots are not counted; import them again: `{again}`{rest}")
        }
    }
}

pub(super) fn pace(args: &PaceArgs) -> Pace {
    let time = |limit: Option<Limit>| limit.map(Limit::duration);
    Pace {
        timeout: time(args.timeout),
        idle_timeout: time(args.idle_timeout),
        deadline: time(args.deadline),
        jobs: args.jobs.map(std::num::NonZeroUsize::get),
        retries: args.retries,
        max_cost: args.max_cost,
    }
}
