//! A session as text: the table of `team status`, the list of `team list`.

use std::fmt::Write;

use jiff::Timestamp;
use unicode_width::UnicodeWidthStr;

use super::format::{bytes, seconds, without_controls};
use super::picture::{doing_text, seconds_between};
use super::whose::{FindingCounts, WhoseTurn};
use crate::session::slot::SlotState;
use crate::session::{SlotStatus, Status, View};

/// The text of `team status`: the session, each slot, then what to do about those that have no answer.
#[must_use]
pub fn status_text(view: &View, now: Timestamp) -> String {
    let mut text = String::new();
    let state = view.state().as_str();
    let when = match view.status.completed_at {
        Some(end) => format!("after {}", seconds(seconds_between(view.status.started_at, end))),
        None => format!("for {}", seconds(seconds_between(view.status.started_at, now))),
    };
    let owner = view.owner.as_deref().map(|owner| format!(", owned by {owner}")).unwrap_or_default();
    // Writing to a string cannot fail.
    writeln!(text, "{}  {state} {when}{owner}", view.meta.session_id).ok();
    writeln!(text, "{}", view.layout.root().display()).ok();
    if let Some(turn) = WhoseTurn::of(view) {
        writeln!(text, "{}", turn.told(&view.meta.session_id)).ok();
    }
    slots(&mut text, &view.status, now);
    if let Some((panel, status)) = &view.inner {
        writeln!(text, "{}  {}", panel.folder(), status.state.as_str()).ok();
        slots(&mut text, status, now);
    }
    if let Some((round, status)) = &view.round {
        writeln!(text, "{}  {}", view.folder_of(*round), status.state.as_str()).ok();
        slots(&mut text, status, now);
    }
    text
}

fn slots(text: &mut String, status: &Status, now: Timestamp) {
    let rows: Vec<[String; 4]> = status
        .models
        .iter()
        .map(|(slot, entry)| [slot.to_string(), entry.state.as_str().to_owned(), size(entry), took(entry, now)])
        .collect();
    let notes = status.models.values().map(note);
    let lines = table(&rows);
    for (line, note) in lines.into_iter().zip(notes) {
        writeln!(text, "{}", format!("  {line}  {note}").trim_end()).ok();
    }
    for (slot, entry) in &status.models {
        if let Some(error) = &entry.error {
            writeln!(text, "  {slot}: {}", error.next_step).ok();
        }
    }
}

fn size(entry: &SlotStatus) -> String {
    match (&entry.live, entry.output_size) {
        (Some(live), _) => bytes(live.live_bytes),
        (None, Some(size)) => bytes(size),
        (None, None) => "-".to_owned(),
    }
}

fn took(entry: &SlotStatus, now: Timestamp) -> String {
    match (entry.started_at, entry.completed_at) {
        (Some(start), Some(end)) => seconds(seconds_between(start, end)),
        (Some(start), None) if entry.state == SlotState::Running => seconds(seconds_between(start, now)),
        _ => "-".to_owned(),
    }
}

fn note(entry: &SlotStatus) -> String {
    if entry.live.is_some() {
        return doing_text(entry);
    }
    match &entry.error {
        Some(error) => format!("{}: {}", error.reason.as_str(), error.detail.lines().next().unwrap_or("")),
        None if entry.truncated => "cut by its length limit".to_owned(),
        None => String::new(),
    }
}

/// The text of `team list`, newest first. No line names a model: that is the verdict's to do.
#[must_use]
pub fn list_text(sessions: &[View]) -> String {
    let rows: Vec<[String; 4]> = sessions
        .iter()
        .rev()
        .map(|view| {
            // Of a pipeline session those of the newest panel in it.
            let panel = view.panel();
            let seats = format!("{}/{}", panel.count(SlotState::Completed), panel.models.len());
            let findings = FindingCounts::of(view).map(|counts| format!(", {}", counts.told())).unwrap_or_default();
            [
                view.meta.session_id.clone(),
                view.state().as_str().to_owned(),
                seats + &findings,
                without_controls(&view.meta.target).chars().take(50).collect(),
            ]
        })
        .collect();
    table(&rows).into_iter().fold(String::new(), |text, line| text + line.trim_end() + "\n")
}

/// Columns as wide as their widest cell.
pub(super) fn table<const N: usize>(rows: &[[String; N]]) -> Vec<String> {
    let mut widths = [0; N];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.width());
        }
    }
    rows.iter()
        .map(|row| {
            let cells = row.iter().zip(widths).map(|(cell, width)| {
                let pad = width - cell.width();
                format!("{cell}{:pad$}", "")
            });
            cells.collect::<Vec<_>>().join("  ")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [["a".to_owned(), "bb".to_owned()], ["日本".to_owned(), "c".to_owned()]];
        assert_eq!(table(&rows), ["a     bb", "日本  c "]);
    }
}
