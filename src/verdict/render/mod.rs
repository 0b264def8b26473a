//! `verdict.md`, and the lines for a terminal.
//!
//! Everything that a model wrote, and every model's name, passes through [`escape::inline`].

mod context;
mod costs;
mod document;
mod escape;
mod headline;
mod judges;
mod pairs;
mod sections;
mod task;

pub use context::{Context, FailedSeat, Names, Seat};
pub use document::{RENDERING, render};
pub use escape::inline as inline_markdown;
pub use headline::{banner, summary};
pub use sections::inline_commands;
pub use task::{TASK_RENDERING, render_task, task_summary};
