//! Judgements of two answers against each other.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::SlotId;

/// What a judge says of two answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PairVote {
    /// The one that was named first.
    pub first: SlotId,
    /// The other.
    pub second: SlotId,
    /// Which one is better.
    pub winner: PairWinner,
}

/// Which one of two answers is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum PairWinner {
    /// The first.
    First,
    /// The second.
    Second,
    /// Neither; half a win for both.
    Tie,
}
