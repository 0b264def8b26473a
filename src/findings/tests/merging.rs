//! What is taken together and what stays apart.

use super::super::*;
use super::{finding, slot};
use crate::ids::SlotId;

/// Who raised each of what `found` comes to.
fn groups(found: &[(SlotId, Vec<Finding>)]) -> Vec<Vec<usize>> {
    merge(found).iter().map(|merged| merged.raised_by.iter().map(|slot| slot.number()).collect()).collect()
}

fn at(mut finding: Finding, file: &str, start: u32, end: u32) -> Finding {
    finding.file = Some(file.to_owned());
    finding.lines = Lines::new(start, end);
    finding
}

fn injection() -> Finding {
    let text = "The name from the request is concatenated into the SQL query, so a quote in it changes the query.";
    at(finding("SQL injection in the lookup of users", text), "src/db.rs", 10, 14)
}

fn injection_too() -> Finding {
    let text =
        "A name is concatenated into the SQL query; a request with a quote in the name can change what the query does.";
    at(finding("User lookup allows SQL injection", text), "src/db.rs", 12, 12)
}

fn leak() -> Finding {
    let text = "On an error the connection is never given back to the pool, which is empty after a while.";
    at(finding("Connection leaks on the error path", text), "src/db.rs", 12, 13)
}

#[test]
fn the_same_lines_in_similar_words_are_one_and_other_words_are_not() {
    let found = [(slot(1), vec![injection(), leak()]), (slot(2), vec![injection_too()]), (slot(3), vec![leak()])];
    assert_eq!(groups(&found), [vec![1, 2], vec![1, 3]]);
}

#[test]
fn the_same_words_elsewhere_are_another_finding() {
    let here = injection();
    for (there, one) in [
        (at(injection(), "src/db.rs", 15, 15), true),
        (at(injection(), "src/db.rs", 17, 17), true),
        (at(injection(), "src/db.rs", 19, 19), false),
        (at(injection(), "src/db.rs", 400, 404), false),
        (at(injection(), "src/other.rs", 10, 14), false),
    ] {
        let merged = merge(&[(slot(1), vec![here.clone()]), (slot(2), vec![there.clone()])]);
        assert_eq!(merged.len() == 1, one, "{:?}", there.place());
    }
    let nowhere = Finding { lines: None, ..injection() };
    assert_eq!(groups(&[(slot(1), vec![here.clone()]), (slot(2), vec![nowhere])]), [vec![1, 2]]);
    let plan = |title: &str| Finding { file: None, lines: None, ..finding(title, "No step says how it is undone.") };
    let found = [(slot(1), vec![plan("There is no way back")]), (slot(2), vec![plan("No way back")])];
    assert_eq!(groups(&found), [vec![1, 2]]);
}

#[test]
fn what_is_merged_has_the_worst_severity_the_strictest_action_and_every_word() {
    let mild = Finding { severity: Severity::Low, action: Action::AskUser, ..injection() };
    let grave = Finding { severity: Severity::Critical, action: Action::AutoFix, lines: None, ..injection_too() };
    let merged = merge(&[(slot(1), vec![mild.clone()]), (slot(2), vec![grave.clone()])]);
    let [one] = merged.as_slice() else { panic!("{merged:#?}") };
    assert_eq!((one.finding.severity, one.finding.action), (Severity::Critical, Action::AskUser));
    assert_eq!((&one.finding.title, one.finding.lines), (&grave.title, mild.lines));
    assert_eq!(one.said, [(slot(1), mild), (slot(2), grave)]);
}

#[test]
fn a_reviewer_that_says_the_same_twice_counts_once_and_two_things_stay_two() {
    let again = Finding { severity: Severity::Low, ..injection() };
    let merged = merge(&[(slot(1), vec![injection(), again])]);
    assert_eq!((merged.len(), merged[0].raised_by.len(), merged[0].said.len()), (1, 1, 2));
    // Another reviewer's finding is like both of them; they stay two, for one who lists two means two.
    let other = Finding { title: "SQL injection in the search of users".to_owned(), ..injection() };
    assert_eq!(groups(&[(slot(1), vec![injection(), other.clone()])]), [[1], [1]]);
    let merged = merge(&[(slot(1), vec![injection(), other]), (slot(2), vec![injection_too()])]);
    assert_eq!(merged.len(), 2, "{merged:#?}");
}

#[test]
fn the_order_of_reviewers_and_of_what_they_say_changes_nothing() {
    let mut found = vec![
        (slot(1), vec![injection(), leak(), at(leak(), "src/db.rs", 40, 44)]),
        (slot(2), vec![injection_too(), Finding { severity: Severity::Critical, ..leak() }]),
        (slot(3), vec![at(injection_too(), "src/db.rs", 9, 9), Finding { lines: None, ..leak() }]),
        (slot(4), Vec::new()),
    ];
    let expected = merge(&found);
    assert!(expected.len() > 2);
    for turn in 0..found.len() {
        found.rotate_left(1);
        found.iter_mut().for_each(|(_, findings)| findings.reverse());
        assert_eq!(merge(&found), expected, "{turn}");
    }
    let severities: Vec<Severity> = expected.iter().map(|merged| merged.finding.severity).collect();
    assert!(severities.is_sorted_by(|one, next| one >= next), "{severities:?}");
    assert_eq!(merge(&[]), []);
}

#[test]
fn a_chain_of_neighbours_is_not_one_finding() {
    let words = ["alpha beta gamma delta", "gamma delta epsilon zeta", "epsilon zeta eta theta"];
    let chain: Vec<(SlotId, Vec<Finding>)> = words
        .iter()
        .zip(1..)
        .map(|(words, n)| (slot(n), vec![at(finding(words, &format!("{words} {words}")), "a", 1, 9)]))
        .collect();
    let merged = merge(&chain);
    assert!(merged.len() >= 2, "{merged:#?}");
    for one in &merged {
        assert!(!(one.raised_by.contains(&slot(1)) && one.raised_by.contains(&slot(3))), "{one:#?}");
    }
}

fn ids(known: &Known, found: Vec<Finding>) -> Vec<(String, Seen)> {
    let identified = known.identify(merge(&[(slot(1), found)]));
    identified.into_iter().map(|found| (found.id.to_string(), found.seen)).collect()
}

#[test]
fn an_id_stays_with_its_finding_when_lines_move_and_words_change() {
    let mut known = Known::new();
    for (identified, _) in known.clone().identify(merge(&[(slot(1), vec![injection(), leak()])])).into_iter().zip(0..) {
        known.add(identified.id, identified.merged.said.into_iter().map(|(_, finding)| finding));
    }
    let again = |id: &str| (id.to_owned(), Seen::Again);
    let new = |id: &str| (id.to_owned(), Seen::New);
    // Of one severity they are in the order of places.
    assert_eq!(ids(&known, vec![injection()]), [again("F01")]);
    assert_eq!(ids(&known, vec![leak()]), [again("F02")]);
    assert_eq!(ids(&known, vec![at(leak(), "src/db.rs", 30, 31)]), [again("F02")]);
    assert_eq!(ids(&known, vec![at(injection_too(), "src/db.rs", 20, 22)]), [again("F01")]);
    assert_eq!(ids(&known, vec![at(injection(), "src/db.rs", 900, 901)]), [again("F01")], "the very same words");
    let similar = finding("SQL injection in the export", "The name of the table is concatenated into the SQL query.");
    assert_eq!(ids(&known, vec![at(similar.clone(), "src/db.rs", 16, 18)]), [again("F01")], "the same place");
    assert_eq!(ids(&known, vec![at(similar, "src/db.rs", 900, 901)]), [new("F03")]);
    assert_eq!(ids(&known, vec![at(injection(), "src/other.rs", 10, 14)]), [new("F03")]);
}

#[test]
fn two_findings_never_get_one_id_and_the_nearer_one_keeps_it() {
    let mut known = Known::new();
    known.add(FindingId::FIRST, [injection()]);
    let far = at(injection(), "src/db.rs", 35, 39);
    let found = ids(&known, vec![far, injection()]);
    assert_eq!(found, [("F01".to_owned(), Seen::Again), ("F02".to_owned(), Seen::New)]);
    known.add("F07".parse().unwrap(), [leak()]);
    let third = at(finding("Dead link", "The page is gone."), "README.md", 1, 1);
    assert_eq!(ids(&known, vec![third]), [("F08".to_owned(), Seen::New)], "an id is never given again");
}
