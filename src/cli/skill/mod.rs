//! `team init --skill`: the skill for coding agents, and the entry of `team mcp` in the settings of the programs that are
//! used here. Writes new files, and what a user has only after it was shown and agreed to.

mod hosts;
mod write;

pub use hosts::Host;
pub(super) use write::{Consent, write};
