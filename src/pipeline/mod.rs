//! What is put together from runs and votes: the gate of a repository in CI, reviews, the loop that repairs what a review
//! found, and conversations with roles over rounds.

/// What reviewers find, as a part of the pipeline. It lies further down, so that reports, schemas and checks can read it.
pub use crate::findings;

mod consolidated;
pub mod declines;
mod estimate;
pub mod fix;
pub mod gate;
mod guard;
mod markdown;
pub mod review;
pub mod roles;

pub(crate) use consolidated::coverage;
pub use estimate::{estimate_fix, estimate_review};

pub use consolidated::{Consolidated, FindingJudge, ReviewOutcome, Reviewer, consolidated, sustained_by_severity};
