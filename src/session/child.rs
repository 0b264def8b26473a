//! The folders inside of a panel's: a round of votes inside of a session, a further turn inside of a round.
//!
//! Each has a record of its own, tied to its parent's in both directions. Every step can be done again after a kill: what
//! is there and on record is taken as it is.

use std::collections::BTreeMap;

use fs_err as files;
use jiff::Timestamp;

use super::SessionError;
use super::events::{Event, Parent, Record};
use super::layout::{Layout, Round, Turn};
use super::meta::{SessionKind, SessionState};
use super::panel::{Contents, PanelFolder};
use super::take_up::{Drift, Ended, TakeUp};
use crate::fault::{self, Point};
use crate::fs;
use crate::ids::{Sha256Hash, SlotId};

/// A further turn of some judges of a round.
#[derive(Debug)]
pub struct NewTurn<'a> {
    /// The kind of session it belongs to.
    pub kind: SessionKind,
    /// The round; `None` where it is a turn of the session's own slots.
    pub round: Option<Round>,
    /// Which turn.
    pub turn: Turn,
    /// The judges that are asked; they keep their ids.
    pub judges: &'a [SlotId],
    /// What keeps them apart.
    pub isolation: String,
    /// The hash of each template used.
    pub prompts: BTreeMap<String, Sha256Hash>,
    /// Whether judges that ended with an error of their own are asked again, where the turn is taken up.
    pub failed: bool,
}

/// Which child of a panel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Child {
    Round(Round),
    Turn(Turn),
}

impl Child {
    pub(super) fn is_opened_by(self, event: &Event) -> bool {
        match (self, event) {
            (Self::Round(own), Event::RoundOpened { round }) => own == *round,
            (Self::Turn(own), Event::TurnOpened { turn, .. }) => own == *turn,
            _ => false,
        }
    }

    const fn closing(self, events: u64, head: Sha256Hash) -> Event {
        match self {
            Self::Round(round) => Event::RoundClosed { round, events, head },
            Self::Turn(turn) => Event::TurnClosed { turn, events, head },
        }
    }

    fn reach(self, of_round: Point, of_turn: Point) {
        match self {
            Self::Round(_) => fault::reach(of_round),
            Self::Turn(_) => fault::reach(of_turn),
        }
    }
}

/// Whether somebody was or could be asked in the panel at `layout`: the first line of its record is whole.
pub(super) fn has_record(layout: &Layout) -> Result<bool, SessionError> {
    match files::read(layout.events()) {
        Ok(bytes) => Ok(bytes.contains(&b'\n')),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error.into()),
    }
}

impl PanelFolder {
    /// Makes the folder of a child and records that it is opened; gives back the hash of that line.
    ///
    /// A folder that its owner left before the first line of its record was whole is made anew: nobody was asked in it.
    pub(super) fn open_child(
        &mut self,
        child: Child,
        layout: &Layout,
        opening: Event,
        now: Timestamp,
    ) -> Result<Sha256Hash, SessionError> {
        if layout.root().is_dir() && !has_record(layout)? {
            fs::remove_dir_all(layout.root())?;
        }
        fs::create_dir_exclusive(layout.root())?;
        child.reach(Point::RoundFolder, Point::TurnFolder);
        let lines = self.records();
        let head = match lines.iter().rposition(|record| child.is_opened_by(&record.event)) {
            Some(at) => lines.get(at + 1).map_or_else(|| self.head(), |next| next.prev),
            None => {
                self.record(opening, now)?;
                self.settle()?;
                self.head()
            }
        };
        child.reach(Point::RoundRecorded, Point::TurnRecorded);
        head.ok_or_else(|| SessionError::Missing(self.layout().events()))
    }

    /// Closes a child, unless it is closed, and ties its record to this one, unless it is tied; gives back the child's
    /// last line.
    pub(super) fn close_child(
        &mut self,
        child: Child,
        mut folder: Self,
        state: SessionState,
        now: Timestamp,
    ) -> Result<Record, SessionError> {
        let errors = if folder.status().state.is_active() {
            folder.close(state, None, now)
        } else {
            // Whoever closed it may have died before its status was.
            folder.write_status().err().into_iter().collect()
        };
        if let Some(error) = errors.into_iter().next() {
            return Err(error);
        }
        child.reach(Point::RoundClosed, Point::TurnClosed);
        let (Some(head), Some(last)) = (folder.head(), folder.last()) else {
            return Err(SessionError::Missing(folder.layout().events()));
        };
        let tied = child.closing(folder.count(), head);
        if !self.records().iter().any(|record| record.event == tied) {
            self.record(tied, now)?;
        }
        child.reach(Point::RoundTied, Point::TurnTied);
        Ok(last.clone())
    }

    /// Opens a further turn in a folder inside of this one: the same manifest, a record of its own tied to this one.
    ///
    /// A turn that was opened before is taken up.
    pub fn open_turn(&mut self, new: NewTurn<'_>, now: Timestamp) -> Result<Self, SessionError> {
        let NewTurn { kind, round, turn, judges, isolation, prompts, failed } = new;
        let layout = self.layout().turn(turn);
        if has_record(&layout)? {
            let mut opened = Self::open(layout, &self.status().session)?;
            opened.take_up(
                TakeUp { failed, drift: &Drift::NONE, isolation: Some(&isolation), ended: Ended::StaysClosed },
                now,
            )?;
            return Ok(opened);
        }
        let opening = Event::TurnOpened { turn, judges: judges.to_vec() };
        let head = self.open_child(Child::Turn(turn), &layout, opening, now)?;
        let contents = Contents {
            kind,
            session: &self.status().session,
            slots: judges.to_vec(),
            input: None,
            task: None,
            manifest: self.manifest().clone(),
            copied: Some(self.layout().manifest()),
            parent: Some(Parent { round, turn: Some(turn), head }),
            isolation,
            prompts,
            // Those of its round.
            rules: BTreeMap::new(),
            plan: None,
        };
        Self::fill(layout, contents, now)
    }

    /// Ends the turns inside of this folder that nobody goes on with.
    pub fn end_turns(&mut self, now: Timestamp) -> Result<(), SessionError> {
        for turn in Turn::ALL {
            let layout = self.layout().turn(turn);
            if !has_record(&layout)? {
                continue;
            }
            let mut inside = Self::open(layout, &self.status().session)?;
            inside.end_lost(now)?;
            inside.end_turns(now)?;
            self.close_turn(turn, inside, SessionState::Cancelled, now)?;
        }
        Ok(())
    }

    /// Closes a turn and ties its record to this one; gives back the turn's last line.
    pub fn close_turn(
        &mut self,
        turn: Turn,
        folder: Self,
        state: SessionState,
        now: Timestamp,
    ) -> Result<Record, SessionError> {
        self.close_child(Child::Turn(turn), folder, state, now)
    }
}
