//! The session folder: where everything about one run lives, and the truth about it.
//!
//! Owns `session-meta.json`, `task.md`, `input.md`, `manifest.json`, `status.json`, `events.jsonl`, `roles/`,
//! `.lock` and `.requests/`. An owner holds a [`Session`] (and a [`PanelFolder`] for each round of votes); everybody else looks
//! through a [`View`], which writes nothing. What else needs only a part of a session takes one of the
//! traits of [`store`]. No text that names a model is written here but the manifest.

mod around;
mod catalogue;
mod chain;
mod child;
mod children;
mod closing;
mod conversation;
mod decision;
mod dialogue;
mod error;
mod events;
mod fix_branch;
mod fix_step;
mod fix_stop;
mod follow;
pub mod gc;
mod kept;
mod layout;
mod life;
mod manifest;
mod meta;
mod owner;
mod panel;
mod read;
mod recorded;
pub mod requests;
mod rounds;
pub mod slot;
mod spoken;
mod statistics;
mod status;
pub mod store;
mod take_up;
mod temporary;
#[cfg(test)]
pub(crate) mod testing;
mod tokens;

pub use around::session_around;
pub use catalogue::{Catalogue, View, shell_word};
pub use chain::{Break, BreakKind, Chain, ChainLine};
pub use child::{Admission, NewInner, NewTurn};
pub use conversation::{
    Conversation, Message, Participant, Role, Speaker, TurnFile, TurnNote, is_conversation, open_conversation,
    open_conversations,
};
pub use decision::{Question, Waiting, waiting};
pub use error::SessionError;
pub use events::{Event, EventLog, History, Parent, Record};
pub use fix_branch::{BRANCH_COMMANDS_DO, BranchBegin, branch_begin_told, branch_commands};
pub use fix_step::{AttemptEnd, FixStep, GivenUp, ReviewExtent};
pub use fix_stop::FixStop;
pub use follow::Follower;
pub use kept::Kept;
pub use layout::{InnerKind, InnerPanel, Layout, Round, Turn};
pub use life::{IllegalMove, SessionMove, Why, session_transition};
pub use manifest::{Cast, Manifest, Member};
pub use meta::{Artifact, EventsSeal, Meta, Money, Phase, SeatMoney, SessionKind, SessionState};
pub use owner::{NewPipeline, NewRound, NewSession, Session};
pub use panel::{NewPanel, PanelFolder};
pub use recorded::{accepted, isolation, isolations_used};
pub use rounds::{RoundStand, opened_for};
pub use slot::{SlotEnd, SlotError};
pub use spoken::{Spoken, spoken};
pub use statistics::Statistics;
pub use status::{Live, SlotStatus, Status};
pub use take_up::{Drift, Ended, TakeUp};
pub use temporary::{is_temporary, temporary_folders};
pub use tokens::{usage_at_end, usage_by_slot};
