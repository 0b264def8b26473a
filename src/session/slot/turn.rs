//! How a turn of a conversation was taken.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::Sha256Hash;

/// In which conversation an answer was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TurnMode {
    /// In a new one: nothing was said before.
    Begun,
    /// In the one that it belongs to: what was said before was known.
    Continued,
    /// In a new one, because the one that it belongs to could not be gone on with.
    Anew,
    /// In another than the one that was asked for, without a word: what was said before was not known.
    Replaced,
}

/// Why a turn is taken anew by a program that has no conversations: nothing went wrong there, and it is so each time.
pub const HAS_NO_CONVERSATIONS: &str = "its program cannot be told to go on with a conversation";

/// How a slot's turn of a conversation was taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnEnd {
    /// In which conversation.
    pub mode: TurnMode,
    /// Why not in the one that it belongs to, without names.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub why: Option<String>,
    /// The hash of what is kept for the next turn; absent where there was no answer, or it could not be kept.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub kept: Option<Sha256Hash>,
}
