//! Who takes part in a round: answers, judges, and the rule about own answers.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::config::ModelIdentity;
use crate::ids::SlotId;

/// A completed answer, and what wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The slot whose answer it is.
    pub id: SlotId,
    /// What counts as the same model.
    pub identity: ModelIdentity,
}

/// A judge of a round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judge {
    /// Its id in the round.
    pub id: SlotId,
    /// What counts as the same model.
    pub identity: ModelIdentity,
    /// The slot of the panel that it stands for; `None` for a judge from outside (`--judges`).
    pub seat: Option<SlotId>,
    /// Its declared context; `None` is unlimited.
    pub context_tokens: Option<u64>,
}

/// Which answers a judge does not see because they are its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SelfVote {
    /// Every answer of its own identity.
    #[default]
    Model,
    /// Only that of its own seat.
    Slot,
    /// None: it judges its own answers too.
    Include,
}

impl SelfVote {
    /// The name as written on the command line and in files.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Slot => "slot",
            Self::Include => "include",
        }
    }

    /// Whether `judge` may vote on `answer`.
    #[must_use]
    pub fn allows(self, judge: &Judge, answer: &Answer) -> bool {
        match self {
            Self::Include => true,
            Self::Slot => judge.seat != Some(answer.id),
            // The seat's own answer stays hidden even if the two identities were written differently.
            Self::Model => judge.identity != answer.identity && judge.seat != Some(answer.id),
        }
    }
}

impl fmt::Display for SelfVote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The rule about own answers was not one of the three.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a rule for own answers; use `model`, `slot` or `include`")]
pub struct SelfVoteError(String);

impl FromStr for SelfVote {
    type Err = SelfVoteError;

    fn from_str(text: &str) -> Result<Self, SelfVoteError> {
        [Self::Model, Self::Slot, Self::Include]
            .into_iter()
            .find(|rule| rule.as_str() == text)
            .ok_or_else(|| SelfVoteError(text.to_owned()))
    }
}
