//! N slots at once: the dispatcher owns the folder, signals and events; an executor owns one slot's state; processes
//! are held by supervisors. Reads prompts, writes nothing of a session itself but through `session` and `capture`.
//!
//! Data enters as [`SlotJob`]s and leaves as events in the panel's folder; an [`Observer`] sees them pass. Nothing here
//! knows what an answer is for, and no text that names a model leaves it unmasked.

mod attempt;
pub mod classify;
mod control;
mod descriptors;
mod dispatcher;
mod drive;
mod executor;
mod job;
mod limits;
mod live;
mod meter;
mod private;
pub mod process;
mod signals;
mod sink;
mod streams;
mod surroundings;
mod turn;
mod workspace;

pub(crate) use control::Outside;
pub use control::{Control, StopAll};
pub use descriptors::Descriptors;
pub use dispatcher::run_panel;
pub use job::{Checks, Observer, Purpose, Shared, SlotJob};
pub use limits::Limits;
pub use meter::{Meter, is_metered, least_cost};
pub use surroundings::Surroundings;
pub use turn::{Before, Continuation, Said};
pub use workspace::Workspace;
