//! Further turns of a round's judges: the second pass, and asking for what a ballot lacks.

use std::collections::BTreeMap;

use super::audit::Audit;
use super::opening::Opening;
use super::panel::{Accepted, Panel};
use super::round::check_prompts;
use crate::error::Result;
use crate::ids::SlotId;
use crate::session::slot::SlotState;
use crate::session::{Event, Round, Turn};

/// A turn whose folder was checked.
pub(super) struct TurnFolder {
    pub(super) turn: Turn,
    pub(super) panel: Panel,
    /// What the judges replied, where that is as it was recorded.
    pub(super) replies: BTreeMap<SlotId, Vec<u8>>,
    /// What stands in the headings of each judge's prompt.
    pub(super) headings: BTreeMap<SlotId, Vec<String>>,
    /// The turns inside of this one.
    pub(super) turns: Vec<Self>,
}

impl TurnFolder {
    /// Checks every turn that the record of `around` opened.
    pub(super) fn check_all(
        audit: &mut Audit,
        around: &Panel,
        id: &str,
        round: Option<Round>,
        owned: bool,
    ) -> Result<Vec<Self>> {
        let mut turns: Vec<Self> = Vec::new();
        for (index, record) in around.record.records.iter().enumerate() {
            let Event::TurnOpened { turn, .. } = record.event else { continue };
            // There is one folder for each kind; the second opening of one cannot be followed by anything.
            if turns.iter().any(|known| known.turn == turn) {
                continue;
            }
            let folder = around.file(turn.folder());
            let opening = Opening { parent: around, index, folder, round, turn: Some(turn), inner: around.inner() };
            let Some(panel) = opening.read(audit, id, owned)? else { continue };
            turns.push(Self::check(audit, panel, turn, id, round, owned)?);
        }
        Ok(turns)
    }

    fn check(
        audit: &mut Audit,
        mut panel: Panel,
        turn: Turn,
        id: &str,
        round: Option<Round>,
        owned: bool,
    ) -> Result<Self> {
        // It is drawn from its round's manifest, which alone is looked at when a session is resumed.
        panel.check_beginning(audit, &Accepted::default())?;
        let headings = check_prompts(audit, &panel);
        let replies = panel.read_answers(audit);
        let turns = Self::check_all(audit, &panel, id, round, owned)?;
        panel.check_errors(audit);
        panel.check_status(audit)?;
        Ok(Self { turn, panel, replies, headings, turns })
    }

    /// The one of `turns` that is `turn`.
    pub(super) fn find(turns: &[Self], turn: Turn) -> Option<&Self> {
        turns.iter().find(|found| found.turn == turn)
    }

    /// How `judge` ended in this turn; `None` when it was not asked.
    pub(super) fn state(&self, judge: SlotId) -> Option<SlotState> {
        self.panel.status.as_ref()?.models.get(&judge).map(|entry| entry.state)
    }

    pub(super) fn reply(&self, judge: SlotId) -> Option<&[u8]> {
        self.replies.get(&judge).map(Vec::as_slice)
    }

    /// This one, and all inside of it.
    pub(super) fn panels(&self) -> Vec<&Panel> {
        std::iter::once(&self.panel).chain(self.turns.iter().flat_map(Self::panels)).collect()
    }
}
