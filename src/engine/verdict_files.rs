//! The verdict of a session, as files and on its record, in the one order that a kill at any step leaves whole.

use std::collections::BTreeMap;

use super::record::record;
use crate::error::Result;
use crate::fault::{self, Point};
use crate::fs;
use crate::ids::{Sha256Hash, SlotId};
use crate::runner::Observer;
use crate::session::slot::Usage;
use crate::session::{Event, Session};

/// A verdict that is to be put into a session.
pub(crate) struct VerdictFiles<'a> {
    /// `verdict.json`.
    pub(crate) json: &'a [u8],
    /// `verdict.md`.
    pub(crate) text: &'a str,
    /// Which rendering the text is of.
    pub(crate) rendering: u32,
    /// What each slot of the session used.
    pub(crate) usage: BTreeMap<SlotId, Usage>,
}

/// Writes `verdict.json`, then `verdict.md`, and puts both on record; from then on the session names its models.
pub(crate) fn give_verdict(session: &mut Session, files: VerdictFiles<'_>, observer: &mut dyn Observer) -> Result<()> {
    let VerdictFiles { json, text, rendering, usage } = files;
    fs::replace(&session.layout().verdict_json(), json)?;
    fault::reach(Point::VerdictJson);
    fs::replace(&session.layout().verdict_md(), text.as_bytes())?;
    fault::reach(Point::VerdictText);
    session.name_models();
    let event = Event::Verdict {
        votes: None,
        verdict_json: Sha256Hash::of(json),
        verdict_md: Sha256Hash::of(text.as_bytes()),
        rendering: Some(rendering),
        usage,
    };
    record(session.panel_mut(), event, observer)?;
    session.panel_mut().settle()?;
    fault::reach(Point::SessionVerdict);
    Ok(())
}
