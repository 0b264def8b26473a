//! Ballots from elsewhere: `votes.json` of another round, or texts of judges read by a stated pattern.
//!
//! [`read_json`] and [`read_text`] give one [`ImportedJudge`] per judge that a file holds. Answers are named by id or by
//! model, in one ballot not by both; a name that is none of the session's complete answers or models is refused with its
//! place. What is refused, and with which words, depends on nothing that is hidden before the verdict. What is kept of a
//! judge ([`ImportedJudge::to_reply`]) is read back by [`read_reply`]: the ballot that counts follows from it alone.

mod json;
mod names;
mod text;

pub use json::{read_json, read_reply};
pub use names::AnswerNames;
pub use text::{ImportPattern, PatternProblem, read_text};

use serde::{Deserialize, Serialize};

use super::{CastVote, Missing, Note, PairVote};
use crate::ids::SlotId;
use crate::session::slot::SlotState;

/// One judge of a file, its votes on answers of this session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ImportedJudge {
    /// What it is called in the file.
    pub name: String,
    /// The answers that it was shown, as far as the file tells; else those that it voted on.
    pub order: Vec<SlotId>,
    /// Its votes on single answers.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub votes: Vec<CastVote>,
    /// Its judgements of two answers against each other.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub pairs: Vec<PairVote>,
    /// Answers without a valid vote, and why.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub missing: Vec<Missing>,
    /// What a reader should know.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub notes: Vec<Note>,
    /// How it ended; only votes of a COMPLETED judge count.
    pub state: SlotState,
}

impl ImportedJudge {
    /// Leaves out what is about slots without a complete answer.
    pub fn keep_only(&mut self, is_complete: impl Fn(SlotId) -> bool) {
        self.order.retain(|answer| is_complete(*answer));
        self.votes.retain(|vote| is_complete(vote.answer));
        self.pairs.retain(|pair| is_complete(pair.first) && is_complete(pair.second));
        self.missing.retain(|missing| is_complete(missing.answer));
    }

    /// The text that is kept of it.
    ///
    /// # Errors
    /// Fails only if it cannot be serialised, which its types rule out.
    pub fn to_reply(&self) -> serde_json::Result<Vec<u8>> {
        let mut bytes = serde_json::to_vec_pretty(self)?;
        bytes.push(b'\n');
        Ok(bytes)
    }
}

/// A file cannot be imported.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {what}")]
pub struct ImportError {
    /// The file, and where in it.
    pub place: String,
    /// What is wrong there.
    pub what: String,
}

impl ImportError {
    pub(super) fn new(place: impl Into<String>, what: impl Into<String>) -> Self {
        Self { place: place.into(), what: what.into() }
    }
}

impl From<ImportError> for crate::error::Error {
    fn from(error: ImportError) -> Self {
        Self::usage(error.to_string()).hint("nothing was counted; correct the file or the pattern")
    }
}
