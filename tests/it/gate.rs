//! `team gate`, on real repositories.

mod bases;
mod ci_files;
mod coverage;
mod decisions;
mod outputs;
mod refusals;
mod reviews;
mod settings;
mod targets;
mod world;
mod xsd;
