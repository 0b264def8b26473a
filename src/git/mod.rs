//! The only calls of git.
//!
//! Each has a deadline, asks nobody anything, opens no editor, takes no optional lock, runs no hook, and is not led
//! astray by the variables of a git command that `team` itself may run in. Nothing is written to a repository.

mod call;
mod files;
mod ignore;

pub use call::{Git, GitError};
pub use files::Listed;
pub use ignore::with_line;
