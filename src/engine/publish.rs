//! The verdict: counted, rendered with the names, written to the round and copied to the session's top.

use jiff::Timestamp;

use super::judge::RoundEnd;
use super::outcome::Decision;
use super::record::{record, show_last};
use super::services::Services;
use crate::config::Target;
use crate::error::{Error, Result};
use crate::fs;
use crate::ids::{Sha256Hash, SlotId};
use crate::runner::Observer;
use crate::session::slot::SlotState;
use crate::session::{Event, History, Manifest, Phase, Record, Session, SessionState, Status};
use crate::verdict::{self, Context, FailedSeat, Names, Seat};

/// A verdict on disk.
pub(super) struct Published {
    pub(super) decision: Decision,
    pub(super) text: String,
}

/// Publishes the verdict of a round whose ballots are on disk, and closes the round.
pub(super) fn publish(
    session: &mut Session,
    end: RoundEnd,
    services: &Services,
    observer: &mut dyn Observer,
) -> Result<Published> {
    let RoundEnd { round, mut folder, votes, votes_hash, mut notes } = end;
    folder.settle()?;
    let result = verdict::tally(&votes);
    let judges = folder.manifest().clone();
    let panel = session.panel().manifest().clone();
    let names = Names { slots: names_of(&panel), judges: names_of(&judges) };
    let records = History::read(&session.layout().events())?.records;
    if was_revealed(&records) {
        notes.push("the names were revealed to a person before this verdict; the record says when".to_owned());
    }
    notes.splice(0..0, panel_notes(session.panel().status(), &panel, &judges, folder.status()));
    notes.extend(dropped_settings(&records, "slot"));
    notes.extend(dropped_settings(&History::read(&folder.layout().events())?.records, "judge"));
    let mut failed = failed_seats(session.panel().status(), Seat::Slot, "");
    failed.extend(failed_seats(folder.status(), Seat::Judge, &format!("{}/", round.folder())));
    let context = Context {
        session: session.id().to_owned(),
        head: folder.head(),
        failed,
        isolation: services.isolation(),
        notes,
    };
    let json = verdict::to_json(&result).map_err(|e| Error::internal(e.to_string()))?;
    // What a judge wrote is quoted; a secret that it saw must not be.
    let text = services.open_scrub().text_for(None, &verdict::render(&result, &names, &context));

    fs::replace(&folder.layout().verdict_json(), &json)?;
    fs::replace(&folder.layout().verdict_md(), text.as_bytes())?;
    let verdict_json = Sha256Hash::of(&json);
    let verdict_md = Sha256Hash::of(text.as_bytes());
    record(&mut folder, Event::Verdict { votes: Some(votes_hash), verdict_json, verdict_md }, observer)?;
    let round_status = folder.status().clone();
    let last = session.close_round(round, folder, SessionState::Completed, Timestamp::now())?;
    observer.event(&last, &round_status);

    observer.enter(".");
    show_last(session.panel(), observer);
    fs::replace(&session.layout().verdict_json(), &json)?;
    fs::replace(&session.layout().verdict_md(), text.as_bytes())?;
    session.name_models();
    record(session.panel_mut(), Event::PhaseStarted { phase: Phase::Verdict }, observer)?;
    record(session.panel_mut(), Event::Verdict { votes: None, verdict_json, verdict_md }, observer)?;
    session.panel_mut().settle()?;
    let decision = match result.decision {
        verdict::Decision::Ranking => Decision::Ranking,
        verdict::Decision::NoDecision => Decision::NoDecision { why: verdict::summary(&result, &names) },
    };
    Ok(Published { decision, text })
}

fn names_of(manifest: &Manifest) -> std::collections::BTreeMap<SlotId, String> {
    manifest.models.iter().map(|(id, member)| (*id, member.model.clone())).collect()
}

/// Settings that the other side does not take, so that what was asked for is not what was asked.
fn dropped_settings(records: &[Record], side: &str) -> Vec<String> {
    let dropped = |record: &Record| match &record.event {
        Event::SlotEnded { slot, end } if !end.dropped_settings.is_empty() => {
            let settings: Vec<String> = end.dropped_settings.iter().map(|name| format!("`{name}`")).collect();
            Some(format!("{side} {slot} was asked without {}, which its provider does not take", settings.join(", ")))
        }
        _ => None,
    };
    records.iter().filter_map(dropped).collect()
}

/// `folder` is where the paths of their logs begin.
fn failed_seats(status: &Status, seat: fn(SlotId) -> Seat, folder: &str) -> Vec<FailedSeat> {
    status
        .models
        .iter()
        .filter(|(_, entry)| entry.state != SlotState::Completed)
        .map(|(id, entry)| FailedSeat {
            seat: seat(*id),
            state: entry.state,
            reason: entry.error.as_ref().map(|error| error.reason),
            next_step: entry.error.as_ref().map(|error| error.next_step.clone()).unwrap_or_default(),
            log: entry
                .error
                .as_ref()
                .and_then(|error| error.error_log_path.as_ref())
                .map(|path| format!("{folder}{path}")),
        })
        .collect()
}

/// Whether somebody looked at the names before a first verdict told them.
fn was_revealed(records: &[Record]) -> bool {
    let told = records.iter().position(|record| matches!(record.event, Event::Verdict { .. }));
    let before = &records[..told.unwrap_or(records.len())];
    before.iter().any(|record| matches!(record.event, Event::Revealed))
}

/// What a reader must know about how the answers came about.
fn panel_notes(slots: &Status, panel: &Manifest, judges: &Manifest, judged: &Status) -> Vec<String> {
    let mut notes = Vec::new();
    for (side, status, manifest) in [("slot", slots, panel), ("judge", judged, judges)] {
        for (id, entry) in &status.models {
            if entry.truncated {
                notes.push(format!("{side} {id} was cut by its length limit, which its settings accept"));
            }
            if let Some(Target::Replay { file, .. }) = manifest.member(*id).map(|member| &member.resolved.target) {
                notes.push(format!("{side} {id} is a recording (`{}`), not a live model", file.display()));
            }
        }
    }
    let same = repeated(panel);
    if !same.is_empty() {
        notes.push(format!("several seats are one model: {}", same.join("; ")));
    }
    notes
}

/// Seats that share an identity, by their model.
fn repeated(panel: &Manifest) -> Vec<String> {
    let mut seats: std::collections::BTreeMap<_, Vec<String>> = std::collections::BTreeMap::new();
    for (id, member) in &panel.models {
        seats.entry(&member.resolved.identity).or_default().push(id.to_string());
    }
    seats
        .into_iter()
        .filter(|(_, ids)| ids.len() > 1)
        .map(|(model, ids)| format!("{} are {model}", ids.join(", ")))
        .collect()
}
