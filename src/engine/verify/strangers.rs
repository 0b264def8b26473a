//! Files that no event knows. A planted answer, log or round would otherwise pass for one of the session's own.

use std::collections::BTreeSet;

use super::audit::{Audit, Entry, PIPELINE};
use super::panel::{End, Panel};
use super::report::Mismatch;
use crate::ids::SlotId;
use crate::session::{Event, Layout, Turn};

/// The folders in which a fix works.
const FIX: [&str; 3] = [Layout::REPOSITORY, Layout::WORKTREE, Layout::CHECKS];

/// What file managers leave in any folder.
const LITTER: [&str; 3] = [".DS_Store", "Thumbs.db", "desktop.ini"];

/// Tells everything in the folders of `panels`, the session's own first, that nothing accounts for.
pub(super) fn check(audit: &mut Audit, panels: &[&Panel]) {
    for panel in panels {
        let slots = panel.slots();
        for name in audit.names(panel.prefix.trim_end_matches('/')).to_vec() {
            let file = panel.file(&name);
            match name.as_str() {
                "work" => check_work(audit, &file, &slots),
                "errors" => check_errors(audit, panel, &file, &slots),
                // What is in them is git's, and a fixer's; commits are on record by their hashes.
                folder if panel.prefix.is_empty() && FIX.contains(&folder) && is_pipeline(panels) => {
                    audit.is_folder(&file);
                }
                left if left.starts_with("left-") && panel.prefix.starts_with("fixes/") => {
                    audit.is_folder(&file);
                }
                "roles" if panel.prefix.is_empty() => check_roles(audit, &file),
                folder if panel.prefix.is_empty() && PIPELINE.contains(&folder) && is_pipeline(panels) => {
                    check_pipeline(audit, panel, &file, panels);
                }
                ".requests" if panel.prefix.is_empty() => check_requests(audit, &file),
                "report.html" if panel.prefix.is_empty() && audit.entry(&file).ok() == Some(Entry::File) => {
                    audit.note("`report.html` is made from the record on request; it is not checked");
                }
                _ if audit.knows(&file) => {}
                _ => judge(audit, panel, &file, &name, &slots),
            }
        }
    }
}

/// What a slot's own program left in its scratch folder is its own; which folders there are is ours.
fn check_work(audit: &mut Audit, folder: &str, slots: &BTreeSet<SlotId>) {
    if !audit.is_folder(folder) {
        return;
    }
    for name in audit.names(folder).to_vec() {
        let file = format!("{folder}/{name}");
        if name.parse().is_ok_and(|slot| slots.contains(&slot)) {
            audit.is_folder(&file);
        } else if !is_litter(audit, &file, &name) {
            stranger(audit, &file);
        }
    }
}

fn check_errors(audit: &mut Audit, panel: &Panel, folder: &str, slots: &BTreeSet<SlotId>) {
    if !audit.is_folder(folder) {
        return;
    }
    for name in audit.names(folder).to_vec() {
        let file = format!("{folder}/{name}");
        if !audit.knows(&file) {
            judge(audit, panel, &file, &name, slots);
        }
    }
}

fn check_roles(audit: &mut Audit, folder: &str) {
    if !audit.is_folder(folder) {
        return;
    }
    for name in audit.names(folder).to_vec() {
        let file = format!("{folder}/{name}");
        if !audit.knows(&file) && !is_litter(audit, &file, &name) {
            stranger(audit, &file);
        }
    }
}

/// Whether the session holds panels inside.
fn is_pipeline(panels: &[&Panel]) -> bool {
    let opened = |event: &Event| matches!(event, Event::PanelOpened { .. });
    let is_sign = |event: &Event| opened(event) || event.begins_pipeline();
    panels.first().is_some_and(|session| session.record.position(is_sign).is_some())
}

/// The folders of a pipeline's panels, and nothing else.
fn check_pipeline(audit: &mut Audit, session: &Panel, folder: &str, panels: &[&Panel]) {
    if !audit.is_folder(folder) {
        return;
    }
    let opened = |event: &Event, file: &str| matches!(event, Event::PanelOpened { panel } if panel.folder() == *file);
    for name in audit.names(folder).to_vec() {
        let file = format!("{folder}/{name}");
        let known = panels.iter().any(|panel| panel.prefix == format!("{file}/"))
            || session.record.position(|event| opened(event, &file)).is_some();
        // It is made right before its opening is recorded.
        let begun = session.end == End::Open && audit.is_folder(&file) && audit.names(&file).is_empty();
        if !known && !begun && !is_litter(audit, &file, &name) {
            stranger(audit, &file);
        }
    }
}

/// Requests are no part of the record: the owner takes them away.
fn check_requests(audit: &mut Audit, folder: &str) {
    if !audit.is_folder(folder) {
        return;
    }
    for name in audit.names(folder).to_vec() {
        if !name.ends_with(".json") && !name.starts_with('.') {
            stranger(audit, &format!("{folder}/{name}"));
        }
    }
}

fn judge(audit: &mut Audit, panel: &Panel, file: &str, name: &str, slots: &BTreeSet<SlotId>) {
    let entry = audit.entry(file).ok();
    // A name that is no text does not lead back to its file.
    if entry == Some(Entry::Missing) && !name.contains(char::REPLACEMENT_CHARACTER) {
        // A file that was being written has its own name now.
        return;
    }
    let plain = entry == Some(Entry::File);
    if plain && is_unfinished(name, slots) {
        if panel.end == End::Published {
            audit.note(format!("`{file}` is what was left when its writer was stopped"));
        }
    } else if !is_litter(audit, file, name) && !is_begun_round(audit, panel, file, name) {
        stranger(audit, file);
    }
}

/// Whether `name` is one under which a file is written before it gets its own.
fn is_unfinished(name: &str, slots: &BTreeSet<SlotId>) -> bool {
    let of_slot = |start: &str, end: &str| {
        let id = name.strip_prefix(start).and_then(|rest| rest.strip_suffix(end));
        id.and_then(|id| id.parse().ok()).is_some_and(|slot| slots.contains(&slot))
    };
    name.starts_with(".tmp-")
        || of_slot(".response-", ".md.part")
        || of_slot(".", ".stderr.part")
        || of_slot(".", ".stderr.log")
}

fn is_litter(audit: &mut Audit, file: &str, name: &str) -> bool {
    let litter = LITTER.contains(&name);
    if litter {
        audit.note(format!("`{file}` is a file manager's and no part of the session"));
    }
    litter
}

/// The folder of a round, or of a turn in one, is made right before its opening is recorded.
fn is_begun_round(audit: &mut Audit, panel: &Panel, file: &str, name: &str) -> bool {
    let is_name = match panel.prefix.is_empty() {
        true => name == "judging" || name.starts_with("judging-") || name == Turn::Repair.folder(),
        false => Turn::ALL.iter().any(|turn| name == turn.folder()) || panel.inner().is_some() && name == "judging",
    };
    let begun = panel.end == End::Open
        && is_name
        && audit.entry(file).is_ok_and(|entry| entry == Entry::Folder)
        && audit.names(file).is_empty();
    if begun {
        audit.note(format!("`{file}` is an empty folder, made for what was not begun yet"));
    }
    begun
}

pub(super) fn stranger(audit: &mut Audit, file: &str) {
    audit.mismatch(Mismatch::new(file, "is no part of the session: no event knows it"));
}
