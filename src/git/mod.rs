//! The only calls of git.
//!
//! Each has a deadline and a limit of bytes, asks nobody anything, opens no editor or pager, takes no optional lock, runs no
//! hook and no program that a repository names for showing a difference, fetches nothing, and is not led astray by the
//! variables of a git command that `team` itself may run in. What is written goes into repositories of `team`'s own, beside
//! the user's ([`Git::init`]); the user's gets a new branch at most ([`Git::update_reference`]).

mod beside;
mod call;
mod commit;
mod contents;
mod diff;
mod files;
mod ignore;
mod patches;
mod revision;
#[cfg(test)]
mod tests;

pub use beside::{Lender, RepositoryKind};
pub use call::{Git, GitError};
pub use commit::{Expected, NewCommit, TreeId};
pub use contents::Content;
pub use diff::{Change, ChangedFile, EntryKind, Patch, RepoPath};
pub use files::Listed;
pub use ignore::with_line;
pub use patches::Patches;
pub use revision::{Ancestry, CommitId, FileAt};
