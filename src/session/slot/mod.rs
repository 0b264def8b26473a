//! The life of one slot: its states, why it ended, and what it reports while it lives.
//!
//! Everything here is data and pure functions; drivers, capture and runner all speak in these terms.

mod cost;
mod diagnose;
mod end;
mod outcome;
mod reason;
mod state;
mod tokens;
mod turn;

pub use cost::{SealedCost, Spent};
pub use diagnose::{diagnose, status_in};
pub use end::{SlotEnd, SlotError};
pub use outcome::{Activity, Output, StopReason, StreamEnd, TypedError, Usage};
pub use reason::Reason;
pub use state::{SlotMove, SlotState, TransitionError, transition};
pub use tokens::SealedUsage;
pub use turn::{HAS_NO_CONVERSATIONS, TurnEnd, TurnMode};
