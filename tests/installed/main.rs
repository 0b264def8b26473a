//! The real agent programs and the managed local model, each through `team` as people run it.
//!
//! `.ci/run` installs what these tests need and runs them; a plain `cargo test` does not. What is missing is a failure:
//! nothing is skipped. No provider is asked: the agents talk to `tests/support/scripted_provider.py` on loopback.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "all of this binary is tests"
)]

mod agents;
mod browser;
mod conversations;
mod demo;
mod isolation;
mod local_model;
mod mcp;
mod outcomes;
mod provider;
mod reviews;
mod seats;
#[path = "../it/support/mod.rs"]
mod support;
mod tools;
