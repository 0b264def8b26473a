//! Who takes part in a round: answers, judges, and the rule about own answers.

use std::collections::BTreeSet;

use crate::config::{ModelIdentity, OwnAnswers, Recuse, SelfVote};
use crate::ids::SlotId;

/// Who makes a model, as far as its names tell.
pub type Vendors = BTreeSet<&'static str>;

/// A completed answer, and what wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The slot whose answer it is.
    pub id: SlotId,
    /// What counts as the same model.
    pub identity: ModelIdentity,
    /// Who makes it.
    pub vendors: Vendors,
}

/// A judge of a round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judge {
    /// Its id in the round.
    pub id: SlotId,
    /// What counts as the same model.
    pub identity: ModelIdentity,
    /// Who makes it.
    pub vendors: Vendors,
    /// The slot of the panel that it stands for; `None` for a judge from outside (`--judges`).
    pub seat: Option<SlotId>,
    /// Its declared context; `None` is unlimited.
    pub context_tokens: Option<u64>,
}

/// Whether `judge` may vote on `answer` under the rule about own answers and those of kin.
#[must_use]
pub fn may_vote(rule: OwnAnswers, judge: &Judge, answer: &Answer) -> bool {
    let is_own = match rule.self_vote {
        SelfVote::Include => false,
        SelfVote::Slot => judge.seat == Some(answer.id),
        // The seat's own answer stays hidden even if the two identities were written differently.
        SelfVote::Model => judge.identity == answer.identity || judge.seat == Some(answer.id),
    };
    let is_kin = match rule.recuse {
        Recuse::None => false,
        // Its own model is of its own vendor, also where nobody knows which.
        Recuse::Vendor => judge.identity == answer.identity || !judge.vendors.is_disjoint(&answer.vendors),
    };
    !is_own && !is_kin
}
