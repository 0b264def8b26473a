//! What is put together from runs and votes: the gate of a repository in CI.

pub mod gate;
pub mod roles;
