//! `team review`, on real repositories and files.

mod decisions;
mod kills;
mod outputs;
mod targets;
pub(crate) mod world;

pub(crate) use kills::PLACES;
