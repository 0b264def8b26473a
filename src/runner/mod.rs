//! N slots at once: dispatcher, executor, limits, signals, processes.

pub mod process;
