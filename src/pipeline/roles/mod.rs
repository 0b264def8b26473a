//! Conversations with the roles of a pipeline: a reviewer's seat and the fixer keep theirs over the rounds of one run.
//!
//! A conversation is one seat's of one role, and no other's. It is made at its first turn ([`next()`]), gone on with by the
//! program's own id or, over HTTP, by sending again what was said, and what was said is kept in `roles/` by the session
//! ([`heard()`]). Something can be added to be heard with the next prompt ([`add`]), all of it can be read
//! ([`history`]), and begun anew ([`reset`]). Nothing is asked here: a [`Turn`] is what a slot is given, and how it was
//! taken comes back in the record of the slot's panel.
//!
//! Owns the prompts of a turn in `roles/ROLE-NN.turn-N.*.md`, where they are not those of its panel; the rest of `roles/`
//! is the session's.

mod course;
mod heard;
mod next;
mod said;
mod seat;
mod told;

pub use heard::heard;
pub use next::{NextTurn, Turn, next};
pub use said::{add, history, reset};
pub use seat::seats;
pub use told::told;
