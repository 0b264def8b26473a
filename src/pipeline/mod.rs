//! What is put together from runs and votes: the gate of a repository in CI, reviews, and the loop that
//! repairs what a review found.

/// What reviewers find, as a part of the pipeline. It lies further down, so that reports, schemas and checks can read it.
pub use crate::findings;

pub mod fix;
pub mod gate;
pub mod review;
