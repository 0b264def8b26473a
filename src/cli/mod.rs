//! The command line: one file per command.

pub mod args;
mod completions;
mod config;
mod context;
mod deep;
mod demo;
mod dispatch;
mod doctor;
mod gate;
mod gate_outputs;
mod init;
mod inventory;
mod judge;
mod looks;
mod members;
mod models;
mod opener;
mod panel;
mod printer;
mod report;
mod resume;
mod run;
mod schema;
mod sessions;
mod show;
mod stats;
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
