//! Who judges, and whether every answer would have a judge.

use std::path::PathBuf;
use std::sync::Arc;

use super::rules::{Bench, RoundRules};
use crate::config::{ResolvedModel, VoteRules};
use crate::error::Result;
use crate::ids::SlotId;
use crate::judging::{Answer, Coverage, Judge, check_panel, rehearse_judging};
use crate::prompts::Prompts;
use crate::session::Manifest;

/// Who judges, and how.
#[derive(Debug, Clone)]
pub struct JudgeRequest {
    /// The judges by name; `None` for the panel itself.
    pub judges: Option<Vec<ResolvedModel>>,
    /// The rules of the vote.
    pub rules: VoteRules,
    /// The texts sent to judges.
    pub prompts: Arc<Prompts>,
    /// The folder that the user's own among them were read from, absolute.
    pub prompts_dir: Option<PathBuf>,
}

impl JudgeRequest {
    /// The judges of a panel of `models`, in order.
    #[must_use]
    pub fn judges_of(&self, models: &[ResolvedModel]) -> Vec<ResolvedModel> {
        self.judges.clone().unwrap_or_else(|| models.to_vec())
    }

    /// The rules of a round, as they are recorded.
    pub(super) const fn round_rules(&self) -> RoundRules {
        let bench = if self.judges.is_none() { Bench::Panel } else { Bench::Named };
        RoundRules { votes: self.rules, bench }
    }

    /// The judges of a panel of `models`, in order, each with the answers that it would be shown, by their place in the
    /// panel.
    #[must_use]
    pub fn shown_to(&self, models: &[ResolvedModel]) -> Vec<(ResolvedModel, Vec<usize>)> {
        let seats: Vec<SlotId> = SlotId::panel(models.len()).collect();
        let answers: Vec<Answer> = seats.iter().zip(models).map(|(id, model)| answer_of(*id, model)).collect();
        let judges = self.judges_of(models);
        let ids: Vec<SlotId> = SlotId::panel(judges.len()).collect();
        let with_shown = |(index, model): (usize, ResolvedModel)| {
            let judge = judge_of(ids[index], &model, self.judges.is_none().then(|| seats[index]));
            let allowed = Coverage::allowed(&answers, &[judge], self.rules.own);
            let shown = seats.iter().enumerate().filter(|(_, id)| allowed.of(**id) > 0).map(|(place, _)| place);
            let shown = shown.collect();
            (model, shown)
        };
        judges.into_iter().enumerate().map(with_shown).collect()
    }

    /// Refuses a panel of which an answer would be without a judge.
    ///
    /// After a run too every slot counts as an answer: what held for the complete ones alone would tell, before the
    /// verdict, which models failed.
    pub fn check(&self, models: &[ResolvedModel]) -> Result<Coverage> {
        rehearse_judging(&self.prompts)?;
        // The ids are drawn later; any one-to-one choice tells the same.
        let seats: Vec<SlotId> = SlotId::panel(models.len()).collect();
        let answers = seats.iter().zip(models).map(|(id, model)| answer_of(*id, model)).collect::<Vec<_>>();
        let judges = self.judges_of(models);
        let ids = SlotId::panel(judges.len());
        let judges = ids
            .zip(&judges)
            .enumerate()
            .map(|(index, (id, model))| judge_of(id, model, self.judges.is_none().then(|| seats[index])))
            .collect::<Vec<_>>();
        Ok(check_panel(&answers, &judges, self.rules.own)?)
    }
}

/// The answer of `model` in slot `id`.
pub(crate) fn answer_of(id: SlotId, model: &ResolvedModel) -> Answer {
    Answer { id, identity: model.identity.clone(), vendors: model.vendors() }
}

/// The judge `id` that `model` is, with its seat in the panel where it has one.
pub(crate) fn judge_of(id: SlotId, model: &ResolvedModel, seat: Option<SlotId>) -> Judge {
    Judge {
        id,
        identity: model.identity.clone(),
        vendors: model.vendors(),
        seat,
        context_tokens: model.settings.context,
    }
}

/// The judges of `round` in the user's order, each with the seat of the panel that it stands for.
pub(crate) fn seated_judges(round: &Manifest, panel: &Manifest, bench: Bench) -> Vec<Judge> {
    let judge = |(index, id): (usize, &SlotId)| {
        let seat = match bench {
            Bench::Panel => panel.shuffle_order.get(index).copied(),
            Bench::Named | Bench::Imported => None,
        };
        Some(judge_of(*id, &round.member(*id)?.resolved, seat))
    };
    round.shuffle_order.iter().enumerate().filter_map(judge).collect()
}
