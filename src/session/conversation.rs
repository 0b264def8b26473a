//! Role conversations: what `team` and one seat of a role said to each other, durable, in `roles/`. Owner: [`super`].
//!
//! A conversation belongs to a session, a role and a seat, and is opened with the first message. Its file is lines of JSON:
//! a header that says whose it is, then the messages in order, each with the hash of the line before it. Each message is
//! durable before anything depends on it; a torn last line is one that was never said. The session's record says which
//! conversations were opened and, when the session ends, how long each was and how it ended: from then on it is kept and
//! not gone on with.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::events::{Event, Record};
use super::slot::TurnEnd;
use super::{SessionError, read};
use crate::fs::{self, AppendLog};
use crate::ids::{DateTime, FormatVersion, Sha256Hash, SlotId};

/// Who a conversation is with. Roles never share one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Looks for what is wrong.
    Reviewer,
    /// Votes on what others found.
    Judge,
    /// Mends it.
    Fixer,
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Reviewer => "reviewer",
            Self::Judge => "judge",
            Self::Fixer => "fixer",
        })
    }
}

/// One seat of a role in a session: whose conversation it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Participant {
    /// The role.
    pub role: Role,
    /// The seat.
    pub seat: SlotId,
}

impl fmt::Display for Participant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.role, self.seat)
    }
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Speaker {
    /// `team`: a prompt.
    Team,
    /// The participant: its answer.
    Participant,
}

/// Something that was said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Message {
    /// When.
    #[schemars(with = "DateTime")]
    pub at: Timestamp,
    /// By whom.
    pub from: Speaker,
    /// The words, as they were said.
    pub text: String,
    /// The turn that it was said in; absent where it was only added, to be heard with the next prompt.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub turn: Option<TurnNote>,
}

/// Which turn of a conversation something was said in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TurnNote {
    /// Its number in the conversation, from 1.
    pub number: u32,
    /// The folder of the panel that it was asked in, relative to the session's; empty for that one itself.
    pub folder: String,
    /// The slot that it was there.
    pub slot: SlotId,
    /// How many of the messages that were added to the conversation, from its beginning, are heard with it.
    #[serde(default)]
    pub heard: u32,
    /// Of an answer: how the turn was taken. Absent where each turn stands alone.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub taken: Option<TurnEnd>,
}

impl TurnNote {
    /// Whether both are of the same turn.
    #[must_use]
    pub fn is_same_turn(&self, other: &Self) -> bool {
        (self.number, &self.folder, self.slot) == (other.number, &other.folder, other.slot)
    }
}

/// What belongs to one turn of a conversation, in a file of its own beside it for as long as it is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnFile {
    /// What the turn leaves for the next one.
    Kept,
    /// The prompt of somebody who knows what was said before, with what was added to it.
    Prompt,
    /// The prompt of somebody who does not, with the same.
    Anew,
}

impl TurnFile {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Kept, Self::Prompt, Self::Anew];

    /// The file of turn `number` of the conversation in `conversation`; both relative to the session's folder.
    #[must_use]
    pub fn of(self, conversation: &str, number: u32) -> String {
        let stem = conversation.strip_suffix(".jsonl").unwrap_or(conversation);
        format!("{stem}.turn-{number}.{}", self.ending())
    }

    /// The conversation that the file `name` belongs to, and the turn; `None` where it is no such file.
    #[must_use]
    pub fn parse(name: &str) -> Option<(String, u32, Self)> {
        Self::ALL.into_iter().find_map(|kind| {
            let rest = name.strip_suffix(kind.ending())?.strip_suffix('.')?;
            let (stem, number) = rest.rsplit_once(".turn-")?;
            let conversation = format!("{stem}.jsonl");
            let number = number.parse().ok()?;
            // Written in one way only.
            let is_own = is_conversation(&conversation) && kind.of(&conversation, number) == name;
            is_own.then_some((conversation, number, kind))
        })
    }

    const fn ending(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Prompt => "prompt.md",
            Self::Anew => "anew.md",
        }
    }
}

/// The first line of a conversation's file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Header {
    version: FormatVersion,
    session: String,
    #[serde(flatten)]
    of: Participant,
    at: Timestamp,
}

/// A later line.
#[derive(Debug, Serialize, Deserialize)]
struct Line {
    prev: Sha256Hash,
    #[serde(flatten)]
    message: Message,
}

/// The conversation that is open with `of` by a session's record: its file, relative to the folder.
#[must_use]
pub fn open_conversation(records: &[Record], of: Participant) -> Option<String> {
    open_conversations(records).into_iter().find(|(_, whose)| *whose == of).map(|(file, _)| file)
}

/// Every conversation that is open by a session's record, by file.
#[must_use]
pub fn open_conversations(records: &[Record]) -> BTreeMap<String, Participant> {
    let mut open = BTreeMap::new();
    for record in records {
        match &record.event {
            Event::ConversationOpened { role, seat, file } => {
                open.insert(file.clone(), Participant { role: *role, seat: *seat });
            }
            Event::ConversationSealed { file, .. } => drop(open.remove(file)),
            _ => {}
        }
    }
    open
}

/// Whether `file`, relative to a session's folder, is where a conversation can be.
#[must_use]
pub fn is_conversation(file: &str) -> bool {
    let name = file.strip_prefix("roles/").and_then(|name| name.strip_suffix(".jsonl"));
    name.is_some_and(|name| {
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
    })
}

/// The name of the next conversation with `of`: the first is `roles/fixer-01.jsonl`, later ones end in `-2` and so on.
pub(super) fn next_conversation(records: &[Record], of: Participant) -> String {
    let is_own = |record: &&Record| match record.event {
        Event::ConversationOpened { role, seat, .. } => of == Participant { role, seat },
        _ => false,
    };
    let Participant { role, seat } = of;
    match records.iter().filter(is_own).count() {
        0 => format!("roles/{role}-{seat}.jsonl"),
        before => format!("roles/{role}-{seat}-{}.jsonl", before + 1),
    }
}

/// A conversation as it lies on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversation {
    /// The session that it belongs to.
    pub session: String,
    /// Whose it is.
    pub of: Participant,
    /// What was said, in order.
    pub messages: Vec<Message>,
    /// The number of whole lines.
    pub lines: u64,
    /// The hash of the last one.
    pub head: Sha256Hash,
    /// The bytes up to its end.
    pub length: u64,
    /// Whether an unfinished line follows.
    pub torn: bool,
}

impl Conversation {
    /// Reads the file at `path`, which must be that of a conversation with `of` in `session`.
    ///
    /// # Errors
    /// The file is missing, damaged, of a newer version, or somebody else's.
    pub fn read(path: &Path, session: &str, of: Participant) -> Result<Self, SessionError> {
        let bytes = fs_err::read(path).map_err(|source| match source.kind() {
            std::io::ErrorKind::NotFound => SessionError::Missing(path.to_owned()),
            _ => SessionError::Io(source),
        })?;
        let found = Self::parse(path, &bytes)?;
        if found.session != session || found.of != of {
            let why = format!("it is the conversation with {} of `{}`", found.of, found.session);
            return Err(SessionError::Malformed { path: path.to_owned(), why });
        }
        Ok(found)
    }

    /// Reads the bytes of the file at `path`. A torn last line is left out.
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<Self, SessionError> {
        let broken = |line: usize, why: String| SessionError::Chain { path: path.to_owned(), line, why };
        let length = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let mut lines = bytes[..length].split_inclusive(|byte| *byte == b'\n').map(|line| &line[..line.len() - 1]);
        let first = lines.next().ok_or_else(|| broken(1, "the conversation is empty".to_owned()))?;
        let Header { session, of, .. } = read::parse(path, first)?;
        let mut head = Sha256Hash::of(first);
        let mut messages = Vec::new();
        for (line, number) in lines.zip(2..) {
            let Line { prev, message } =
                serde_json::from_slice(line).map_err(|error| broken(number, error.to_string()))?;
            if prev != head {
                return Err(broken(number, "`prev` is not the hash of the line before".to_owned()));
            }
            head = Sha256Hash::of(line);
            messages.push(message);
        }
        let lines = messages.len() as u64 + 1;
        Ok(Self { session, of, messages, lines, head, length: length as u64, torn: length < bytes.len() })
    }
}

/// A conversation as it is written.
#[derive(Debug)]
pub(super) struct OpenConversation {
    log: AppendLog,
    head: Sha256Hash,
    last: Timestamp,
}

impl OpenConversation {
    /// Makes the file of a new conversation. One that nobody recorded holds no message and is made anew.
    pub(super) fn create(path: &Path, session: &str, of: Participant, now: Timestamp) -> Result<Self, SessionError> {
        if let Some(folder) = path.parent() {
            fs::ensure_dir(folder)?;
        }
        fs::remove_if_exists(path)?;
        let header = Header { version: FormatVersion::CURRENT, session: session.to_owned(), of, at: now };
        let line = serde_json::to_vec(&header).map_err(std::io::Error::other)?;
        let mut log = AppendLog::create(path)?;
        log.append(&line)?;
        log.sync()?;
        if let Some(folder) = path.parent() {
            fs::sync_dir(folder)?;
        }
        Ok(Self { log, head: Sha256Hash::of(&line), last: now })
    }

    /// Goes on with a conversation that was read; a torn last line is cut off.
    pub(super) fn resume(path: &Path, read: &Conversation) -> Result<Self, SessionError> {
        let last = read.messages.last().map_or(Timestamp::UNIX_EPOCH, |message| message.at);
        Ok(Self { log: AppendLog::resume(path, read.length)?, head: read.head, last })
    }

    /// Adds a message; it is durable when this returns. A clock that was set back does not reorder them.
    pub(super) fn say(
        &mut self,
        from: Speaker,
        text: &str,
        turn: Option<TurnNote>,
        now: Timestamp,
    ) -> Result<(), SessionError> {
        let at = self.last.max(now);
        let line = Line { prev: self.head, message: Message { at, from, text: text.to_owned(), turn } };
        let line = serde_json::to_vec(&line).map_err(std::io::Error::other)?;
        self.log.append(&line)?;
        self.head = Sha256Hash::of(&line);
        self.last = at;
        Ok(self.log.sync()?)
    }
}
