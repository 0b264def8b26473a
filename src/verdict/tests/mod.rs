//! Rounds written down in short form, counted and rendered.

mod counting;
mod passes;
mod rendering;

use std::collections::BTreeMap;

use crate::config::{Leaks, Passes, Recuse, Repair, SelfVote};
use crate::ids::{FormatVersion, Sha256Hash, SlotId};
use crate::judging::{Candidate, CastVote, JudgeVotes, LeakCount, Missing, MissingReason, Panel, VoteVerdict, Votes};
use crate::session::slot::SlotState;

pub(super) fn id(number: usize) -> SlotId {
    SlotId::panel(99).nth(number - 1).unwrap()
}

/// The cases of a fixture of statistics.
pub(super) fn cases(text: &str) -> Vec<serde_json::Value> {
    let fixture: serde_json::Value = serde_json::from_str(text).unwrap();
    fixture["cases"].as_array().unwrap().clone()
}

/// A round from one line per judge: per answer `a`pprove, `r`eject, `-` abstain, `?` missing, `.` not shown; a line
/// that begins with `!` is a judge that failed.
pub(super) fn round(lines: &[&str]) -> Votes {
    let judges: Vec<JudgeVotes> = lines.iter().enumerate().map(|(index, line)| judge(id(index + 1), line)).collect();
    let answers = lines.iter().map(|line| line.trim_start_matches('!').len()).max().unwrap_or(0);
    let eligible = |answer: SlotId| judges.iter().filter(|judge| judge.order.contains(&answer)).count() as u32;
    let candidates = SlotId::panel(answers)
        .map(|answer| Candidate {
            id: answer,
            state: SlotState::Completed,
            sha256: Some(Sha256Hash::of(answer.to_string().as_bytes())),
            bytes: Some(100 * answer.number() as u64),
            leaks: LeakCount::default(),
            left_out: false,
            eligible_judges: eligible(answer),
        })
        .collect();
    Votes {
        version: FormatVersion::CURRENT,
        round: 1,
        self_vote: SelfVote::Model,
        recuse: Recuse::None,
        leaks: Leaks::Mask,
        passes: Passes::One,
        repair: Repair::Once,
        panel: Panel { slots: answers as u32, judges: judges.len() as u32 },
        candidates,
        judges,
        imported: None,
    }
}

fn judge(judge: SlotId, line: &str) -> JudgeVotes {
    let failed = line.starts_with('!');
    let marks: Vec<(SlotId, char)> =
        line.trim_start_matches('!').chars().enumerate().map(|(index, mark)| (id(index + 1), mark)).collect();
    let shown = marks.iter().filter(|(_, mark)| *mark != '.');
    let reason = if failed { MissingReason::JudgeFailed } else { MissingReason::NotVoted };
    let verdict = |mark: char| match mark {
        'a' => Some(VoteVerdict::Approve),
        'r' => Some(VoteVerdict::Reject),
        '-' => Some(VoteVerdict::Abstain),
        _ => None,
    };
    JudgeVotes {
        id: judge,
        state: if failed { SlotState::Failed } else { SlotState::Completed },
        response_sha256: None,
        order: shown.clone().map(|(answer, _)| *answer).collect(),
        aliases: BTreeMap::new(),
        nonce: None,
        votes: marks
            .iter()
            .filter_map(|(answer, mark)| {
                Some(CastVote {
                    answer: *answer,
                    verdict: verdict(*mark)?,
                    confidence: Some(7),
                    summary: format!("about {answer}"),
                    key_issues: if *mark == 'r' { vec!["Too slow.".to_owned()] } else { Vec::new() },
                })
            })
            .collect(),
        missing: shown
            .filter(|(_, mark)| failed || verdict(*mark).is_none())
            .map(|(answer, _)| Missing { answer: *answer, reason })
            .collect(),
        notes: Vec::new(),
        pairs: Vec::new(),
        repair: None,
        second_pass: None,
    }
}
