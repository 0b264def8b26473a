//! What a verdict is told with besides the votes.

use std::collections::BTreeMap;

use crate::ids::{Sha256Hash, SlotId};
use crate::session::SeatMoney;
use crate::session::slot::{Reason, SlotState};

use super::escape::inline;

/// Names of models, read from the manifests once the vote is over.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names {
    /// Slot to name.
    pub slots: BTreeMap<SlotId, String>,
    /// Judge to name.
    pub judges: BTreeMap<SlotId, String>,
}

impl Names {
    pub(super) fn slot(&self, id: SlotId) -> String {
        name(&self.slots, id)
    }

    pub(super) fn judge(&self, id: SlotId) -> String {
        name(&self.judges, id)
    }
}

fn name(names: &BTreeMap<SlotId, String>, id: SlotId) -> String {
    names.get(&id).map_or_else(|| "unknown".to_owned(), |name| inline(name, 80))
}

/// Which side of the panel a seat is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seat {
    /// It was to answer.
    Slot(SlotId),
    /// It was to judge.
    Judge(SlotId),
}

/// A seat that did not complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedSeat {
    /// Which one.
    pub seat: Seat,
    /// How it ended.
    pub state: SlotState,
    /// Why, where that is known.
    pub reason: Option<Reason>,
    /// What to do about it.
    pub next_step: String,
    /// Its log, as a path from the session's folder, where there is one.
    pub log: Option<String>,
}

/// What a verdict is told with besides the votes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Context {
    /// The session's name.
    pub session: String,
    /// The head of the event chain before the verdict.
    pub head: Option<Sha256Hash>,
    /// Seats that did not complete, with what to do.
    pub failed: Vec<FailedSeat>,
    /// How slots and judges were kept apart, one line.
    pub isolation: String,
    /// What must be known before the verdict is read: what of a change a gate's panel was not shown, and the like.
    pub first: Vec<String>,
    /// Whatever else a reader must know: cut answers, one judge per answer, dropped settings, replays, seats that
    /// are one model.
    pub notes: Vec<String>,
    /// What each seat has spent.
    pub costs: Vec<(Seat, SeatMoney)>,
}
