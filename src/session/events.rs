//! `events.jsonl`: the append-only, hash-chained record, the truth about a session's life. Owner: [`super`].
//!
//! Each line carries the SHA-256 of the previous line's bytes without its newline. No event names a model: texts in
//! it went through the mask before they came here.

use std::collections::BTreeMap;
use std::path::Path;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::SessionError;
use super::chain::Chain;
use super::conversation::Role;
use super::fix_step::FixStep;
use super::layout::{InnerPanel, Round, Turn};
use super::life::Why;
use super::meta::{Phase, SessionKind, SessionState};
use super::slot::{SlotEnd, Usage};
use crate::fs::AppendLog;
use crate::ids::{DateTime, FormatVersion, Sha256Hash, SlotId};

/// One line of the record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Record {
    /// The line's number, from 1.
    pub seq: u64,
    /// The hash of the previous line; absent in the first.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub prev: Option<Sha256Hash>,
    /// When it happened.
    #[schemars(with = "DateTime")]
    pub at: Timestamp,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}

/// Something that happened in a session or in a round of votes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Event {
    /// The folder was made; always the first line.
    Created {
        /// The version of this format.
        version: FormatVersion,
        /// The version of the program.
        tool: String,
        /// What kind of session this is.
        kind: SessionKind,
        /// The ids of the panel.
        slots: Vec<SlotId>,
        /// The hash of `input.md`; absent in a round.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        input: Option<Sha256Hash>,
        /// The hash of `task.md`, where there is one.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        task: Option<Sha256Hash>,
        /// The hash of `manifest.json`, whose nonce hides it.
        manifest: Sha256Hash,
        /// In a round: its number and the head of the session's record when it was opened.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        parent: Option<Parent>,
        /// What keeps slots apart, as found by the self-test.
        isolation: String,
        /// The hash of each template that was used.
        #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
        prompts: BTreeMap<String, Sha256Hash>,
        /// In a round: the rules in force, by name, as far as the votes alone do not tell them.
        #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
        rules: BTreeMap<String, String>,
        /// What is to be done here, limits and rules included, so that another process can go on with it. It names no
        /// model: those are in the manifest.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        plan: Option<Box<serde_json::Value>>,
    },
    /// A phase began.
    PhaseStarted {
        /// Which.
        phase: Phase,
    },
    /// The snapshot that programs work in was taken; the newest one counts.
    WorkspaceTaken {
        /// The hash of all that is in it.
        tree: Sha256Hash,
        /// How many files and links it has.
        files: u64,
        /// Their size in bytes.
        bytes: u64,
    },
    /// An attempt of a slot began.
    SlotStarted {
        /// The slot.
        slot: SlotId,
        /// The attempt, from 1.
        attempt: u32,
    },
    /// A request of a slot is made again after an error.
    SlotRetry {
        /// The slot.
        slot: SlotId,
        /// What went wrong and when it goes on, without names.
        why: String,
    },
    /// An attempt of a slot ended. There is exactly one for each start.
    SlotEnded {
        /// The slot.
        slot: SlotId,
        /// The end.
        #[serde(flatten)]
        end: Box<SlotEnd>,
    },
    /// Somebody asked for a stop of everything (`slots` empty) or of some slots.
    StopRequested {
        /// What asked: `interrupt`, `terminate`, `cancel`, `deadline`.
        cause: String,
        /// Which slots; empty for all.
        slots: Vec<SlotId>,
    },
    /// A round of votes began.
    RoundOpened {
        /// Its number.
        round: Round,
    },
    /// A round of votes ended.
    RoundClosed {
        /// Its number.
        round: Round,
        /// How many lines its record has.
        events: u64,
        /// The hash of its last line.
        head: Sha256Hash,
    },
    /// Judges of this round are asked once more, in a folder of its own inside of this one.
    TurnOpened {
        /// Which turn.
        turn: Turn,
        /// The judges that are asked.
        judges: Vec<SlotId>,
    },
    /// Such a turn ended.
    TurnClosed {
        /// Which turn.
        turn: Turn,
        /// How many lines its record has.
        events: u64,
        /// The hash of its last line.
        head: Sha256Hash,
    },
    /// A panel inside of a pipeline session was opened.
    PanelOpened {
        /// Which.
        panel: InnerPanel,
    },
    /// Such a panel ended.
    PanelClosed {
        /// Which.
        panel: InnerPanel,
        /// How many lines its record has.
        events: u64,
        /// The hash of its last line.
        head: Sha256Hash,
    },
    /// A file of the pipeline was written; of one that is written again the newest counts.
    FileWritten {
        /// Its name in the folder.
        file: String,
        /// Its hash.
        sha256: Sha256Hash,
    },
    /// The ledger of findings has grown to this.
    LedgerWritten {
        /// How many lines it has.
        lines: u64,
        /// The hash of the last one.
        head: Sha256Hash,
    },
    /// The prompt of a judge was written.
    PromptWritten {
        /// The judge.
        judge: SlotId,
        /// The hash of the file.
        sha256: Sha256Hash,
    },
    /// Ballots from elsewhere were taken into this round.
    Imported {
        /// The copy of their file in the round's folder.
        file: String,
        /// Its hash.
        sha256: Sha256Hash,
        /// The pattern that it was read by; without one it is in the schema of `votes.json`.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        pattern: Option<String>,
    },
    /// A judge's answer was read for votes.
    Ballot {
        /// The judge.
        judge: SlotId,
        /// The hash of the answer that it was read from.
        response: Sha256Hash,
        /// How many votes it holds.
        votes: u32,
        /// How many it should hold and does not.
        missing: u32,
    },
    /// A step of a fix was done.
    Fix {
        /// Which.
        #[serde(flatten)]
        step: Box<FixStep>,
    },
    /// A reviewer's reply was read for findings.
    FindingsRead {
        /// The reviewer.
        slot: SlotId,
        /// The hash of the reply.
        response: Sha256Hash,
        /// How many it holds; absent where it cannot be read.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        findings: Option<u32>,
    },
    /// The verdict was published.
    Verdict {
        /// The hash of `votes.json`; absent in the copy at the session's top.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        votes: Option<Sha256Hash>,
        /// The hash of `verdict.json`.
        verdict_json: Sha256Hash,
        /// The hash of `verdict.md`.
        verdict_md: Sha256Hash,
        /// The number of the wording that `verdict.md` was written in.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        rendering: Option<u32>,
        /// The tokens of each slot's (or judge's) last attempt, where it reported any.
        #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
        usage: BTreeMap<SlotId, Usage>,
    },
    /// What a last look found at what the panel was asked about, before the verdict.
    Remarked {
        /// What a reader must know, in words.
        text: String,
    },
    /// A person looked at the names.
    Revealed,
    /// The owner before died: found by the next one.
    Interrupted,
    /// A session, round or turn that had ended goes on.
    Reopened {
        /// Why.
        why: Why,
        /// The slots that are asked again, each in a new attempt.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        slots: Vec<SlotId>,
        /// Whether slots that had ended with an error of their own are among them.
        #[serde(skip_serializing_if = "std::ops::Not::not", default)]
        failed: bool,
        /// What is not as it was when the session began, in words, and was accepted.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        drift: Vec<String>,
        /// The files among them, as they were accepted: path relative to the session's folder, and hash.
        #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
        accepted: BTreeMap<String, Sha256Hash>,
        /// What keeps slots apart from here on, where that is not what did before.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        isolation: Option<String>,
    },
    /// A durable conversation with one seat of a role was opened; what is said in it is in its file.
    ConversationOpened {
        /// The role.
        role: Role,
        /// The seat.
        seat: SlotId,
        /// The file, relative to the folder.
        file: String,
    },
    /// A conversation is over: it is kept, and nobody goes on with it.
    ConversationSealed {
        /// Its file, relative to the folder.
        file: String,
        /// How many lines it has.
        lines: u64,
        /// The hash of the last one.
        head: Sha256Hash,
    },
    /// The session waits for a person.
    DecisionAwaited {
        /// The number of the decision, from 1.
        decision: u32,
        /// What is to be decided, without names.
        question: String,
        /// The choices; none where any words will do.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        choices: Vec<String>,
        /// What is needed to go on from here.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        checkpoint: Option<Box<serde_json::Value>>,
    },
    /// A person decided; a session that had ended for it goes on.
    Decided {
        /// The number of the decision.
        decision: u32,
        /// The choice.
        choice: String,
        /// What the person said of it.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        note: Option<String>,
    },
    /// The session or round ended.
    Closed {
        /// How.
        state: SessionState,
        /// Of a session: the digest of `session-meta.json` as this close leaves it, without the seal
        /// ([`Meta::digest_of`](super::Meta::digest_of)).
        #[serde(skip_serializing_if = "Option::is_none", default)]
        meta: Option<Sha256Hash>,
    },
}

impl Event {
    /// Whether it may come after the closing event: it opens what was closed again, or says who has looked.
    #[must_use]
    pub const fn may_follow_an_end(&self) -> bool {
        matches!(self, Self::Reopened { .. } | Self::Decided { .. } | Self::Revealed)
    }

    /// Whether a session begins with this whose panels are inside of it: a review, a fix, or a gate that has a change
    /// reviewed.
    #[must_use]
    pub fn begins_pipeline(&self) -> bool {
        match self {
            Self::Created { kind: SessionKind::Review | SessionKind::Fix, .. } => true,
            Self::Created { kind: SessionKind::Gate, plan, .. } => {
                plan.as_ref().is_some_and(|plan| plan.get("review").is_some())
            }
            _ => false,
        }
    }
}

impl Parent {
    /// What is done first in a panel inside of another.
    pub(super) const fn phase(&self) -> Phase {
        if self.round.is_some() { Phase::Judge } else { Phase::Run }
    }

    /// Whether it is a panel of a pipeline itself, and neither a round of votes nor a further turn.
    pub(super) const fn is_inner(&self) -> bool {
        self.panel.is_some() && self.round.is_none() && self.turn.is_none()
    }
}

/// What ties a round's record to its session's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Parent {
    /// The round's number; absent in a further turn of the session's own slots.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub round: Option<Round>,
    /// In a further turn: which.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub turn: Option<Turn>,
    /// In a pipeline: the panel that this is, or that the round or the turn is of.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub panel: Option<InnerPanel>,
    /// The head of the session's record when the round was opened; of a turn, that of the folder it is in.
    pub head: Sha256Hash,
}

/// The record as it is written.
#[derive(Debug)]
pub struct EventLog {
    log: AppendLog,
    head: Option<Sha256Hash>,
    last: Option<Record>,
}

impl EventLog {
    /// Starts a new record.
    pub fn create(path: &Path) -> Result<Self, SessionError> {
        Ok(Self { log: AppendLog::create(path)?, head: None, last: None })
    }

    /// Goes on with a record that was read and checked; a torn last line is cut off.
    pub fn resume(path: &Path, history: &History) -> Result<Self, SessionError> {
        Ok(Self {
            log: AppendLog::resume(path, history.length)?,
            head: Some(history.head),
            last: history.records.last().cloned(),
        })
    }

    /// Appends `event`; gives back the record as written.
    ///
    /// A clock that was set back does not reorder the record: a time is never before the previous one's.
    pub fn append(&mut self, event: Event, now: Timestamp) -> Result<Record, SessionError> {
        let at = self.last.as_ref().map_or(now, |last| last.at.max(now));
        let record = Record { seq: self.count() + 1, prev: self.head, at, event };
        let line = serde_json::to_vec(&record).map_err(std::io::Error::other)?;
        self.log.append(&line)?;
        self.head = Some(Sha256Hash::of(&line));
        self.last = Some(record.clone());
        Ok(record)
    }

    /// Makes the record so far durable.
    pub fn sync(&self) -> Result<(), SessionError> {
        Ok(self.log.sync()?)
    }

    /// The hash of the last line.
    #[must_use]
    pub const fn head(&self) -> Option<Sha256Hash> {
        self.head
    }

    /// How many lines there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.last.as_ref().map_or(0, |last| last.seq)
    }

    /// The last line.
    #[must_use]
    pub const fn last(&self) -> Option<&Record> {
        self.last.as_ref()
    }
}

/// A record that was read, its chain checked.
#[derive(Debug, Clone)]
pub struct History {
    /// The lines, never empty.
    pub records: Vec<Record>,
    /// The hash of the last whole line.
    pub head: Sha256Hash,
    /// The bytes up to the end of the last whole line.
    pub length: u64,
    /// Whether a torn last line follows.
    pub torn: bool,
}

impl History {
    /// Reads a record and checks its chain. A torn last line is accepted only before the closing event.
    pub fn read(path: &Path) -> Result<Self, SessionError> {
        let bytes = crate::fs::read_plain(path).map_err(|source| match source.kind() {
            std::io::ErrorKind::NotFound => SessionError::Missing(path.to_owned()),
            _ => SessionError::Io(source),
        })?;
        Self::parse(path, &bytes)
    }

    fn parse(path: &Path, bytes: &[u8]) -> Result<Self, SessionError> {
        let chain = Chain::parse(path, bytes)?;
        if let Some(first) = chain.breaks.first() {
            return Err(SessionError::Chain { path: path.to_owned(), line: first.line, why: first.to_string() });
        }
        let Some(head) = chain.head() else {
            return Err(SessionError::Chain { path: path.to_owned(), line: 1, why: "the record is empty".to_owned() });
        };
        let Chain { lines, length, torn, .. } = chain;
        Ok(Self { records: lines.into_iter().filter_map(|line| line.record).collect(), head, length, torn })
    }
}

#[cfg(test)]
mod tests {
    use fs_err as fs;

    use super::*;

    fn created() -> Event {
        Event::Created {
            version: FormatVersion::CURRENT,
            tool: "0".to_owned(),
            kind: SessionKind::Team,
            slots: SlotId::panel(2).collect(),
            input: Some(Sha256Hash::of(b"")),
            task: None,
            manifest: Sha256Hash::of(b"m"),
            parent: None,
            isolation: "none".to_owned(),
            prompts: BTreeMap::new(),
            rules: BTreeMap::new(),
            plan: None,
        }
    }

    fn log_of_three(dir: &Path) -> std::path::PathBuf {
        let path = dir.join("events.jsonl");
        let mut log = EventLog::create(&path).unwrap();
        log.append(created(), Timestamp::UNIX_EPOCH).unwrap();
        log.append(Event::PhaseStarted { phase: Phase::Run }, Timestamp::UNIX_EPOCH).unwrap();
        log.append(Event::Closed { state: SessionState::Completed, meta: None }, Timestamp::UNIX_EPOCH).unwrap();
        path
    }

    #[test]
    fn a_record_reads_back_as_it_was_written() {
        let dir = tempfile::tempdir().unwrap();
        let history = History::read(&log_of_three(dir.path())).unwrap();
        assert_eq!(history.records.len(), 3);
        assert_eq!(history.records[0].event, created());
        assert!(!history.torn);
    }

    #[test]
    fn any_changed_removed_or_swapped_line_breaks_the_chain() {
        let dir = tempfile::tempdir().unwrap();
        let path = log_of_three(dir.path());
        let text = fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let changed = text.replacen("\"run\"", "\"judge\"", 1);
        let removed = format!("{}\n{}\n", lines[0], lines[2]);
        let swapped = format!("{}\n{}\n{}\n", lines[0], lines[2], lines[1]);
        for bad in [changed, removed, swapped, String::new(), lines[1..].join("\n")] {
            let error = History::parse(&path, bad.as_bytes()).unwrap_err();
            assert!(matches!(error, SessionError::Chain { .. }), "{bad}\n{error}");
        }
    }

    #[test]
    fn a_torn_last_line_is_accepted_only_before_the_closing_event() {
        let dir = tempfile::tempdir().unwrap();
        let path = log_of_three(dir.path());
        let text = fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let open = format!("{}\n{}\n{{\"seq\":3", lines[0], lines[1]);
        let history = History::parse(&path, open.as_bytes()).unwrap();
        assert!(history.torn);
        assert_eq!(history.records.len(), 2);
        assert!(History::parse(&path, format!("{text}{{\"se").as_bytes()).is_err());
    }

    #[test]
    fn a_clock_that_was_set_back_does_not_reorder_the_record() {
        let dir = tempfile::tempdir().unwrap();
        let mut log = EventLog::create(&dir.path().join("e")).unwrap();
        let later = Timestamp::from_second(100).unwrap();
        log.append(created(), later).unwrap();
        let record = log.append(Event::Revealed, Timestamp::UNIX_EPOCH).unwrap();
        assert_eq!(record.at, later);
    }

    #[test]
    fn a_newer_format_is_refused_by_name() {
        let dir = tempfile::tempdir().unwrap();
        let path = log_of_three(dir.path());
        let text = fs::read_to_string(&path).unwrap().replacen("\"version\":1", "\"version\":9", 1);
        let error = History::parse(&path, text.as_bytes()).unwrap_err().to_string();
        assert!(error.contains("format version 9"), "{error}");
    }
}
