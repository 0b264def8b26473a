//! A repository's gate: what a branch changes (or a plan, or what a command prints), put to the vote of a panel.
//!
//! [`Revisions::find`] says which commits are compared, [`settings_at`] what the base says about the gate (the branch has
//! no say in it), [`check_trust`] that nothing that is run is the branch's own, [`look()`] what of it is sent and what is not,
//! with the reason. The caller has the vote taken by the engine; [`concluded`] makes the
//! [`GateReport`](crate::report::ci::GateReport) of it. Nothing is written here, and nobody is asked.

mod base;
mod command;
mod conclude;
mod coverage;
mod event;
mod head;
mod look;
mod secret_files;
mod settings;
mod subject;
mod trust;

pub use base::{BaseSource, Revisions, ask_failed};
pub use conclude::{Facts, concluded, needs_person, refused, unchanged};
pub use coverage::Coverage;
pub(super) use coverage::{Limits, look_at_diff, sessions_among};
pub use head::{Head, HeadWatch};
pub use look::{Looked, Place, look};
pub use secret_files::SECRET_FILES;
pub(super) use secret_files::{SecretFiles, exact_set};
pub use settings::{AtBase, settings_among, settings_at};
pub use subject::{Subject, task_text};
pub use trust::{check_prompts, check_trust};
