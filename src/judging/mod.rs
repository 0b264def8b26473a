//! Who judges what, in which order and under which alias; judge prompts; ballots.
//!
//! [`check_panel`] refuses, before a run, a panel in which an answer would have no judge. After it, [`assign()`] gives
//! each judge its own order and aliases over the completed answers, [`JudgePrompts`] prepares the copies once, drops
//! what does not fit a judge's context ([`JudgePrompts::fit`]) and streams one prompt per judge. What a judge replies is
//! read by [`parse`] into a [`Ballot`]; all ballots of a round are the [`Votes`] of `votes.json`.
//!
//! Everything is a function of its arguments: no file, no clock, no randomness of its own. No model's name enters any
//! text or file made here, and no vote is ever read from prose.

mod alias;
mod assign;
mod ballot;
mod copy;
mod coverage;
mod fit;
mod order;
mod panel;
mod prompt;
mod schema;
mod visible;
mod votes;

pub use alias::{Alias, AliasError, Nonce};
pub use assign::{AssignError, Assignment, assign};
pub use ballot::{Ballot, CastVote, Missing, MissingReason, Note, NoteKind, VoteVerdict, parse};
pub use copy::AnswerCopy;
pub use coverage::{Coverage, check_panel};
pub use fit::{BYTES_PER_TOKEN, FitError, Fitted};
pub use panel::{Answer, Judge, may_vote};
pub use prompt::{BallotForm, JudgePrompts, PromptError};
pub use schema::schema;
pub(crate) use visible::push_visible;
pub use votes::{Candidate, JudgeVotes, Panel, Votes, VotesError};

#[cfg(test)]
mod tests;
