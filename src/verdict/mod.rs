//! From the votes of a round to its verdict: tally, statistics, rendering.
//!
//! [`tally()`] is a pure function of [`crate::judging::Votes`]; [`to_json`] is the one serialisation of `verdict.json`, and
//! [`recompute()`] repeats both from `votes.json`, byte for byte. [`render()`] makes `verdict.md` of it: the first text in
//! which models are named, with names that the caller read from the manifest. [`banner`] and [`summary`] are the lines
//! for a terminal. Nothing here reads a file or a clock.

mod issues;
mod model;
mod reason;
mod recompute;
mod render;
mod statistics;
mod tally;

pub use issues::KeyIssue;
pub use model::{
    Agreement, AnswerResult, BallotCount, Decision, Dissent, Interval, JudgeNotes, MissingSeat, MissingVote, NoWinner,
    PanelCount, ResultVote, Verdict,
};
pub use recompute::{recompute, to_json};
pub use render::{Context, FailedSeat, Names, RENDERING, Seat, banner, render, summary};
pub use statistics::{VoteCounts, krippendorff_alpha, wilson_interval};
pub use tally::tally;

#[cfg(test)]
mod tests;
