//! What is put together from runs and votes: the gate of a repository in CI, and the
//! loop that repairs what a panel found.

pub mod fix;
pub mod gate;
