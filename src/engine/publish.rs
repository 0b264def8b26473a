//! The verdict: counted, rendered with the names, written to the round and copied to the session's top.

use std::path::Path;

use jiff::Timestamp;

use super::bill::{self, Seats, turns_of};
use super::outcome::Decision;
use super::record::{record, show_last};
use super::round::RoundEnd;
use super::services::Services;
use crate::config::Target;
use crate::error::{Error, ErrorKind, Result};
use crate::fault::{self, Point};
use crate::fs;
use crate::ids::{Sha256Hash, SlotId};
use crate::judging::Votes;
use crate::runner::Observer;
use crate::session::slot::SlotState;
use crate::session::{
    Event, Manifest, Phase, Record, Round, SeatMoney, Session, SessionError, SessionState, Status, Turn, Why,
    isolation, isolations_used, usage_by_slot,
};
use crate::verdict::{self, Context, FailedSeat, Names, Seat};

/// A verdict on disk.
pub(super) struct Published {
    pub(super) decision: Decision,
    pub(super) text: String,
}

/// The round whose verdict is on its record, as its files are; `None` while there is none.
pub(super) fn voted(session: &Session, round: Round) -> Result<Option<RoundEnd>> {
    if !session.is_made(round)? {
        return Ok(None);
    }
    let folder = session.enter_round(round)?;
    let Some(recorded) = verdict_on_record(folder.records()) else { return Ok(None) };
    let bytes = check(&folder.layout().votes(), recorded.votes)?;
    let votes = Votes::from_json(&bytes)?;
    let votes_hash = Sha256Hash::of(&bytes);
    Ok(Some(RoundEnd { round, folder, votes, votes_hash, second_pass: None, notes: Vec::new() }))
}

/// The verdict that stands: the newest that was published, and what it amounts to. `None` where there is none, or an
/// answer has come after it.
pub(super) fn published(session: &Session) -> Result<Option<Published>> {
    let records = session.panel().records();
    let Some(recorded) = verdict_on_record(records) else { return Ok(None) };
    let since = records.iter().rev().take_while(|record| !matches!(record.event, Event::Verdict { .. }));
    let completes = |event: &Event| matches!(event, Event::SlotEnded { end, .. } if end.state == SlotState::Completed);
    if since.into_iter().any(|record| completes(&record.event)) {
        return Ok(None);
    }
    for round in session.layout().rounds().into_iter().rev() {
        let Some(end) = voted(session, round)? else { continue };
        if verdict_on_record(end.folder.records()).is_none_or(|own| own.verdict_json != recorded.verdict_json) {
            continue;
        }
        let result = verdict::tally(&end.votes);
        let names = Names { slots: names_of(session.panel().manifest()), judges: names_of(end.folder.manifest()) };
        let text = check(&session.layout().verdict_md(), Some(recorded.verdict_md))?;
        let text = String::from_utf8_lossy(&text).into_owned();
        return Ok(Some(Published { decision: decision_of(&result, &names), text }));
    }
    Ok(None)
}

/// The hashes of the newest verdict on a record.
#[derive(Clone, Copy)]
struct Recorded {
    votes: Option<Sha256Hash>,
    verdict_json: Sha256Hash,
    verdict_md: Sha256Hash,
}

fn verdict_on_record(records: &[Record]) -> Option<Recorded> {
    records.iter().rev().find_map(|record| match record.event {
        Event::Verdict { votes, verdict_json, verdict_md, .. } => Some(Recorded { votes, verdict_json, verdict_md }),
        _ => None,
    })
}

/// A file's bytes, when they are those that were recorded.
pub(super) fn check(path: &Path, recorded: Option<Sha256Hash>) -> Result<Vec<u8>> {
    let bytes = crate::fs::read_plain(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => SessionError::Missing(path.to_owned()),
        _ => SessionError::Io(error),
    })?;
    if recorded.is_some_and(|recorded| recorded != Sha256Hash::of(&bytes)) {
        return Err(Error::new(ErrorKind::Integrity, format!("`{}` is not what was recorded", path.display()))
            .hint("it was changed after it was written; `team judge` has the answers judged anew"));
    }
    Ok(bytes)
}

fn decision_of(result: &verdict::Verdict, names: &Names) -> Decision {
    match result.decision {
        verdict::Decision::Ranking => Decision::Ranking,
        verdict::Decision::NoDecision => Decision::NoDecision { why: verdict::summary(result, names) },
    }
}

/// Publishes the verdict of a round whose ballots are on disk, and closes the round. What of that is on record already is
/// taken from there.
pub(super) fn publish(
    session: &mut Session,
    end: RoundEnd,
    services: &Services,
    observer: &mut dyn Observer,
) -> Result<Published> {
    let RoundEnd { round, mut folder, votes, votes_hash, second_pass, notes } = end;
    folder.settle()?;
    let result = verdict::tally(&votes);
    let judges = folder.manifest().clone();
    let panel = session.panel().manifest().clone();
    let told = Told {
        session: session.id(),
        round,
        panel: &panel,
        slots: session.panel().status(),
        slot_records: session.panel().records(),
        judges: &judges,
        judged: folder.status(),
        judge_records: folder.records(),
        second_pass: second_pass.as_ref(),
        turns: turns_of(folder.layout()),
        source: BallotSource::of(&votes),
        head: folder.head(),
    };
    let names = told.names();
    let context = told.context(notes);
    let published = |votes, verdict_json, verdict_md, usage| Event::Verdict {
        votes,
        verdict_json,
        verdict_md,
        rendering: Some(verdict::RENDERING),
        usage,
    };
    let (json, text) = match verdict_on_record(folder.records()) {
        Some(recorded) => {
            let json = check(&folder.layout().verdict_json(), Some(recorded.verdict_json))?;
            let text = check(&folder.layout().verdict_md(), Some(recorded.verdict_md))?;
            (json, String::from_utf8_lossy(&text).into_owned())
        }
        None => {
            let json = verdict::to_json(&result).map_err(|e| Error::internal(e.to_string()))?;
            // What a judge wrote is quoted; a secret that it saw must not be.
            let text = services.open_scrub().text_for(None, &verdict::render(&result, &names, &context));
            fs::replace(&folder.layout().verdict_json(), &json)?;
            fault::reach(Point::VerdictJson);
            fs::replace(&folder.layout().verdict_md(), text.as_bytes())?;
            fault::reach(Point::VerdictText);
            let (verdict_json, verdict_md) = (Sha256Hash::of(&json), Sha256Hash::of(text.as_bytes()));
            let usage = usage_by_slot(&judges, folder.records());
            record(&mut folder, published(Some(votes_hash), verdict_json, verdict_md, usage), observer)?;
            folder.settle()?;
            fault::reach(Point::VerdictRecorded);
            (json, text)
        }
    };
    let verdict_json = Sha256Hash::of(&json);
    let verdict_md = Sha256Hash::of(text.as_bytes());
    let round_status = folder.status().clone();
    let last = session.close_round(round, folder, SessionState::Completed, Timestamp::now())?;
    observer.event(&last, &round_status);

    observer.enter(".");
    show_last(session.panel(), observer);
    fs::replace(&session.layout().verdict_json(), &json)?;
    fault::reach(Point::VerdictJsonCopied);
    fs::replace(&session.layout().verdict_md(), text.as_bytes())?;
    fault::reach(Point::VerdictTextCopied);
    session.name_models();
    record(session.panel_mut(), Event::PhaseStarted { phase: Phase::Verdict }, observer)?;
    let usage = usage_by_slot(&panel, session.panel().records());
    record(session.panel_mut(), published(None, verdict_json, verdict_md, usage), observer)?;
    session.panel_mut().settle()?;
    fault::reach(Point::SessionVerdict);
    Ok(Published { decision: decision_of(&result, &names), text })
}

/// The records of slots and of judges, as far as these were asked here: nothing kept those apart whose ballots were
/// imported.
fn asked_here<'r>(slots: &'r [Record], judges: &'r [Record]) -> impl Iterator<Item = &'r [Record]> {
    let imported = |records: &[Record]| records.iter().any(|record| matches!(record.event, Event::Imported { .. }));
    [slots, judges].into_iter().filter(move |records| !imported(records))
}

/// What kept judges apart, or slots where no judge was asked: by the records, not by what is in force here, so that the
/// verdict is the same whoever publishes it.
pub(crate) fn isolation_told(slots: &[Record], judges: &[Record]) -> String {
    let used = asked_here(slots, judges).filter_map(|records| isolations_used(records).last()).last();
    used.or_else(|| isolation(judges)).or_else(|| isolation(slots)).unwrap_or_default().to_owned()
}

/// What else kept slots or judges apart, where the session was resumed elsewhere.
fn other_isolation(slots: &[Record], judges: &[Record]) -> Option<String> {
    let told = isolation_told(slots, judges);
    let resumed = |record: &Record| matches!(record.event, Event::Reopened { why: Why::Resume, .. });
    if !slots.iter().chain(judges).any(resumed) {
        return None;
    }
    let other = asked_here(slots, judges).flat_map(isolations_used).find(|used| *used != told)?;
    Some(format!("before the session was resumed slots were kept apart by other means: {other}"))
}

/// What was not as before when the session was resumed.
fn accepted_drift(records: &[Record]) -> impl Iterator<Item = String> {
    let drift = records.iter().filter_map(|record| match &record.event {
        Event::Reopened { drift, .. } if !drift.is_empty() => Some(drift.join("; ")),
        _ => None,
    });
    drift.map(|drift| format!("the session was resumed although not all was as before: {drift}"))
}

/// Where the ballots of a round come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BallotSource {
    /// The judges were asked.
    Asked,
    /// They were made elsewhere.
    Imported,
}

impl BallotSource {
    pub(super) const fn of(votes: &Votes) -> Self {
        if votes.imported.is_some() { Self::Imported } else { Self::Asked }
    }
}

/// What `verdict.md` tells besides the votes, as it lies in the folder: the two sides of a round, each as it stood when
/// the verdict was published. The same for the one who publishes and for the one who checks.
pub(super) struct Told<'a> {
    pub(super) session: &'a str,
    pub(super) round: Round,
    pub(super) panel: &'a Manifest,
    pub(super) slots: &'a Status,
    pub(super) slot_records: &'a [Record],
    pub(super) judges: &'a Manifest,
    pub(super) judged: &'a Status,
    pub(super) judge_records: &'a [Record],
    pub(super) second_pass: Option<&'a Status>,
    /// The records of the further turns of the round.
    pub(super) turns: Vec<Vec<Record>>,
    pub(super) source: BallotSource,
    pub(super) head: Option<Sha256Hash>,
}

impl Told<'_> {
    pub(super) fn names(&self) -> Names {
        Names { slots: names_of(self.panel), judges: names_of(self.judges) }
    }

    fn costs(&self) -> Vec<(Seat, SeatMoney)> {
        let (mut slots, mut judges) = (Seats::new(), Seats::new());
        bill::add(&mut slots, self.panel, self.slot_records);
        bill::add(&mut judges, self.judges, self.judge_records);
        for turn in &self.turns {
            bill::add(&mut judges, self.judges, turn);
        }
        let slots = slots.into_iter().map(|(id, seat)| (Seat::Slot(id), seat));
        slots.chain(judges.into_iter().map(|(id, seat)| (Seat::Judge(id), seat))).collect()
    }

    /// `of_round` are the notes that the round itself made; they are in no file but the verdict.
    pub(super) fn context(&self, of_round: Vec<String>) -> Context {
        let asked = (self.source == BallotSource::Asked).then_some((self.judges, self.judged));
        let mut notes = panel_notes(self.slots, self.panel, asked);
        notes.extend(of_round);
        notes.extend(record_notes(self.slot_records, self.judge_records));
        let mut failed = failed_seats(self.slots, Seat::Slot, "");
        failed.extend(failed_seats(self.judged, Seat::Judge, &format!("{}/", self.round.folder())));
        if let Some(second) = self.second_pass {
            let folder = format!("{}/{}/", self.round.folder(), Turn::SecondPass.folder());
            failed.extend(failed_seats(second, Seat::Judge, &folder));
        }
        let isolation = isolation_told(self.slot_records, self.judge_records);
        let costs = self.costs();
        Context {
            session: self.session.to_owned(),
            head: self.head,
            failed,
            isolation,
            first: Vec::new(),
            notes,
            costs,
        }
    }
}

/// What a reader must know about how slots and judges were asked, as their records tell it.
pub(crate) fn record_notes(slots: &[Record], judges: &[Record]) -> Vec<String> {
    let mut notes = Vec::new();
    if was_revealed(slots) {
        notes.push("the names were revealed to a person before this verdict; the record says when".to_owned());
    }
    notes.extend(accepted_drift(slots));
    notes.extend(other_isolation(slots, judges));
    notes.extend(dropped_settings(slots, "slot"));
    notes.extend(dropped_settings(judges, "judge"));
    notes
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
pub(super) fn failed_seats(status: &Status, seat: fn(SlotId) -> Seat, folder: &str) -> Vec<FailedSeat> {
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
/// `asked` are the judges, unless their ballots are from elsewhere.
pub(crate) fn panel_notes(slots: &Status, panel: &Manifest, asked: Option<(&Manifest, &Status)>) -> Vec<String> {
    let mut notes = Vec::new();
    let judges = asked.map(|(manifest, status)| ("judge", status, manifest));
    for (side, status, manifest) in [("slot", slots, panel)].into_iter().chain(judges) {
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
