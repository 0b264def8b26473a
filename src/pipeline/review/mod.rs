//! `team review`: a cold, blind panel looks at a plan, a change or files; what it finds is merged, voted on blind, and
//! becomes a verdict.
//!
//! [`look()`] says what is reviewed and what of it is sent, before anything is made; [`review()`] makes the session and
//! holds one round in it ([`round`]), [`resume_review`] goes on with one that was cut off. A round is written so that
//! another command can hold several: which panel, which texts, which snapshot and which earlier findings are its
//! arguments. Owns `design.md` or `diff.patch`, `findings.jsonl`, `verdict.json`, `verdict.md` and `report.md` of the
//! session, `workspace/`, and `consolidated.md` of each panel.

mod ledger;
mod pending;
mod publish;
mod request;
mod resume;
mod round;
mod run;
mod seats;
mod snapshot;
mod subject;
mod target;
mod texts;
mod votes;

pub use pending::Uncommitted;
pub use request::ReviewRequest;
pub use resume::{Left, finished_review, resume_review};
pub use run::review;
pub use seats::SeatEnd;
pub use subject::{Source, Subject, SubjectKind};
pub use target::{Look, Target, look};
pub use votes::{FindingStanding, FindingStandings, FindingVotes, JudgeOnFindings};
