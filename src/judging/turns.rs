//! The turns of a judge: asked once, asked again in reverse order, and asked for what a ballot lacks.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::{Sha256Hash, SlotId};
use crate::session::slot::SlotState;

use super::{
    Alias, AliasError, Assignment, Ballot, CastVote, Missing, MissingReason, Nonce, Note, NoteKind, VoteVerdict,
};

/// What came of asking a judge for the part that its ballot lacks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RepairTurn {
    /// How it ended; only votes of a COMPLETED turn count.
    pub state: SlotState,
    /// The hash of the reply.
    pub response_sha256: Option<Sha256Hash>,
    /// The answers that were asked for, in the order of the prompt.
    pub asked: Vec<SlotId>,
    /// The valid votes of the reply.
    pub votes: Vec<CastVote>,
    /// The answers that it has no valid vote on, and why.
    pub missing: Vec<Missing>,
    /// What a reader should know about it.
    pub notes: Vec<Note>,
}

impl RepairTurn {
    /// A turn that completed with this `ballot`, or that ended as `state` without one.
    #[must_use]
    pub fn new(state: SlotState, assignment: &Assignment, reply: Option<(Sha256Hash, Ballot)>) -> Self {
        let asked: Vec<SlotId> = assignment.shown.iter().map(|(answer, _)| *answer).collect();
        match reply {
            Some((hash, Ballot { votes, missing, notes })) => {
                Self { state, response_sha256: Some(hash), asked, votes, missing, notes }
            }
            None => {
                let missing =
                    asked.iter().map(|&answer| Missing { answer, reason: MissingReason::JudgeFailed }).collect();
                Self { state, response_sha256: None, asked, votes: Vec::new(), missing, notes: Vec::new() }
            }
        }
    }
}

/// A second pass: the same answers in reverse order, in a prompt with names of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SecondPass {
    /// How it ended.
    pub state: SlotState,
    /// The hash of the reply.
    pub response_sha256: Option<Sha256Hash>,
    /// The answers in the order of its prompt.
    pub order: Vec<SlotId>,
    /// Their names in its prompt.
    pub aliases: BTreeMap<SlotId, Alias>,
    /// The code in its prompt's fences.
    pub nonce: Option<Nonce>,
    /// The valid votes of its reply.
    pub votes: Vec<CastVote>,
    /// The answers without a valid vote, and why.
    pub missing: Vec<Missing>,
    /// What a reader should know about its reply.
    pub notes: Vec<Note>,
    /// What came of asking for what is missing.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub repair: Option<RepairTurn>,
}

/// One pass as it is counted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pass<'a> {
    pub(super) state: SlotState,
    pub(super) order: &'a [SlotId],
    pub(super) votes: &'a [CastVote],
    pub(super) missing: &'a [Missing],
    pub(super) repair: Option<&'a RepairTurn>,
}

/// A vote that counts, or what there is instead of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It counts.
    Vote {
        /// What is voted; of two passes, in the words of the first, with the mean of the confidences.
        vote: CastVote,
        /// The answer's place in each prompt, from 1.
        positions: Vec<u32>,
    },
    /// The two passes differ.
    Inconsistent {
        /// What the first pass says.
        first: VoteVerdict,
        /// What the second says.
        second: VoteVerdict,
    },
    /// There is none.
    Missing(MissingReason),
}

impl Pass<'_> {
    /// The vote on `answer`, with its place; `Err` with the reason where there is none, `None` where it was not shown.
    fn outcome(&self, answer: SlotId) -> Option<Result<(&CastVote, u32), MissingReason>> {
        let place = self.order.iter().position(|shown| *shown == answer)?;
        let place = u32::try_from(place + 1).unwrap_or(u32::MAX);
        if self.state != SlotState::Completed {
            return Some(Err(MissingReason::JudgeFailed));
        }
        // A turn that was not asked for an answer has no vote on it, whatever is written there.
        let repaired = self
            .repair
            .filter(|repair| repair.state == SlotState::Completed && repair.asked.contains(&answer))
            .map_or(&[][..], |repair| &repair.votes);
        let mut votes = self.votes.iter().chain(repaired).filter(|vote| vote.answer == answer);
        let reason = || self.missing.iter().find(|missing| missing.answer == answer).map(|missing| missing.reason);
        Some(match (votes.next(), votes.next()) {
            (Some(vote), None) => Ok((vote, place)),
            (Some(_), Some(_)) => Err(MissingReason::Contradiction),
            (None, _) => Err(reason().unwrap_or(MissingReason::NotVoted)),
        })
    }

    /// The votes of the pass by place, whether they count or not: what a lean to a place is computed from.
    pub(super) fn by_place(&self) -> impl Iterator<Item = (SlotId, u32, VoteVerdict)> {
        self.order.iter().filter_map(|answer| {
            let (vote, place) = self.outcome(*answer)?.ok()?;
            Some((*answer, place, vote.verdict))
        })
    }
}

/// What one or two passes say about `answer`; `None` where it was not shown.
pub(super) fn outcome(first: Pass<'_>, second: Option<Pass<'_>>, answer: SlotId) -> Option<Outcome> {
    let (vote, place) = match first.outcome(answer)? {
        Ok(vote) => vote,
        Err(reason) => return Some(Outcome::Missing(reason)),
    };
    let Some(second) = second else {
        return Some(Outcome::Vote { vote: vote.clone(), positions: vec![place] });
    };
    if second.state != SlotState::Completed {
        return Some(Outcome::Missing(MissingReason::SecondPassFailed));
    }
    Some(match second.outcome(answer) {
        Some(Ok((again, _))) if again.verdict != vote.verdict => {
            Outcome::Inconsistent { first: vote.verdict, second: again.verdict }
        }
        Some(Ok((again, second_place))) => {
            let confidence = mean(vote.confidence, again.confidence);
            let mut key_issues = vote.key_issues.clone();
            key_issues.extend(again.key_issues.iter().filter(|issue| !vote.key_issues.contains(issue)).cloned());
            let vote = CastVote { confidence, key_issues, ..vote.clone() };
            Outcome::Vote { vote, positions: vec![place, second_place] }
        }
        Some(Err(reason)) => Outcome::Missing(reason),
        None => Outcome::Missing(MissingReason::NotVoted),
    })
}

/// The mean of two confidences, halves rounded down: a judge is not taken at its surer word. One alone stands for both.
fn mean(first: Option<u8>, second: Option<u8>) -> Option<u8> {
    match (first, second) {
        (Some(first), Some(second)) => u8::try_from((u16::from(first) + u16::from(second)) / 2).ok(),
        (one, other) => one.or(other),
    }
}

/// The answers that a judge is asked for once more: those that its ballot says nothing readable about. Two different
/// votes for one answer are what the judge said, and asking again would be choosing between them.
pub(super) fn repairable(missing: &[Missing]) -> impl Iterator<Item = SlotId> {
    missing.iter().filter(|missing| is_repairable(missing.reason)).map(|missing| missing.answer)
}

/// Whether asking once more may bring a vote without choosing between two.
pub(crate) const fn is_repairable(reason: MissingReason) -> bool {
    matches!(reason, MissingReason::NoBallot | MissingReason::NotVoted | MissingReason::UnclearVerdict)
}

/// What a judge was shown, from what is on record; `None` when it was not asked.
pub(super) fn assignment_of(
    judge: SlotId,
    nonce: Option<&Nonce>,
    order: &[SlotId],
    aliases: &BTreeMap<SlotId, Alias>,
) -> Result<Option<Assignment>, AliasError> {
    let Some(nonce) = nonce.cloned() else { return Ok(None) };
    let shown = order
        .iter()
        .map(|id| match aliases.get(id) {
            Some(alias) => Ok((*id, alias.clone())),
            None => Err(AliasError::absent(*id)),
        })
        .collect::<Result<_, _>>()?;
    Ok(Some(Assignment { judge, shown, nonce }))
}

/// The notes of a repair turn, under a note that there was one.
pub(super) fn repair_notes(repair: &RepairTurn) -> impl Iterator<Item = Note> {
    let text = format!("{} of {}", repair.votes.len(), repair.asked.len());
    std::iter::once(Note { kind: NoteKind::AskedAgain, answer: None, text: Some(text) }).chain(repair.notes.clone())
}
