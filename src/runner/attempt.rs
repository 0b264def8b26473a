//! One attempt of one slot, as dispatcher and executor hand it to each other: what to do, what to hear, what to tell.

use std::sync::Arc;

use tokio::sync::{mpsc, watch};

use super::job::{Shared, SlotJob};
use super::limits::StoppedTime;
use super::live::LiveCell;
use crate::fs::SharedSync;
use crate::ids::SlotId;
use crate::money::Usd;
use crate::session::{Layout, SlotEnd};

/// One attempt of one slot.
#[derive(Debug)]
pub(crate) struct Attempt {
    pub(crate) number: u32,
    pub(crate) job: SlotJob,
    pub(crate) layout: Layout,
    /// Makes complete answers durable in the panel's folder.
    pub(crate) answers: Arc<SharedSync>,
    pub(crate) shared: Arc<Shared>,
    pub(crate) live: Arc<LiveCell>,
    pub(crate) stop: watch::Receiver<StopOrder>,
    pub(crate) pause: watch::Receiver<bool>,
    pub(crate) clock: StoppedTime,
    pub(crate) reports: mpsc::UnboundedSender<Report>,
}

/// What an executor tells the dispatcher.
#[derive(Debug)]
pub(crate) enum Report {
    /// A request is made again.
    Retry { slot: SlotId, why: String },
    /// The attempt is over.
    Ended {
        slot: SlotId,
        end: Box<SlotEnd>,
        /// The cost that its stream reported.
        cost: Option<Usd>,
    },
}

/// What a slot is told from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum StopOrder {
    /// Go on.
    None,
    /// End, politely first.
    Stop(StopCause),
    /// End at once.
    Kill(StopCause),
}

/// Why a slot is told to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum StopCause {
    /// The command's deadline passed.
    Deadline,
    /// Somebody asked for it.
    Cancelled,
    /// The budget is spent.
    Budget,
}
