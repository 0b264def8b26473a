//! A last look at what a panel was asked about, when it has answered and before the verdict is out: what is found then is
//! on record, and stands before the verdict.

use std::fmt;
use std::pin::Pin;

use super::record::record;
use super::services::Services;
use crate::error::Result;
use crate::runner::Observer;
use crate::session::{Event, PanelFolder, Record};

/// Whoever takes the last look.
pub trait LastLook: fmt::Debug + Send + Sync {
    /// What a reader must know before the verdict; `None` where all is as it was.
    fn look(&self) -> Pin<Box<dyn Future<Output = Option<String>> + Send + '_>>;
}

/// Has the last look taken, and records what it finds. What was found before a kill is not recorded twice.
pub(crate) async fn look_last(
    folder: &mut PanelFolder,
    services: &Services,
    observer: &mut dyn Observer,
) -> Result<()> {
    let Some(look) = services.last_look() else { return Ok(()) };
    let Some(text) = look.look().await else { return Ok(()) };
    if remarks(folder.records()).contains(&text) {
        return Ok(());
    }
    record(folder, Event::Remarked { text }, observer)?;
    Ok(folder.settle()?)
}

/// What was found in last looks.
pub(crate) fn remarks(records: &[Record]) -> Vec<String> {
    let remark = |record: &Record| match &record.event {
        Event::Remarked { text } => Some(text.clone()),
        _ => None,
    };
    records.iter().filter_map(remark).collect()
}
