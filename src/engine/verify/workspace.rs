//! The snapshot that slots worked in, against its hash on record.

use std::path::Path;

use super::audit::{Audit, Entry};
use super::panel::{End, Panel};
use super::report::Mismatch;
use crate::fs::{Tree, touched_since};
use crate::session::{Event, Layout};

/// Whether one snapshot was put in the place of another while something went on in it. Each panel of a pipeline has its own.
fn was_accepted(panel: &Panel) -> bool {
    let mut current = None;
    panel.record.records.iter().any(|record| match record.event {
        Event::WorkspaceTaken { tree, .. } => current.replace(tree).is_some_and(|before| before != tree),
        Event::PanelClosed { .. } => {
            current = None;
            false
        }
        _ => false,
    })
}

/// Checks the snapshot of the session's own panel, and that there is none where none was taken.
pub(super) fn check(audit: &mut Audit, panel: &Panel) {
    let taken = panel.record.records.iter().enumerate().rev().find_map(|(index, record)| match record.event {
        Event::WorkspaceTaken { tree, .. } => Some((index + 1, tree, record.at)),
        _ => None,
    });
    let folder = Layout::WORKSPACE;
    if let Some((line, expected, at)) = taken {
        if was_accepted(panel) {
            audit.note("the workspace was another one before, which is not kept: a difference was accepted");
        }
        if !audit.is_folder(folder) {
            if audit.entry(folder).is_ok_and(|entry| entry == Entry::Missing) {
                audit.mismatch(Mismatch::new(folder, "is missing"));
            }
        } else {
            match Tree::read(&audit.path(folder)) {
                Ok(tree) => {
                    audit.checked.files += tree.files();
                    audit.checked.bytes += tree.bytes();
                    if tree.hash() != expected {
                        let first = touched_since(&audit.path(folder), at, &audit.path("manifest.json"));
                        let first =
                            first.map(|first| format!("; {}", first.told(Path::new(folder)))).unwrap_or_default();
                        let told = Mismatch::new(
                            folder,
                            format!(
                                "does not hold the files that line {line} of `{}` recorded{first}",
                                panel.record.file
                            ),
                        );
                        audit.mismatch(told.between(expected, tree.hash()));
                    }
                }
                Err(error) => audit.mismatch(Mismatch::new(folder, format!("cannot be read: {error}"))),
            }
        }
    }
    // Of a session that is not closed, what was being copied when its writer was stopped.
    for name in [folder, Layout::WORKSPACE_PART] {
        let is_begun = panel.end == End::Open && audit.entry(name).is_ok_and(|entry| entry == Entry::Folder);
        if is_begun && !audit.knows(name) {
            audit.know(name);
            audit.note(format!("`{name}` is not recorded, so nothing can be said of it"));
        }
    }
}
