//! What people decided to leave, beyond the session in which they did: later reviews and fixes of the branch are told, and
//! what is found again is known.
//!
//! A decision lives in `declines.jsonl` in the folder of sessions ([`DeclineRegister`]): it outlives its session and goes
//! with the folder to another machine. It holds where the branch is the same by its name, or where the commit that was
//! decided about is a part of the history ([`BranchPoint`]): so it survives a branch that is renamed, removed or rebased,
//! and a detached HEAD. A session takes what holds into its plan when it begins, so that it needs nothing but its folder
//! later on.
//!
//! What raises trust must not come from what is reviewed: a register that git tracks could come with a branch, and is
//! neither read nor written.

mod point;
mod register;
mod told;

pub use point::BranchPoint;
pub use register::{DeclineRegister, FoundDeclines, NewDecision};
pub(super) use told::told;
