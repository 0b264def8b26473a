//! The count of many ballots.

use std::collections::BTreeMap;
use std::hint::black_box;

use team::config::{Leaks, Passes, Recuse, Repair, SelfVote};
use team::ids::{FormatVersion, SlotId};
use team::judging::{Candidate, CastVote, JudgeVotes, LeakCount, Panel, VoteVerdict, Votes};
use team::session::slot::SlotState;
use team::verdict::tally;

use crate::measure::{medians, time};
use crate::table::Row;

const BAR_MILLIS: u32 = 100;
const TURNS: usize = 9;

pub(crate) fn rows(_scale: f64) -> Vec<Row> {
    // A vote on each of many answers, and as many judges as there may be ballots with two answers to compare.
    [(100, 100), (5_000, 2)]
        .into_iter()
        .map(|(judges, answers)| {
            let votes = votes(judges, answers);
            let count = judges * answers;
            let mut ours = || {
                time(|| {
                    black_box(tally(black_box(&votes)));
                })
            };
            let [ours] = medians(TURNS, [&mut ours]);
            Row::millis(format!("tally of {count} votes by {judges} judges"), ours, BAR_MILLIS)
        })
        .collect()
}

/// `judges` that each vote on all of `answers`, with faults that are named alike and others that are not.
fn votes(judges: usize, answers: usize) -> Votes {
    let ids: Vec<SlotId> = SlotId::panel(answers).collect();
    let seats: Vec<SlotId> = SlotId::panel(judges).collect();
    let candidate = |id: &SlotId| Candidate {
        id: *id,
        state: SlotState::Completed,
        sha256: None,
        bytes: Some(1000 + 17 * id.number() as u64),
        leaks: LeakCount::default(),
        left_out: false,
        eligible_judges: u32::try_from(judges).unwrap(),
    };
    let vote = |judge: usize, answer: usize| CastVote {
        answer: ids[answer],
        verdict: match (judge * 7 + answer * 3) % 5 {
            0 | 1 => VoteVerdict::Reject,
            2 => VoteVerdict::Abstain,
            _ => VoteVerdict::Approve,
        },
        confidence: u8::try_from(1 + (judge + answer) % 10).ok(),
        summary: format!("Judge {judge} finds that answer {answer} is right, but for one of its three claims."),
        key_issues: vec![
            format!("No test of case {}", (judge + answer) % 40),
            format!("Claim {judge} about {answer} is not shown"),
        ],
    };
    let judge = |(index, id): (usize, &SlotId)| JudgeVotes {
        id: *id,
        state: SlotState::Completed,
        response_sha256: None,
        order: ids.clone(),
        aliases: BTreeMap::new(),
        nonce: None,
        votes: (0..answers).map(|answer| vote(index, answer)).collect(),
        missing: Vec::new(),
        notes: Vec::new(),
        pairs: Vec::new(),
        repair: None,
        second_pass: None,
    };
    Votes {
        version: FormatVersion::CURRENT,
        round: 1,
        self_vote: SelfVote::Include,
        recuse: Recuse::None,
        leaks: Leaks::Mask,
        passes: Passes::One,
        repair: Repair::Once,
        panel: Panel { slots: u32::try_from(answers).unwrap(), judges: u32::try_from(judges).unwrap() },
        candidates: ids.iter().map(candidate).collect(),
        judges: seats.iter().enumerate().map(judge).collect(),
        imported: None,
    }
}
