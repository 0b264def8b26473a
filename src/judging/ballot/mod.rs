//! What a judge replied, read into votes.
//!
//! Tolerant of form: case, bold, bullets, CRLF, tildes, `8/10`, an unclosed last fence, several votes in one block,
//! a reply that is fenced as a whole, a reply that is JSON as a whole. Strict of meaning: a vote counts only under a name
//! that this judge was given, from a `vote` block (or the JSON that is the whole reply) that stands for itself, with a
//! whole word as verdict, and if the judge does not contradict itself. Nothing is read from prose, from quotations, from
//! JSON beside anything else, or from blocks inside other fences, comments, indented code or HTML that is shown as it
//! stands.

mod blocks;
mod field;
mod hidden;
mod indent;
mod json;
mod model;
mod reading;
mod scan;

pub use model::{Ballot, CastVote, Missing, MissingReason, Note, NoteKind, TaskBallot, TaskVote, VoteVerdict};
pub use reading::{parse, parse_task};

pub(crate) use blocks::Entry;
pub(super) use field::{Confidence, confidence as stated_confidence, verdict as stated_verdict};
pub(crate) use field::{Subject, stated};
pub(crate) use json::entries as json_entries;
pub(crate) use reading::{agreed, find_entries, named, words};
pub(crate) use scan::{Blocks, blocks_called, whole_json};
