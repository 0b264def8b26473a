//! What a session and each of its rounds have in common: a manifest, answers, logs of what failed, a status.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::audit::{Audit, Entry};
use super::difference::{difference, difference_of_older, differences};
use super::record::FolderRecord;
use super::report::Mismatch;
use crate::error::Result;
use crate::ids::{Sha256Hash, SlotId};
use crate::session::slot::{Reason, SlotState};
use crate::session::{
    Chain, Event, InnerPanel, Layout, Manifest, Record, SessionError, SessionState, SlotEnd, Status, accepted,
    usage_by_slot,
};

/// Whether the end of a panel was published. Before that a file may be ahead of the record, because the owner was
/// stopped between the two or is at work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Published,
    Open,
}

/// A panel whose record was read.
pub(super) struct Panel {
    /// What its files begin with: empty, or a round's folder with `/`.
    pub(super) prefix: String,
    pub(super) record: FolderRecord,
    pub(super) end: End,
    /// Who is who, when that is as it was recorded.
    pub(super) manifest: Option<Manifest>,
    /// The hashes by which its manifest was the right one: that of the beginning, and one that was accepted later.
    pub(super) manifest_hashes: Vec<Sha256Hash>,
    /// What the whole record comes to.
    pub(super) status: Option<Status>,
}

/// The files that differed from the session's beginning and were accepted as they were: hash, and line of its record.
#[derive(Default)]
pub(super) struct Accepted(BTreeMap<String, (Sha256Hash, usize)>);

impl Accepted {
    /// By the session's own record.
    pub(super) fn of(session: &FolderRecord) -> Self {
        Self(accepted(&session.records))
    }

    /// What `file` must be, and what says so: `recorded` unless it was accepted otherwise, which is noted.
    fn expected(&self, audit: &mut Audit, file: &str, recorded: (Sha256Hash, String)) -> (Sha256Hash, String) {
        let Some((hash, index)) = self.0.get(file) else { return recorded };
        let by = format!("line {} of `events.jsonl`", index + 1);
        audit.note(format!("`{file}` is not what the session began with: {by} says that it was accepted as it is"));
        (*hash, by)
    }
}

/// What the record says of one slot.
#[derive(Default)]
struct Life<'a> {
    ends: Vec<&'a SlotEnd>,
    running: bool,
}

impl Panel {
    pub(super) fn new(audit: &mut Audit, prefix: &str, record: FolderRecord, session: &str, end: End) -> Self {
        let status = record.fold(audit, session, record.records.len());
        Self { prefix: prefix.to_owned(), record, end, manifest: None, manifest_hashes: Vec::new(), status }
    }

    pub(super) fn file(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    /// The panel of a pipeline that this is, or that it is a turn or a round of.
    pub(super) fn inner(&self) -> Option<InnerPanel> {
        match self.record.created() {
            Some(Event::Created { parent: Some(parent), .. }) => parent.panel,
            _ => None,
        }
    }

    /// The ids of the panel.
    pub(super) fn slots(&self) -> BTreeSet<SlotId> {
        match self.record.created() {
            Some(Event::Created { slots, .. }) => slots.iter().copied().collect(),
            _ => BTreeSet::new(),
        }
    }

    /// Checks what was written before anybody was asked.
    ///
    /// `accepted` are the files of the session that were accepted as they were when it was resumed.
    pub(super) fn check_beginning(&mut self, audit: &mut Audit, accepted: &Accepted) -> Result<()> {
        let Some(Event::Created { slots, input, task, manifest, parent, .. }) = self.record.created().cloned() else {
            return Ok(());
        };
        let by = format!("line 1 of `{}`", self.record.file);
        for (name, hash) in [("input.md", input), ("task.md", task)] {
            if let Some(hash) = hash {
                let file = self.file(name);
                let (hash, by) = accepted.expected(audit, &file, (hash, by.clone()));
                audit.expect(&file, hash, &by);
            }
        }
        let file = self.file("manifest.json");
        let (expected, by_now) = accepted.expected(audit, &file, (manifest, by.clone()));
        self.manifest_hashes = vec![manifest, expected];
        let Some(bytes) = audit.read_expected(&file, expected, &by_now) else { return Ok(()) };
        match Manifest::parse(&audit.path(&file), &bytes) {
            Ok(manifest) => {
                let found: Vec<&SlotId> = manifest.models.keys().collect();
                // A further turn asks some judges of its round, whose manifest it has.
                let holds = match parent.is_some_and(|parent| parent.turn.is_some()) {
                    true => slots.iter().all(|slot| found.contains(&slot)),
                    false => found.iter().copied().eq(slots.iter()),
                };
                if !holds {
                    let told = Mismatch::new(&file, format!("does not hold the slots of {by}"));
                    audit.mismatch(told.between(ids(&slots), ids(found)));
                }
                self.manifest = Some(manifest);
            }
            Err(error @ SessionError::Newer { .. }) => return Err(error.into()),
            // What is wrong in it might name a model.
            Err(_) => audit.mismatch(Mismatch::new(&file, "cannot be read as a manifest")),
        }
        Ok(())
    }

    fn lives(&self) -> BTreeMap<SlotId, Life<'_>> {
        let mut lives: BTreeMap<SlotId, Life<'_>> = BTreeMap::new();
        for record in &self.record.records {
            match &record.event {
                Event::SlotStarted { slot, .. } => lives.entry(*slot).or_default().running = true,
                Event::SlotEnded { slot, end } => {
                    let life = lives.entry(*slot).or_default();
                    life.running = false;
                    life.ends.push(end);
                }
                _ => {}
            }
        }
        lives
    }

    /// The complete answers and their recorded hashes. An answer that is complete and not recorded yet is noted.
    pub(super) fn answers(&self, audit: &mut Audit) -> BTreeMap<SlotId, Sha256Hash> {
        let mut answers = BTreeMap::new();
        for (slot, life) in self.lives() {
            let complete = life.ends.iter().rev().find(|end| end.state == SlotState::Completed);
            match complete.and_then(|end| end.sha256) {
                Some(hash) => {
                    answers.insert(slot, hash);
                }
                None if life.running => self.unrecorded(audit, &Layout::response_name(slot)),
                None => {}
            }
        }
        answers
    }

    /// Takes `name`, if it is there, as something that its writer was stopped from recording, or is about to.
    pub(super) fn unrecorded(&self, audit: &mut Audit, name: &str) {
        let file = self.file(name);
        if (self.end == End::Open || self.was_stopped()) && audit.entry(&file).is_ok_and(|entry| entry == Entry::File) {
            audit.know(&file);
            audit.note(format!("`{file}` is not recorded yet, so nothing can be said of it"));
        }
    }

    /// Whether an owner was stopped in it, or it was given up: what was just being written then stays unrecorded.
    fn was_stopped(&self) -> bool {
        let stopped = |event: &Event| match event {
            Event::Interrupted => true,
            Event::Closed { state, .. } => *state != SessionState::Completed,
            _ => false,
        };
        self.record.position(stopped).is_some()
    }

    /// The complete answers, each read whole; those that are not as they were recorded are told and left out.
    pub(super) fn read_answers(&self, audit: &mut Audit) -> BTreeMap<SlotId, Vec<u8>> {
        let by = format!("`{}`", self.record.file);
        let answers = self.answers(audit).into_iter();
        let read = |(slot, hash)| {
            let file = self.file(&Layout::response_name(slot));
            Some((slot, audit.read_expected(&file, hash, &by)?))
        };
        answers.filter_map(read).collect()
    }

    /// Checks that each verdict told the tokens that the record held sealed until then.
    pub(super) fn check_tokens(&self, audit: &mut Audit) {
        let Some(manifest) = &self.manifest else { return };
        // Seals are of the manifest of their time.
        let is_first = self.manifest_hashes.iter().all(|hash| Some(hash) == self.manifest_hashes.first());
        if !is_first || !self.record.intact {
            return;
        }
        let is_sealed =
            |record: &Record| matches!(&record.event, Event::SlotEnded { end, .. } if end.sealed_usage.is_some());
        for (index, record) in self.record.records.iter().enumerate() {
            let Event::Verdict { usage, .. } = &record.event else { continue };
            let before = &self.record.records[..index];
            // In records of before nothing was sealed, and nothing told.
            if before.iter().any(is_sealed) && *usage != usage_by_slot(manifest, before) {
                let what = "does not tell the tokens that were reported until then";
                audit.mismatch(Mismatch::new(&self.record.file, what).line(index + 1));
            }
        }
    }

    /// Checks what slots that failed left.
    pub(super) fn check_errors(&self, audit: &mut Audit) {
        let by = format!("`{}`", self.record.file);
        for (slot, life) in self.lives() {
            let log = format!("errors/{slot}.log");
            let partial = format!("errors/{slot}.partial.md");
            for name in [&log, &partial] {
                let kept = life.ends.iter().rev().find_map(|end| end.kept.get(name));
                if let Some(hash) = kept {
                    audit.expect(&self.file(name), *hash, &by);
                    continue;
                }
                let left =
                    |end: &&SlotEnd| end.error.as_ref().is_some_and(|error| left_without_hash(end, error.reason));
                let file = self.file(name);
                if life.ends.iter().any(left) && audit.entry(&file).is_ok_and(|entry| entry == Entry::File) {
                    audit.know(&file);
                    audit.note(format!("no event holds the hash of `{file}`, so nothing can be said of it"));
                } else if life.running {
                    self.unrecorded(audit, name);
                }
            }
        }
    }

    /// Checks that `status.json` is what the record comes to.
    pub(super) fn check_status(&self, audit: &mut Audit) -> Result<()> {
        let file = self.file("status.json");
        // Its first is written right after the first line of the record.
        if self.end == End::Open
            && self.record.count == 1
            && audit.entry(&file).is_ok_and(|entry| entry == Entry::Missing)
        {
            audit.note(format!("`{file}` was not written yet"));
            return Ok(());
        }
        let Some(bytes) = audit.read(&file) else { return Ok(()) };
        let path = audit.path(&file);
        let found = match Status::parse(&path, &bytes) {
            Ok(found) => found,
            Err(error @ SessionError::Newer { .. }) => return Err(error.into()),
            Err(error) => {
                audit.mismatch(Mismatch::new(&file, why(&error)));
                return Ok(());
            }
        };
        let Some(folded) = &self.status else { return Ok(()) };
        if !self.record.intact {
            return Ok(());
        }
        // The file is written now and then while a session is at work: it is held against the line that it is nearest to,
        // or else what came after it would pass for a change.
        let mut found = found;
        let nearest = if self.end == End::Open {
            // What is only known while a slot runs is on no record.
            found.models.values_mut().for_each(|slot| slot.live = None);
            self.nearest(audit, folded, &found)
        } else {
            None
        };
        if nearest.as_ref().is_some_and(|(_, differing)| *differing == 0) {
            return Ok(());
        }
        let folded = nearest.as_ref().map_or(folded, |(status, _)| status);
        let values = (serde_json::to_value(folded), serde_json::to_value(&found), serde_json::from_slice(&bytes));
        if let (Ok(folded), Ok(typed), Ok(raw)) = values {
            let raw: Value = raw;
            // What is absent must be unknown, and what this program does not know must not be there.
            if let Some(found) = difference(&folded, &typed).or_else(|| difference_of_older(&folded, &raw)) {
                let told = Mismatch::new(&file, format!("is not what the record comes to, at `{}`", found.place));
                audit.mismatch(told.between(found.expected, found.found));
            }
        }
        Ok(())
    }

    /// What that beginning of the record comes to of which `found` differs in the fewest places, the longest of several,
    /// and in how many. The record is read again: a living owner may have written to both since.
    fn nearest(&self, audit: &Audit, folded: &Status, found: &Status) -> Option<(Status, usize)> {
        let found = serde_json::to_value(found).ok()?;
        let path = audit.path(&self.record.file);
        let chain = crate::fs::read_plain(&path).ok().and_then(|bytes| Chain::parse(&path, &bytes).ok());
        let records = chain.into_iter().flat_map(|chain| chain.lines).map_while(|line| line.record);
        let records: Vec<_> = records.collect();
        let mut status = Status::fold(folded.session.clone(), &records[..records.len().min(1)]).ok()?;
        let mut rest = records.iter().skip(1);
        let mut nearest = None;
        loop {
            let differing = differences(&serde_json::to_value(&status).ok()?, &found);
            if nearest.as_ref().is_none_or(|(_, least)| differing <= *least) {
                nearest = Some((status.clone(), differing));
            }
            match rest.next() {
                Some(record) if differing > 0 && status.apply(record).is_ok() => {}
                _ => return nearest,
            }
        }
    }
}

/// Whether an end that recorded no hashes may have left files all the same: it was recorded by a program that did not
/// hash them, or for an owner that died.
fn left_without_hash(end: &SlotEnd, reason: Reason) -> bool {
    let logged = end.error.as_ref().is_some_and(|error| error.error_log_path.is_some());
    end.kept.is_empty() && (logged || reason == Reason::OwnerDied)
}

/// What is wrong with a file, without its path, which stands before it.
pub(super) fn why(error: &SessionError) -> String {
    match error {
        SessionError::Malformed { why, .. } => format!("cannot be read: {why}"),
        other => other.to_string(),
    }
}

fn ids<'a>(slots: impl IntoIterator<Item = &'a SlotId>) -> String {
    slots.into_iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
