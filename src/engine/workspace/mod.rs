//! The workspace: a read-only snapshot of a folder of the user's, in which programs answer.
//!
//! [`Selection`] says which files are in it, before anything is made; the snapshot is then taken into `workspace/` of the
//! session (which this module owns), and its hash goes on record. A session that was cut off before goes on with taking
//! it, one that was cut off later works in the same snapshot again.

mod select;
mod stand;

pub use select::{LeftOut, Origin, Selection, WorkspaceRequest};
pub(crate) use select::{MOST_BYTES, MOST_FILES, is_obeyed, is_session};
pub(super) use stand::{Stand, ready};
pub(crate) use stand::{publish_snapshot, take_selection};
