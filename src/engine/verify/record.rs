//! One `events.jsonl`: its chain, and what may follow what.

use super::audit::Audit;
use super::report::{Mismatch, RecordEnd};
use crate::error::Result;
use crate::ids::Sha256Hash;
use crate::session::{Break, BreakKind, Chain, Event, Record, Status};

/// A record that was read, whatever is wrong with it.
pub(super) struct FolderRecord {
    /// The file.
    pub(super) file: String,
    /// Its readable lines.
    pub(super) records: Vec<Record>,
    /// The hash of the line that each of them is.
    hashes: Vec<Sha256Hash>,
    /// Whether the chain holds, so that what follows from the record can be relied on.
    pub(super) intact: bool,
    /// Whether the last line is the closing event, or what may follow it without opening it again.
    pub(super) closed: bool,
    pub(super) head: Option<Sha256Hash>,
    pub(super) count: usize,
}

impl FolderRecord {
    /// Reads the record of the panel in the folder `prefix` (empty, or ending in `/`). `None` when there is none to read.
    pub(super) fn read(audit: &mut Audit, prefix: &str) -> Result<Option<Self>> {
        let file = format!("{prefix}events.jsonl");
        let Some(bytes) = audit.read(&file) else { return Ok(None) };
        let chain = Chain::parse(&audit.path(&file), &bytes)?;
        let mut record = Self {
            file,
            records: Vec::new(),
            hashes: Vec::new(),
            intact: chain.breaks.is_empty(),
            closed: false,
            head: chain.head(),
            count: chain.lines.len(),
        };
        for found in &chain.breaks {
            audit.mismatch(mismatch(&record.file, found));
        }
        if chain.torn && !chain.is_closed() {
            audit.note(format!("the last line of `{}` is not whole: its writer was stopped in it", record.file));
        }
        for line in chain.lines {
            if let Some(read) = line.record {
                record.records.push(read);
                record.hashes.push(line.hash);
            }
        }
        record.check_order(audit);
        Ok(Some(record))
    }

    /// Checks what the chain alone does not: one beginning, and nothing after the close but what may be.
    fn check_order(&mut self, audit: &mut Audit) {
        let mut wrong = None;
        for (index, record) in self.records.iter().enumerate() {
            let what = match &record.event {
                Event::Created { .. } if index > 0 => {
                    Some("says that the folder was made, which only the first line may")
                }
                Event::Closed { .. } if !self.closed => {
                    self.closed = true;
                    None
                }
                Event::Reopened { .. } | Event::Decided { .. } => {
                    self.closed = false;
                    None
                }
                event if event.may_follow_an_end() => None,
                _ if self.closed => Some("follows the closing event, and does not open the session again"),
                _ => None,
            };
            wrong = wrong.or(what.map(|what| (index, what)));
        }
        // In a record that was changed anything may stand anywhere; that was told.
        if let (Some((index, what)), true) = (wrong, self.intact) {
            audit.mismatch(Mismatch::new(&self.file, what).line(index + 1));
        }
    }

    /// The status that follows from the first `count` lines; `None`, and told, when the lines do not fit together.
    pub(super) fn fold(&self, audit: &mut Audit, session: &str, count: usize) -> Option<Status> {
        let fold = Status::fold(session.to_owned(), &self.records[..count]);
        let error = match fold {
            Ok(status) => return Some(status),
            Err(error) => error,
        };
        if self.intact {
            let mut status = Status::fold(session.to_owned(), &self.records[..count.min(1)]).ok();
            let fits = |record: &Record| status.as_mut().is_some_and(|status| status.apply(record).is_ok());
            let line = self.records[..count].iter().skip(1).map(fits).position(|fits| !fits).map(|index| index + 2);
            let found = Mismatch::new(&self.file, format!("cannot have happened: {error}"));
            audit.mismatch(Mismatch { line, ..found });
        }
        None
    }

    /// The hash of the line that holds the `index`-th readable event, from 0.
    pub(super) fn hash_of(&self, index: usize) -> Option<Sha256Hash> {
        self.hashes.get(index).copied()
    }

    /// The first line whose hash is `hash`, from 1.
    pub(super) fn line_of(&self, hash: Sha256Hash) -> Option<usize> {
        self.hashes.iter().position(|known| *known == hash).map(|index| index + 1)
    }

    /// The number, from 0, of the first event that `is` of the wanted kind.
    pub(super) fn position(&self, is: impl Fn(&Event) -> bool) -> Option<usize> {
        self.records.iter().position(|record| is(&record.event))
    }

    /// The first line, where it is what it must be.
    pub(super) fn created(&self) -> Option<&Event> {
        self.records.first().map(|record| &record.event).filter(|event| matches!(event, Event::Created { .. }))
    }

    pub(super) fn end(&self) -> RecordEnd {
        RecordEnd { file: self.file.clone(), events: self.count, head: self.head, closed: self.closed }
    }
}

fn mismatch(file: &str, found: &Break) -> Mismatch {
    let told = Mismatch::new(file, found.to_string()).line(found.line);
    let hash = |hash: &Option<Sha256Hash>| hash.map_or_else(|| "none".to_owned(), |hash| hash.to_string());
    match &found.kind {
        // Which of the two lines was changed cannot be told; the one before is the usual case.
        BreakKind::Link { before, holds } if found.line > 1 => {
            let what = format!("is not the line whose hash line {} holds", found.line);
            Mismatch::new(file, what).line(found.line - 1).between(hash(holds), hash(before))
        }
        BreakKind::Link { before, holds } => told.between(hash(before), hash(holds)),
        BreakKind::Number { expected, found } => Mismatch {
            what: "is not the next line: a line is missing, added, or in another's place".to_owned(),
            ..told.between(format!("`seq` {expected}"), format!("`seq` {found}"))
        },
        BreakKind::Unreadable(why) => Mismatch { what: format!("is no event: {why}"), ..told },
        BreakKind::NotCreated | BreakKind::AfterClose | BreakKind::Empty => told,
    }
}
