//! The command line: one file per command.

pub mod args;
mod completions;
mod config;
mod context;
mod dispatch;
mod doctor;
mod init;
mod inventory;
mod members;
mod models;
mod printer;

pub use context::Context;
pub use dispatch::main;
pub use doctor::{DeepProbe, Finding, Level};
pub use inventory::LocalModel;
pub use printer::{Printer, Verbosity, without_controls};
