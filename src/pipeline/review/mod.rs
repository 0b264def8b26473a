//! `team review`: a cold, blind panel looks at a plan, a change or files; what it finds is merged, voted on blind, and
//! becomes a verdict.
//!
//! [`look()`] says what is reviewed and what of it is sent, before anything is made; [`review()`] makes the session and
//! holds one round in it (`round`), [`resume_review`] goes on with one that was cut off. A round is written so that
//! another command can hold several: which panel, which texts, which snapshot and which earlier findings are its
//! arguments. Owns `design.md` or `diff.patch`, `findings.jsonl`, `verdict.json`, `verdict.md` and `report.md` of the
//! session, `workspace/`, and `consolidated.md` of each panel.

mod again;
mod files;
mod ledger;
mod outcome;
mod pending;
mod publish;
mod request;
mod rest;
mod resume;
mod round;
mod run;
mod seats;
mod snapshot;
mod subject;
mod talks;
mod target;
mod texts;
mod told;
mod votes;

pub(super) use again::check_failed;
pub(super) use ledger::{grow, open as open_ledger};
pub(super) use outcome::{about, empty, not_done, was_stopped};
pub use outcome::{found, not_held, reported};
pub use pending::Uncommitted;
pub(super) use publish::{consolidate, published, put_out};
pub use request::ReviewRequest;
pub(super) use request::{ReviewPlan, ReviewWork};
pub use rest::Rest;
pub use resume::{Left, finished_review, resume_review};
pub(super) use round::{RoundOutcome, RoundRequest, Surroundings, begin_phase, hold_round};
pub use run::review;
pub(super) use run::{asked_text, subject_text};
pub use seats::SeatEnd;
pub(super) use snapshot::take as take_snapshot;
pub use subject::{Source, Subject, SubjectKind};
pub(super) use talks::{Round as TalkRound, Talks};
pub use target::{Look, Target, look};
pub(super) use texts::{Texts, declined, omitted, unusable};
pub(super) use told::spent;
pub(super) use votes::{ROUND, sees_files};
