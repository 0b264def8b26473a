//! `team review`, on real repositories and files.

mod decisions;
mod kills;
mod outputs;
mod pages;
mod providers;
mod quality;
mod stopped;
mod targets;
mod votes;
pub(crate) mod world;

pub(crate) use kills::PLACES;
