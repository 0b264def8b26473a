//! The verdict of a vote on a task: the rule, the count, what is written of it.

mod count;
mod model;
mod rule;
#[cfg(test)]
mod tests;

pub use count::count_task;
pub use model::{TaskCount, TaskIssue, TaskMember, TaskRepair, TaskVerdict};
pub use rule::{TaskDecision, decide_task, default_quorum};
