//! The next turn of a conversation: what a slot is given to go on with it.

use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::course::Course;
use crate::config::SessionReuse;
use crate::error::{Error, Result};
use crate::fault::{self, Point};
use crate::fs;
use crate::ids::SlotId;
use crate::runner::{Before, Continuation, Said};
use crate::session::{Kept, Layout, Participant, Session, Speaker, TurnFile, TurnNote};

/// A turn that is to be taken.
#[derive(Debug, Clone, Copy)]
pub struct NextTurn<'a> {
    /// Whose conversation it is of.
    pub of: Participant,
    /// The panel that it is asked in: the session's own folder or one inside of it.
    pub panel: &'a Layout,
    /// The slot that it is there.
    pub slot: SlotId,
    /// What is asked of somebody who knows nothing of what was said before.
    pub prompt: &'a Path,
    /// What is asked of somebody who does; the same where absent.
    pub continuing: Option<&'a str>,
}

/// What a slot is given.
#[derive(Debug, Clone)]
pub struct Turn {
    /// Its prompt.
    pub prompt: PathBuf,
    /// The conversation that it goes on with, or begins; `None` where each turn stands alone.
    pub conversation: Option<Continuation>,
}

/// Prepares a turn, whose prompt is said in the conversation before anybody is asked. What was added since the last answer
/// comes before the prompt. Asked again for a turn that no answer came to, it prepares that one once more.
///
/// # Errors
/// The session does not go on, a prompt is no text, or the conversation is damaged.
pub fn next(session: &mut Session, turn: NextTurn<'_>, reuse: SessionReuse, now: Timestamp) -> Result<Turn> {
    let NextTurn { of, prompt, .. } = turn;
    let course = Course::of(session.messages(of)?);
    let note = TurnNote {
        number: course.next_number(),
        folder: folder_of(session, turn.panel),
        slot: turn.slot,
        heard: course.added(),
        taken: None,
    };
    let file = session.conversation_file(of);
    let root = session.layout().root().to_owned();
    let place = |kind: TurnFile, number: u32| root.join(kind.of(&file, number));
    let before = match (reuse, course.last()) {
        (SessionReuse::Off, _) => None,
        (SessionReuse::On, None) => Some(Before::Nothing),
        (SessionReuse::On, Some(last)) => {
            Some(match kept(last, &place(TurnFile::Kept, last.number), &session.panel().manifest().nonce) {
                Err(why) => Before::Lost(why),
                Ok(kept) => {
                    let own = place(TurnFile::Prompt, note.number);
                    let prompt = match turn.continuing {
                        Some(text) => put(&course.with_added(note.heard, text), own)?,
                        None => written(&course, &note, prompt, own)?,
                    };
                    Before::Said(Box::new(Said { prompt, kept, exchanges: course.exchanges.clone() }))
                }
            })
        }
    };
    let prompt = written(&course, &note, prompt, place(TurnFile::Anew, note.number))?;
    let asked = match &before {
        Some(Before::Said(said)) => text(&said.prompt)?,
        _ => text(&prompt)?,
    };
    // It is on record already where the owner died before an answer came.
    let is_said = course.open.is_some_and(|(open, said)| open == note && said == asked);
    if !is_said {
        session.say_in_turn(of, Speaker::Team, &asked, Some(note.clone()), now)?;
    }
    fault::reach(Point::TurnAsked);
    let conversation = before.map(|before| Continuation {
        before,
        keeps: place(TurnFile::Kept, note.number),
        nonce: session.panel().manifest().nonce.clone(),
    });
    Ok(Turn { prompt, conversation })
}

/// What the turn `last` left, or why it is of no use.
fn kept(last: &TurnNote, path: &Path, nonce: &str) -> std::result::Result<Kept, String> {
    let Some(taken) = &last.taken else { return Err("the turn before stood alone".to_owned()) };
    let Some(sha256) = taken.kept else { return Err("nothing was kept of the turn before".to_owned()) };
    Kept::read(path, nonce, sha256).map_err(|error| format!("what the turn before left cannot be used: {error}"))
}

/// Where the prompt in `path` is with what was added to it: there, or in `own`.
fn written(course: &Course, note: &TurnNote, path: &Path, own: PathBuf) -> Result<PathBuf> {
    let prompt = text(path)?;
    let whole = course.with_added(note.heard, &prompt);
    if whole == prompt { Ok(path.to_owned()) } else { put(&whole, own) }
}

/// Puts a prompt into a file of the turn's own.
fn put(prompt: &str, own: PathBuf) -> Result<PathBuf> {
    if let Some(folder) = own.parent() {
        fs::ensure_dir(folder)?;
    }
    fs::replace(&own, prompt.as_bytes())?;
    Ok(own)
}

/// The text of a prompt.
pub(super) fn text(path: &Path) -> Result<String> {
    fs_err::read_to_string(path).map_err(|source| Error::io("cannot read a prompt", source))
}

/// A panel's folder, relative to the session's.
pub(super) fn folder_of(session: &Session, panel: &Layout) -> String {
    let root = session.layout().root();
    panel.root().strip_prefix(root).unwrap_or(panel.root()).display().to_string()
}
