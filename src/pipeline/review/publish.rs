//! The verdict of a review: written, recorded, and read again.

use std::collections::BTreeMap;
use std::path::Path;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::request::ReviewWork;
use super::round::{RoundEnd, Surroundings};
use super::votes::write_once;
use crate::engine::{Decision, record, show_last};
use crate::error::{Error, ErrorKind, Result};
use crate::fault::{self, Point};
use crate::findings::{ReviewVerdict, decide_review};
use crate::fs;
use crate::ids::{FormatVersion, Sha256Hash};
use crate::session::{Event, Layout, Phase, Record, Session, SessionError, SessionState};

/// The number of the wording of `verdict.md`.
pub(in crate::pipeline) const RENDERING: u32 = 1;

/// The contents of `verdict.json` of a review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewResult {
    /// The version of this format.
    pub version: FormatVersion,
    /// The folder of the panel that it is about.
    pub panel: String,
    /// What it comes to.
    #[serde(flatten)]
    pub verdict: ReviewVerdict,
}

/// A verdict on disk.
pub(super) struct Published {
    pub(super) decision: Decision,
    pub(super) text: String,
}

/// The verdict that is on record. `None` where there is none.
pub(super) fn published(session: &Session) -> Result<Option<Published>> {
    let Some((verdict_json, verdict_md)) = on_record(session.panel().records()) else { return Ok(None) };
    let json = checked(&session.layout().verdict_json(), verdict_json)?;
    let text = checked(&session.layout().verdict_md(), verdict_md)?;
    let result: ReviewResult = serde_json::from_slice(&json).map_err(|error| {
        let path = session.layout().verdict_json();
        Error::new(ErrorKind::Integrity, format!("`{}` cannot be read: {error}", path.display()))
    })?;
    let text = String::from_utf8_lossy(&text).into_owned();
    Ok(Some(Published { decision: Decision::Reviewed(Box::new(result.verdict)), text }))
}

fn on_record(records: &[Record]) -> Option<(Sha256Hash, Sha256Hash)> {
    records.iter().rev().find_map(|record| match record.event {
        Event::Verdict { verdict_json, verdict_md, .. } => Some((verdict_json, verdict_md)),
        _ => None,
    })
}

fn checked(path: &Path, recorded: Sha256Hash) -> Result<Vec<u8>> {
    let bytes = fs_err::read(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => SessionError::Missing(path.to_owned()),
        _ => SessionError::Io(error),
    })?;
    if Sha256Hash::of(&bytes) == recorded {
        Ok(bytes)
    } else {
        Err(SessionError::NotAsRecorded(path.to_owned()).into())
    }
}

/// Writes down what the round came to, closes its panel, and publishes the verdict.
pub(super) fn publish(
    session: &mut Session,
    work: &ReviewWork,
    mut round: RoundEnd,
    around: &mut Surroundings<'_>,
) -> Result<Published> {
    let judged = round.standings.iter().map(|standing| standing.judged).collect();
    let usable = round.seats.values().filter(|seat| seat.read().is_some()).count();
    let verdict = decide_review(judged, work.fail_on, work.seats(round.seats.len(), usable));
    let text = format!("# Review\n\n{}\n", verdict.sentence);
    write_once(&mut round.folder, Layout::CONSOLIDATED, text.as_bytes(), Point::ConsolidatedWritten, around)?;
    fault::reach(Point::ConsolidatedRecorded);
    let panel = round.folder.inner().ok_or_else(|| Error::internal("a review in no panel"))?;
    let status = round.folder.status().clone();
    let last = session.panel_mut().close_inner(panel, round.folder, SessionState::Completed, Timestamp::now())?;
    around.observer.event(&last, &status);
    around.observer.enter(".");
    show_last(session.panel(), &mut *around.observer);

    record(session.panel_mut(), Event::PhaseStarted { phase: Phase::Report }, &mut *around.observer)?;
    let result = ReviewResult { version: FormatVersion::CURRENT, panel: panel.folder(), verdict };
    let mut json = serde_json::to_vec_pretty(&result).map_err(|error| Error::internal(error.to_string()))?;
    json.push(b'\n');
    fs::replace(&session.layout().verdict_json(), &json)?;
    fault::reach(Point::VerdictJson);
    fs::replace(&session.layout().verdict_md(), text.as_bytes())?;
    fault::reach(Point::VerdictText);
    session.name_models();
    let event = Event::Verdict {
        votes: None,
        verdict_json: Sha256Hash::of(&json),
        verdict_md: Sha256Hash::of(text.as_bytes()),
        rendering: Some(RENDERING),
        usage: BTreeMap::new(),
    };
    record(session.panel_mut(), event, &mut *around.observer)?;
    session.panel_mut().settle()?;
    fault::reach(Point::SessionVerdict);
    session.finish_phase(Phase::Report);
    Ok(Published { decision: Decision::Reviewed(Box::new(result.verdict)), text })
}
