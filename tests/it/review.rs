//! `team review`, on real repositories and files.

mod decisions;
mod world;
