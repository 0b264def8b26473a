//! How the folder of a session stands, as far as removing something of it goes.

use std::path::Path;

use jiff::Timestamp;

use super::super::catalogue::View;
use super::super::layout::Layout;
use super::super::meta::{Meta, SessionKind, SessionState};
use super::super::{History, SessionError};
use crate::fs::{EntryKind, Folder, LockState, OwnerLock};

/// How a folder stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::session) enum Standing {
    /// Nothing of ours.
    Foreign,
    /// Another user's.
    OtherUser,
    /// A living process has it; in words.
    Owned(String),
    /// It was cut off, or its close was.
    Interrupted,
    /// Somebody stopped it.
    Stopped,
    /// It waits for a person.
    AwaitsDecision,
    /// It ended at this time, and its record is sealed.
    Closed(Timestamp),
    /// It was never a whole session, and nobody was asked in it.
    Unmade,
    /// It was a session, or half of one is missing; why.
    Damaged(String),
    /// It cannot be looked at; why.
    Unreadable(String),
}

/// Looks at the folder at `path`. Writes nothing.
pub(in crate::session) fn standing(path: &Path) -> Standing {
    let layout = Layout::new(path);
    let folder = match Folder::open(path) {
        Ok(folder) => folder,
        Err(error) => return unless_foreign(&layout, Standing::Unreadable(error.to_string())),
    };
    let user = rustix::process::geteuid().as_raw();
    if folder.owner().is_ok_and(|owner| owner != user) {
        return unless_foreign(&layout, Standing::OtherUser);
    }
    match OwnerLock::probe(&layout.lock()) {
        Ok(LockState::Held(owner)) => return Standing::Owned(owner),
        Ok(LockState::Free) => {}
        Err(error) => return unless_foreign(&layout, Standing::Unreadable(error.to_string())),
    }
    match Meta::read(&layout.meta()) {
        Ok(meta) => ended(layout, &meta),
        Err(SessionError::Missing(_)) if is_unmade(&folder, &layout) => unless_foreign(&layout, Standing::Unmade),
        Err(error) => unless_foreign(&layout, Standing::Damaged(error.to_string())),
    }
}

/// A session whose lock is free.
fn ended(layout: Layout, meta: &Meta) -> Standing {
    let view = match View::read(layout) {
        Ok(view) => view,
        Err(error) => return Standing::Damaged(error.to_string()),
    };
    match (view.state(), meta.events.is_some(), view.status.completed_at) {
        (SessionState::AwaitingDecision, _, _) => Standing::AwaitsDecision,
        (SessionState::Completed | SessionState::Failed, true, Some(at)) => Standing::Closed(at),
        (SessionState::Cancelled, true, _) => Standing::Stopped,
        // What is not sealed has something left that a close writes.
        _ => Standing::Interrupted,
    }
}

/// A folder that is not called as we call ours is not ours, whatever is in it, unless it says so itself.
fn unless_foreign(layout: &Layout, standing: Standing) -> Standing {
    let says_so = layout.meta().symlink_metadata().is_ok() || layout.events().symlink_metadata().is_ok();
    if says_so || is_our_name(&layout.name()) { standing } else { Standing::Foreign }
}

/// `{type}-{slug}-{YYYYMMDD}-{HHMMSS}-{4 hex}`.
fn is_our_name(name: &str) -> bool {
    let kinds = [SessionKind::Team, SessionKind::Review, SessionKind::Fix, SessionKind::Gate];
    let parts: Vec<&str> = name.split('-').collect();
    let [kind, _, .., date, time, chance] = parts.as_slice() else { return false };
    let digits = |text: &str, count: usize| text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    kinds.iter().any(|known| known.as_str() == *kind)
        && digits(date, 8)
        && digits(time, 6)
        && chance.len() == 4
        && chance.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Whether a folder without `session-meta.json` holds only what is made before it, and nobody was asked.
pub(super) fn is_unmade(folder: &Folder, layout: &Layout) -> bool {
    let Ok(entries) = folder.entries() else { return false };
    let made_before = entries.iter().all(|(name, kind)| match (name.to_str(), kind) {
        (
            Some(
                "input.md"
                | "task.md"
                | "manifest.json"
                | "events.jsonl"
                | "status.json"
                | ".lock"
                | Layout::PATCH
                | Layout::DESIGN,
            ),
            EntryKind::File,
        ) => true,
        (Some(name), EntryKind::File) => name.starts_with(".tmp-"),
        (Some("work" | "errors"), EntryKind::Folder) => folder.inside(name).is_ok_and(|inside| is_hollow(&inside)),
        _ => false,
    });
    let begun = match History::read(&layout.events()) {
        Ok(history) => history.records.len() > 1,
        // Nothing can be made of it: of an empty or a torn first line nobody was asked.
        Err(_) => std::fs::read(layout.events()).is_ok_and(|bytes| bytes.contains(&b'\n')),
    };
    made_before && !begun
}

/// Whether there is nothing but folders in it.
fn is_hollow(folder: &Folder) -> bool {
    folder.entries().is_ok_and(|entries| {
        entries.iter().all(|(name, kind)| {
            *kind == EntryKind::Folder && folder.inside(name).is_ok_and(|inside| is_hollow(&inside))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_names_are_told_from_others() {
        for name in ["team-why-20260209-143022-a3f2", "gate-a-b-c-20260209-143022-0000"] {
            assert!(is_our_name(name), "{name}");
        }
        for name in [
            "team-20260209-143022-a3f2",
            "teams-x-20260209-143022-a3f2",
            "team-x-2026-143022-a3f2",
            "team-x-20260209-143022-A3F2",
            "",
        ] {
            assert!(!is_our_name(name), "{name}");
        }
    }
}
