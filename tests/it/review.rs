//! `team review`, on real repositories and files.

mod decisions;
mod kills;
mod outputs;
mod pages;
mod providers;
mod quality;
mod targets;
mod votes;
pub(crate) mod world;

pub(crate) use kills::PLACES;
