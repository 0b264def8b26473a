//! How an attempt of a slot ended, as it is recorded.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Reason, SealedCost, SealedUsage, SlotState, TurnEnd, Usage};
use crate::ids::Sha256Hash;

/// How an attempt of a slot ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SlotEnd {
    /// The attempt, from 1.
    pub attempt: u32,
    /// The state.
    pub state: SlotState,
    /// The program's exit code.
    pub exit_code: Option<i32>,
    /// The signal that ended the program.
    pub signal: Option<i32>,
    /// The size of the complete answer in bytes.
    pub output_size: Option<u64>,
    /// The hash of the complete answer.
    pub sha256: Option<Sha256Hash>,
    /// Whether the answer was cut by a length limit and accepted all the same.
    pub truncated: bool,
    /// Whether the program went on after its complete answer, until it was stopped.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub lingered: bool,
    /// Tokens, where reported, in records of before: since then they are sealed.
    pub usage: Option<Usage>,
    /// Tokens, where reported, sealed until the verdict.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sealed_usage: Option<SealedUsage>,
    /// The cost, where the program or provider reported one, sealed until the verdict.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sealed_cost: Option<SealedCost>,
    /// Settings that the other side refused and that were left out.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub dropped_settings: Vec<String>,
    /// The files that a failed attempt left in `errors/`: path relative to the folder, and hash.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub kept: BTreeMap<String, Sha256Hash>,
    /// In a conversation: how this turn of it was taken.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub turn: Option<TurnEnd>,
    /// What went wrong, for everything but COMPLETED.
    pub error: Option<SlotError>,
}

/// Why a slot has no answer, in words for a person. Names are placeholders, secrets are redacted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SlotError {
    /// The reason.
    pub reason: Reason,
    /// The details.
    pub detail: String,
    /// What to do about it.
    pub next_step: String,
    /// The log, relative to the folder; only if the file exists.
    pub error_log_path: Option<String>,
    /// Start and end of what the slot printed.
    pub stdout_snippet: Option<String>,
    /// Start and end of its standard error.
    pub stderr_snippet: Option<String>,
}

impl SlotError {
    /// An error without a log or snippets; `detail` went through the mask.
    pub fn new(reason: Reason, detail: impl Into<String>) -> Self {
        Self {
            reason,
            detail: detail.into(),
            next_step: reason.next_step().to_owned(),
            error_log_path: None,
            stdout_snippet: None,
            stderr_snippet: None,
        }
    }
}

impl SlotEnd {
    /// The end of an attempt whose complete answer of `size` bytes is known, and nothing else.
    #[must_use]
    pub fn with_answer(attempt: u32, size: u64, sha256: Sha256Hash) -> Self {
        Self {
            attempt,
            state: SlotState::Completed,
            exit_code: None,
            signal: None,
            output_size: Some(size),
            sha256: Some(sha256),
            truncated: false,
            lingered: false,
            usage: None,
            sealed_usage: None,
            sealed_cost: None,
            dropped_settings: Vec::new(),
            kept: BTreeMap::new(),
            turn: None,
            error: None,
        }
    }

    /// The end of an attempt of which nothing but the error is known: no program ran, or its end was never heard of.
    #[must_use]
    pub fn without_answer(attempt: u32, error: SlotError) -> Self {
        Self {
            attempt,
            state: error.reason.state(),
            exit_code: None,
            signal: None,
            output_size: None,
            sha256: None,
            truncated: false,
            lingered: false,
            usage: None,
            sealed_usage: None,
            sealed_cost: None,
            dropped_settings: Vec::new(),
            kept: BTreeMap::new(),
            turn: None,
            error: Some(error),
        }
    }
}
