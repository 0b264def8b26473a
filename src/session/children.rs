//! Whether the folders inside of a panel's are those that its record opened.
//!
//! A torn last line of the record may have been the one that opened a folder in which much was done since. What it said is
//! known: the folder's own first line holds the time and the hash of it.

use fs_err as files;

use super::SessionError;
use super::child::{Child, has_record};
use super::events::{Event, History, Record};
use super::layout::{InnerKind, InnerPanel, Layout, Turn};
use super::panel::PanelFolder;
use crate::fs;
use crate::ids::{Sha256Hash, SlotId};

impl Child {
    /// The event that opens it for `slots`.
    fn opening(self, slots: &[SlotId]) -> Event {
        match self {
            Self::Round(round) => Event::RoundOpened { round },
            Self::Turn(turn) => Event::TurnOpened { turn, judges: slots.to_vec() },
            Self::Inner(panel) => Event::PanelOpened { panel },
        }
    }

    /// Fails when its folder, which has no record, holds more than is made before the record is: then that is lost, and
    /// somebody was asked.
    pub(super) fn check_unmade(self, layout: &Layout) -> Result<(), SessionError> {
        for entry in files::read_dir(layout.root())? {
            let name = entry?.file_name();
            let made = match name.to_str() {
                Some("manifest.json" | "work" | "errors" | "events.jsonl") => true,
                // Of a pipeline's panel, whose slots have one prompt.
                Some("input.md") => matches!(self, Self::Inner(_)),
                _ => fs::is_temporary_name(&name),
            };
            if !made {
                return Err(lost(layout));
            }
        }
        Ok(())
    }
}

/// The record of the folder is lost.
pub(super) fn lost(layout: &Layout) -> SessionError {
    let path = layout.events();
    match path.symlink_metadata() {
        Ok(_) => SessionError::Chain {
            path,
            line: 1,
            why: "the record is empty, and somebody was asked in its folder".to_owned(),
        },
        Err(_) => SessionError::Missing(path),
    }
}

impl PanelFolder {
    /// The folders inside of this one that can have a record of their own.
    fn children(&self) -> Vec<(Child, Layout)> {
        let around = self.layout();
        let rounds = around.rounds().into_iter().map(|round| (Child::Round(round), around.round(round)));
        let turns = Turn::ALL.into_iter().map(|turn| (Child::Turn(turn), around.turn(turn)));
        let inner = InnerKind::ALL.into_iter().flat_map(|kind| {
            let all = (1..).map(move |number| InnerPanel { kind, number });
            all.take_while(|panel| around.inner(*panel).root().is_dir())
                .map(|panel| (Child::Inner(panel), around.inner(panel)))
        });
        rounds.chain(turns).chain(inner).filter(|(_, layout)| layout.root().is_dir()).collect()
    }

    fn has_opened(&self, child: Child) -> bool {
        self.records().iter().any(|record| child.is_opened_by(&record.event))
    }

    /// Records again that a folder inside was opened, where that was the last line of the record and is gone: only if
    /// the line is, byte by byte, the one that the folder is tied to.
    pub(super) fn adopt_child(&mut self) -> Result<(), SessionError> {
        for (child, layout) in self.children() {
            // What is wrong with a record is told by whoever goes on with it.
            if self.has_opened(child) || !has_record(&layout).unwrap_or(false) {
                continue;
            }
            let Ok(history) = History::read(&layout.events()) else { continue };
            let Some(Record { at, event: Event::Created { parent: Some(parent), slots, .. }, .. }) =
                history.records.first()
            else {
                continue;
            };
            let event = child.opening(slots);
            let at = self.not_before(*at);
            let line = Record { seq: self.count() + 1, prev: self.head(), at, event: event.clone() };
            let line = serde_json::to_vec(&line).map_err(std::io::Error::other)?;
            if Sha256Hash::of(&line) == parent.head {
                self.record(event, at)?;
                self.settle()?;
            }
        }
        Ok(())
    }

    /// Fails when a folder inside has a record that this one knows nothing of, or has lost its own. Writes nothing.
    pub fn check_children(&self) -> Result<(), SessionError> {
        for (child, layout) in self.children() {
            match has_record(&layout)? {
                true if !self.has_opened(child) => return Err(SessionError::Untied(layout.events())),
                true => {}
                false => child.check_unmade(&layout)?,
            }
        }
        Ok(())
    }
}
