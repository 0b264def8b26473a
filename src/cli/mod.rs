//! The command line: one file per command.

pub mod args;
mod choosing;
mod completions;
mod config;
mod context;
mod deep;
mod demo;
mod dispatch;
mod doctor;
mod estimate;
mod found;
mod init;
mod inventory;
mod judge;
mod looks;
mod members;
mod models;
mod names;
mod panel;
mod printer;
mod resume;
mod run;
mod schema;
mod sessions;
mod show;
mod verify;
mod vote;
mod warnings;
mod watch;
mod workspace;

pub use context::Context;
pub use dispatch::main;
pub use doctor::{DeepProbe, Finding, Level};
pub use inventory::LocalModel;
pub use printer::{Printer, Verbosity, without_controls};
