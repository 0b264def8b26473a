//! Who judges what, in which order and under which alias; judge prompts; ballots.
//!
//! [`check_panel`] refuses, before a run, a panel in which an answer would have no judge. After it, [`JudgePrompts`]
//! prepares the copies once, without names that authors give themselves ([`LeakScan`]); [`assign()`] gives each judge its
//! own order and aliases over the completed answers, [`JudgePrompts::fit`] drops what does not fit a judge's context, and
//! one prompt per judge is streamed. What a judge replies is read by [`parse`] into a [`Ballot`]. It may be asked again in
//! reverse order ([`Assignment::reversed`]) and once more for what its ballot lacks ([`JudgeVotes::to_repair`]); all
//! ballots of a round are the [`Votes`] of `votes.json`, and [`JudgeVotes::outcomes`] says what they come to.
//!
//! [`rehearse_judging`] and [`rehearse_voting`] tell of a user's text that cannot be used before anybody is asked.
//!
//! Ballots from elsewhere ([`read_json`], [`read_text`]) become a round of the same shape.
//!
//! Everything is a function of its arguments: no file, no clock, no randomness of its own. No model's name enters any
//! text or file made here, and no vote is ever read from prose.

mod alias;
mod assign;
mod ballot;
mod copy;
mod coverage;
mod fences;
mod fit;
mod import;
mod leaks;
mod order;
mod pairs;
mod panel;
mod prompt;
mod rehearsal;
mod schema;
mod task_prompt;
mod turns;
mod visible;
mod votes;

pub use alias::{Alias, AliasError, Nonce};
pub use assign::{AssignError, Assignment, assign};
pub use ballot::{
    Ballot, CastVote, Missing, MissingReason, Note, NoteKind, TaskBallot, TaskVote, VoteVerdict, parse, parse_task,
};
pub(crate) use ballot::{
    Blocks, Entry, Subject, agreed, blocks_called, find_entries, json_entries, named, stated, whole_json, words,
};
pub use copy::{AnswerCopy, CopyRules, LeakCount};
pub use coverage::{Coverage, check_panel};
pub use fit::{BYTES_PER_TOKEN, FitError, Fitted};
pub use import::{
    AnswerNames, ImportError, ImportPattern, ImportedJudge, PatternProblem, read_json, read_reply, read_text,
};
pub use leaks::{LEAK_SCAN, LeakScan};
pub use pairs::{PairVote, PairWinner};
pub use panel::{Answer, Judge, Vendors, may_vote};
pub use prompt::{BallotForm, JudgePrompts, PromptError};
pub use rehearsal::{rehearse_judging, rehearse_voting};
pub use schema::{schema, task_schema};
pub use task_prompt::{TaskRepairPrompt, task_prompt, task_repair_prompt};
pub(crate) use task_prompt::{contained, fenced, fill_places, place_mark};
pub(crate) use turns::is_repairable;
pub use turns::{Outcome, RepairTurn, SecondPass};
pub(crate) use visible::push_visible;
pub use votes::{Candidate, ImportedFile, Imports, JudgeVotes, Panel, Replies, Votes, VotesError};

#[cfg(test)]
mod tests;
