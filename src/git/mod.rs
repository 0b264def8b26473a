//! The only calls of git.
//!
//! Each has a deadline and a limit of bytes, asks nobody anything, opens no editor or pager, takes no optional lock, runs no
//! hook and no program that a repository names for showing a difference, fetches nothing, and is not led astray by the
//! variables of a git command that `team` itself may run in. Nothing is written to a repository.

mod call;
mod contents;
mod diff;
mod files;
mod ignore;
mod revision;

pub use call::{Git, GitError};
pub use contents::Content;
pub use diff::{Change, ChangedFile, EntryKind, Patch, RepoPath};
pub use files::Listed;
pub use ignore::with_line;
pub use revision::{Ancestry, CommitId, FileAt};
