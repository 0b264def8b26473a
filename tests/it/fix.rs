//! `team fix` and `team respond`, on real repositories with planted faults.

mod decisions;
mod ends;
mod loops;
mod refused;
mod resuming;
mod unfinished;
mod world;

pub(crate) use resuming::PLACES;
