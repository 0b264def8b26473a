//! What is put together from runs and votes: the gate of a repository in CI, and conversations with roles over rounds.

/// What reviewers find, as a part of the pipeline. It lies further down, so that reports, schemas and checks can read it.
pub use crate::findings;

mod consolidated;
pub mod gate;
pub mod roles;

pub use consolidated::{Consolidated, FindingJudge, ReviewOutcome, Reviewer, consolidated, sustained_by_severity};
