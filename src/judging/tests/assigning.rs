//! Who sees what, in which order.

use std::collections::HashSet;

use proptest::prelude::*;

use super::{answers, id, model, panel, rng, seated, vendors};
use crate::config::SelfVote;
use crate::error::Error;
use crate::ids::SlotId;
use crate::judging::{AssignError, Assignment, Coverage, Judge, assign, check_panel};

fn orders(assignments: &[Assignment]) -> Vec<Vec<usize>> {
    assignments.iter().map(|a| a.shown.iter().map(|(id, _)| id.number()).collect()).collect()
}

/// How often `answer` stands in each of the first `places` places.
fn places(assignments: &[Assignment], answer: SlotId, places: usize) -> Vec<usize> {
    (0..places)
        .map(|p| assignments.iter().filter(|a| a.shown.get(p).is_some_and(|(id, _)| *id == answer)).count())
        .collect()
}

#[test]
fn a_panel_that_judges_itself_sees_the_seats_after_its_own_cyclically() {
    let (answers, judges) = panel(4);
    let assignments = assign(&answers, &judges, SelfVote::Model, &mut rng(1)).unwrap();
    assert_eq!(orders(&assignments), [vec![2, 3, 4], vec![3, 4, 1], vec![4, 1, 2], vec![1, 2, 3]]);
}

#[test]
fn each_answer_stands_in_each_place_equally_often_in_every_panel() {
    for count in 2..=12 {
        let (answers, judges) = panel(count);
        for (rule, seen) in [(SelfVote::Model, count - 1), (SelfVote::Slot, count - 1), (SelfVote::Include, count)] {
            let assignments = assign(&answers, &judges, rule, &mut rng(count as u64)).unwrap();
            assert_eq!(assignments.len(), count);
            for answer in &answers {
                assert_eq!(places(&assignments, answer.id, seen), vec![1; seen], "{count} {rule}");
            }
        }
    }
}

#[test]
fn own_answers_are_not_shown_under_any_seat_of_the_model() {
    let answers = answers(&["a", "a", "b", "c"]);
    let judges = seated(&answers);
    let assignments = assign(&answers, &judges, SelfVote::Model, &mut rng(2)).unwrap();
    for (assignment, judge) in assignments.iter().zip(&judges) {
        assert!(assignment.shown.iter().all(|(id, _)| answers[id.index()].identity != judge.identity));
    }
    let by_slot = assign(&answers, &judges, SelfVote::Slot, &mut rng(2)).unwrap();
    assert!(by_slot.iter().all(|a| a.shown.len() == 3 && a.alias_of(a.judge).is_none()));
    let all = assign(&answers, &judges, SelfVote::Include, &mut rng(2)).unwrap();
    assert!(all.iter().all(|a| a.shown.len() == 4));
}

#[test]
fn a_judge_whose_own_slot_failed_still_judges_the_others() {
    let (mut answers, judges) = panel(4);
    answers.remove(1);
    let assignments = assign(&answers, &judges, SelfVote::Model, &mut rng(3)).unwrap();
    assert_eq!(assignments.len(), 4);
    assert_eq!(assignments[1].shown.len(), 3);
}

#[test]
fn a_panel_of_one_model_is_refused_before_the_run_and_the_ways_out_are_named() {
    let answers = answers(&["a", "a", "a"]);
    let error = check_panel(&answers, &seated(&answers), SelfVote::Model).unwrap_err();
    assert!(matches!(&error, AssignError::Uncovered { answers, .. } if answers.len() == 3));
    let error = Error::from(error);
    let told = format!("{} {}", error.chain(), error.hints().join(" "));
    assert!(told.contains("--self-vote slot") && told.contains("--judges"), "{told}");
    assert_eq!(error.kind().exit_code().code(), 2);
    assert!(check_panel(&answers, &seated(&answers), SelfVote::Slot).is_ok());
}

#[test]
fn one_judge_per_answer_is_said() {
    let (answers, judges) = panel(2);
    let coverage = check_panel(&answers, &judges, SelfVote::Model).unwrap();
    assert_eq!(coverage.with(1).len(), 2);
    assert_eq!(coverage.note().unwrap(), "each answer has one judge only: a single vote cannot make a winner");
    let (answers, judges) = panel(3);
    assert_eq!(check_panel(&answers, &judges, SelfVote::Model).unwrap().note(), None);
    assert_eq!(check_panel(&answers, &judges, SelfVote::Model).unwrap().forecast(), None);
}

#[test]
fn the_forecast_names_no_answer_because_that_would_tell_who_wrote_it() {
    let answers = answers(&["a", "a", "b"]);
    let coverage = check_panel(&answers, &seated(&answers), SelfVote::Model).unwrap();
    assert_eq!(coverage.forecast().unwrap(), "2 of 3 answers have one judge only: a single vote cannot make a winner");
    assert!(coverage.note().unwrap().starts_with("answers 01, 02 have one judge only"));
}

#[test]
fn answers_left_without_a_judge_by_failures_are_counted_and_not_named() {
    let answers = answers(&["a", "a", "b"]);
    let judges: Vec<Judge> = seated(&answers).into_iter().filter(|judge| judge.identity == model("a")).collect();
    let error = assign(&answers, &judges, SelfVote::Model, &mut rng(4)).unwrap_err();
    assert!(error.to_string().contains("2 of 3 answers would have no judge,"), "{error}");
}

#[test]
fn rounds_that_cannot_be_are_refused() {
    let (answers, judges) = panel(3);
    let refused = |answers: &[_], judges: &[_]| assign(answers, judges, SelfVote::Model, &mut rng(5)).unwrap_err();
    assert_eq!(refused(&answers[..1], &judges), AssignError::TooFewAnswers { completed: 1 });
    assert_eq!(refused(&answers, &[]), AssignError::NoJudges);
    let twice = [judges[0].clone(), judges[1].clone(), judges[0].clone()];
    assert_eq!(refused(&answers, &twice), AssignError::Repeated(id(1)));
}

#[test]
fn a_single_judge_from_outside_sees_everything_once() {
    let (answers, _) = panel(5);
    let judge =
        Judge { id: id(1), identity: model("outside"), vendors: vendors("outside"), seat: None, context_tokens: None };
    let assignments = assign(&answers, &[judge], SelfVote::Model, &mut rng(6)).unwrap();
    let mut seen = orders(&assignments).remove(0);
    seen.sort_unstable();
    assert_eq!(seen, [1, 2, 3, 4, 5]);
    assert_eq!(Coverage::assigned(&answers, &assignments).with(1).len(), 5);
}

proptest! {
    #[test]
    fn aliases_and_nonces_differ_over_all_judges(count in 2..12_usize, seed: u64) {
        let (answers, judges) = panel(count);
        let assignments = assign(&answers, &judges, SelfVote::Include, &mut rng(seed)).unwrap();
        let aliases: HashSet<_> = assignments.iter().flat_map(|a| a.shown.iter().map(|(_, alias)| alias)).collect();
        prop_assert_eq!(aliases.len(), count * count);
        let nonces: HashSet<_> = assignments.iter().map(|a| &a.nonce).collect();
        prop_assert_eq!(nonces.len(), count);
    }

    #[test]
    fn order_does_not_depend_on_the_order_of_the_arguments(count in 2..9_usize, seed: u64) {
        let (mut answers, mut judges) = panel(count);
        let forward = assign(&answers, &judges, SelfVote::Model, &mut rng(seed)).unwrap();
        answers.reverse();
        judges.reverse();
        prop_assert_eq!(forward, assign(&answers, &judges, SelfVote::Model, &mut rng(seed)).unwrap());
    }

    #[test]
    fn with_slots_missing_the_places_stay_as_even_as_the_numbers_allow(
        count in 3..12_usize, lost in proptest::collection::vec(0..12_usize, 0..4), include: bool, seed: u64,
    ) {
        let (all, judges) = panel(count);
        let answers: Vec<_> = all.into_iter().filter(|answer| !lost.contains(&answer.id.index())).collect();
        prop_assume!(answers.len() >= 2);
        let rule = if include { SelfVote::Include } else { SelfVote::Model };
        let assignments = assign(&answers, &judges, rule, &mut rng(seed)).unwrap();
        for answer in &answers {
            // Places that every judge of the round has.
            let shared = assignments.iter().map(|a| a.shown.len()).min().unwrap_or(0);
            let counts = places(&assignments, answer.id, shared);
            let (most, fewest) = (counts.iter().max().unwrap(), counts.iter().min().unwrap());
            let bound = if include { 1 } else { 2 };
            prop_assert!(most - fewest <= bound, "{counts:?} {:?}", orders(&assignments));
        }
    }
}
