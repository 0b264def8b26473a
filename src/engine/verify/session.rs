//! The session as a whole: what it says of itself, its own panel, its rounds, the verdict at its top.

use std::collections::BTreeMap;

use super::audit::{Audit, Entry};
use super::inner::{self, InnerFolder};
use super::panel::{Accepted, End, Panel, why};
use super::record::FolderRecord;
use super::report::{Mismatch, RecordEnd, Verification};
use super::roles;
use super::round::{RoundFolder, RoundVerdict};
use super::turns::TurnFolder;
use super::vote::{self, Voted};
use super::{strangers, workspace};
use crate::engine::plan::RunPlan;
use crate::error::Result;
use crate::fs::{LockState, OwnerLock};
use crate::ids::{FormatVersion, Sha256Hash};
use crate::session::{Event, History, Layout, Meta, Round, SessionError, SessionState};

/// How often a session that is at work is looked at: what changes under the reader looks like a mismatch.
const LOOKS: usize = 3;

const META: &str = "session-meta.json";

/// Checks the session at `layout`, and that its record holds `head` where one is given.
///
/// # Errors
/// A file is of a newer format than this program knows. Everything else that is wrong is in the outcome.
pub fn verify(layout: &Layout, head: Option<Sha256Hash>) -> Result<Verification> {
    let mut looks = 1;
    loop {
        let found = look(layout, head)?;
        // An owner may have come or gone meanwhile.
        let moving = || found.owner.is_some() || matches!(OwnerLock::probe(&layout.lock()), Ok(LockState::Held(_)));
        if found.verified || looks == LOOKS || !moving() {
            return Ok(found);
        }
        looks += 1;
    }
}

fn look(layout: &Layout, head: Option<Sha256Hash>) -> Result<Verification> {
    let mut audit = Audit::new(layout.root());
    let owner = owner(&mut audit, layout);
    let begun = is_begun(&audit, layout);
    if begun {
        audit.know(META);
        audit.note(format!(
            "`{META}` was not written yet: whoever made the session was stopped in it, and nobody was asked"
        ));
    }
    let meta_bytes = if begun { None } else { audit.read(META) };
    let meta = read_meta(&mut audit, meta_bytes.as_deref())?;
    let id = meta.as_ref().map(|meta| meta.session_id.clone());
    let mut found = Verification {
        version: FormatVersion::CURRENT,
        verified: false,
        session: id.clone(),
        state: None,
        owner,
        records: Vec::new(),
        checked: audit.checked,
        mismatches: Vec::new(),
        notes: Vec::new(),
    };
    if let Some(record) = FolderRecord::read(&mut audit, "")? {
        if let (Some(meta), Some(bytes)) = (&meta, &meta_bytes) {
            check_meta(&mut audit, meta, bytes, &record, found.owner.is_some());
        }
        let end = match &meta {
            Some(Meta { events: None, .. }) => End::Open,
            None if begun => End::Open,
            _ => End::Published,
        };
        // Without the file that says it, the id is taken from where it should be the same.
        let id = id.unwrap_or_else(|| id_of_status(&audit, layout));
        let mut panel = Panel::new(&mut audit, "", record, &id, end);
        found.state = panel.status.as_ref().map(|status| match (status.state.is_active(), &found.owner) {
            (true, None) => SessionState::Interrupted,
            _ => status.state,
        });
        let accepted = Accepted::of(&panel.record);
        panel.check_beginning(&mut audit, &accepted)?;
        // A plan that cannot be read is the changed record's, which is told.
        let plan = RunPlan::read(&panel.record.records).ok().and_then(|plan| plan.voting);
        let (mut rounds, mut turns, mut inner) = (Vec::new(), Vec::new(), Vec::new());
        if panel.record.created().is_some_and(Event::begins_pipeline) {
            inner = inner::check(&mut audit, &panel, &id, found.owner.is_some())?;
            found.records.extend(inner.iter().flat_map(InnerFolder::panels).map(|panel| panel.record.end()));
        } else if let Some(plan) = &plan {
            let replies = panel.read_answers(&mut audit);
            audit.checked.answers += replies.len() as u64;
            panel.check_errors(&mut audit);
            panel.check_tokens(&mut audit);
            turns = TurnFolder::check_all(&mut audit, &panel, &id, None, found.owner.is_some())?;
            found.records.extend(turns.iter().flat_map(TurnFolder::panels).map(|panel| panel.record.end()));
            let voted = Voted { panel: &panel, plan, replies: &replies, turns: &turns, id: &id };
            vote::check(&mut audit, &voted);
        } else {
            for (slot, hash) in panel.answers(&mut audit) {
                audit.checked.answers += 1;
                audit.expect(&Layout::response_name(slot), hash, "`events.jsonl`");
            }
            panel.check_errors(&mut audit);
            panel.check_tokens(&mut audit);
            rounds = check_rounds(&mut audit, &panel, &id, &mut found)?;
            check_top(&mut audit, &panel, &rounds);
        }
        roles::check(&mut audit, &panel, &id)?;
        workspace::check(&mut audit, &panel);
        panel.check_status(&mut audit)?;
        found.records.insert(0, panel.record.end());
        let inside = rounds.iter().flat_map(RoundFolder::panels).chain(turns.iter().flat_map(TurnFolder::panels));
        let inside = inside.chain(inner.iter().flat_map(InnerFolder::panels));
        let folders: Vec<&Panel> = std::iter::once(&panel).chain(inside).collect();
        strangers::check(&mut audit, &folders);
        if let Some(head) = head {
            check_head(&mut audit, head, &folders);
        }
        tell_state(&mut audit, &found);
    }
    let Audit { checked, mismatches, notes, .. } = audit;
    Ok(Verification { verified: mismatches.is_empty(), checked, mismatches, notes, ..found })
}

/// Whether the folder is that of a session that was not made whole: its record says that it was made and no more, and
/// the file by which commands find it, which is written last, is not there.
fn is_begun(audit: &Audit, layout: &Layout) -> bool {
    let missing = || audit.entry(META).is_ok_and(|entry| entry == Entry::Missing);
    missing() && History::read(&layout.events()).is_ok_and(|history| history.records.len() == 1)
}

/// The living owner. A lock that cannot be looked at (a copy without it, somebody else's) tells of none.
fn owner(audit: &mut Audit, layout: &Layout) -> Option<String> {
    audit.know(".lock");
    match audit.entry(".lock") {
        Ok(Entry::File) => match OwnerLock::probe(&layout.lock()) {
            Ok(LockState::Held(owner)) => Some(owner),
            Ok(LockState::Free) => None,
            Err(error) => {
                audit.note(format!("whether a process is at work on the session cannot be told: {error}"));
                None
            }
        },
        Ok(Entry::Missing) => None,
        Ok(Entry::Folder | Entry::Other(_)) | Err(_) => {
            audit.mismatch(Mismatch::new(".lock", "is not the file that belongs there"));
            None
        }
    }
}

fn read_meta(audit: &mut Audit, bytes: Option<&[u8]>) -> Result<Option<Meta>> {
    let Some(bytes) = bytes else { return Ok(None) };
    match Meta::parse(&audit.path(META), bytes) {
        Ok(meta) => Ok(Some(meta)),
        Err(error @ SessionError::Newer { .. }) => Err(error.into()),
        Err(error) => {
            audit.mismatch(Mismatch::new(META, why(&error)));
            Ok(None)
        }
    }
}

fn id_of_status(audit: &Audit, layout: &Layout) -> String {
    let status = crate::fs::read_plain(audit.path("status.json")).ok();
    let status = status.and_then(|bytes| serde_json::from_slice::<serde_json::Value>(&bytes).ok());
    let id = status.as_ref().and_then(|status| status.get("session")?.as_str());
    id.map_or_else(|| layout.name(), str::to_owned)
}

/// Checks what the session says of itself against the record, and the record against its seal.
fn check_meta(audit: &mut Audit, meta: &Meta, bytes: &[u8], record: &FolderRecord, owned: bool) {
    let file = &record.file;
    match &meta.events {
        // An owner at work seals what it has just written.
        Some(_) if owned => {}
        Some(seal) if seal.count != record.count as u64 => {
            let told = Mismatch::new(file, format!("has not the length that `{META}` sealed"));
            audit.mismatch(told.between(format!("{} lines", seal.count), format!("{} lines", record.count)));
        }
        Some(seal) if Some(seal.head) != record.head => {
            let head = record.head.map(|head| head.to_string()).unwrap_or_default();
            let told = Mismatch::new(file, format!("does not end with the line that `{META}` sealed"));
            audit.mismatch(told.line(record.count).between(seal.head, head));
        }
        Some(_) if !record.closed => {
            audit.mismatch(Mismatch::new(file, format!("is sealed by `{META}` and has no closing event")));
        }
        Some(_) => {}
        None if !meta.status.is_active() => {
            let what = format!("holds no seal, though it says `{}`", meta.status.as_str());
            audit.mismatch(Mismatch::new(META, what));
        }
        None if record.closed && !owned => {
            audit.note(format!("the record is closed and `{META}` is not: its owner was stopped in between"));
        }
        None => {}
    }
    if let Some(Event::Created { kind, .. }) = record.created()
        && *kind != meta.kind
    {
        let told = Mismatch::new(META, format!("has another `type` than line 1 of `{file}`"));
        audit.mismatch(told.between(kind.as_str(), meta.kind.as_str()));
    }
    if meta.events.is_none() || !record.closed || owned {
        return;
    }
    let close = record.records.iter().rev().find_map(|record| match &record.event {
        Event::Closed { state, meta } => Some((*state, *meta)),
        _ => None,
    });
    let Some((state, digest)) = close else { return };
    if state != meta.status {
        let told = Mismatch::new(META, "has another `status` than the closing event");
        audit.mismatch(told.between(state.as_str(), meta.status.as_str()));
    } else if let (Some(expected), Some(found)) = (digest, Meta::digest_of(bytes))
        && expected != found
    {
        let told = Mismatch::new(META, "is not what the closing event recorded (digest without `events`)");
        audit.mismatch(told.between(expected, found));
    } else if digest.is_none() {
        audit.note(format!("the program that closed the session recorded no digest of `{META}`"));
    }
}

/// Checks each round that was opened, in order.
fn check_rounds(audit: &mut Audit, panel: &Panel, id: &str, found: &mut Verification) -> Result<Vec<RoundFolder>> {
    let mut rounds = Vec::new();
    let mut expected = 1;
    for (index, record) in panel.record.records.iter().enumerate() {
        let Event::RoundOpened { round } = record.event else { continue };
        if round.0 != expected && panel.record.intact {
            let told = Mismatch::new(&panel.record.file, "does not open the next round").line(index + 1);
            audit.mismatch(told.between(expected, round.0));
        }
        expected = round.0.saturating_add(1);
        let checked = RoundFolder::check(audit, panel, id, round, index, found.owner.is_some())?;
        found.records.extend(checked.panels().iter().map(|panel| panel.record.end()));
        rounds.push(checked);
    }
    Ok(rounds)
}

/// One of a verdict's two hashes.
type Pick = fn(RoundVerdict) -> Sha256Hash;

/// Checks that the session's verdicts are those of its rounds, and the copies of the newest one.
fn check_top(audit: &mut Audit, panel: &Panel, rounds: &[RoundFolder]) {
    let of_round: BTreeMap<Round, RoundVerdict> =
        rounds.iter().filter_map(|round| Some((round.round, round.verdict?))).collect();
    let mut closed = None;
    let mut newest: Option<RoundVerdict> = None;
    for (index, record) in panel.record.records.iter().enumerate() {
        match &record.event {
            Event::RoundClosed { round, .. } => closed = Some(*round),
            Event::Verdict { verdict_json, verdict_md, .. } => {
                let verdict = RoundVerdict { json: *verdict_json, md: *verdict_md };
                newest = Some(verdict);
                let round = closed.and_then(|round| of_round.get(&round));
                if round.is_some_and(|round| *round != verdict) && panel.record.intact {
                    let folder = closed.map(Round::folder).unwrap_or_default();
                    let what = format!("does not record the verdict of `{folder}`");
                    audit.mismatch(Mismatch::new(&panel.record.file, what).line(index + 1));
                }
            }
            _ => {}
        }
    }
    // A round's verdict that is about to be published.
    let pending = of_round.values().next_back().copied().filter(|verdict| Some(*verdict) != newest);
    if panel.end == End::Published && pending.is_some() {
        audit.note("the verdict of the newest round was not published: the one at the top is older, or none");
    }
    let files: [(&str, Pick); 2] = [("verdict.json", |verdict| verdict.json), ("verdict.md", |verdict| verdict.md)];
    for (file, hash) in files {
        let pending = pending.filter(|_| panel.end == End::Open).map(hash);
        let there = audit.entry(file).is_ok_and(|entry| entry == Entry::File);
        match (newest.map(hash), pending) {
            (Some(expected), None) => {
                audit.expect(file, expected, "`events.jsonl`");
            }
            (Some(expected), Some(pending)) => {
                let found = audit.hash_with(file, |_| ());
                if found != Some(pending) {
                    audit.same(file, expected, found, "`events.jsonl`");
                }
            }
            (None, Some(pending)) if there => {
                audit.expect(file, pending, "the newest round");
            }
            (None, _) => {}
        }
    }
}

/// Checks that the record holds the line whose hash was noted elsewhere.
fn check_head(audit: &mut Audit, head: Sha256Hash, folders: &[&Panel]) {
    let held = folders.iter().find_map(|folder| Some((folder, folder.record.line_of(head)?)));
    match held {
        Some((folder, line)) if !folder.prefix.is_empty() || line < folder.record.count => audit.note(format!(
            "the head given is that of line {line} of {} in `{}`: what comes after it is newer",
            folder.record.count, folder.record.file
        )),
        Some(_) => {}
        None => {
            let own = folders.first().and_then(|folder| folder.record.head);
            let told = Mismatch::new("events.jsonl", "has no line with the hash given with `--head`");
            audit.mismatch(told.between(head, own.map(|head| head.to_string()).unwrap_or_default()));
        }
    }
}

fn tell_state(audit: &mut Audit, found: &Verification) {
    let RecordEnd { closed, .. } = match found.records.first() {
        Some(own) => own,
        None => return,
    };
    match &found.owner {
        Some(owner) => audit.note(format!("{owner} is at work on the session: this is how far it was")),
        None if !closed => audit.note("the session was interrupted: its owner was stopped before it closed the record"),
        None => {}
    }
}
