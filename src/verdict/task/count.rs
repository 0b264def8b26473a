//! From the members' votes to the verdict.

use super::{TaskCount, TaskIssue, TaskMember, TaskVerdict, decide_task};
use crate::config::Threshold;
use crate::ids::{FormatVersion, Sha256Hash, SlotId};
use crate::judging::VoteVerdict;
use crate::verdict::issues::IssueGroups;

/// Counts the votes of a panel on the text whose hash is `task`. Whatever order `members` have, the verdict is the same.
#[must_use]
pub fn count_task(task: Sha256Hash, threshold: Threshold, quorum: u32, mut members: Vec<TaskMember>) -> TaskVerdict {
    members.sort_by_key(|member| member.id);
    let mut votes = TaskCount::default();
    let mut issues = IssueGroups::default();
    for member in &members {
        votes.panel += 1;
        match member.counted().map(|vote| vote.verdict) {
            Some(VoteVerdict::Approve) => votes.approvals += 1,
            Some(VoteVerdict::Reject) => votes.rejections += 1,
            Some(VoteVerdict::Abstain) => votes.abstentions += 1,
            None => votes.missing += 1,
        }
        let named = member.counted().into_iter().flat_map(|vote| &vote.key_issues);
        named.for_each(|issue| issues.add(member.id, member.id, issue));
    }
    votes.valid = votes.approvals + votes.rejections;
    let decision = decide_task(threshold, quorum, votes.approvals, votes.rejections);
    let key_issues = issues.by_frequency().into_iter();
    let key_issues =
        key_issues.map(|issue| TaskIssue { text: issue.text, count: issue.count, raised_by: issue.raised_by });
    TaskVerdict {
        version: FormatVersion::CURRENT,
        task,
        decision,
        threshold,
        needed: threshold.needed(votes.valid),
        quorum,
        votes,
        dissent: dissent(&members, votes),
        key_issues: key_issues.collect(),
        members,
    }
}

fn dissent(members: &[TaskMember], votes: TaskCount) -> Vec<SlotId> {
    let most = match votes.approvals.cmp(&votes.rejections) {
        std::cmp::Ordering::Greater => Some(VoteVerdict::Approve),
        std::cmp::Ordering::Less => Some(VoteVerdict::Reject),
        std::cmp::Ordering::Equal => None,
    };
    let dissents = |member: &&TaskMember| match member.counted().map(|vote| vote.verdict) {
        Some(valid @ (VoteVerdict::Approve | VoteVerdict::Reject)) => Some(valid) != most,
        Some(VoteVerdict::Abstain) | None => false,
    };
    members.iter().filter(dissents).map(|member| member.id).collect()
}
