//! Run, judge, verdict and close put together: what every front end calls.
//!
//! A front end resolves names, makes a [`Control`](crate::runner::Control) and [`Services`], and calls [`run()`],
//! [`judge()`] or [`vote()`], or looks at what is left of a session with [`Resumption::of`] and calls [`resume()`]. Everything is validated before the session's folder exists; from then on whatever is complete is kept, and
//! the session is closed on every path.

mod ask;
mod bill;
mod cancel;
mod directives;
mod drift;
mod estimate;
mod flat;
mod import;
mod input;
mod judge;
mod keeping;
mod last_look;
mod local;
mod outcome;
mod plan;
mod publish;
mod record;
mod resume;
mod round;
mod rules;
mod run;
mod services;
mod shown;
mod verdict_files;
mod verify;
mod vote;
mod workspace;

pub use cancel::cancel;
pub use directives::{Directive, Directives, TopLines};
pub use estimate::{Estimate, Range, SeatEstimate, UsdRange};
pub use flat::{FLAT_FOLDER, copy_flat, wants_flat_copies};
pub use import::ImportRequest;
pub use input::{Input, read_input};
pub use judge::JudgeRequest;
pub use keeping::{Keeping, contained};
pub use last_look::LastLook;
pub use local::local_server;
pub use outcome::{Decision, Outcome};
pub use plan::{ChosenBy, Terms};
pub use resume::{Dropped, Pace, ResumeOptions, Resumption, finished, resume};
pub use run::{Context, RunRequest, enough_answers, import, judge, run};
pub use services::{Folders, Services, redactor_for};
pub use verify::{Checked, Mismatch, RecordEnd, Verification, verify};
pub use vote::{VoteRequest, check_judgeable, vote};
pub use workspace::{LeftOut, Origin, Selection, WorkspaceRequest};

// What the pipeline does as runs and votes do.
pub(crate) use ask::{Asking, Question, Reply, Talks, ask, ask_in, record_ballot};
pub(crate) use bill::total;
pub(crate) use drift::{Drifted, drifted_prompts};
pub(crate) use estimate::answer_of as estimated_answer;
pub(crate) use judge::{answer_of, judge_of, seated_judges};
pub(crate) use last_look::{look_last, remarks};
pub(crate) use plan::{WrittenTerms, load_again, written};
pub(crate) use publish::{isolation_told, panel_notes, record_notes};
pub(crate) use record::{record, show_last, show_since};
pub(crate) use round::Chance;
pub(crate) use rules::Bench;
pub(crate) use run::{end, refuse_too_dear, stopped_state};
pub(crate) use services::Panel;
pub(crate) use shown::leak_scan;
pub(crate) use verdict_files::{VerdictFiles, give_verdict};
pub(crate) use verify::SNAPSHOT_RULE;
pub(crate) use workspace::{MOST_BYTES, MOST_FILES, is_obeyed, is_session, publish_snapshot, take_selection};
