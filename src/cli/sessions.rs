//! `team status`, `team list` and `team cancel`: looking at sessions, and asking a living owner to stop.

use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::args::{CancelArgs, ListArgs, SessionArgs, StatusArgs};
use super::context::Context;
use crate::error::{Error, ExitCode, Result};
use crate::ids::{IdError, SlotId};
use crate::report::{ListEntry, StatusReport, list_text, status_text};
use crate::session::requests::{self, Request};
use crate::session::slot::SlotState;
use crate::session::{Catalogue, Layout, Round, SessionError, View};

/// How long a cancelled session or slot is waited for.
const CANCEL_WAIT: Duration = Duration::from_secs(20);

/// How often it is looked at meanwhile.
const CANCEL_POLL: Duration = Duration::from_millis(50);

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
    let views = sessions.into_iter().filter_map(|(layout, meta)| {
        // One broken folder must not hide the others.
        let view = View::read(layout).inspect_err(|error| context.printer.warning(error.to_string())).ok()?;
        Some((meta, view.status))
    });
    let views: Vec<_> = views.collect();
    if context.global.json {
        let rows: Vec<_> = views.iter().rev().map(|(meta, status)| ListEntry::new(meta, status)).collect();
        context.printer.json(&rows)?;
    } else if views.is_empty() {
        context.printer.note(format!("no sessions in `{}`", base.display()));
    } else {
        context.printer.document(&list_text(&views))?;
    }
    Ok(ExitCode::DONE)
}

/// Asks the owner of a running session to stop it, or one slot of it, and waits until that has happened.
///
/// What has ended already needs no stop: that is no error, however often it is asked for.
pub(super) fn cancel(args: &CancelArgs, context: &Context) -> Result<ExitCode> {
    let layout = find(&args.session, context)?;
    let slot = slot_named(args.slot.as_deref())?;
    let view = View::read(layout.clone())?;
    // A slot is one of the round of votes that goes on, if one does.
    let round = view.round.as_ref().filter(|(_, status)| status.state.is_active()).map(|(round, _)| *round);
    if let Some(slot) = slot
        && state_of(&view, round, slot).is_none()
    {
        return Err(SessionError::NoSlot { session: view.meta.session_id, slot }.into());
    }
    if has_ended(&view, round, slot) {
        context.printer.note(ended_note(&view, round, slot));
        return Ok(ExitCode::DONE);
    }
    requests::send(&layout, Request::Cancel { slot, round }, Timestamp::now(), &mut rand::rng())?;
    let deadline = Instant::now() + CANCEL_WAIT;
    loop {
        let view = View::read(layout.clone())?;
        if has_ended(&view, round, slot) {
            context.printer.note(ended_note(&view, round, slot));
            return Ok(ExitCode::DONE);
        }
        if Instant::now() >= deadline {
            return Err(Error::usage(format!(
                "`{}` was asked to stop and has not ended after {} s",
                view.meta.session_id,
                CANCEL_WAIT.as_secs()
            ))
            .hint(format!("its owner is {}", view.owner.as_deref().unwrap_or("gone"))));
        }
        std::thread::sleep(CANCEL_POLL);
    }
}

/// The state of a judge of `round`, or of one of the session's own slots where there is none.
///
/// `None` also for a judge whose round has given way to a newer one.
fn state_of(view: &View, round: Option<Round>, slot: SlotId) -> Option<SlotState> {
    let status = match (round, &view.round) {
        (None, _) => view.panel(),
        (Some(asked), Some((newest, status))) if asked == *newest => status,
        (Some(_), _) => return None,
    };
    Some(status.models.get(&slot)?.state)
}

fn has_ended(view: &View, round: Option<Round>, slot: Option<SlotId>) -> bool {
    view.owner.is_none() || slot.is_some_and(|slot| state_of(view, round, slot).is_none_or(SlotState::is_terminal))
}

fn ended_note(view: &View, round: Option<Round>, slot: Option<SlotId>) -> String {
    let session = &view.meta.session_id;
    let what = if round.is_some() { "judge" } else { "slot" };
    match slot.and_then(|slot| Some((slot, state_of(view, round, slot)?))) {
        Some((slot, state)) => format!("{what} {slot} of `{session}` is {}", state.as_str()),
        None => format!("`{session}` is {}", view.state().as_str()),
    }
}
