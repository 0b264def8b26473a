//! A published verdict on a task.

use super::ballots::{ids, kind_of};
use super::model::{CellKind, Issue, MemberRow, Seat, Voted};
use crate::judging::MissingReason;
use crate::secrets::Redactor;
use crate::session::slot::SlotState;
use crate::verdict::{Names, TaskMember, TaskVerdict};

/// The verdict in rows.
pub(super) fn voted(verdict: &TaskVerdict, names: &Names, redactor: &Redactor) -> Voted {
    let count = verdict.votes;
    let rules = vec![
        (
            "Bar",
            format!(
                "{} ({}), which is {} of {}",
                verdict.threshold.describe(),
                verdict.threshold,
                verdict.needed,
                count.valid
            ),
        ),
        ("Quorum", format!("{} of a panel of {}; {} cast", verdict.quorum, count.panel, count.valid)),
        (
            "Votes",
            format!(
                "{} for, {} against, {} abstentions, {} missing",
                count.approvals, count.rejections, count.abstentions, count.missing
            ),
        ),
    ];
    let issue = |issue: &crate::verdict::TaskIssue| Issue {
        count: issue.count,
        text: redactor.text(&issue.text),
        answers: "-".to_owned(),
        judges: ids(&issue.raised_by),
    };
    let notes = verdict.members.iter().flat_map(|member| {
        let repair = member.repair.iter().flat_map(|repair| &repair.notes);
        member.notes.iter().chain(repair).map(|note| format!("member {}: {}", member.id, note.kind.describe()))
    });
    Voted {
        members: verdict.members.iter().map(|member| row(member, names, redactor)).collect(),
        rules,
        dissent: (!verdict.dissent.is_empty()).then(|| format!("not with the most: {}", ids(&verdict.dissent))),
        issues: verdict.key_issues.iter().map(issue).collect(),
        notes: notes.collect(),
    }
}

fn row(member: &TaskMember, names: &Names, redactor: &Redactor) -> MemberRow {
    let vote = member.counted();
    let kind = vote.map_or(CellKind::Missing, |vote| kind_of(vote.verdict));
    let missing = || match (member.state, member.missing) {
        (SlotState::Completed, Some(MissingReason::JudgeFailed) | None) => "no vote".to_owned(),
        (SlotState::Completed, Some(reason)) => reason.describe().to_owned(),
        _ => "the member did not complete".to_owned(),
    };
    MemberRow {
        seat: Seat { id: member.id, name: names.slots.get(&member.id).cloned() },
        state: member.state.as_str(),
        kind,
        sign: kind.sign(),
        words: kind.describe(),
        confidence: vote.and_then(|vote| vote.confidence).map_or_else(|| "-".to_owned(), |value| value.to_string()),
        reason: vote.map_or_else(missing, |vote| redactor.text(&vote.summary)),
    }
}
