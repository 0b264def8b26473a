//! Agents are started exactly as asked, and nothing they start survives them.
//!
//! Every case runs with every mechanism that works here; one test runs the whole list again as an ordinary user.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

mod callers;
mod ends;
mod place;
mod starts;
