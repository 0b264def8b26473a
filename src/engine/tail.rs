//! Shows the events that the session recorded by itself: a folder made, a round opened or closed.

use crate::error::Result;
use crate::runner::Observer;
use crate::session::{History, Layout, Status};

/// Shows the last `count` lines of the record in `layout`, so that what is shown is the whole record.
pub(super) fn show_tail(layout: &Layout, count: usize, status: &Status, observer: &mut dyn Observer) -> Result<()> {
    let records = History::read(&layout.events())?.records;
    for record in &records[records.len().saturating_sub(count)..] {
        observer.event(record, status);
    }
    Ok(())
}
