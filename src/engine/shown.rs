//! The complete answers of a panel as its judges see them: what they say about their authors, and what is left out for it.

use std::collections::BTreeMap;

use crate::config::{Leaks, ResolvedModel};
use crate::ids::SlotId;
use crate::judging::{LeakCount, LeakScan};

/// What finds names in answers: those of families that are known publicly, and those of this panel.
pub(crate) fn leak_scan<'a>(models: impl IntoIterator<Item = &'a ResolvedModel>) -> LeakScan {
    let words = models.into_iter().map(ResolvedModel::naming_words);
    LeakScan::new(words.flat_map(|words| words.model.into_iter().chain(words.program)))
}

/// What is known of each complete answer from the copy that judges see.
pub(super) struct Shown {
    copies: BTreeMap<SlotId, ShownAnswer>,
}

struct ShownAnswer {
    leaks: LeakCount,
    left_out: bool,
}

impl Shown {
    /// `counts` is what was found in each, `rule` what is done about it.
    pub(super) fn of(counts: impl IntoIterator<Item = (SlotId, LeakCount)>, rule: Leaks) -> Self {
        let shown = |(id, leaks): (SlotId, LeakCount)| {
            let left_out = rule == Leaks::Fail && leaks.any();
            (id, ShownAnswer { leaks, left_out })
        };
        Self { copies: counts.into_iter().map(shown).collect() }
    }

    /// How many answers there are.
    pub(super) fn len(&self) -> usize {
        self.copies.len()
    }

    /// Those that are judged.
    pub(super) fn judged(&self) -> impl Iterator<Item = SlotId> {
        self.copies.iter().filter(|(_, answer)| !answer.left_out).map(|(id, _)| *id)
    }

    /// How often an answer names its author, and whether it is left out for it.
    pub(super) fn of_answer(&self, id: SlotId) -> (LeakCount, bool) {
        self.copies.get(&id).map(|answer| (answer.leaks, answer.left_out)).unwrap_or_default()
    }
}
