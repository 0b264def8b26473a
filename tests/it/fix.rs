//! `team fix` and `team respond`, on real repositories with planted faults.

mod decisions;
mod loops;
mod pages;
mod refused;
mod resuming;
mod world;

pub(crate) use resuming::PLACES;
