//! `session-meta.json`: what a session is and how it ended. Owner: [`super`].

use std::collections::BTreeMap;
use std::path::Path;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
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
    /// What came of it is written down.
    Report,
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
