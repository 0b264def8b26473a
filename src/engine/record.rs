//! Events of the engine's own: recorded, and shown as they are on disk.

use jiff::Timestamp;

use crate::error::Result;
use crate::runner::Observer;
use crate::session::{Event, PanelFolder};

/// Records `event` and shows it.
pub(super) fn record(folder: &mut PanelFolder, event: Event, observer: &mut dyn Observer) -> Result<()> {
    let record = folder.record(event, Timestamp::now())?;
    observer.event(&record, folder.status());
    Ok(())
}

/// Shows the last line of `folder`'s record: what the session recorded by itself (a folder made, a round opened).
pub(super) fn show_last(folder: &PanelFolder, observer: &mut dyn Observer) {
    if let Some(record) = folder.last() {
        observer.event(record, folder.status());
    }
}
