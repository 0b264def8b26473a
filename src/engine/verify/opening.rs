//! A folder inside of another, tied to it both ways: a round in its session, a further turn in its round.

use super::audit::{Audit, Entry};
use super::panel::{End, Panel};
use super::record::FolderRecord;
use super::report::Mismatch;
use super::strangers;
use crate::error::Result;
use crate::ids::Sha256Hash;
use crate::session::{Event, InnerPanel, Round, Turn};

/// An event that opened a folder.
pub(super) struct Opening<'a> {
    /// The panel whose record holds it.
    pub(super) parent: &'a Panel,
    /// Its number in that record, from 0.
    pub(super) index: usize,
    /// The folder, from the session's.
    pub(super) folder: String,
    /// The round; `None` of a turn of the session's own slots.
    pub(super) round: Option<Round>,
    /// Which turn; `None` for the round itself.
    pub(super) turn: Option<Turn>,
    /// In a pipeline: the panel that this is, or that the round or the turn is of.
    pub(super) inner: Option<InnerPanel>,
}

impl Opening<'_> {
    /// Reads the record in the folder and checks what ties it to the one that it is in. `None` where there is none to read.
    pub(super) fn read(&self, audit: &mut Audit, id: &str, owned: bool) -> Result<Option<Panel>> {
        let (folder, what) = (&self.folder, self.what());
        let prefix = format!("{folder}/");
        let closed = self.closed();
        if !audit.is_folder(folder) {
            if audit.entry(folder).is_ok_and(|entry| entry == Entry::Missing) {
                let (line, own) = (self.index + 1, &self.parent.record.file);
                let told = format!("is missing; line {line} of `{own}` opened this {what}");
                audit.mismatch(Mismatch::new(folder, told));
            }
            return Ok(None);
        }
        if closed.is_none() && !has_record(audit, &format!("{prefix}events.jsonl")) {
            // Made right before the first line of the record is: its owner was stopped in between, or is there now.
            for name in audit.names(folder).to_vec() {
                let made = ["manifest.json", "work", "errors", "events.jsonl"].contains(&name.as_str())
                    // Of a pipeline's panel, whose slots have one prompt.
                    || self.round.is_none() && self.turn.is_none() && name == "input.md";
                if made || name.starts_with(".tmp-") {
                    audit.know(&format!("{prefix}{name}"));
                } else {
                    strangers::stranger(audit, &format!("{prefix}{name}"));
                }
            }
            audit.note(format!("the {what} in `{folder}` was opened and has no record: nothing was asked in it"));
            return Ok(None);
        }
        let Some(record) = FolderRecord::read(audit, &prefix)? else { return Ok(None) };
        self.check_ties(audit, &record, closed);
        let end = if closed.is_some() { End::Published } else { End::Open };
        if end == End::Open && !owned {
            audit.note(format!("the {what} in `{folder}` was never closed: its owner was stopped in it"));
        }
        Ok(Some(Panel::new(audit, &prefix, record, id, end)))
    }

    const fn what(&self) -> &'static str {
        match (self.turn, self.round) {
            (Some(_), _) => "turn",
            (None, Some(_)) => "round",
            (None, None) => "panel",
        }
    }

    /// The number of lines and the last one's hash, as the record around it last held them: what was stopped and resumed
    /// is closed more than once.
    fn closed(&self) -> Option<(u64, Sha256Hash)> {
        self.parent.record.records.iter().rev().find_map(|record| match (&record.event, self.turn) {
            (Event::RoundClosed { round, events, head }, None) if Some(*round) == self.round => Some((*events, *head)),
            (Event::PanelClosed { panel, events, head }, None)
                if self.round.is_none() && Some(*panel) == self.inner =>
            {
                Some((*events, *head))
            }
            (Event::TurnClosed { turn, events, head }, Some(own)) if *turn == own => Some((*events, *head)),
            _ => None,
        })
    }

    /// The folder's first line holds the head of the record around it at its opening, that record the folder's last line.
    fn check_ties(&self, audit: &mut Audit, record: &FolderRecord, closed: Option<(u64, Sha256Hash)>) {
        let around = &self.parent.record;
        let own = &around.file;
        if let (Some(Event::Created { parent, slots, manifest, .. }), Some(head)) =
            (record.created(), around.hash_of(self.index))
            && around.intact
        {
            let line = self.index + 1;
            let found = parent.as_ref().map(|parent| (parent.round, parent.turn, parent.panel, parent.head));
            if found != Some((self.round, self.turn, self.inner, head)) {
                let what = format!("is not tied to the opening of this {} in line {line} of `{own}`", self.what());
                let found = found.map_or_else(|| "nothing".to_owned(), |(.., head)| head.to_string());
                audit.mismatch(Mismatch::new(&record.file, what).line(1).between(head, found));
            }
            if let Event::TurnOpened { judges, .. } = &around.records[self.index].event {
                if judges != slots {
                    let what = format!("does not ask the judges of line {line} of `{own}`");
                    audit.mismatch(Mismatch::new(&record.file, what).line(1));
                }
                if !self.parent.manifest_hashes.contains(manifest) {
                    let what = format!("has not the manifest of `{own}`, so its judges are not those of the round");
                    audit.mismatch(Mismatch::new(&record.file, what).line(1));
                }
            }
        }
        let Some((events, head)) = closed else { return };
        let told = Mismatch::new(
            &record.file,
            format!("does not end as `{own}` recorded it when the {} was closed", self.what()),
        );
        if events != record.count as u64 {
            audit.mismatch(told.between(format!("{events} lines"), format!("{} lines", record.count)));
        } else if record.head != Some(head) {
            let found = record.head.map(|head| head.to_string()).unwrap_or_default();
            audit.mismatch(told.line(record.count).between(head, found));
        }
    }
}

/// Whether the record `events` has a whole line, or is no plain file at all, which is told by whoever reads it.
fn has_record(audit: &Audit, events: &str) -> bool {
    match audit.entry(events) {
        Ok(Entry::Missing) => false,
        Ok(Entry::File) => fs_err::read(audit.path(events)).map_or(true, |bytes| bytes.contains(&b'\n')),
        Ok(Entry::Folder | Entry::Other(_)) | Err(_) => true,
    }
}
