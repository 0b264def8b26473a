//! The rule against a statement of it in other terms, over every small panel.

use super::*;
use crate::config::{Percent, Threshold};
use crate::ids::{Sha256Hash, SlotId};
use crate::judging::{MissingReason, TaskVote, VoteVerdict};
use crate::session::slot::SlotState;

/// DESIGN 6 word by word, vote by vote and without a bar in votes: shares are compared as fractions.
fn stated(threshold: Threshold, quorum: usize, panel: &[Option<VoteVerdict>]) -> TaskDecision {
    let of = |wanted: VoteVerdict| panel.iter().filter(|vote| **vote == Some(wanted)).count();
    let (approve, reject) = (of(VoteVerdict::Approve), of(VoteVerdict::Reject));
    let all = approve + reject;
    if all < quorum {
        return TaskDecision::Inconclusive;
    }
    let reaches = |votes: usize| match threshold {
        Threshold::Majority => votes > all - votes,
        Threshold::Supermajority => votes * 3 >= all * 2 && all > 0,
        Threshold::Unanimous => votes == all && votes > 0,
        Threshold::Percent(least) => votes * 100 >= all * usize::from(least.get()) && all > 0,
    };
    if reaches(approve) && !reaches(reject) {
        TaskDecision::Approved
    } else if reaches(reject) && !reaches(approve) {
        TaskDecision::Rejected
    } else {
        TaskDecision::Split
    }
}

fn member(id: SlotId, verdict: Option<VoteVerdict>, issues: &[&str]) -> TaskMember {
    let vote = verdict.map(|verdict| TaskVote {
        verdict,
        confidence: Some(7),
        summary: String::new(),
        key_issues: issues.iter().map(|issue| (*issue).to_owned()).collect(),
    });
    TaskMember {
        id,
        state: SlotState::Completed,
        response_sha256: None,
        missing: vote.is_none().then_some(MissingReason::NoBallot),
        vote,
        notes: Vec::new(),
        repair: None,
    }
}

fn bars() -> impl Iterator<Item = Threshold> {
    let words = [Threshold::Majority, Threshold::Supermajority, Threshold::Unanimous];
    words.into_iter().chain((1..=100).filter_map(Percent::new).map(Threshold::Percent))
}

/// Every number of approvals, rejections and abstentions of a panel; the rest is missing.
fn splits(panel: usize) -> impl Iterator<Item = Vec<Option<VoteVerdict>>> {
    use VoteVerdict::{Abstain, Approve, Reject};
    (0..=panel).flat_map(move |approve| {
        (0..=panel - approve).flat_map(move |reject| {
            (0..=panel - approve - reject).map(move |abstain| {
                let of = |count, vote| std::iter::repeat_n(Some(vote), count);
                let mut votes: Vec<_> =
                    of(approve, Approve).chain(of(reject, Reject)).chain(of(abstain, Abstain)).collect();
                votes.resize(panel, None);
                votes
            })
        })
    })
}

#[test]
fn every_split_of_every_panel_up_to_seven_decides_as_the_rule_says() {
    let mut seen = 0;
    for panel in 1..=7 {
        let ids: Vec<SlotId> = SlotId::panel(panel).collect();
        for votes in splits(panel) {
            for threshold in bars() {
                for quorum in 1..=panel {
                    let members = ids.iter().zip(&votes).map(|(id, vote)| member(*id, *vote, &[])).collect();
                    let verdict = count_task(Sha256Hash::of(b""), threshold, quorum as u32, members);
                    let told = || format!("{threshold}, quorum {quorum}: {votes:?}");
                    assert_eq!(verdict.decision, stated(threshold, quorum, &votes), "{}", told());
                    let count = verdict.votes;
                    assert_eq!(count.panel, panel as u32, "{}", told());
                    let (valid, others) = (count.valid, count.abstentions + count.missing);
                    assert_eq!(count.approvals + count.rejections, valid, "{}", told());
                    assert_eq!(valid + others, count.panel, "{}", told());
                    seen += 1;
                }
            }
        }
    }
    assert_eq!(seen, 103 * (4 + 10 * 2 + 20 * 3 + 35 * 4 + 56 * 5 + 84 * 6 + 120 * 7));
}

#[test]
fn the_boundaries_are_where_they_are_written_to_be() {
    use TaskDecision::{Approved, Inconclusive, Rejected, Split};
    use Threshold::{Majority, Supermajority, Unanimous};
    let percent = |number| Threshold::Percent(Percent::new(number).unwrap());
    for (bar, quorum, approvals, rejections, expected) in [
        (Majority, 2, 1, 1, Split),
        (Majority, 2, 2, 1, Approved),
        (Majority, 2, 1, 2, Rejected),
        (Majority, 1, 0, 0, Inconclusive),
        (Majority, 3, 2, 0, Inconclusive),
        (Supermajority, 2, 2, 1, Approved),
        (Supermajority, 2, 3, 2, Split),
        (Supermajority, 2, 4, 2, Approved),
        (Supermajority, 2, 1, 2, Rejected),
        (Unanimous, 2, 3, 0, Approved),
        (Unanimous, 2, 0, 3, Rejected),
        (Unanimous, 2, 2, 1, Split),
        (percent(50), 2, 1, 1, Split),
        (percent(50), 2, 2, 1, Approved),
        (percent(67), 2, 2, 1, Split),
        (percent(66), 2, 2, 1, Approved),
        (percent(34), 2, 2, 1, Approved),
        (percent(33), 2, 2, 1, Split),
        (percent(1), 2, 6, 1, Split),
        (percent(1), 2, 7, 0, Approved),
        (percent(100), 2, 6, 1, Split),
    ] {
        assert_eq!(decide_task(bar, quorum, approvals, rejections), expected, "{bar} {approvals}:{rejections}");
    }
}

#[test]
fn a_quorum_is_of_the_configured_panel_two_at_least_and_more_than_half() {
    let quorums: Vec<u32> = (1..=7).map(default_quorum).collect();
    assert_eq!(quorums, [2, 2, 2, 3, 3, 4, 4]);
}

#[test]
fn a_vote_that_came_of_asking_once_more_counts_and_replaces_none_that_was_there() {
    let ids: Vec<SlotId> = SlotId::panel(3).collect();
    let repair = |verdict| {
        let TaskMember { state, response_sha256, vote, missing, notes, .. } = member(ids[0], Some(verdict), &[]);
        TaskRepair { state, response_sha256, vote, missing, notes }
    };
    let members = vec![
        TaskMember { repair: Some(repair(VoteVerdict::Reject)), ..member(ids[0], None, &[]) },
        TaskMember { repair: Some(repair(VoteVerdict::Reject)), ..member(ids[1], Some(VoteVerdict::Approve), &[]) },
        member(ids[2], Some(VoteVerdict::Reject), &[]),
    ];
    let verdict = count_task(Sha256Hash::of(b""), Threshold::Majority, 2, members);
    assert_eq!((verdict.votes.approvals, verdict.votes.rejections), (1, 2));
    assert_eq!((verdict.decision, &verdict.dissent[..]), (TaskDecision::Rejected, &ids[1..2]));
}

#[test]
fn issues_are_ranked_by_how_many_members_name_them_and_a_member_counts_once() {
    use VoteVerdict::{Abstain, Approve, Reject};
    let ids: Vec<SlotId> = SlotId::panel(4).collect();
    let mut members = vec![
        member(ids[0], Some(Reject), &["Too slow", "too slow!", "No tests"]),
        member(ids[1], Some(Approve), &["no tests."]),
        member(ids[2], Some(Abstain), &["No tests"]),
        member(ids[3], None, &["No tests"]),
    ];
    let verdict = count_task(Sha256Hash::of(b""), Threshold::Majority, 2, members.clone());
    let issues: Vec<(&str, u32, &[SlotId])> =
        verdict.key_issues.iter().map(|issue| (issue.text.as_str(), issue.count, &issue.raised_by[..])).collect();
    assert_eq!(issues, [("No tests", 3, &ids[..3]), ("Too slow", 1, &ids[..1])]);
    assert_eq!(verdict.dissent, ids[..2], "one for and one against: either is dissent");
    members.reverse();
    assert_eq!(count_task(Sha256Hash::of(b""), Threshold::Majority, 2, members), verdict);
}
