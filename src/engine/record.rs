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

/// Shows the lines of `folder`'s record after the first `known` ones.
pub(super) fn show_since(folder: &PanelFolder, known: usize, observer: &mut dyn Observer) {
    for record in folder.records().iter().skip(known) {
        observer.event(record, folder.status());
    }
}

/// Shows the last line of `folder`'s record: what the session recorded by itself (a folder made, a round opened).
pub(super) fn show_last(folder: &PanelFolder, observer: &mut dyn Observer) {
    if let Some(record) = folder.last() {
        observer.event(record, folder.status());
    }
}
