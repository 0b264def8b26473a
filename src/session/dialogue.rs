//! What a session says and hears while it goes on: conversations with roles, and the decisions of a person.

use std::path::PathBuf;

use jiff::Timestamp;

use super::SessionError;
use super::conversation::{
    Conversation, Message, OpenConversation, Participant, Speaker, TurnFile, TurnNote, is_conversation,
    next_conversation, open_conversation, open_conversations,
};
use super::decision::{Question, Waiting, awaited, decided, waiting};
use super::events::Event;
use super::life::{SessionMove, Why};
use super::meta::SessionState;
use super::owner::Session;
use crate::fs;

impl Session {
    /// What was said so far in the open conversation with `of`; nothing where none is open.
    ///
    /// # Errors
    /// The session has ended, so that its conversations are sealed; or the file is damaged or another's.
    pub fn messages(&self, of: Participant) -> Result<Vec<Message>, SessionError> {
        let state = self.panel.status().state;
        if !state.is_active() && state != SessionState::AwaitingDecision {
            return Err(SessionError::Ended { session: self.id().to_owned(), state });
        }
        let Some(file) = open_conversation(self.panel.records(), of) else { return Ok(Vec::new()) };
        Ok(Conversation::read(&self.conversation_path(&file)?, self.id(), of)?.messages)
    }

    /// Adds to the conversation with `of`, which is opened by the first message. The message is durable when this returns.
    ///
    /// # Errors
    /// The session does not go on, or the disk does not take the message: then it was not said.
    pub fn say(&mut self, of: Participant, from: Speaker, text: &str, now: Timestamp) -> Result<(), SessionError> {
        self.say_in_turn(of, from, text, None, now)
    }

    /// The same of what is said in a turn that was taken.
    ///
    /// # Errors
    /// As [`Self::say`].
    pub fn say_in_turn(
        &mut self,
        of: Participant,
        from: Speaker,
        text: &str,
        turn: Option<TurnNote>,
        now: Timestamp,
    ) -> Result<(), SessionError> {
        self.must_go_on()?;
        let open = open_conversation(self.panel.records(), of);
        let file = self.conversation_file(of);
        if !self.conversations.contains_key(&file) {
            let path = self.conversation_path(&file)?;
            let conversation = match open {
                Some(_) => OpenConversation::resume(&path, &Conversation::read(&path, self.id(), of)?)?,
                None => {
                    let made = OpenConversation::create(&path, self.id(), of, now)?;
                    let opened = Event::ConversationOpened { role: of.role, seat: of.seat, file: file.clone() };
                    self.panel.record(opened, now)?;
                    self.panel.settle()?;
                    made
                }
            };
            self.conversations.insert(file.clone(), conversation);
        }
        match self.conversations.get_mut(&file) {
            Some(conversation) => conversation.say(from, text, turn, now),
            None => Err(SessionError::Missing(self.layout.root().join(file))),
        }
    }

    /// Where the open conversation with `of` is, or will be: relative to the folder.
    #[must_use]
    pub fn conversation_file(&self, of: Participant) -> String {
        let records = self.panel.records();
        open_conversation(records, of).unwrap_or_else(|| next_conversation(records, of))
    }

    /// Ends the open conversation with `of`: it is sealed as at the end of the session, and the next message opens another.
    /// Without one, nothing happens.
    ///
    /// # Errors
    /// The session does not go on, or the file is damaged or another's.
    pub fn end_conversation(&mut self, of: Participant, now: Timestamp) -> Result<(), SessionError> {
        self.must_go_on()?;
        let Some(file) = open_conversation(self.panel.records(), of) else { return Ok(()) };
        self.seal(file, of, now)?;
        self.panel.settle()
    }

    /// Seals every open conversation; gives back what went wrong. One that cannot be read keeps no other from it.
    pub(super) fn seal_conversations(&mut self, now: Timestamp) -> Vec<SessionError> {
        let open = open_conversations(self.panel.records());
        open.into_iter().filter_map(|(file, of)| self.seal(file, of, now).err()).collect()
    }

    fn seal(&mut self, file: String, of: Participant, now: Timestamp) -> Result<(), SessionError> {
        self.conversations.remove(&file);
        let path = self.conversation_path(&file)?;
        let read = Conversation::read(&path, self.id(), of)?;
        if read.torn {
            drop(OpenConversation::resume(&path, &read)?);
        }
        let sealed = Event::ConversationSealed { file: file.clone(), lines: read.lines, head: read.head };
        self.panel.record(sealed, now)?;
        self.remove_turn_files(&file, None)
    }

    /// Removes the files of the turns of the conversation in `file`: of all, or of those up to `heard` but what that one
    /// leaves for the next.
    ///
    /// # Errors
    /// The first that cannot be removed; the others are tried all the same.
    pub fn remove_turn_files(&self, file: &str, heard: Option<u32>) -> Result<(), SessionError> {
        let path = self.conversation_path(file)?;
        let Some(folder) = path.parent() else { return Ok(()) };
        let entries = match fs_err::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        let mut first = Ok(());
        for entry in entries.flatten() {
            let name = format!("roles/{}", entry.file_name().to_string_lossy());
            let Some((conversation, number, kind)) = TurnFile::parse(&name) else { continue };
            let is_needed = heard.is_some_and(|heard| number > heard || kind == TurnFile::Kept && number == heard);
            if conversation == file && !is_needed {
                first = first.and(fs::remove_if_exists(&entry.path()));
            }
        }
        Ok(first?)
    }

    /// The decision that the session waits for.
    #[must_use]
    pub fn waiting(&self) -> Option<Waiting> {
        waiting(self.panel.records())
    }

    /// Begins to wait for a decision, and gives its number; it is durable when this returns. The session goes on until it
    /// is closed, and from then on waits as `awaiting_decision`.
    ///
    /// # Errors
    /// It waits for one already, or does not go on.
    pub fn await_decision(&mut self, question: Question, now: Timestamp) -> Result<u32, SessionError> {
        self.must_go_on()?;
        let event = awaited(self.id(), self.panel.records(), question)?;
        self.panel.record(event, now)?;
        self.panel.settle()?;
        Ok(self.waiting().map_or(0, |waiting| waiting.decision))
    }

    /// Decides what the session waits for, and goes on with it; gives back what it waited for, with its checkpoint. The
    /// decision and the end of the waiting are one event: afterwards nothing is waited for, whatever happens in between.
    ///
    /// # Errors
    /// Nothing is waited for, or `choice` is none of the choices: nothing is written.
    pub fn decide(&mut self, choice: &str, note: Option<&str>, now: Timestamp) -> Result<Waiting, SessionError> {
        let (event, decided) = decided(self.id(), self.panel.records(), choice, note)?;
        if !self.panel.status().state.is_active() {
            self.allows(SessionMove::Reopen(Why::Decision))?;
            self.unseal()?;
        }
        self.panel.record(event, now)?;
        self.panel.settle()?;
        self.panel.write_status()?;
        Ok(decided)
    }

    fn must_go_on(&self) -> Result<(), SessionError> {
        let state = self.panel.status().state;
        if state.is_active() {
            return Ok(());
        }
        Err(SessionError::Ended { session: self.id().to_owned(), state })
    }

    /// Where a conversation of the record is. A record that was made up may name anything.
    fn conversation_path(&self, file: &str) -> Result<PathBuf, SessionError> {
        if is_conversation(file) {
            return Ok(self.layout.root().join(file));
        }
        let why = format!("it names `{file}` as a conversation");
        Err(SessionError::Malformed { path: self.layout.events(), why })
    }
}
