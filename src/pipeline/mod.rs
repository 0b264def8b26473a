//! What is put together from runs and votes: the gate of a repository in CI, and conversations with roles over rounds.

pub mod gate;
pub mod roles;
