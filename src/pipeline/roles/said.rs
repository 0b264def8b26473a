//! What is said beside the turns, and what was said in all.

use jiff::Timestamp;

use crate::error::{Error, Result};
use crate::session::{Message, Participant, Session, Speaker};

/// Adds a message to the conversation with `of`, which it is told with its next prompt. Durable when this returns.
///
/// # Errors
/// It is blank, or the session does not go on.
pub fn add(session: &mut Session, of: Participant, text: &str, now: Timestamp) -> Result<()> {
    if text.trim().is_empty() {
        return Err(Error::usage(format!("the message to {of} is empty")).hint("say what it is to know"));
    }
    Ok(session.say(of, Speaker::Team, text, now)?)
}

/// What was said in the open conversation with `of`, in order.
///
/// # Errors
/// The session has ended: its conversations are sealed.
pub fn history(session: &Session, of: Participant) -> Result<Vec<Message>> {
    Ok(session.messages(of)?)
}

/// Ends the open conversation with `of`: it is kept and sealed, and its next turn begins another. A review that certifies a
/// result begins so.
///
/// # Errors
/// The session does not go on.
pub fn reset(session: &mut Session, of: Participant, now: Timestamp) -> Result<()> {
    Ok(session.end_conversation(of, now)?)
}
