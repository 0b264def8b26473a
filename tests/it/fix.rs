//! `team fix` and `team respond`, on real repositories with planted faults.

mod asking;
mod decisions;
mod declines;
mod loops;
mod refused;
mod resuming;
mod world;

pub(crate) use resuming::PLACES;
