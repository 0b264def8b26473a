//! What came of a turn: the answer is said in the conversation, with how the turn was taken.

use std::path::Path;

use jiff::Timestamp;

use super::course::Course;
use super::next::{folder_of, text};
use crate::error::Result;
use crate::fault::{self, Point};
use crate::ids::{Sha256Hash, SlotId};
use crate::session::slot::{SlotState, TurnEnd, TurnMode};
use crate::session::{
    Event, Kept, PanelFolder, Participant, Session, SessionError, SlotEnd, Speaker, TurnFile, TurnNote,
};

/// Takes the answer of `slot` in `panel` into the conversation with `of`, and gives how the turn was taken; `None` where
/// there is no answer, the turn stood alone, or it was one of a conversation that is sealed by now. `prompt` is what was
/// asked of somebody who knew nothing before.
///
/// What was heard already, by an owner that died, is not said again. Until then the conversation is as it was before.
///
/// # Errors
/// The session does not go on, or the answer is not the one that was recorded.
pub fn heard(
    session: &mut Session,
    of: Participant,
    panel: &PanelFolder,
    slot: SlotId,
    prompt: &Path,
    now: Timestamp,
) -> Result<Option<TurnMode>> {
    let Some(end) = completed(panel, slot) else { return Ok(None) };
    let folder = folder_of(session, panel.layout());
    let course = Course::of(session.messages(of)?);
    let is_this = |note: &&TurnNote| note.folder == folder && note.slot == slot;
    let file = session.conversation_file(of);
    if let Some(note) = course.answered.iter().find(is_this) {
        let last = course.last().map(|last| last.number);
        session.remove_turn_files(&file, last)?;
        return Ok(mode_of(note));
    }
    let Some((note, said)) = course.open.as_ref().filter(|(note, _)| is_this(&note)) else { return Ok(None) };
    let path = panel.layout().response(slot);
    let bytes = crate::fs::read_plain(&path)?;
    if end.sha256 != Some(Sha256Hash::of(&bytes)) {
        return Err(SessionError::Changed(path).into());
    }
    let answered = TurnNote { taken: taken(session, end, &file, note.number), ..note.clone() };
    let mode = mode_of(&answered);
    // What was really asked, for whoever is told all of it again.
    let asked = course.with_added(note.heard, &text(prompt)?);
    if mode == Some(TurnMode::Anew) && asked != *said {
        session.say_in_turn(of, Speaker::Team, &asked, Some(note.clone()), now)?;
    }
    let number = note.number;
    session.say_in_turn(of, Speaker::Participant, &String::from_utf8_lossy(&bytes), Some(answered), now)?;
    fault::reach(Point::TurnHeard);
    session.remove_turn_files(&file, Some(number))?;
    Ok(mode)
}

fn mode_of(note: &TurnNote) -> Option<TurnMode> {
    note.taken.as_ref().map(|taken| taken.mode)
}

/// How the turn was taken. Where an owner died between the answer and its end on record, what the turn left tells it.
fn taken(session: &Session, end: &SlotEnd, conversation: &str, number: u32) -> Option<TurnEnd> {
    let on_record = end.turn.clone();
    on_record.or_else(|| {
        let path = session.layout().root().join(TurnFile::Kept.of(conversation, number));
        let (kept, sha256) = Kept::found(&path, &session.panel().manifest().nonce).ok()?;
        let is_of_it = Some(kept.answer) == end.sha256;
        is_of_it.then_some(TurnEnd { mode: kept.mode, why: kept.why, kept: Some(sha256) })
    })
}

/// The end of the attempt that answered.
fn completed(panel: &PanelFolder, slot: SlotId) -> Option<&SlotEnd> {
    let entry = panel.status().models.get(&slot)?;
    let ends = panel.records().iter().rev().find_map(|record| match &record.event {
        Event::SlotEnded { slot: of, end } if *of == slot => Some(&**end),
        _ => None,
    });
    ends.filter(|_| entry.state == SlotState::Completed)
}
