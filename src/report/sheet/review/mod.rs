//! What a report tells of a review or a fix: its findings by what became of them with the votes on each, who reviewed and
//! who voted, what was looked at and what was not, and of a fix its rounds and its result.
//!
//! Read from the ledger, the record and the panels' folders. Before the verdict nobody is named, and nobody's findings are
//! told apart.

mod collect;
mod findings;
mod model;
mod panels;
mod plan;
mod repairs;

pub(super) use collect::{Found, opened, reviewed};
pub use model::{
    CausedRow, Coverage, FileRow, FindingCard, FindingGroup, FindingJudgeRow, FindingVoteRow, PanelRow, RepairRow,
    Repairs, Reviewed, ReviewerRow,
};
