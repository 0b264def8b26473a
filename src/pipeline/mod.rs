//! What is put together from runs and votes: the gate of a repository in CI, and reviews.

pub mod gate;
pub mod review;
