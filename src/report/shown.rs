//! What `team show` tells of a session: its verdict or how it stands, the answer of a slot or why there is none.
//!
//! A verdict is shown only when it is the one on record, and an answer only when it has its hash.

use std::fmt::Write;
use std::path::PathBuf;

use jiff::Timestamp;
use serde_json::Value;

use super::found::{findings_list, findings_of};
use super::tables::status_text;
use crate::error::Result;
use crate::findings::ReviewResult;
use crate::ids::{Sha256Hash, SlotId};
use crate::session::slot::SlotState;
use crate::session::{Event, History, Manifest, SessionError, View};
use crate::verdict::{Decision, TaskVerdict, Verdict, task_summary};

/// The verdict, or the state, the findings so far and the answers; with `names` also which model each slot is.
pub fn session_text(view: &View, names: Option<&Manifest>, now: Timestamp) -> Result<String> {
    let mut text = String::new();
    if let Some(names) = names {
        for (slot, member) in &names.models {
            // Writing to a string cannot fail.
            writeln!(text, "{slot}  {}", member.model).ok();
        }
        text.push('\n');
    }
    match verdict_text(view)? {
        Some(verdict) => text.push_str(&verdict),
        None => {
            text.push_str(&status_text(view, now));
            if let Some(findings) = findings_of(view)?.filter(|findings| findings.iter().next().is_some()) {
                write!(text, "\nfindings so far:\n{}", findings_list(&findings)).ok();
            }
        }
    }
    for (slot, entry) in &view.panel().models {
        if entry.state == SlotState::Completed {
            writeln!(text, "\nanswer {slot}: {}", view.panel_layout().response(*slot).display()).ok();
        }
    }
    Ok(text)
}

/// The text of the newest verdict, where there is one.
pub fn verdict_text(view: &View) -> Result<Option<String>> {
    let text = verdict_file(view, view.layout.verdict_md())?;
    Ok(text.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

/// The newest verdict as data, where there is one.
pub fn verdict_json(view: &View) -> Result<Option<Value>> {
    Ok(verdict_file(view, view.layout.verdict_json())?.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
}

/// The newest verdict in a line that names no model, where there is one.
pub fn verdict_line(view: &View) -> Result<Option<String>> {
    let Some(json) = verdict_json(view)? else { return Ok(None) };
    // Only a vote on the task itself has a bar, and only a review one for findings.
    let (is_task, is_review) = (json.get("threshold").is_some(), json.get("failOn").is_some());
    let line = match (is_task, is_review) {
        (true, _) => task_line(json),
        (false, true) => serde_json::from_value::<ReviewResult>(json).map(|result| result.verdict.sentence),
        (false, false) => answers_line(json),
    };
    Ok(Some(line.unwrap_or_else(|_| "a verdict that this version cannot read".to_owned())))
}

fn task_line(json: Value) -> serde_json::Result<String> {
    let verdict: TaskVerdict = serde_json::from_value(json)?;
    let partial = if verdict.is_partial() { ", of a partial panel" } else { "" };
    Ok(format!("{}{partial}", task_summary(&verdict)))
}

fn answers_line(json: Value) -> serde_json::Result<String> {
    let verdict: Verdict = serde_json::from_value(json)?;
    let partial = if verdict.is_partial() { ", of a partial panel" } else { "" };
    let who = match (verdict.winner, verdict.decision) {
        (Some(winner), _) => format!("answer {winner} wins"),
        (None, Decision::Ranking) => "there is a ranking, and nobody wins".to_owned(),
        (None, Decision::NoDecision) => "no decision".to_owned(),
    };
    Ok(format!("{who}{partial}"))
}

/// One of the two files of the verdict, where there is one. Of a closed session it must be the one on record: a verdict
/// that was put there later is not shown as if the panel had come to it.
fn verdict_file(view: &View, path: PathBuf) -> Result<Option<Vec<u8>>> {
    let found = match crate::fs::read_plain(&path) {
        Ok(found) => Some(found),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => return Err(error.into()),
    };
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
pub fn slot_text(view: &View, slot: SlotId) -> Result<String> {
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
            writeln!(text, "\n{}:\n{}", log.display(), String::from_utf8_lossy(&crate::fs::read_plain(&log)?)).ok();
        }
    }
    Ok(text)
}
