//! What reviewers find: read from their replies, merged, voted on, decided, and kept in a ledger.
//!
//! A reply ends in one `findings` block, read strictly ([`read_findings`]): what cannot be read is an error of that
//! reviewer ([`BadFindings`], in words that can be sent back), never "nothing found".
//!
//! Functions of their arguments: no clock, no randomness of their own, and no file but the ledger's.

mod ballot;
mod block;
mod json;
mod likeness;
mod merge;
mod model;
mod reading;
mod rule;
mod schema;
mod text;

pub use crate::config::{Consensus, FailOn, Severity};
pub use ballot::{
    FindingAssignment, FindingBallot, FindingBallotNote, FindingCast, FindingMissing, FindingVote, describe_missing,
    finding_vote_schema, read_finding_votes,
};
pub use block::{BadFindings, read_findings, read_findings_below};
pub use merge::{Identified, Known, Merged, Seen, merge};
pub use model::{Action, Finding, FindingId, FindingsNote, FindingsNoteKind, FindingsRead, Lines};
pub use rule::{FindingTally, Judged, MissingSeats, ReviewDecision, ReviewVerdict, Seats, Standing, decide_review};
pub use schema::findings_schema;

#[cfg(test)]
mod tests;
