//! One session as it counts.

use std::collections::BTreeMap;
use std::path::Path;

use jiff::Timestamp;
use serde::Deserialize;

use super::model::Skipped;
use crate::ids::{Sha256Hash, SlotId};
use crate::judging::VoteVerdict;
use crate::report::money::seat_usd;
use crate::report::published::{Published, recorded_as};
use crate::session::slot::{SlotState, Usage};
use crate::session::{
    Event, Layout, Manifest, Meta, Money, Record, Round, SessionError, SessionState, SlotStatus, Status,
};
use crate::verdict::{NoWinner, TaskVerdict, Verdict};

/// A session with a verdict.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    pub(super) session: String,
    pub(super) started: Timestamp,
    /// The kind of task that chose its panel.
    pub(super) context: Option<String>,
    /// Whether its newest votes were imported.
    pub(super) imported: bool,
    pub(super) seats: Vec<Seat>,
    pub(super) voters: Vec<Voter>,
}

/// Which model it was.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Who {
    /// Its identity.
    pub(super) model: String,
    /// The name that it was asked by.
    pub(super) name: String,
}

/// One slot.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Seat {
    pub(super) who: Who,
    pub(super) state: SlotState,
    /// How long its last attempt took, in seconds.
    pub(super) seconds: Option<f64>,
    pub(super) usage: Option<Usage>,
    /// What it cost, in US dollars.
    pub(super) usd: Option<f64>,
    /// Of an answer that was judged, in a round with a valid vote.
    pub(super) result: Option<SeatResult>,
}

/// What became of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SeatResult {
    pub(super) won: bool,
    pub(super) approvals: u32,
    pub(super) votes: u32,
}

/// Somebody who voted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Voter {
    pub(super) who: Who,
    /// Its votes as most of the others voted.
    pub(super) agreed: u32,
    /// Its votes where most of the others agree.
    pub(super) of: u32,
}

impl Entry {
    /// The session at `layout`, whose `session-meta.json` is `meta`.
    pub(super) fn read(layout: &Layout, meta: Meta) -> Result<Self, Skipped> {
        if meta.status.is_active() {
            return Err(Skipped::Unfinished);
        }
        let Recorded { manifest: on_record, context, verdict } = recorded(&layout.events()).ok_or(Skipped::Broken)?;
        let Some(verdict) = verdict else {
            return Err(match meta.status {
                SessionState::Failed => Skipped::Failed,
                SessionState::Cancelled => Skipped::Cancelled,
                SessionState::Interrupted => Skipped::Unfinished,
                _ => Skipped::NoVerdict,
            });
        };
        let bytes = crate::fs::read_plain(layout.manifest()).map_err(|_| Skipped::Broken)?;
        if Sha256Hash::of(&bytes) != on_record {
            return Err(Skipped::Changed);
        }
        let manifest = Manifest::parse(&layout.manifest(), &bytes).map_err(|error| reason(&error))?;
        let status = Status::read(&layout.status()).map_err(|error| reason(&error))?;
        let money = meta.money.unwrap_or_default();
        let seats = |result: &dyn Fn(SlotId) -> Option<SeatResult>| {
            let seats = status.models.iter().filter_map(|(id, slot)| seat(&manifest, *id, slot, &money, result(*id)));
            seats.collect()
        };
        let (seats, voters, imported) = match recorded_as(layout, verdict) {
            Published::Verdict(verdict) => {
                let folder = layout.round(Round(verdict.round));
                let judges = Manifest::read(&folder.manifest()).map_err(|error| reason(&error))?;
                (seats(&|id| result(&verdict, id)), voters(&verdict, &judges), verdict.imported.is_some())
            }
            Published::Task(verdict) => (seats(&|_| None), members(&verdict, &manifest), false),
            Published::Review(_) => return Err(Skipped::Review),
            Published::Newer(_) => return Err(Skipped::Newer),
            Published::None | Published::Changed => return Err(Skipped::Changed),
        };
        Ok(Self { session: meta.session_id, started: meta.started_at, context, imported, seats, voters })
    }
}

pub(super) fn reason(error: &SessionError) -> Skipped {
    if matches!(error, SessionError::Newer { .. }) { Skipped::Newer } else { Skipped::Broken }
}

/// What a session's own record says.
struct Recorded {
    manifest: Sha256Hash,
    context: Option<String>,
    verdict: Option<Sha256Hash>,
}

/// Only the lines that are needed are parsed: the first, and the last verdict's. The chain is `team verify`'s to check.
fn recorded(path: &Path) -> Option<Recorded> {
    let bytes = crate::fs::read_plain(path).ok()?;
    let mut lines = bytes.split(|byte| *byte == b'\n');
    let first: Record = serde_json::from_slice(lines.next()?).ok()?;
    let Event::Created { manifest, plan, .. } = first.event else { return None };
    let mut verdicts = memchr::memmem::rfind_iter(&bytes, b"\"event\":\"verdict\"");
    let verdict = verdicts.find_map(|at| {
        let start = memchr::memrchr(b'\n', &bytes[..at]).map_or(0, |end| end + 1);
        let end = memchr::memchr(b'\n', &bytes[at..])?;
        // Words of a model may look like it; they are inside of another event's string.
        match serde_json::from_slice::<Record>(&bytes[start..at + end]).ok()?.event {
            Event::Verdict { verdict_json, .. } => Some(verdict_json),
            _ => None,
        }
    });
    Some(Recorded { manifest, context: plan.and_then(|plan| context(&plan)), verdict })
}

/// The kind of task that a plan's panel was chosen by.
fn context(plan: &serde_json::Value) -> Option<String> {
    #[derive(Deserialize)]
    struct Plan {
        panel: Chosen,
    }
    #[derive(Deserialize)]
    struct Chosen {
        context: Option<String>,
    }
    Plan::deserialize(plan).ok()?.panel.context
}

fn who(manifest: &Manifest, id: SlotId) -> Option<Who> {
    let member = manifest.member(id)?;
    Some(Who { model: member.resolved.identity.to_string(), name: member.model.clone() })
}

fn seat(manifest: &Manifest, id: SlotId, slot: &SlotStatus, money: &Money, result: Option<SeatResult>) -> Option<Seat> {
    let took = |start: Timestamp, end: Timestamp| (end.as_millisecond() - start.as_millisecond()) as f64 / 1000.0;
    Some(Seat {
        who: who(manifest, id)?,
        state: slot.state,
        seconds: slot.started_at.zip(slot.completed_at).map(|(start, end)| took(start, end)),
        usage: slot.usage,
        usd: seat_usd(money, &format!("slot {id}")),
        result,
    })
}

fn result(verdict: &Verdict, id: SlotId) -> Option<SeatResult> {
    // Where nobody voted nobody lost.
    if verdict.no_winner == Some(NoWinner::NoVotes) {
        return None;
    }
    let answer = verdict.answers.iter().find(|answer| answer.id == id)?;
    let pair = verdict.pairs.as_ref().and_then(|pairs| pairs.iter().find(|pair| pair.answer == id));
    let (approvals, votes) = match pair {
        Some(pair) => (pair.wins + pair.ties / 2, pair.comparisons()),
        None => (answer.approvals, answer.approvals + answer.rejections),
    };
    Some(SeatResult { won: verdict.winner == Some(id), approvals, votes })
}

/// How often each judge votes as most of the others.
fn voters(verdict: &Verdict, judges: &Manifest) -> Vec<Voter> {
    let mut counts: BTreeMap<SlotId, (u32, u32)> = BTreeMap::new();
    for answer in &verdict.answers {
        for vote in &answer.votes {
            let (agreed, of) = counts.entry(vote.judge).or_default();
            count(vote.verdict, answer.approvals, answer.rejections, agreed, of);
        }
    }
    let voter = |(id, (agreed, of))| Some(Voter { who: who(judges, id)?, agreed, of });
    counts.into_iter().filter_map(voter).collect()
}

fn members(verdict: &TaskVerdict, panel: &Manifest) -> Vec<Voter> {
    let voter = |member: &crate::verdict::TaskMember| {
        let (mut agreed, mut of) = (0, 0);
        let vote = member.counted()?;
        count(vote.verdict, verdict.votes.approvals, verdict.votes.rejections, &mut agreed, &mut of);
        Some(Voter { who: who(panel, member.id)?, agreed, of })
    };
    verdict.members.iter().filter_map(voter).collect()
}

/// Counts one vote among `approvals` and `rejections`, which it is a part of.
fn count(vote: VoteVerdict, approvals: u32, rejections: u32, agreed: &mut u32, of: &mut u32) {
    let (others_for, others_against) = match vote {
        VoteVerdict::Approve => (approvals.saturating_sub(1), rejections),
        VoteVerdict::Reject => (approvals, rejections.saturating_sub(1)),
        VoteVerdict::Abstain => return,
    };
    if others_for != others_against {
        *of += 1;
        *agreed += u32::from((vote == VoteVerdict::Approve) == (others_for > others_against));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vote_is_no_part_of_the_majority_that_it_is_compared_with() {
        let counted = |vote, approvals, rejections| {
            let (mut agreed, mut of) = (0, 0);
            count(vote, approvals, rejections, &mut agreed, &mut of);
            (agreed, of)
        };
        assert_eq!(counted(VoteVerdict::Approve, 2, 0), (1, 1));
        // One against one: of the other's vote it differs.
        assert_eq!(counted(VoteVerdict::Approve, 1, 1), (0, 1));
        // The others are one against one.
        assert_eq!(counted(VoteVerdict::Approve, 2, 1), (0, 0));
        assert_eq!(counted(VoteVerdict::Reject, 2, 1), (0, 1));
        // Alone.
        assert_eq!(counted(VoteVerdict::Reject, 0, 1), (0, 0));
        assert_eq!(counted(VoteVerdict::Abstain, 3, 0), (0, 0));
    }
}
