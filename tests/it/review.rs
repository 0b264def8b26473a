//! `team review`, on real repositories and files.

mod decisions;
mod kills;
mod outputs;
mod pages;
mod targets;
mod world;

pub(crate) use kills::PLACES;
