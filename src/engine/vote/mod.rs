//! `team vote`: every member of a panel votes on the task itself.
//!
//! [`vote()`] takes a prepared text, a panel, a bar and a quorum ([`VoteRequest`]), and gives the outcome with the
//! structured verdict in it ([`Decision::Voted`](super::Decision::Voted)); it prints nothing. The panel is run as that of
//! any session; what differs is what becomes of the replies: they are read for votes and counted here, and the verdict
//! is published at the session's top, without a round of judges.

mod ballots;
mod count;
mod publish;
mod repair;
mod request;

pub use request::{VoteRequest, check_judgeable, vote};

pub(super) use ballots::{member_of, repair_of};
pub(super) use count::conclude;
pub(super) use publish::{Told, published, stands, task_on_record};
pub(super) use request::{VotePlan, VoteWork, refuse_votes};
