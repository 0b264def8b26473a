//! Folders inside of a session whose record, or the line of the record around that opened them, is gone.

use super::world::{PANEL, asked, calls, came_of, die, finished, snapshot, undisturbed, world, world_voting};
use crate::support::{Session, TestEnv, finish};

const RUN: &[&str] = &["run-and-judge", "which is the best?"];

/// Cuts a record off within its last line, which must hold `event`.
fn tear(session: &Session, record: &str, event: &str, kept: usize) {
    let text = session.text(record);
    let start = text.trim_end().rfind('\n').unwrap() + 1;
    assert!(text[start..].contains(event), "{}", &text[start..]);
    std::fs::write(session.path(record), &text[..start + kept]).unwrap();
}

/// Fails unless going on is refused with `words`, nobody is asked and nothing written.
#[track_caller]
fn refused(env: &TestEnv, words: &str) {
    let before = (snapshot(env), PANEL.map(|name| calls(env, name).len()));
    for arguments in [&["resume"][..], &["resume", "--failed", "--accept-drift"]] {
        let (_, err) = finish(env, arguments, 6);
        assert!(err.contains(words), "{arguments:?}, no `{words}` in: {err}");
        assert_eq!((snapshot(env), PANEL.map(|name| calls(env, name).len())), before, "{arguments:?}");
    }
}

#[test]
fn a_round_whose_opening_is_the_torn_last_line_is_taken_up() {
    let expected = undisturbed(&world(), RUN);
    for (point, kept) in [("prompt-recorded:2", 0), ("slot-end-recorded:5", 40), ("votes-written", 1)] {
        let env = world();
        die(&env, point, RUN);
        let session = env.session();
        tear(&session, "events.jsonl", "round_opened", kept);
        let done = finished(&session);
        let before = asked(&env, &done);
        finish(&env, &["resume"], 0);
        assert_eq!(came_of(&session), expected, "{point}");
        assert_eq!(asked(&env, &done), before, "{point}");
        assert!(!session.has("judging-2"), "{point}");
        finish(&env, &["verify"], 0);
    }
}

#[test]
fn a_turn_whose_opening_is_the_torn_last_line_is_taken_up() {
    let rules = &["approve-word best"];
    let both: &[&str] = &["run-and-judge", "which is the best?", "--passes", "2"];
    let expected = undisturbed(&world_voting(rules), both);
    let env = world_voting(rules);
    die(&env, "turn-closed", both);
    let session = env.session();
    tear(&session, "judging/events.jsonl", "turn_opened", 9);
    let done = finished(&session);
    let before = asked(&env, &done);
    finish(&env, &["resume"], 0);
    assert_eq!(came_of(&session), expected);
    assert_eq!(asked(&env, &done), before);
    finish(&env, &["verify"], 0);
}

#[test]
fn a_round_that_no_line_opened_and_none_can_have_opened_is_not_passed_over() {
    let env = world();
    die(&env, "votes-written", RUN);
    let session = env.session();
    tear(&session, "events.jsonl", "round_opened", 0);
    let text = session.text("events.jsonl");
    let cut = text.trim_end().rfind('\n').unwrap() + 1;
    std::fs::write(session.path("events.jsonl"), &text[..cut]).unwrap();
    refused(&env, "judging/events.jsonl` is a record that the one around it knows nothing of");
}

#[test]
fn a_round_that_has_lost_its_record_is_not_held_again_over_its_replies_and_prompts() {
    for point in ["votes-written", "prompt-recorded:2"] {
        for lost in [true, false] {
            let env = world();
            die(&env, point, RUN);
            let record = env.session().path("judging/events.jsonl");
            match lost {
                true => std::fs::remove_file(&record).unwrap(),
                false => std::fs::write(&record, "").unwrap(),
            }
            refused(&env, if lost { "judging/events.jsonl` is missing" } else { "the record is empty" });
            finish(&env, &["verify"], 6);
        }
    }
}
