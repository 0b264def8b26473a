//! `team status`, `team list` and `team cancel`: looking at sessions, and asking a living owner to stop.

use jiff::Timestamp;

use super::args::{CancelArgs, ListArgs, SessionArgs, StatusArgs};
use super::context::Context;
use crate::engine;
use crate::error::{Error, ExitCode, Result};
use crate::ids::{IdError, SlotId};
use crate::report::{ListEntry, StatusReport, list_text, status_text};
use crate::session::{Catalogue, Layout, View};

/// The session that the command line names.
pub(super) fn find(args: &SessionArgs, context: &Context) -> Result<Layout> {
    let config = context.load(context.global.settings())?;
    Ok(Catalogue::new(&config.settings().sessions_dir).find(&args.session)?)
}

/// The slot that the command line names, where it names one.
pub(super) fn slot_named(text: Option<&str>) -> Result<Option<SlotId>> {
    let parse = |text: &str| {
        text.parse().map_err(|error: IdError| {
            Error::usage(error.to_string()).hint("write it as `team status` does, for example `02`")
        })
    };
    text.map(parse).transpose()
}

/// Shows how far a session is.
pub(super) fn status(args: &StatusArgs, context: &Context) -> Result<ExitCode> {
    show_status(find(&args.session, context)?, context)
}

/// Prints the table, or the object, of a session as it stands.
pub(super) fn show_status(layout: Layout, context: &Context) -> Result<ExitCode> {
    let view = View::read(layout)?;
    if context.global.json {
        context.printer.json(&StatusReport::from(view))?;
    } else {
        context.printer.document(&status_text(&view, Timestamp::now()))?;
    }
    Ok(ExitCode::DONE)
}

/// Lists sessions, the newest first.
pub(super) fn list(args: &ListArgs, context: &Context) -> Result<ExitCode> {
    let config = context.load(context.global.settings())?;
    let base = &config.settings().sessions_dir;
    let mut sessions = Catalogue::new(base).list()?;
    if let Some(limit) = args.limit {
        sessions.drain(..sessions.len().saturating_sub(limit.get()));
    }
    // One broken folder must not hide the others.
    let views = sessions.into_iter().filter_map(|(layout, _)| {
        View::read(layout).inspect_err(|error| context.printer.warning(error.to_string())).ok()
    });
    let views: Vec<_> = views.collect();
    if context.global.json {
        let rows: Vec<_> = views.iter().rev().map(ListEntry::new).collect();
        context.printer.json(&rows)?;
    } else if views.is_empty() {
        context.printer.note(format!("no sessions in `{}`", base.display()));
    } else {
        context.printer.document(&list_text(&views))?;
    }
    Ok(ExitCode::DONE)
}

/// Asks the owner of a running session to stop it, or one slot of it, and waits until that has happened.
pub(super) fn cancel(args: &CancelArgs, context: &Context) -> Result<ExitCode> {
    let layout = find(&args.session, context)?;
    let slot = slot_named(args.slot.as_deref())?;
    context.printer.note(engine::cancel(&layout, slot, &mut rand::rng())?);
    Ok(ExitCode::DONE)
}
