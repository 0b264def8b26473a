//! Role conversations: each is one that the record opened, whole in itself, and as long as it was when it was sealed.

use std::collections::BTreeSet;

use super::audit::{Audit, Entry};
use super::panel::{Panel, why};
use super::report::Mismatch;
use crate::error::Result;
use crate::ids::Sha256Hash;
use crate::session::{Conversation, Event, Participant, SessionError, Speaker, TurnFile, is_conversation};

const FOLDER: &str = "roles";

/// Checks every conversation that the session's record opened, and what else lies in their folder.
pub(super) fn check(audit: &mut Audit, panel: &Panel, id: &str) -> Result<()> {
    let mut opened: BTreeSet<String> = BTreeSet::new();
    for (index, record) in panel.record.records.iter().enumerate() {
        let Event::ConversationOpened { role, seat, file } = &record.event else { continue };
        let told = |what: &str| Mismatch::new(&panel.record.file, what).line(index + 1);
        // A record that was made up may name anything.
        if !is_conversation(file) {
            audit.mismatch(told("names a file that no conversation is kept in").between("roles/ROLE-NN.jsonl", file));
        } else if !opened.insert(file.clone()) {
            audit.mismatch(told(&format!("opens `{file}` a second time")));
        } else {
            check_one(audit, panel, file, id, Participant { role: *role, seat: *seat })?;
        }
    }
    check_unopened(audit, panel);
    Ok(())
}

fn check_one(audit: &mut Audit, panel: &Panel, file: &str, id: &str, of: Participant) -> Result<()> {
    let sealed = sealed(panel, file);
    let Some(bytes) = audit.read(file) else { return Ok(()) };
    let found = match Conversation::parse(&audit.path(file), &bytes) {
        Ok(found) => found,
        Err(error @ SessionError::Newer { .. }) => return Err(error.into()),
        Err(SessionError::Chain { line, why, .. }) => {
            audit.mismatch(Mismatch::new(file, why).line(line));
            return Ok(());
        }
        Err(error) => {
            audit.mismatch(Mismatch::new(file, why(&error)).line(1));
            return Ok(());
        }
    };
    if found.session != id || found.of != of {
        let told = Mismatch::new(file, "is not the conversation that the record opened").line(1);
        let is = format!("{} of `{}`", found.of, found.session);
        audit.mismatch(told.between(format!("{of} of `{id}`"), is));
        return Ok(());
    }
    check_turns(audit, file, &found, sealed.is_some());
    match sealed {
        Some((lines, head)) if lines != found.lines || head != found.head || found.torn => {
            let told = Mismatch::new(file, "does not end as it was sealed");
            let torn = if found.torn { " and a part of one" } else { "" };
            let is = format!("{} lines{torn}, {}", found.lines, found.head);
            audit.mismatch(told.between(format!("{lines} lines, {head}"), is));
        }
        Some(_) => {}
        None => {
            if found.torn {
                audit.note(format!("the last line of `{file}` is not whole: its writer was stopped in it"));
            }
            audit.note(format!("`{file}` is not sealed yet: it holds together, and may go on"));
        }
    }
    Ok(())
}

/// What the last turn left for the next one is there, as long as there can be one; what belongs to a turn that goes on, or
/// was not cleared away when its owner died, is known.
fn check_turns(audit: &mut Audit, file: &str, found: &Conversation, sealed: bool) {
    let turns = || found.messages.iter().filter_map(|message| Some((message.from, message.turn.as_ref()?)));
    let answered = turns().rev().find(|(from, _)| *from == Speaker::Participant).map(|(_, turn)| turn);
    let number = answered.map_or(0, |turn| turn.number);
    let left = answered.and_then(|turn| turn.taken.as_ref()?.kept).filter(|_| !sealed);
    if let Some(sha256) = left {
        let kept = TurnFile::Kept.of(file, number);
        let was_there = audit.names(FOLDER).iter().any(|name| kept.ends_with(&format!("/{name}")));
        // One that is gone by now was cleared away by a living owner, with the turn after it.
        let is_gone = was_there && audit.entry(&kept).is_ok_and(|entry| entry == Entry::Missing);
        if !is_gone {
            audit.read_expected(&kept, sha256, &format!("`{file}`"));
        }
    }
    for name in audit.names(FOLDER).to_vec() {
        let name = format!("{FOLDER}/{name}");
        let Some((conversation, of, _)) = TurnFile::parse(&name) else { continue };
        // What the turn before left is cleared away when this one's answer is said.
        let is_recent = (number.saturating_sub(1)..=number.saturating_add(1)).contains(&of);
        if conversation == file && is_recent && !audit.knows(&name) {
            audit.know(&name);
            audit.note(format!("`{name}` belongs to a turn that goes on, or was not cleared away yet"));
        }
    }
}

/// How long a conversation was when it was sealed, and the hash of its last line.
fn sealed(panel: &Panel, file: &str) -> Option<(u64, Sha256Hash)> {
    panel.record.records.iter().rev().find_map(|record| match &record.event {
        Event::ConversationSealed { file: sealed, lines, head } if sealed == file => Some((*lines, *head)),
        _ => None,
    })
}

/// The file of a conversation is made right before its opening is recorded: it then holds its first line and no message.
fn check_unopened(audit: &mut Audit, panel: &Panel) {
    for name in audit.names(FOLDER).to_vec() {
        let file = format!("{FOLDER}/{name}");
        if audit.knows(&file) || !is_conversation(&file) {
            continue;
        }
        let begun = crate::fs::read_plain(audit.path(&file)).is_ok_and(|bytes| {
            let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
            lines <= 1 && bytes.last().is_none_or(|last| lines == 0 || *last == b'\n')
        });
        if begun {
            panel.unrecorded(audit, &file);
        }
    }
}
