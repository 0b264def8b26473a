//! The findings of a session for `team show`: when they are those on record.

use std::fmt::Write;

use super::format::{cut, one_line};
use crate::error::Result;
use crate::findings::{FindingId, FindingRecord, FindingState, Findings, LedgerRead};
use crate::session::{Event, History, Record, SessionError, View};

/// The most columns of one line of a list.
const WIDTH: usize = 160;

/// The findings of a review or a fix. `None` where the session has no ledger.
///
/// # Errors
/// The ledger cannot be read, does not hold, or is not the one on the session's record.
pub fn findings_of(view: &View) -> Result<Option<Findings>> {
    let path = view.layout.ledger();
    let records = History::read(&view.layout.events())?.records;
    let recorded = |record: &Record| match &record.event {
        Event::LedgerWritten { lines, head } => Some((*lines, *head)),
        _ => None,
    };
    let recorded = records.iter().rev().find_map(recorded);
    if path.symlink_metadata().is_err() {
        return match recorded {
            Some(_) => Err(SessionError::Missing(path).into()),
            None => Ok(None),
        };
    }
    let read = LedgerRead::read(&path)?;
    // Of an open session it may be a line ahead of the record. One that was stopped before anything was found has begun it.
    let is_begun_only = recorded.is_none() && read.findings.iter().next().is_none();
    let differs = view.meta.events.is_some() && !is_begun_only && recorded.map(|(_, head)| head) != read.head;
    if !read.breaks.is_empty() || differs || recorded.is_some_and(|(lines, _)| lines > read.lines) {
        return Err(SessionError::NotAsRecorded(path).into());
    }
    Ok(Some(read.findings))
}

/// One of `findings`.
///
/// # Errors
/// There is no such finding.
pub fn finding_named(findings: Option<&Findings>, id: FindingId, session: &str) -> Result<FindingRecord> {
    let known = findings.map(|findings| findings.iter().map(|record| record.id.to_string()).collect::<Vec<_>>());
    if let Some(record) = findings.and_then(|findings| findings.get(id)) {
        return Ok(record.clone());
    }
    let error = crate::error::Error::usage(format!("there is no finding {id} in `{session}`"));
    Err(match known {
        None => error.hint("only a review or a fix has findings"),
        Some(known) if known.is_empty() => error.hint("nothing was found in it"),
        Some(known) => error.hint(format!("the findings are {}", known.join(", "))),
    })
}

/// A line for each finding, those that something is still to be done about first.
pub(super) fn findings_list(findings: &Findings) -> String {
    let mut text = String::new();
    let mut records: Vec<&FindingRecord> = findings.iter().collect();
    records.sort_by_key(|record| (!record.state.is_open(), std::cmp::Reverse(record.finding.severity), record.id));
    let widest = |of: fn(&FindingRecord) -> usize| records.iter().map(|record| of(record)).max().unwrap_or(0);
    let ids = widest(|record| record.id.to_string().len());
    let severities = widest(|record| record.finding.severity.as_str().len());
    let states = widest(|record| record.state.as_str().len());
    for FindingRecord { id, finding, state, .. } in records {
        let place = finding.place().map(|place| format!("{place}: ")).unwrap_or_default();
        let (id, severity, state) = (id.to_string(), finding.severity.as_str(), FindingState::as_str(*state));
        let told = one_line(&format!("{place}{}", finding.title));
        let line = format!("{id:ids$}  {severity:severities$}  {state:states$}  {told}");
        // Writing to a string cannot fail.
        writeln!(text, "{}", cut(&line, WIDTH)).ok();
    }
    text
}
