//! From the votes of a round to its verdict: tally, statistics, rendering.
//!
//! [`tally()`] is a pure function of [`crate::judging::Votes`]; [`to_json`] is the one serialisation of `verdict.json`, and
//! [`recompute()`] repeats both from `votes.json`, byte for byte. [`render()`] makes `verdict.md` of it: the first text in
//! which models are named, with names that the caller read from the manifest. [`banner`] and [`summary`] are the lines
//! for a terminal. Nothing here reads a file or a clock.
//!
//! A vote on a task goes the same way: [`count_task`] makes a [`TaskVerdict`] of the members' votes, by the rule of
//! [`decide_task`], and [`render_task`] the document.

mod conclusion;
mod exact;
mod issues;
mod lean;
mod model;
mod pairs;
mod ranks;
mod reason;
mod recompute;
mod render;
mod statistics;
mod tally;
mod task;

pub use conclusion::{Comparison, Conclusion};
pub use exact::{RankSums, fisher_exact, sign_test};
pub use issues::KeyIssue;
pub use lean::{JudgeRecord, Lean, LeanMethod};
pub use model::{
    Agreement, AnswerResult, BallotCount, Decision, Dissent, InconsistentVote, Interval, JudgeNotes, LengthEffect,
    MissingSeat, MissingVote, NoWinner, PanelCount, ResultVote, Verdict,
};
pub use pairs::PairResult;
pub use ranks::{rank_biserial, spearman};
pub use recompute::{recompute, to_json};
pub use render::{
    Context, FailedSeat, Names, RENDERING, Seat, TASK_RENDERING, banner, inline_commands, inline_markdown, render,
    render_task, summary, task_summary,
};
pub use statistics::{VoteCounts, krippendorff_alpha, wilson_interval};
pub use tally::tally;
pub use task::{
    TaskCount, TaskDecision, TaskIssue, TaskMember, TaskRepair, TaskVerdict, count_task, decide_task, default_quorum,
};

#[cfg(test)]
mod tests;
