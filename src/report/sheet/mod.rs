//! All that a report of one session tells, gathered from its folder: what [`super::page`] shows as HTML and
//! [`super::sheet_text()`] as text.
//!
//! [`Sheet::collect`] reads and writes nothing. It names models and money only of a session whose verdict is published and
//! is the one on record. What the check of the folder found changed ([`Integrity`]) is told and not shown; what is long is
//! cut at a stated limit ([`Quoted`]).

mod answers;
mod ballots;
mod collect;
mod failures;
mod headline;
mod model;
mod reading;
mod review;
mod task_votes;
mod timeline;

pub use model::{
    Answer, Cell, CellKind, Decided, Failure, Headline, Integrity, Issue, JudgeRow, Matrix, MatrixRow, MemberRow,
    Quoted, RankRow, Said, Seat, Sheet, Side, Span, Standing, TimeRow, Timeline, Voted,
};
pub use review::{
    CausedRow, Coverage, FileRow, FindingCard, FindingGroup, FindingJudgeRow, FindingVoteRow, PanelRow, RepairRow,
    Repairs, Reviewed, ReviewerRow,
};
