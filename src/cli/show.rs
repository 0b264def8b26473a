//! `team show`: a session's verdict, its answers or one finding; with `--reveal`, who wrote what.

use jiff::Timestamp;

use super::args::ShowArgs;
use super::context::Context;
use super::report::redactor;
use super::sessions::{find, slot_named};
use crate::error::{Error, ExitCode, Result};
use crate::findings::{FindingId, FindingRecord};
use crate::ids::SlotId;
use crate::report::sheet::{Integrity, Sheet};
use crate::report::{
    SessionReport, conversation_lines, finding_named, finding_text, findings_of, session_text, slot_text, verdict_json,
};
use crate::secrets::reveal;
use crate::session::{History, Session, View, spoken};

/// What of a session is shown.
enum Part {
    All,
    Slot(SlotId),
    Finding(FindingId),
}

/// The part that the command line names; `F01` is a finding, `01` a slot.
fn part_named(text: Option<&str>) -> Result<Part> {
    let Some(text) = text.filter(|text| text.starts_with(['F', 'f'])) else {
        return Ok(slot_named(text)?.map_or(Part::All, Part::Slot));
    };
    let id = text.to_ascii_uppercase().parse();
    id.map(Part::Finding)
        .map_err(|error| Error::usage(format!("{error}")).hint("`team show SESSION` lists the findings"))
}

/// Shows a session. Reading changes nothing; revealing is recorded.
pub(super) fn show(args: &ShowArgs, context: &Context) -> Result<ExitCode> {
    let layout = find(&args.session, context)?;
    let part = part_named(args.slot.as_deref())?;
    let now = Timestamp::now();
    let names = if args.reveal { Some(Session::reveal(layout.clone(), now)?) } else { None };
    let view = View::read(layout)?;
    if context.global.json {
        let findings = findings_of(&view)?;
        let findings = match part {
            Part::Finding(id) => Some(vec![finding_named(findings.as_ref(), id, &view.meta.session_id)?]),
            Part::All | Part::Slot(_) => findings.map(|findings| findings.iter().cloned().collect()),
        };
        context.printer.json(&SessionReport::new(&view, verdict_json(&view)?, findings, names.as_ref()))?;
        return Ok(ExitCode::DONE);
    }
    let text = match part {
        Part::Slot(slot) => slot_text(&view, slot)?,
        Part::All => session_text(&view, names.as_ref(), now)? + &conversations(&view)?,
        Part::Finding(id) => {
            let record = finding_named(findings_of(&view)?.as_ref(), id, &view.meta.session_id)?;
            finding(&view, &record, now, context)?
        }
    };
    let text = match &names {
        Some(names) => reveal(&text, |placeholder| names.name_for(placeholder)),
        None => text,
    };
    context.printer.document(&text)?;
    Ok(ExitCode::DONE)
}

/// How the conversations of a pipeline went, once its verdict is out.
fn conversations(view: &View) -> Result<String> {
    if verdict_json(view)?.is_none() {
        return Ok(String::new());
    }
    let records = History::read(&view.layout.events())?.records;
    let lines = conversation_lines(&spoken(&view.layout, &view.meta.session_id, &records)?, |_| None);
    let mut text = if lines.is_empty() { String::new() } else { "\n".to_owned() };
    for (seat, strayed) in lines {
        text.push_str(&format!("conversation of {seat}\n"));
        strayed.iter().for_each(|line| text.push_str(&format!("  {line}\n")));
    }
    Ok(text)
}

/// All about one finding. That the ledger is the one on record was checked; ballots are, where they are read.
fn finding(view: &View, record: &FindingRecord, now: Timestamp, context: &Context) -> Result<String> {
    let sheet = Sheet::collect(view, Integrity::default(), &redactor(&view.layout, context), now)?;
    let groups = sheet.reviewed.iter().flat_map(|reviewed| &reviewed.groups);
    let card = groups.flat_map(|group| &group.findings).find(|card| card.id == record.id.to_string());
    let card = card.ok_or_else(|| {
        Error::usage(format!("there are too many findings to show {} by itself", record.id))
            .hint("`team show SESSION --json` holds them all")
    })?;
    Ok(finding_text(card, context.printer.data_columns()))
}
