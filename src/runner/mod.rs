//! N slots at once: dispatcher, executor, limits, signals, processes.

mod classify;

pub use classify::{AttemptFacts, Checks, Ending, Exit, Outcome, StopCause, Stopped, classify};
