//! Removing what is left over, and telling why the rest stays.
//!
//! What nobody can need is removed: folders of processes that are gone, files that were being written when their writer
//! died, folders of sessions that were never whole. What may still be of use goes only by age, when that is asked for: a
//! temporary session, what programs left in `work/`. An answer or a record in the folder of sessions is never removed,
//! nor is anything of a session that somebody owns or that `resume` could finish.

mod place;
mod report;
mod standing;
mod sweep;

pub(super) use standing::{Standing, standing};

pub use report::{Failed, GcReport, Kept, KeptReason, LeftOver, Removed};
pub use sweep::{GcMode, GcOptions, sweep};
