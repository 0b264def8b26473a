//! `team show`: a session's verdict or its answers; with `--reveal`, who wrote what.

use std::fmt::Write;
use std::path::PathBuf;

use fs_err as fs;
use jiff::Timestamp;

use super::args::ShowArgs;
use super::context::Context;
use super::sessions::{find, slot_named};
use crate::error::{ExitCode, Result};
use crate::ids::{Sha256Hash, SlotId};
use crate::report::{SessionReport, status_text};
use crate::secrets::reveal;
use crate::session::slot::SlotState;
use crate::session::{Event, History, Manifest, Session, SessionError, View};

/// Shows a session. Reading changes nothing; revealing is recorded.
pub(super) fn show(args: &ShowArgs, context: &Context) -> Result<ExitCode> {
    let layout = find(&args.session, context)?;
    let slot = slot_named(args.slot.as_deref())?;
    let mut view = View::read(layout)?;
    let names = if args.reveal { Some(reveal_names(&view)?) } else { None };
    if names.is_some() {
        view = View::read(view.layout)?;
    }
    if context.global.json {
        return show_json(&view, names.as_ref(), context);
    }
    let text = match slot {
        Some(slot) => slot_text(&view, slot)?,
        None => session_text(&view, names.as_ref())?,
    };
    let text = match &names {
        Some(names) => reveal(&text, |placeholder| names.name_for(placeholder)),
        None => text,
    };
    context.printer.document(&text)?;
    Ok(ExitCode::DONE)
}

/// Reads the manifest and records that somebody did. A session that is at work has its own owner, who is not disturbed.
fn reveal_names(view: &View) -> Result<Manifest> {
    let manifest = Manifest::read(&view.panel_layout().manifest())?;
    let mut session = Session::open(view.layout.clone())?;
    session.note(Event::Revealed, Timestamp::now())?;
    Ok(manifest)
}

/// The verdict, or the state and the answers.
fn session_text(view: &View, names: Option<&Manifest>) -> Result<String> {
    let mut text = String::new();
    if let Some(names) = names {
        for (slot, member) in &names.models {
            // Writing to a string cannot fail.
            writeln!(text, "{slot}  {}", member.model).ok();
        }
        text.push('\n');
    }
    match verdict_file(view, view.layout.verdict_md())? {
        Some(verdict) => text.push_str(&String::from_utf8_lossy(&verdict)),
        None => text.push_str(&status_text(view, Timestamp::now())),
    }
    for (slot, entry) in &view.panel().models {
        if entry.state == SlotState::Completed {
            writeln!(text, "\nanswer {slot}: {}", view.panel_layout().response(*slot).display()).ok();
        }
    }
    Ok(text)
}

/// One of the two files of the verdict, where there is one. Of a closed session it must be the one on record: a verdict
/// that was put there later is not shown as if the panel had come to it.
fn verdict_file(view: &View, path: PathBuf) -> Result<Option<Vec<u8>>> {
    let found = fs::read(&path).ok();
    // Of an open one the newest may have been written a moment before its event.
    if view.meta.events.is_none() {
        return Ok(found);
    }
    let records = History::read(&view.layout.events())?.records;
    let recorded = records.iter().rev().find_map(|record| match &record.event {
        Event::Verdict { verdict_json, .. } if path == view.layout.verdict_json() => Some(*verdict_json),
        Event::Verdict { verdict_md, .. } => Some(*verdict_md),
        _ => None,
    });
    match found.as_deref().map(Sha256Hash::of) == recorded {
        true => Ok(found),
        false => Err(SessionError::NotAsRecorded(path).into()),
    }
}

/// One slot: its answer, or why there is none.
fn slot_text(view: &View, slot: SlotId) -> Result<String> {
    let session = || view.meta.session_id.clone();
    let (panel, layout) = (view.panel(), view.panel_layout());
    let entry = panel.models.get(&slot).ok_or_else(|| SessionError::NoSlot { session: session(), slot })?;
    if let Some(answer) = entry.read_answer(&layout, slot)? {
        return Ok(String::from_utf8_lossy(&answer).into_owned());
    }
    let mut text = format!("slot {slot} is {}\n", entry.state.as_str());
    if let Some(error) = &entry.error {
        writeln!(text, "{}: {}\n{}", error.reason.as_str(), error.detail, error.next_step).ok();
        let log = error.error_log_path.as_ref().map(|path| layout.root().join(path));
        if let Some(log) = log.filter(|path| path.is_file()) {
            writeln!(text, "\n{}:\n{}", log.display(), String::from_utf8_lossy(&fs::read(&log)?)).ok();
        }
    }
    Ok(text)
}

fn show_json(view: &View, names: Option<&Manifest>, context: &Context) -> Result<ExitCode> {
    let verdict: Option<serde_json::Value> =
        verdict_file(view, view.layout.verdict_json())?.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    context.printer.json(&SessionReport::new(view, verdict, names))?;
    Ok(ExitCode::DONE)
}
