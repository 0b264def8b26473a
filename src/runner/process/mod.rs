//! One agent process: started, listened to, stopped, and nothing left of it.
//!
//! In: a [`ProcessSpec`] and a [`Control`]. Out: bytes into a [`ProcessSink`] as they come, and a [`ProcessEnd`]. What
//! the bytes mean and what the end is called is not decided here. The agent runs below two supervising stages (see
//! [`crate::isolation`]), which this module starts and talks to over one socket; that socket is also the lifeline:
//! when it ends, because [`run`] was dropped or `team` was killed, everything below is killed.
//!
//! Call [`run`] from tasks of the runtime's own worker threads. The parent-death signal of a process follows the
//! *thread* that started it; the supervisor only looks up when it comes, so that a thread which ends early costs
//! nothing, but it is the worker threads that live as long as `team` does.
//!
//! This module owns no file. It never retries and sets no limit of its own on how long an agent may work.

mod control;
mod drive;
mod end;
mod spec;

pub use control::{Control, Controller, Stop, control};
pub use drive::{DESCRIPTORS_PER_PROCESS, run};
pub use end::{Outcome, ProcessEnd, SpawnError};
pub use spec::{DEFAULT_DRAIN, DEFAULT_GRACE, DEFAULT_LINGER, ProcessSink, ProcessSpec};

/// Runs a hidden supervising stage when this process was started as one.
///
/// The binary calls it first of all: before the command line is parsed, before logging, and before any thread exists.
#[must_use]
pub fn supervisor_entry() -> Option<std::process::ExitCode> {
    crate::isolation::stage::entry(std::env::args_os())
}
