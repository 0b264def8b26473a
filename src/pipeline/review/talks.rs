//! The conversations of the reviewers of a round.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::config::SessionReuse;
use crate::engine;
use crate::error::{Error, Result};
use crate::ids::SlotId;
use crate::pipeline::roles::{self, NextTurn, Turn};
use crate::runner::Continuation;
use crate::session::{InnerPanel, Layout, PanelFolder, Participant, Role, Session};

/// In which conversations the reviewers of a round are asked.
#[derive(Debug, Clone)]
pub(in crate::pipeline) struct Talks<'a> {
    pub(in crate::pipeline) reuse: SessionReuse,
    /// Whose each is, in the order of the round's models.
    pub(in crate::pipeline) of: Vec<Participant>,
    pub(in crate::pipeline) round: Round<'a>,
}

/// What a round is in the conversations.
#[derive(Debug, Clone, Copy)]
pub(in crate::pipeline) enum Round<'a> {
    /// The first of new ones.
    Begins,
    /// A further one: this is what is asked of whoever knows what was said before.
    GoesOn(&'a str),
}

impl Talks<'_> {
    /// New conversations with all of `count` reviewers; none in a session whose record knows of none.
    pub(in crate::pipeline) fn begun(session: &Session, reuse: Option<SessionReuse>, count: usize) -> Option<Self> {
        let of = roles::seats(session.panel().manifest(), Role::Reviewer, count);
        reuse.map(|reuse| Self { reuse, of, round: Round::Begins })
    }

    /// Ends the conversations that a round is to know nothing of, unless it is under way.
    pub(super) fn begin(&self, session: &mut Session, panel: InnerPanel) -> Result<()> {
        if matches!(self.round, Round::GoesOn(_)) || session.panel().has_inner(panel)? {
            return Ok(());
        }
        self.of.iter().try_for_each(|of| roles::reset(session, *of, Timestamp::now()))
    }

    /// Whose conversation it is that `slot` of the round's panel in `folder` keeps.
    fn of(&self, folder: &PanelFolder, slot: SlotId) -> Result<Participant> {
        let place = folder.manifest().shuffle_order.iter().position(|id| *id == slot);
        let found = place.and_then(|place| self.of.get(place));
        found.copied().ok_or_else(|| Error::internal(format!("reviewer {slot} has no seat")))
    }
}

/// Those of a round that is being held. Without any, each turn stands alone and nothing is kept of it.
pub(super) struct Spoken<'a> {
    session: &'a mut Session,
    talks: Option<&'a Talks<'a>>,
}

impl<'a> Spoken<'a> {
    pub(super) const fn new(session: &'a mut Session, talks: Option<&'a Talks<'a>>) -> Self {
        Self { session, talks }
    }

    /// What `slot` of `folder` is given that is asked what is in `prompt`.
    pub(super) fn first(
        &mut self,
        folder: &PanelFolder,
        slot: SlotId,
        prompt: PathBuf,
    ) -> Result<(PathBuf, Option<Continuation>)> {
        let Some(talks) = self.talks else { return Ok((prompt, None)) };
        let continuing = match talks.round {
            Round::Begins => None,
            Round::GoesOn(text) => Some(text),
        };
        let of = talks.of(folder, slot)?;
        next(self.session, talks.reuse, NextTurn { of, panel: folder.layout(), slot, prompt: &prompt, continuing })
    }

    /// Takes in what all of `folder` answered that were asked what is in `prompt`.
    pub(super) fn heard(&mut self, folder: &PanelFolder, prompt: &Path) -> Result<()> {
        let Some(talks) = self.talks else { return Ok(()) };
        for slot in folder.manifest().models.keys() {
            let of = talks.of(folder, *slot)?;
            roles::heard(self.session, of, folder, *slot, prompt, Timestamp::now())?;
        }
        Ok(())
    }

    /// Begins the conversations with `slots` of `folder` anew.
    pub(super) fn reset(&mut self, folder: &PanelFolder, slots: &[SlotId]) -> Result<()> {
        let Some(talks) = self.talks else { return Ok(()) };
        slots.iter().try_for_each(|slot| roles::reset(self.session, talks.of(folder, *slot)?, Timestamp::now()))
    }

    /// A further turn of some of `folder`. In `continuing` is what is asked of each that knows what it said, where that is
    /// something else.
    pub(super) fn again(
        &mut self,
        folder: &PanelFolder,
        slots: &[SlotId],
        continuing: BTreeMap<SlotId, String>,
    ) -> Result<Again<'_>> {
        let Some(talks) = self.talks else { return Ok(Again(None)) };
        let of = slots.iter().map(|slot| Ok((*slot, talks.of(folder, *slot)?))).collect::<Result<_>>()?;
        Ok(Again(Some(Further { session: &mut *self.session, reuse: talks.reuse, of, continuing })))
    }
}

/// A further turn of reviewers.
pub(super) struct Again<'a>(Option<Further<'a>>);

struct Further<'a> {
    session: &'a mut Session,
    reuse: SessionReuse,
    of: BTreeMap<SlotId, Participant>,
    continuing: BTreeMap<SlotId, String>,
}

impl engine::Talks for Again<'_> {
    fn next(&mut self, panel: &Layout, slot: SlotId, prompt: PathBuf) -> Result<(PathBuf, Option<Continuation>)> {
        let Self(Some(Further { session, reuse, of, continuing })) = self else { return Ok((prompt, None)) };
        let Some(of) = of.get(&slot).copied() else { return Ok((prompt, None)) };
        let continuing = continuing.get(&slot).map(String::as_str);
        next(session, *reuse, NextTurn { of, panel, slot, prompt: &prompt, continuing })
    }

    fn heard(&mut self, panel: &PanelFolder, slot: SlotId, prompt: &Path) -> Result<()> {
        let Self(Some(Further { session, of, .. })) = self else { return Ok(()) };
        let Some(of) = of.get(&slot) else { return Ok(()) };
        roles::heard(session, *of, panel, slot, prompt, Timestamp::now()).map(drop)
    }
}

fn next(session: &mut Session, reuse: SessionReuse, turn: NextTurn<'_>) -> Result<(PathBuf, Option<Continuation>)> {
    let Turn { prompt, conversation } = roles::next(session, turn, reuse, Timestamp::now())?;
    Ok((prompt, conversation))
}
