//! What reviewers find: read from their replies, merged, voted on, decided, and kept in a ledger.
//!
//! A reply ends in one `findings` block, read strictly ([`read_findings`]): what cannot be read is an error of that
//! reviewer ([`BadFindings`], in words that can be sent back), never "nothing found".
//!
//! What several reviewers say of the same thing is merged ([`merge()`]) and known again in later rounds ([`Known`]). Judges
//! vote on each finding under names of their own ([`FindingAssignment`], [`read_finding_votes`]); a [`FindingTally`] says
//! what that comes to, and [`decide_review`] what a review comes to. What becomes of a finding stands in `findings.jsonl`
//! ([`Ledger`]), from which it leaves only by a positive record. What models are asked is made by [`review_prompt`],
//! [`findings_repair_prompt`], [`finding_vote_prompt`] and [`fix_prompt()`].
//!
//! What a person declined in an earlier session of the branch is known again ([`EarlierDeclines`]): it silences the same
//! finding, and no other and none that is worse.
//!
//! Functions of their arguments: no clock, no randomness of their own, and no file but the ledger's. Nothing here names a
//! model.

mod ballot;
mod block;
mod contain;
mod decline;
mod entry;
mod excerpt;
mod fingerprint;
mod fix_prompt;
mod json;
mod ledger;
mod likeness;
mod merge;
mod model;
mod prompt;
mod reading;
mod rule;
mod schema;
mod state;
mod text;
mod votes;

pub use crate::config::{Consensus, FailOn, Severity};
pub use ballot::{
    FindingAssignment, FindingBallot, FindingBallotNote, FindingCast, FindingMissing, FindingVote, describe_missing,
    finding_vote_schema, read_finding_votes,
};
pub use block::{BadFindings, read_findings, read_findings_below};
pub use decline::{DeclineOrigin, Declined, EarlierDecline, EarlierDeclines};
pub use entry::{LedgerEntry, LedgerLine, LedgerVote, Remark, Ruling, Witness};
pub use excerpt::Excerpts;
pub use fingerprint::fingerprints;
pub use fix_prompt::{FixForm, FixPrompt, ToFix, fix_prompt};
pub use ledger::{LEDGER_FILE, Ledger, LedgerBreak, LedgerError, LedgerRead};
pub use merge::{Identified, Known, Merged, Seen, merge};
pub use model::{Action, Finding, FindingId, FindingsNote, FindingsNoteKind, FindingsRead, Lines};
pub use prompt::{
    Artefact, Claim, DeclinedFinding, FindingVotePrompt, OpenFinding, ReviewPhase, ReviewPrompt, Sight,
    finding_vote_prompt, findings_repair_prompt, review_again_prompt, review_prompt,
};
pub use rule::{FindingTally, Judged, MissingSeats, ReviewDecision, ReviewVerdict, Seats, Standing, decide_review};
pub use schema::findings_schema;
pub use state::{FindingRecord, FindingState, Findings, IllegalEntry, finding_transition};
pub use votes::{FindingRepair, FindingStanding, FindingStandings, FindingVotes, JudgeOnFindings, ReviewResult};

#[cfg(test)]
mod tests;
