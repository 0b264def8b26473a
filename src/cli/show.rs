//! `team show`: a session's verdict or its answers; with `--reveal`, who wrote what.

use jiff::Timestamp;

use super::args::ShowArgs;
use super::context::Context;
use super::sessions::{find, slot_named};
use crate::error::{ExitCode, Result};
use crate::report::{SessionReport, session_text, slot_text, verdict_json};
use crate::secrets::reveal;
use crate::session::{Session, View};

/// Shows a session. Reading changes nothing; revealing is recorded.
pub(super) fn show(args: &ShowArgs, context: &Context) -> Result<ExitCode> {
    let layout = find(&args.session, context)?;
    let slot = slot_named(args.slot.as_deref())?;
    let now = Timestamp::now();
    let names = if args.reveal { Some(Session::reveal(layout.clone(), now)?) } else { None };
    let view = View::read(layout)?;
    if context.global.json {
        context.printer.json(&SessionReport::new(&view, verdict_json(&view)?, names.as_ref()))?;
        return Ok(ExitCode::DONE);
    }
    let text = match slot {
        Some(slot) => slot_text(&view, slot)?,
        None => session_text(&view, names.as_ref(), now)?,
    };
    let text = match &names {
        Some(names) => reveal(&text, |placeholder| names.name_for(placeholder)),
        None => text,
    };
    context.printer.document(&text)?;
    Ok(ExitCode::DONE)
}
