//! `team fix` and `team respond`, on real repositories with planted faults.

mod asking;
mod conversations;
mod decisions;
mod declines;
mod ends;
mod held;
mod loops;
mod outputs;
mod pages;
mod refused;
mod resuming;
mod unfinished;
mod world;

pub(crate) use resuming::PLACES;
pub(crate) use world::{MENDED, MENDS, PLANTED, Repo, WEIGH, finding, looks, panel, with_fixer};
