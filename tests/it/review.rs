//! `team review`, on real repositories and files.

mod decisions;
mod kills;
mod outputs;
mod providers;
mod stopped;
mod targets;
mod votes;
mod world;

pub(crate) use kills::PLACES;
