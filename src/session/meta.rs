//! `session-meta.json`: what a session is and how it ended. Owner: [`super`].

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use jiff::Timestamp;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserializer};
use serde::{Deserialize, Serialize, Serializer};

use super::{SessionError, read};
use crate::ids::{DateTime, FormatVersion, Sha256Hash};
use crate::money::Usd;

/// What kind of session a folder holds; the first part of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SessionKind {
    /// A panel: run, run-and-judge, vote, demo.
    Team,
    /// A review.
    Review,
    /// A review and fix loop.
    Fix,
    /// A gate in CI.
    Gate,
}

impl SessionKind {
    /// The name as it is written in files and folder names.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Team => "team",
            Self::Review => "review",
            Self::Fix => "fix",
            Self::Gate => "gate",
        }
    }
}

/// Where a session stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SessionState {
    /// It goes on.
    InProgress,
    /// It is being closed.
    Closing,
    /// It ended with something usable.
    Completed,
    /// It ended without anything usable.
    Failed,
    /// It was stopped.
    Cancelled,
    /// Its owner died; never written by a living one about itself.
    Interrupted,
    /// It waits for a person.
    AwaitingDecision,
}

impl SessionState {
    /// The name as it is written in files and messages.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InProgress => "in_progress",
            Self::Closing => "closing",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Interrupted => "interrupted",
            Self::AwaitingDecision => "awaiting_decision",
        }
    }

    /// Whether a living owner is at work.
    #[must_use]
    pub const fn is_active(self) -> bool {
        matches!(self, Self::InProgress | Self::Closing)
    }
}

/// A part of a session's work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Phase {
    /// The folder is made.
    Init,
    /// The slots answer.
    Run,
    /// The judges vote.
    Judge,
    /// The votes are counted and published.
    Verdict,
    /// A review's panel looks.
    Review,
    /// Judges vote on what it found.
    Vote,
    /// The fixer repairs, in the round of this number.
    Fix(u32),
    /// A panel that knows nothing of the repairs looks at the result.
    Certify,
    /// What came of it is written down.
    Report,
}

impl Phase {
    /// Those without a number.
    const PLAIN: [(Self, &str); 8] = [
        (Self::Init, "init"),
        (Self::Run, "run"),
        (Self::Judge, "judge"),
        (Self::Verdict, "verdict"),
        (Self::Review, "review"),
        (Self::Vote, "vote"),
        (Self::Certify, "certify"),
        (Self::Report, "report"),
    ];

    /// What `word` stands for in a file.
    fn of_word(word: &str) -> Option<Self> {
        if let Some(round) = word.strip_prefix("fix-") {
            let is_number = round.bytes().all(|byte| byte.is_ascii_digit()) && !round.starts_with('0');
            return round.parse().ok().filter(|_| is_number).map(Self::Fix);
        }
        Self::PLAIN.into_iter().find(|(_, known)| *known == word).map(|(phase, _)| phase)
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fix(round) => write!(f, "fix-{round}"),
            plain => {
                let known = Self::PLAIN.into_iter().find(|(phase, _)| phase == plain);
                f.write_str(known.map_or("", |(_, word)| word))
            }
        }
    }
}

impl Serialize for Phase {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Phase {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = String::deserialize(deserializer)?;
        Self::of_word(&word).ok_or_else(|| de::Error::custom(format!("`{word}` is no phase of a session")))
    }
}

impl JsonSchema for Phase {
    fn schema_name() -> Cow<'static, str> {
        "Phase".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let words: Vec<&str> = Self::PLAIN.iter().map(|(_, word)| *word).collect();
        json_schema!({
            "description": "A part of a session's work; `fix-N` is the round N of repairs.",
            "type": "string",
            "pattern": format!("^({}|fix-[1-9][0-9]*)$", words.join("|")),
        })
    }
}

/// The contents of `session-meta.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Meta {
    /// The version of this format.
    pub version: FormatVersion,
    /// The session's id: its folder's name.
    pub session_id: String,
    /// What kind of session it is.
    #[serde(rename = "type")]
    pub kind: SessionKind,
    /// What it is about, in a few words of the user's.
    pub target: String,
    /// When it began.
    #[schemars(with = "DateTime")]
    pub started_at: Timestamp,
    /// When it last ended.
    #[schemars(with = "Option<DateTime>")]
    pub completed_at: Option<Timestamp>,
    /// How it stands.
    pub status: SessionState,
    /// What was finished, in order.
    pub phases_completed: Vec<Phase>,
    /// The models that took part; written with the verdict, `null` before.
    pub models_used: Option<Vec<String>>,
    /// What was spent; written with the verdict, `null` before.
    #[serde(default)]
    pub money: Option<Money>,
    /// Name of each result to its path, relative to the folder.
    pub artifacts: BTreeMap<String, Artifact>,
    /// The record's length and head at the close.
    pub events: Option<EventsSeal>,
}

/// What a session has spent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Money {
    /// The sum of the costs that are known.
    pub known_usd: Usd,
    /// How many calls there were.
    pub calls: u64,
    /// Of how many of them the cost is not known.
    pub unknown_calls: u64,
    /// By seat: `slot 01`, `judge 02`; of judges over all rounds whose ids are drawn anew, `judge 02, round 2`.
    pub seats: BTreeMap<String, SeatMoney>,
}

/// What one seat has spent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SeatMoney {
    /// How many calls.
    pub calls: u64,
    /// Of how many of them the cost is not known.
    pub unknown_calls: u64,
    /// Tokens of the prompts, where reported.
    pub input_tokens: Option<u64>,
    /// Tokens of the output, where reported.
    pub output_tokens: Option<u64>,
    /// The sum of the costs that are known; `null` where none is.
    pub known_usd: Option<Usd>,
}

/// Where a result is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Artifact {
    /// One file.
    One(String),
    /// Several, in order.
    Many(Vec<String>),
}

/// What the close says about the record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EventsSeal {
    /// How many lines it has.
    pub count: u64,
    /// The hash of its last line.
    pub head: Sha256Hash,
}

impl Meta {
    /// That of a session which has just been made.
    pub(super) fn begun(session_id: String, kind: SessionKind, target: &str, now: Timestamp) -> Self {
        Self {
            version: FormatVersion::CURRENT,
            session_id,
            kind,
            target: target.to_owned(),
            started_at: now,
            completed_at: None,
            status: SessionState::InProgress,
            phases_completed: vec![Phase::Init],
            models_used: None,
            money: None,
            artifacts: BTreeMap::new(),
            events: None,
        }
    }

    /// Reads `session-meta.json`.
    pub fn read(path: &Path) -> Result<Self, SessionError> {
        read::json(path)
    }

    /// The same of the bytes of the file at `path`.
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<Self, SessionError> {
        read::parse(path, bytes)
    }

    /// The digest of the contents but for the seal, which is made from it: what the closing event records.
    pub fn digest(&self) -> std::io::Result<Sha256Hash> {
        digest(serde_json::to_value(self).map_err(std::io::Error::other)?)
    }

    /// The same of a file's bytes, whatever fields a newer program added. `None` when they are no JSON object.
    #[must_use]
    pub fn digest_of(bytes: &[u8]) -> Option<Sha256Hash> {
        let value: serde_json::Value = serde_json::from_slice(bytes).ok().filter(serde_json::Value::is_object)?;
        digest(value).ok()
    }

    /// Notes a finished phase once.
    pub fn finish(&mut self, phase: Phase) {
        if !self.phases_completed.contains(&phase) {
            self.phases_completed.push(phase);
        }
    }
}

fn digest(mut meta: serde_json::Value) -> std::io::Result<Sha256Hash> {
    if let Some(seal) = meta.get_mut("events") {
        *seal = serde_json::Value::Null;
    }
    Ok(Sha256Hash::of(&serde_json::to_vec(&meta).map_err(std::io::Error::other)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_phase_has_a_word_that_reads_back_and_rounds_have_their_number() {
        let phases = Phase::PLAIN.into_iter().map(|(phase, _)| phase).chain([Phase::Fix(1), Phase::Fix(12)]);
        for phase in phases {
            let json = serde_json::to_string(&phase).unwrap();
            assert_eq!(serde_json::from_str::<Phase>(&json).unwrap(), phase, "{json}");
        }
        assert_eq!(serde_json::to_string(&Phase::Fix(2)).unwrap(), "\"fix-2\"");
        for bad in ["fix", "fix-", "fix-0", "fix-01", "fix-+1", "Run", ""] {
            assert!(serde_json::from_str::<Phase>(&format!("\"{bad}\"")).is_err(), "{bad}");
        }
    }
}
