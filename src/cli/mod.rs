//! The command line: one file per command.
pub mod args;
pub mod printer;
