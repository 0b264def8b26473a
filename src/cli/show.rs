//! `team show`: a session's verdict or its answers; with `--reveal`, who wrote what.

use jiff::Timestamp;

use super::args::ShowArgs;
use super::context::Context;
use super::sessions::{find, slot_named};
use crate::error::{ExitCode, Result};
use crate::report::{SessionReport, conversation_lines, session_text, slot_text, verdict_json};
use crate::secrets::reveal;
use crate::session::{History, Session, View, spoken};

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
        None => session_text(&view, names.as_ref(), now)? + &conversations(&view)?,
    };
    let text = match &names {
        Some(names) => reveal(&text, |placeholder| names.name_for(placeholder)),
        None => text,
    };
    context.printer.document(&text)?;
    Ok(ExitCode::DONE)
}

/// How the conversations of a pipeline went, once its verdict is out.
fn conversations(view: &View) -> Result<String> {
    if verdict_json(view)?.is_none() {
        return Ok(String::new());
    }
    let records = History::read(&view.layout.events())?.records;
    let lines = conversation_lines(&spoken(&view.layout, &view.meta.session_id, &records)?, |_| None);
    let mut text = if lines.is_empty() { String::new() } else { "\n".to_owned() };
    for (seat, strayed) in lines {
        text.push_str(&format!("conversation of {seat}\n"));
        strayed.iter().for_each(|line| text.push_str(&format!("  {line}\n")));
    }
    Ok(text)
}
