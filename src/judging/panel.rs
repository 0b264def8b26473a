//! Who takes part in a round: answers, judges, and the rule about own answers.

use crate::config::{ModelIdentity, SelfVote};
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

/// Whether `judge` may vote on `answer` under the rule about own answers.
#[must_use]
pub fn may_vote(rule: SelfVote, judge: &Judge, answer: &Answer) -> bool {
    match rule {
        SelfVote::Include => true,
        SelfVote::Slot => judge.seat != Some(answer.id),
        // The seat's own answer stays hidden even if the two identities were written differently.
        SelfVote::Model => judge.identity != answer.identity && judge.seat != Some(answer.id),
    }
}
