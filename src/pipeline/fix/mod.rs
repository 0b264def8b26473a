//! `team fix`: a panel finds, one fixer repairs in a folder of its own, the repository's own checks run, a panel looks
//! again.
//!
//! `store` is the repository of one fix, which borrows the user's objects; `scope` says what a fixer may change; `inspect`
//! looks at what it left before anything of it counts; `check` runs the configured checks; `stop` says when it is over. The
//! user's tree, index and branches are never touched: the result is one new branch.

mod afterwards;
mod check;
mod conclude;
mod decide;
mod inspect;
mod look;
mod message;
mod outcome;
mod patch_reply;
mod place;
mod progress;
mod report;
mod request;
mod resume;
mod run;
mod scope;
mod seen;
mod select;
mod stop;
mod store;
#[cfg(test)]
mod tests;
mod turn;
mod uncommitted;

pub use afterwards::decide_afterwards;
pub use check::{CheckEnd, CheckKind, CheckResult};
pub use conclude::finished_fix;
pub use decide::{Ending, Response};
pub use outcome::{not_begun, reported};
pub use request::{Consent, FixRequest, Start, TakeUncommitted};
pub use resume::{LeftOfFix, ToDecide, check_response, respond, resume_fix};
pub use run::fix;
pub use stop::StopReason;
