//! What is counted, and what wins.

use proptest::prelude::*;
use rstest::rstest;

use super::{id, round};
use crate::config::SelfVote;
use crate::judging::{VoteVerdict, Votes};
use crate::session::slot::SlotState;
use crate::verdict::{Decision, NoWinner, Verdict, recompute, tally, to_json};

fn ranks(verdict: &Verdict) -> Vec<(usize, Option<u32>)> {
    verdict.answers.iter().map(|answer| (answer.id.number(), answer.rank)).collect()
}

#[rstest]
#[case::clear(&["aar", "aar", "arr"], Ok(1))]
#[case::own_answers_left_out(&[".ar", "a.r", "ar."], Ok(1))]
#[case::tie(&["aa", "aa"], Err(NoWinner::Tie))]
#[case::tie_of_rejected_ones(&["rr", "rr"], Err(NoWinner::NotApproved))]
#[case::half_is_not_more_than_half(&["ar", "rr"], Err(NoWinner::NotApproved))]
#[case::first_has_one_vote_only(&["ar", ".r", ".a"], Err(NoWinner::TooFewVotes))]
#[case::abstentions_are_no_votes(&["a-", "a-"], Ok(1))]
#[case::two_seats_one_judge_each(&[".a", "r."], Err(NoWinner::TooFewVotes))]
#[case::two_seats_tied(&[".a", "a."], Err(NoWinner::Tie))]
fn a_ranking_has_a_winner_or_a_reason(#[case] lines: &[&str], #[case] expected: Result<usize, NoWinner>) {
    let verdict = tally(&round(lines));
    assert_eq!(verdict.decision, Decision::Ranking);
    assert_eq!(verdict.winner, expected.ok().map(id));
    assert_eq!(verdict.no_winner, expected.err());
    assert_eq!(verdict.exit_code().code(), 0);
}

#[rstest]
#[case::nothing_voted(&["??", "??"], NoWinner::NoVotes)]
#[case::only_abstentions(&["--", "--"], NoWinner::NoVotes)]
#[case::one_vote_where_two_could_vote(&["a?", "??"], NoWinner::TooFewVotes)]
#[case::one_of_three_judges_left(&[".aa", "!???", "!???"], NoWinner::TooFewVotes)]
#[case::one_answer(&["a", "a"], NoWinner::OneAnswer)]
#[case::no_judge(&[], NoWinner::NoAnswers)]
fn too_little_is_no_decision(#[case] lines: &[&str], #[case] reason: NoWinner) {
    let verdict = tally(&round(lines));
    assert_eq!((verdict.decision, verdict.no_winner), (Decision::NoDecision, Some(reason)));
    assert_eq!(verdict.winner, None);
    assert_eq!(verdict.exit_code().code(), 3);
}

#[test]
fn no_votes_is_not_zero_percent() {
    let verdict = tally(&round(&["r?a", "r-a"]));
    let by_id = |number: usize| verdict.answers.iter().find(|answer| answer.id == id(number)).unwrap();
    assert_eq!((by_id(1).score, by_id(1).rank), (Some(0.0), Some(2)));
    assert_eq!((by_id(2).score, by_id(2).rank, by_id(2).interval), (None, None, None));
    assert_eq!((by_id(2).missing, by_id(2).abstentions), (1, 1));
}

#[test]
fn equal_scores_share_a_rank_and_ids_are_ordered_by_number() {
    let lines = ["aaaaaaaaaara", "raaaaaaaaara", "raaaaaaaaara"];
    let verdict = tally(&round(&lines));
    let ranks = ranks(&verdict);
    assert_eq!(ranks[0], (2, Some(1)));
    assert_eq!(ranks[8], (10, Some(1)), "10 after 09");
    assert_eq!(ranks[9], (12, Some(1)));
    assert_eq!(ranks[10], (1, Some(11)));
    assert_eq!(ranks[11], (11, Some(12)));
}

#[test]
fn two_of_three_and_four_of_six_are_equal_as_fractions() {
    let verdict = tally(&round(&["aa", "aa", "ra", ".a", ".r", ".r"]));
    assert_eq!(ranks(&verdict), [(1, Some(1)), (2, Some(1))]);
}

#[test]
fn only_completed_judges_and_completed_answers_count() {
    let mut votes = round(&["aa", "aa", "rr"]);
    votes.judges[2].state = SlotState::Timeout;
    votes.candidates[1].state = SlotState::Empty;
    let verdict = tally(&votes);
    assert_eq!(verdict.answers.len(), 1);
    assert_eq!((verdict.answers[0].approvals, verdict.answers[0].rejections, verdict.answers[0].missing), (2, 0, 1));
    assert_eq!((verdict.missing_slots[0].id, verdict.missing_judges[0].id), (id(2), id(3)));
    assert!(verdict.is_partial());
    assert_eq!(verdict.panel.slots, 2);
}

#[test]
fn a_vote_on_what_was_not_shown_or_given_twice_does_not_count() {
    let mut votes = round(&["aa", "aa"]);
    votes.judges[0].order.remove(0);
    let mut again = votes.judges[1].votes[0].clone();
    again.verdict = VoteVerdict::Reject;
    votes.judges[1].votes.push(again);
    let verdict = tally(&votes);
    let first = verdict.answers.iter().find(|answer| answer.id == id(1)).unwrap();
    assert_eq!((first.approvals, first.rejections), (0, 0));
}

#[test]
fn numbers_are_of_the_configured_panel() {
    let verdict = tally(&round(&[".aa", "a.r", "!??."]));
    let ballots = verdict.ballots;
    assert_eq!((ballots.possible, ballots.cast, ballots.missing), (6, 4, 2));
    assert_eq!((verdict.panel.judges, verdict.panel.completed_judges), (3, 2));
    assert_eq!(verdict.missing_votes.len(), 2);
}

#[test]
fn dissent_names_those_against_the_majority_or_all_where_there_is_none() {
    let verdict = tally(&round(&["aa", "ar", "r."]));
    assert_eq!(
        (verdict.dissent[0].majority, &verdict.dissent[0].judges[..]),
        (Some(VoteVerdict::Approve), &[id(3)][..])
    );
    assert_eq!((verdict.dissent[1].majority, &verdict.dissent[1].judges[..]), (None, &[id(1), id(2)][..]));
}

#[test]
fn the_place_in_the_prompt_is_recorded_with_the_vote() {
    let mut votes = round(&["aa", "aa"]);
    votes.judges[1].order.reverse();
    let verdict = tally(&votes);
    let positions: Vec<u32> = verdict.answers[0].votes.iter().filter_map(|vote| vote.position).collect();
    assert_eq!(positions, [1, 2]);
}

#[test]
fn ten_thousand_ballots_and_as_many_issues_are_all_counted() {
    let line: String = (0..99).map(|n| if n % 3 == 0 { 'r' } else { 'a' }).collect();
    let lines = vec![line.as_str(); 99];
    let mut votes = round(&lines);
    for judge in &mut votes.judges {
        judge
            .votes
            .iter_mut()
            .for_each(|vote| vote.key_issues = vec![format!("issue {} of {}", judge.id, vote.answer)]);
    }
    // How long this may take is held by the benchmark, in an optimised build; here only that all of it is counted.
    let verdict = tally(&votes);
    assert_eq!(verdict.ballots.cast, 99 * 99);
    assert_eq!(verdict.key_issues.len(), 99 * 99);
}

#[test]
fn the_verdict_is_recomputed_byte_for_byte_from_votes_json() {
    let votes = round(&[".ar-", "a.r?", "ar.a", "!???."]);
    let on_disk = serde_json::to_vec_pretty(&votes).unwrap();
    let verdict = tally(&votes);
    assert_eq!(recompute(&on_disk).unwrap(), to_json(&verdict).unwrap());
    let read: Verdict = serde_json::from_slice(&to_json(&verdict).unwrap()).unwrap();
    assert_eq!(read, verdict);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("verdict.json");
    crate::fs::replace_json(&path, &verdict).unwrap();
    assert_eq!(std::fs::read(path).unwrap(), to_json(&verdict).unwrap(), "as the file writer writes it");
}

#[test]
fn votes_of_a_newer_format_or_with_an_id_twice_are_refused_by_name() {
    let mut votes = round(&["aa", "aa"]);
    votes.judges[1].id = id(1);
    let message = recompute(&serde_json::to_vec(&votes).unwrap()).unwrap_err().to_string();
    assert!(message.contains("01 twice"), "{message}");
    let message = recompute(br#"{"version": 7, "rounds": []}"#).unwrap_err().to_string();
    assert!(message.contains("version 7"), "{message}");
    assert!(recompute(b"{").is_err());
}

#[test]
fn votes_json_has_the_documented_names() {
    let mut votes = round(&["a?"]);
    votes.self_vote = SelfVote::Slot;
    let json = serde_json::to_value(&votes).unwrap();
    assert_eq!(json["selfVote"], "slot");
    assert_eq!(json["candidates"][0]["eligibleJudges"], 1);
    assert_eq!(json["judges"][0]["votes"][0]["verdict"], "APPROVE");
    assert_eq!(json["judges"][0]["missing"][0]["reason"], "notVoted");
    assert_eq!(json["judges"][0]["order"], serde_json::json!(["01", "02"]));
    assert_eq!(serde_json::from_value::<Votes>(json).unwrap(), votes);
}

fn lines() -> impl Strategy<Value = Vec<String>> {
    (2..6_usize).prop_flat_map(|answers| {
        let line = proptest::string::string_regex(&format!("!?[ar?.-]{{{answers}}}")).unwrap();
        proptest::collection::vec(line, 1..6)
    })
}

proptest! {
    #[test]
    fn the_tally_does_not_depend_on_the_order_of_anything(lines in lines(), seed: u64) {
        use rand::SeedableRng;
        use rand::seq::SliceRandom;
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let votes = round(&lines);
        let mut shuffled = votes.clone();
        let mut rng = rand::rngs::StdRng::seed_from_u64(seed);
        shuffled.judges.shuffle(&mut rng);
        shuffled.candidates.shuffle(&mut rng);
        shuffled.judges.iter_mut().for_each(|judge| {
            judge.votes.shuffle(&mut rng);
            judge.missing.shuffle(&mut rng);
        });
        prop_assert_eq!(to_json(&tally(&votes)).unwrap(), to_json(&tally(&shuffled)).unwrap());
    }

    #[test]
    fn a_winner_is_the_sole_first_with_two_votes_and_more_approvals(lines in lines()) {
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let verdict = tally(&round(&lines));
        prop_assert_eq!(verdict.winner.is_some(), verdict.no_winner.is_none());
        if let Some(winner) = verdict.winner {
            let first: Vec<_> = verdict.answers.iter().filter(|answer| answer.rank == Some(1)).collect();
            prop_assert_eq!(first.len(), 1);
            prop_assert_eq!(first[0].id, winner);
            prop_assert!(first[0].approvals > first[0].rejections && first[0].approvals + first[0].rejections >= 2);
            prop_assert_eq!(verdict.decision, Decision::Ranking);
        }
        for answer in &verdict.answers {
            prop_assert_eq!(answer.approvals + answer.rejections + answer.abstentions + answer.missing, answer.possible);
        }
    }
}
