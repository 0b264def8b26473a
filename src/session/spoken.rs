//! How conversations went that a session's record opened, for whoever looks at it; they may be sealed.

use super::SessionError;
use super::conversation::{Conversation, Participant, Speaker, TurnNote, is_conversation};
use super::events::{Event, Record};
use super::layout::Layout;

/// A conversation, as far as it went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spoken {
    /// Whose it is.
    pub of: Participant,
    /// Its file, relative to the session's folder.
    pub file: String,
    /// The turns that were answered, in order.
    pub answered: Vec<TurnNote>,
}

/// Every conversation of the session in `layout`, whose record is `records`, in the order in which they were opened.
///
/// # Errors
/// A file is missing, damaged, of a newer version, or another session's.
pub fn spoken(layout: &Layout, session: &str, records: &[Record]) -> Result<Vec<Spoken>, SessionError> {
    let opened = records.iter().filter_map(|record| match &record.event {
        Event::ConversationOpened { role, seat, file } => Some((Participant { role: *role, seat: *seat }, file)),
        _ => None,
    });
    opened
        .filter(|(_, file)| is_conversation(file))
        .map(|(of, file)| {
            let messages = Conversation::read(&layout.root().join(file), session, of)?.messages;
            let answers = messages.into_iter().filter(|message| message.from == Speaker::Participant);
            Ok(Spoken { of, file: file.clone(), answered: answers.filter_map(|message| message.turn).collect() })
        })
        .collect()
}
