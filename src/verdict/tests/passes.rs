//! Two passes: what flips, what counts, and whether a judge leans to a place.

use super::{id, round};
use crate::config::Passes;
use crate::judging::{JudgeVotes, MissingReason, RepairTurn, VoteVerdict, Votes};
use crate::session::slot::SlotState;
use crate::verdict::{Lean, LeanMethod, Verdict, recompute, tally, to_json};

/// A round of two passes from one pair of lines per judge.
pub(super) fn two_passes(lines: &[(&str, &str)]) -> Votes {
    let mut votes = round(&lines.iter().map(|(first, _)| *first).collect::<Vec<_>>());
    let again = round(&lines.iter().map(|(_, second)| *second).collect::<Vec<_>>());
    votes.passes = Passes::Two;
    for (judge, mut second) in votes.judges.iter_mut().zip(again.judges) {
        second.order.reverse();
        judge.add_second_pass(second);
    }
    votes
}

fn judge_of(verdict: &Verdict, number: usize) -> (u32, Option<Lean>) {
    let judge = verdict.judges.iter().find(|judge| judge.judge == id(number)).unwrap();
    (judge.flips.unwrap(), judge.lean)
}

#[test]
fn a_vote_that_flips_is_none_and_is_told_apart_from_a_missing_one_and_an_abstention() {
    let verdict = tally(&two_passes(&[("aar-", "ara-"), ("aa?a", "aaaa"), ("aaaa", "aaa-")]));
    let counts: Vec<_> = (1..=4)
        .map(|number| {
            let answer = verdict.answers.iter().find(|answer| answer.id == id(number)).unwrap();
            (answer.approvals, answer.rejections, answer.abstentions, answer.inconsistent, answer.missing)
        })
        .collect();
    assert_eq!(counts, [(3, 0, 0, 0, 0), (2, 0, 0, 1, 0), (1, 0, 0, 1, 1), (1, 0, 1, 1, 0)]);
    let ballots = verdict.ballots;
    assert_eq!((ballots.cast, ballots.inconsistent, ballots.abstentions, ballots.missing), (7, 3, 1, 1));
    assert_eq!([1, 2, 3].map(|judge| judge_of(&verdict, judge).0), [2, 0, 1]);
    let flipped = &verdict.inconsistent_votes[0];
    assert_eq!((flipped.judge, flipped.answer), (id(1), id(2)));
    assert_eq!((flipped.first, flipped.second), (VoteVerdict::Approve, VoteVerdict::Reject));
    assert_eq!(verdict.missing_votes.len(), 1);
}

#[test]
fn a_judge_that_completes_one_pass_only_has_no_votes_and_is_missing() {
    let mut votes = two_passes(&[("aa", "aa"), ("aa", "aa"), ("rr", "!??")]);
    let verdict = tally(&votes);
    assert_eq!(verdict.missing_judges.iter().map(|seat| seat.id).collect::<Vec<_>>(), [id(3)]);
    assert!(verdict.missing_votes.iter().all(|vote| vote.reason == MissingReason::SecondPassFailed));
    assert_eq!((verdict.ballots.cast, verdict.ballots.missing), (4, 2));
    votes.judges[2].state = SlotState::Failed;
    votes.judges[2].second_pass = None;
    let verdict = tally(&votes);
    assert!(verdict.missing_votes.iter().all(|vote| vote.reason == MissingReason::JudgeFailed));
}

#[test]
fn of_two_equal_votes_the_confidence_is_the_mean_rounded_down_and_both_places_are_kept() {
    let mut votes = two_passes(&[("aa", "aa")]);
    let confidence = |votes: &mut Votes, first: Option<u8>, second: Option<u8>| {
        votes.judges[0].votes[0].confidence = first;
        votes.judges[0].second_pass.as_mut().unwrap().votes[0].confidence = second;
        let verdict = tally(votes);
        let vote = &verdict.answers.iter().find(|answer| answer.id == id(1)).unwrap().votes[0];
        assert_eq!((vote.position, vote.second_position), (Some(1), Some(2)));
        vote.confidence
    };
    assert_eq!(confidence(&mut votes, Some(8), Some(5)), Some(6));
    assert_eq!(confidence(&mut votes, Some(10), Some(10)), Some(10));
    assert_eq!(confidence(&mut votes, None, Some(5)), Some(5));
    assert_eq!(confidence(&mut votes, None, None), None);
}

#[test]
fn a_judge_that_approves_what_stands_first_leans_early() {
    // Places in the first pass are the numbers; in the second they are reversed.
    let verdict = tally(&two_passes(&[("aaarrr", "rrraaa"), ("rrraaa", "aaarrr"), ("aaarrr", "aaarrr")]));
    let lean = judge_of(&verdict, 1).1.unwrap();
    assert_eq!(lean, Lean { method: LeanMethod::SignTest, effect: 1.0, n: 6, p: Some(0.03125) });
    assert_eq!(judge_of(&verdict, 2).1.unwrap().effect, -1.0);
    assert_eq!(judge_of(&verdict, 3), (0, None), "who does not flip does not lean");

    let one_pass = tally(&round(&["aaarrr", "aaaaaa", "ararar"]));
    let leans: Vec<_> =
        one_pass.judges.iter().map(|judge| judge.lean.map(|lean| (lean.effect, lean.n, lean.p))).collect();
    assert_eq!(leans[0], Some((1.0, 6, Some(0.1))));
    assert_eq!(leans[1], None, "without a rejection there is nothing to compare");
    assert_eq!(leans[2], Some((0.333_333, 6, Some(0.7))));
    assert!(one_pass.judges.iter().all(|judge| judge.flips.is_none()));
}

/// The vote of a repair turn on `answer`.
fn repaired(judge: &JudgeVotes, answer: usize, verdict: VoteVerdict) -> RepairTurn {
    let mut vote = judge.votes[0].clone();
    (vote.answer, vote.verdict) = (id(answer), verdict);
    RepairTurn {
        state: SlotState::Completed,
        response_sha256: None,
        asked: vec![id(answer)],
        votes: vec![vote],
        missing: Vec::new(),
        notes: Vec::new(),
    }
}

#[test]
fn a_repair_turn_adds_what_was_asked_for_and_changes_nothing_else() {
    let mut votes = round(&["a?", "aa"]);
    let turn = repaired(&votes.judges[0], 2, VoteVerdict::Reject);
    votes.judges[0].add_repair(turn.clone());
    let verdict = tally(&votes);
    let second = verdict.answers.iter().find(|answer| answer.id == id(2)).unwrap();
    assert_eq!((second.approvals, second.rejections, second.missing), (1, 1, 0));
    assert!(verdict.missing_votes.is_empty());
    // A vote that was not asked for, or of a turn that failed, does not count.
    for change in
        [|turn: &mut RepairTurn| turn.asked = vec![id(1)], |turn: &mut RepairTurn| turn.state = SlotState::Failed]
    {
        let mut turn = turn.clone();
        change(&mut turn);
        votes.judges[0].repair = Some(turn);
        assert_eq!(tally(&votes).ballots.missing, 1);
    }
    // Nor can a turn change a vote that was cast.
    let mut turn = turn;
    turn.asked = vec![id(1)];
    turn.votes[0].answer = id(1);
    votes.judges[0].repair = Some(turn);
    let verdict = tally(&votes);
    assert!(verdict.missing_votes.iter().any(|vote| vote.reason == MissingReason::Contradiction));
}

#[test]
fn two_passes_and_repairs_are_recomputed_byte_for_byte() {
    let mut votes = two_passes(&[("ar?", "aar"), ("aaa", "a-a"), ("rrr", "!???")]);
    let turn = repaired(&votes.judges[0], 3, VoteVerdict::Reject);
    votes.judges[0].repair = Some(turn);
    votes.candidates[2].left_out = true;
    let on_disk = serde_json::to_vec_pretty(&votes).unwrap();
    assert_eq!(Votes::from_json(&on_disk).unwrap(), votes);
    assert_eq!(recompute(&on_disk).unwrap(), to_json(&tally(&votes)).unwrap());
}

#[test]
fn an_answer_that_was_left_out_is_not_ranked_and_the_panel_is_partial() {
    let mut votes = round(&["aaa", "aar"]);
    votes.candidates[1].left_out = true;
    let verdict = tally(&votes);
    assert_eq!(verdict.answers.len(), 2);
    assert_eq!(verdict.left_out, [id(2)]);
    assert!(verdict.is_partial());
    assert_eq!(verdict.panel.completed_slots, 3);
}
