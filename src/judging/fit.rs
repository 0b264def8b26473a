//! Keeps each judge's prompt within its context.

use std::collections::BTreeMap;

use crate::ids::SlotId;

use super::{Assignment, BallotForm, Judge, JudgePrompts, PromptError};

/// How many bytes of a prompt count as one token.
///
/// English prose has about four, code and other languages about three; the lower figure keeps the estimate on the safe
/// side, and the quarter of the context that is left free covers what it misses, the reasoning and the ballot.
pub const BYTES_PER_TOKEN: u64 = 3;

/// A judge whose context does not hold two answers (or the only one that it may see).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "judge {judge} is declared with a context of {context_tokens} tokens; three quarters of it ({available} bytes) do \
     not hold the task and {needed} of the answers"
)]
pub struct FitError {
    /// The judge.
    pub judge: SlotId,
    /// Its declared context.
    pub context_tokens: u64,
    /// Bytes that a prompt may have.
    pub available: u64,
    /// How many answers it should see at least.
    pub needed: usize,
}

/// Assignments that fit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fitted {
    /// One per judge that can be asked.
    pub assignments: Vec<Assignment>,
    /// Judges that do not see every answer they might, and the answers left out.
    pub left_out: Vec<(SlotId, Vec<SlotId>)>,
    /// Judges that cannot be asked.
    pub refused: Vec<FitError>,
}

impl JudgePrompts<'_> {
    /// Reduces each assignment to what three quarters of its judge's context hold.
    ///
    /// Where not all answers fit, those with the fewest judges so far are kept first, so that the subsets cover the
    /// answers evenly; their order stays. Two answers are the least (one, for a judge that may see one only).
    ///
    /// # Errors
    /// A template is not usable, or an assignment shows an answer that was not given.
    pub fn fit(
        &self,
        assignments: Vec<Assignment>,
        judges: &[Judge],
        form_of: impl Fn(SlotId) -> BallotForm,
    ) -> Result<Fitted, PromptError> {
        let context_of: BTreeMap<SlotId, u64> =
            judges.iter().filter_map(|judge| Some((judge.id, judge.context_tokens?))).collect();
        let mut fitted = Fitted::default();
        let mut limited = Vec::new();
        let mut seen: BTreeMap<SlotId, usize> = BTreeMap::new();
        for assignment in assignments {
            let context = context_of.get(&assignment.judge).copied();
            let size = self.size(&assignment, form_of(assignment.judge))?;
            match context {
                Some(context_tokens) if size > available(context_tokens) => {
                    limited.push((assignment, context_tokens, size));
                }
                _ => {
                    assignment.shown.iter().for_each(|(id, _)| *seen.entry(*id).or_default() += 1);
                    fitted.assignments.push(assignment);
                }
            }
        }
        for (mut assignment, context_tokens, size) in limited {
            let mut sizes = BTreeMap::new();
            for (id, _) in &assignment.shown {
                sizes.insert(*id, self.size_of(*id, &assignment)?);
            }
            let frame = size.saturating_sub(sizes.values().sum());
            let mut room = available(context_tokens).saturating_sub(frame);
            let mut wanted: Vec<SlotId> = assignment.shown.iter().map(|(id, _)| *id).collect();
            wanted.sort_by_key(|id| seen.get(id).copied().unwrap_or(0));
            let needed = wanted.len().min(2);
            let (kept, dropped): (Vec<SlotId>, Vec<SlotId>) = wanted.into_iter().partition(|id| {
                let size = sizes.get(id).copied().unwrap_or(u64::MAX);
                let fits = size <= room;
                if fits {
                    room -= size;
                }
                fits
            });
            if kept.len() < needed {
                let available = available(context_tokens);
                fitted.refused.push(FitError { judge: assignment.judge, context_tokens, available, needed });
                continue;
            }
            kept.iter().for_each(|id| *seen.entry(*id).or_default() += 1);
            assignment.shown.retain(|(id, _)| kept.contains(id));
            let mut dropped = dropped;
            dropped.sort();
            fitted.left_out.push((assignment.judge, dropped));
            fitted.assignments.push(assignment);
        }
        fitted.assignments.sort_by_key(|assignment| assignment.judge);
        Ok(fitted)
    }
}

/// The bytes that a prompt may have.
pub(super) fn available(context_tokens: u64) -> u64 {
    context_tokens.saturating_mul(BYTES_PER_TOKEN) / 4 * 3
}
