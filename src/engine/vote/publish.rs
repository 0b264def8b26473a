//! The verdict of a vote on a task, written at the session's top.

use std::collections::BTreeMap;

use super::VotePlan;
use crate::engine::bill;
use crate::engine::last_look::remarks;
use crate::engine::outcome::Decision;
use crate::engine::publish::{check, failed_seats, isolation_told, panel_notes, record_notes};
use crate::engine::record::record;
use crate::engine::run::Work;
use crate::engine::services::Services;
use crate::engine::verdict_files::{VerdictFiles, give_verdict};
use crate::error::{Error, ErrorKind, Result};
use crate::ids::{Sha256Hash, SlotId};
use crate::runner::Observer;
use crate::session::slot::SlotState;
use crate::session::{Event, Manifest, Phase, Record, Session, SessionKind, Status, usage_by_slot};
use crate::verdict::{Context, Names, Seat, TASK_RENDERING, TaskMember, TaskVerdict, count_task, render_task, to_json};

/// A verdict on disk.
pub(in crate::engine) struct Published {
    pub(in crate::engine) decision: Decision,
    pub(in crate::engine) text: String,
}

/// The verdict that stands: the newest on record, unless a reply has come after it.
pub(in crate::engine) fn published(session: &mut Session, strict: bool) -> Result<Option<Published>> {
    let Some((verdict_json, verdict_md)) = standing(session.panel().records()) else { return Ok(None) };
    let json = check(&session.layout().verdict_json(), Some(verdict_json))?;
    let text = check(&session.layout().verdict_md(), Some(verdict_md))?;
    let verdict: TaskVerdict = serde_json::from_slice(&json).map_err(|error| {
        let path = session.layout().verdict_json();
        Error::new(ErrorKind::Integrity, format!("`{}` cannot be read: {error}", path.display()))
    })?;
    session.finish_phase(Phase::Verdict);
    session.name_models();
    let decision = voted(verdict, session.panel().manifest(), strict);
    Ok(Some(Published { decision, text: String::from_utf8_lossy(&text).into_owned() }))
}

/// Whether a verdict is on record, and no reply has come after it.
pub(in crate::engine) fn stands(records: &[Record]) -> bool {
    standing(records).is_some()
}

/// The hashes of that verdict.
fn standing(records: &[Record]) -> Option<(Sha256Hash, Sha256Hash)> {
    for record in records.iter().rev() {
        match &record.event {
            Event::Verdict { verdict_json, verdict_md, .. } => return Some((*verdict_json, *verdict_md)),
            Event::SlotEnded { end, .. } if end.state == SlotState::Completed => return None,
            _ => {}
        }
    }
    None
}

/// Counts `members` and publishes what comes of it.
pub(super) fn publish(
    session: &mut Session,
    plan: &VotePlan,
    members: Vec<TaskMember>,
    work: &Work,
    services: &Services,
    observer: &mut dyn Observer,
) -> Result<Published> {
    record(session.panel_mut(), Event::PhaseStarted { phase: Phase::Verdict }, observer)?;
    session.panel_mut().settle()?;
    let task = task_on_record(session.panel().records())
        .ok_or_else(|| Error::new(ErrorKind::Integrity, "the record knows no text that was to be voted on"))?;
    let verdict = count_task(task, plan.threshold, plan.quorum, members);
    let told = Told {
        session: session.id(),
        panel: session.panel().manifest(),
        status: session.panel().status(),
        records: session.panel().records(),
        head: session.panel().head(),
    };
    let json = to_json(&verdict).map_err(|error| Error::internal(error.to_string()))?;
    // What a member wrote is quoted; a secret that it saw must not be.
    let text = render_task(&verdict, &told.names(), &told.context(work.notes.clone()));
    let text = services.open_scrub().text_for(None, &text);
    let usage = usage_by_slot(session.panel().manifest(), session.panel().records());
    give_verdict(session, VerdictFiles { json: &json, text: &text, rendering: TASK_RENDERING, usage }, observer)?;
    session.finish_phase(Phase::Verdict);
    let decision = voted(verdict, session.panel().manifest(), work.strict);
    Ok(Published { decision, text })
}

fn voted(verdict: TaskVerdict, manifest: &Manifest, strict: bool) -> Decision {
    let short = strict && verdict.is_partial();
    Decision::Voted { verdict: Box::new(verdict), models: names_of(manifest), short }
}

fn names_of(manifest: &Manifest) -> BTreeMap<SlotId, String> {
    manifest.models.iter().map(|(id, member)| (*id, member.model.clone())).collect()
}

/// The hash of the text that is voted on.
pub(in crate::engine) fn task_on_record(records: &[Record]) -> Option<Sha256Hash> {
    match records.first().map(|record| &record.event) {
        Some(Event::Created { task, .. }) => *task,
        _ => None,
    }
}

/// What `verdict.md` tells besides the votes, as it lies in the folder when the verdict is published. The same for the
/// one who publishes and for the one who checks.
pub(in crate::engine) struct Told<'a> {
    pub(in crate::engine) session: &'a str,
    pub(in crate::engine) panel: &'a Manifest,
    pub(in crate::engine) status: &'a Status,
    pub(in crate::engine) records: &'a [Record],
    pub(in crate::engine) head: Option<Sha256Hash>,
}

impl Told<'_> {
    pub(in crate::engine) fn names(&self) -> Names {
        Names { slots: names_of(self.panel), judges: BTreeMap::new() }
    }

    /// `given` are the notes that came with the request.
    pub(in crate::engine) fn context(&self, given: Vec<String>) -> Context {
        let mut seats = bill::Seats::new();
        bill::add(&mut seats, self.panel, self.records);
        let mut notes = panel_notes(self.status, self.panel, None);
        // Whether a gate's panel saw all of the change weighs more than its decision.
        let of_gate = matches!(
            self.records.first().map(|record| &record.event),
            Some(Event::Created { kind: SessionKind::Gate, .. })
        );
        let (mut first, given) = if of_gate { (given, Vec::new()) } else { (Vec::new(), given) };
        first.extend(remarks(self.records));
        notes.extend(given);
        notes.extend(record_notes(self.records, &[]));
        Context {
            session: self.session.to_owned(),
            head: self.head,
            failed: failed_seats(self.status, Seat::Slot, ""),
            isolation: isolation_told(self.records, &[]),
            first,
            notes,
            costs: seats.into_iter().map(|(id, seat)| (Seat::Slot(id), seat)).collect(),
        }
    }
}
