//! The folders inside of a panel's: a round of votes inside of a session, a further turn inside of a round.
//!
//! Each has a record of its own, tied to its parent's in both directions. Every step can be done again after a kill: what
//! is there and on record is taken as it is.

use std::collections::BTreeMap;

use fs_err as files;
use jiff::Timestamp;
use rand::CryptoRng;

use super::SessionError;
use super::events::{Event, Parent, Record};
use super::layout::{InnerPanel, Layout, Round, Turn};
use super::meta::{SessionKind, SessionState};
use super::owner::NewRound;
use super::panel::{Contents, NewPanel, PanelFolder};
use super::take_up::{Drift, Ended, TakeUp};
use crate::fault::{self, Point};
use crate::fs;
use crate::ids::{Sha256Hash, SlotId};
use crate::model::ResolvedModel;

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

/// A panel inside of a pipeline session.
#[derive(Debug)]
pub struct NewInner<'a> {
    /// The kind of session it belongs to.
    pub kind: SessionKind,
    /// Which panel.
    pub panel: InnerPanel,
    /// The prompt of all of its slots.
    pub input: &'a [u8],
    /// Who is asked, in the user's order.
    pub models: Vec<ResolvedModel>,
    /// What keeps them apart.
    pub isolation: String,
    /// The hash of each template used.
    pub prompts: BTreeMap<String, Sha256Hash>,
    /// The rules in force, by name.
    pub rules: BTreeMap<String, String>,
    /// What is to be done in it, for whoever resumes it.
    pub plan: Option<serde_json::Value>,
    /// Whether slots that ended with an error of their own are asked again, where the panel is taken up.
    pub failed: bool,
    /// Whether anybody is asked at all.
    pub admission: Admission,
}

/// Whether anybody in a panel is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    /// Those whose turn has not come are.
    Open,
    /// Nobody is any more: what was found is on record.
    Closed,
}

/// Which child of a panel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Child {
    Round(Round),
    Turn(Turn),
    Inner(InnerPanel),
}

impl Child {
    pub(super) fn is_opened_by(self, event: &Event) -> bool {
        match (self, event) {
            (Self::Round(own), Event::RoundOpened { round }) => own == *round,
            (Self::Turn(own), Event::TurnOpened { turn, .. }) => own == *turn,
            (Self::Inner(own), Event::PanelOpened { panel }) => own == *panel,
            _ => false,
        }
    }

    const fn closing(self, events: u64, head: Sha256Hash) -> Event {
        match self {
            Self::Round(round) => Event::RoundClosed { round, events, head },
            Self::Turn(turn) => Event::TurnClosed { turn, events, head },
            Self::Inner(panel) => Event::PanelClosed { panel, events, head },
        }
    }

    fn reach(self, step: Step) {
        fault::reach(match (self, step) {
            (Self::Round(_), Step::Folder) => Point::RoundFolder,
            (Self::Round(_), Step::Recorded) => Point::RoundRecorded,
            (Self::Round(_), Step::Closed) => Point::RoundClosed,
            (Self::Round(_), Step::Tied) => Point::RoundTied,
            (Self::Turn(_), Step::Folder) => Point::TurnFolder,
            (Self::Turn(_), Step::Recorded) => Point::TurnRecorded,
            (Self::Turn(_), Step::Closed) => Point::TurnClosed,
            (Self::Turn(_), Step::Tied) => Point::TurnTied,
            (Self::Inner(_), Step::Folder) => Point::InnerFolder,
            (Self::Inner(_), Step::Recorded) => Point::InnerRecorded,
            (Self::Inner(_), Step::Closed) => Point::InnerClosed,
            (Self::Inner(_), Step::Tied) => Point::InnerTied,
        });
    }
}

/// A step in the life of a child.
#[derive(Debug, Clone, Copy)]
enum Step {
    Folder,
    Recorded,
    Closed,
    Tied,
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
        if let (Child::Inner(_), Some(around)) = (child, layout.root().parent()) {
            fs::create_dir_all(around)?;
        }
        fs::create_dir_exclusive(layout.root())?;
        child.reach(Step::Folder);
        let lines = self.records();
        let head = match lines.iter().rposition(|record| child.is_opened_by(&record.event)) {
            Some(at) => lines.get(at + 1).map_or_else(|| self.head(), |next| next.prev),
            None => {
                self.record(opening, now)?;
                self.settle()?;
                self.head()
            }
        };
        child.reach(Step::Recorded);
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
        child.reach(Step::Closed);
        let (Some(head), Some(last)) = (folder.head(), folder.last()) else {
            return Err(SessionError::Missing(folder.layout().events()));
        };
        let tied = child.closing(folder.count(), head);
        if !self.records().iter().any(|record| record.event == tied) {
            self.record(tied, now)?;
        }
        child.reach(Step::Tied);
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
            parent: Some(Parent { round, turn: Some(turn), panel: self.inner(), head }),
            isolation,
            prompts,
            // Those of its round.
            rules: BTreeMap::new(),
            plan: None,
        };
        Self::fill(layout, contents, now)
    }

    /// The panel of a pipeline that this is, or that it is a round or a turn of.
    #[must_use]
    pub fn inner(&self) -> Option<InnerPanel> {
        match self.records().first().map(|first| &first.event) {
            Some(Event::Created { parent: Some(parent), .. }) => parent.panel,
            _ => None,
        }
    }

    /// Opens a panel inside of this session's own folder. One that was opened before is taken up.
    pub fn open_inner(
        &mut self,
        new: NewInner<'_>,
        now: Timestamp,
        rng: &mut impl CryptoRng,
    ) -> Result<Self, SessionError> {
        let NewInner { kind, panel, input, models, isolation, prompts, rules, plan, failed, admission } = new;
        let layout = self.layout().inner(panel);
        if has_record(&layout)? {
            let mut opened = Self::open(layout, &self.status().session)?;
            let how = TakeUp { failed, drift: &Drift::NONE, isolation: Some(&isolation), ended: Ended::StaysClosed };
            match admission {
                Admission::Open => opened.take_up(how, now)?,
                Admission::Closed if opened.status().state == SessionState::Completed => opened.check_answers()?,
                Admission::Closed => opened.take_up_settled(TakeUp { ended: Ended::GoesOn, ..how }, now)?,
            }
            return Ok(opened);
        }
        let head = self.open_child(Child::Inner(panel), &layout, Event::PanelOpened { panel }, now)?;
        let session = self.status().session.clone();
        let contents = NewPanel {
            kind,
            session: &session,
            input: Some(input),
            task: None,
            models,
            parent: Some(Parent { round: None, turn: None, panel: Some(panel), head }),
            isolation,
            prompts,
            rules,
            plan,
            judges: None,
            cast: None,
        };
        Self::create(layout, contents, now, rng)
    }

    /// Whether somebody was or could be asked in the panel inside of this one.
    pub fn has_inner(&self, panel: InnerPanel) -> Result<bool, SessionError> {
        has_record(&self.layout().inner(panel))
    }

    /// Opens a panel inside of this one as it lies there; nothing is written.
    pub fn enter_inner(&self, panel: InnerPanel) -> Result<Self, SessionError> {
        Self::open(self.layout().inner(panel), &self.status().session)
    }

    /// Opens a round of votes on what this panel answered as it lies there, where somebody could be asked in it.
    pub fn enter_round(&self, round: Round) -> Result<Option<Self>, SessionError> {
        let layout = self.layout().round(round);
        has_record(&layout)?.then(|| Self::open(layout, &self.status().session)).transpose()
    }

    /// Opens a further turn as it lies there, where somebody could be asked in it.
    pub fn enter_turn(&self, turn: Turn) -> Result<Option<Self>, SessionError> {
        let layout = self.layout().turn(turn);
        has_record(&layout)?.then(|| Self::open(layout, &self.status().session)).transpose()
    }

    /// Closes a panel inside of this one and ties its record to this one's; gives back the panel's last line.
    pub fn close_inner(
        &mut self,
        panel: InnerPanel,
        folder: Self,
        state: SessionState,
        now: Timestamp,
    ) -> Result<Record, SessionError> {
        self.close_child(Child::Inner(panel), folder, state, now)
    }

    /// Opens a new round of votes on what this panel answered.
    pub fn open_round(
        &mut self,
        kind: SessionKind,
        new: NewRound,
        now: Timestamp,
        rng: &mut impl CryptoRng,
    ) -> Result<(Round, Self), SessionError> {
        let rounds = self.layout().rounds();
        // One in which nobody could be asked, because its owner died before it was made, is made now.
        let unmade = match rounds.last() {
            Some(last) if !has_record(&self.layout().round(*last))? => Some(*last),
            _ => None,
        };
        let round = unmade.unwrap_or(Round(rounds.len() as u32 + 1));
        let layout = self.layout().round(round);
        let head = self.open_child(Child::Round(round), &layout, Event::RoundOpened { round }, now)?;
        let session = self.status().session.clone();
        let panel = NewPanel {
            kind,
            session: &session,
            input: None,
            task: None,
            models: new.judges,
            parent: Some(Parent { round: Some(round), turn: None, panel: self.inner(), head }),
            isolation: new.isolation,
            prompts: new.prompts,
            rules: new.rules,
            plan: new.plan,
            judges: None,
            cast: None,
        };
        Ok((round, Self::create(layout, panel, now, rng)?))
    }

    /// Takes up the first round of votes on what this panel answered; `None` where there is none in which somebody could
    /// be asked.
    pub fn take_up_round(&self, round: Round, how: TakeUp<'_>, now: Timestamp) -> Result<Option<Self>, SessionError> {
        let layout = self.layout().round(round);
        if !has_record(&layout)? {
            return Ok(None);
        }
        let mut folder = Self::open(layout, &self.status().session)?;
        folder.take_up(how, now)?;
        Ok(Some(folder))
    }

    /// Closes a round of votes and ties its record to this one; gives back the round's last line.
    pub fn close_round(
        &mut self,
        round: Round,
        folder: Self,
        state: SessionState,
        now: Timestamp,
    ) -> Result<Record, SessionError> {
        self.close_child(Child::Round(round), folder, state, now)
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
