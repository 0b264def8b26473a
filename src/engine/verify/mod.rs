//! `team verify`: the whole record of a session computed again from its folder, and compared with what lies there.
//!
//! [`verify()`] reads and writes nothing. It goes through the folder in a fixed order: what the session says of itself
//! ([`session`]), the chain of each record ([`record`]), the files of each panel ([`panel`]), the role conversations ([`roles`]), each round of votes from the
//! judges' replies, those of further turns ([`turns`]) or the imported files ([`imports`]) to the text of the verdict
//! ([`round`], [`ballots`], [`document`]), the panels of a pipeline with their findings and the ledger ([`inner`]), a vote on the task itself from the members' replies ([`vote`]), and last whatever
//! no event knows ([`strangers`]). Every file is opened as a plain file, never through a link, and long ones are streamed ([`audit`]).
//! What was found is a [`Verification`].

mod audit;
mod ballots;
mod difference;
mod document;
mod headings;
mod imports;
mod inner;
mod opening;
mod panel;
mod record;
mod report;
mod roles;
mod round;
mod session;
mod strangers;
mod turns;
mod vote;
mod workspace;

pub(crate) use inner::SNAPSHOT_RULE;
pub use report::{Checked, Mismatch, RecordEnd, Verification};
pub use session::verify;
