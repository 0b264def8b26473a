//! What a crash can leave of the record and of the files that are made from it.

use super::world::{PANEL, asked, calls, came_of, die, finished, snapshot, undisturbed, world};
use crate::support::{Session, finish};

const RUN: &[&str] = &["run-and-judge", "which is the best?"];

/// The lengths that a torn line is cut to: nothing of it, its first byte, the middle of a key, and all but its end.
fn cuts(line: &str) -> [usize; 5] {
    [0, 1, 7, line.len() / 2, line.len()]
}

#[test]
fn a_last_line_that_is_torn_anywhere_is_cut_off_and_what_it_said_is_found_out_again() {
    let expected = undisturbed(&world(), RUN);
    for point in ["slot-end-recorded:2", "slot-started:2", "prompt-recorded:2", "verdict-recorded"] {
        for which in 0..5 {
            let env = world();
            die(&env, point, RUN);
            let session = env.session();
            // The record that was written last.
            let record = if session.has("judging/events.jsonl") { "judging/events.jsonl" } else { "events.jsonl" };
            let text = session.text(record);
            let start = text.trim_end().rfind('\n').unwrap() + 1;
            let line = text[start..].trim_end();
            std::fs::write(session.path(record), &text[..start + cuts(line)[which]]).unwrap();
            let place = format!("{point}, cut {which}");
            let before = snapshot(&env);
            assert!(finish(&env, &["list"], 0).0.contains("interrupted"), "{place}");
            assert!(finish(&env, &["status"], 0).0.contains("interrupted"), "{place}");
            assert_eq!(snapshot(&env), before, "{place}");
            let done = finished(&session);
            let before = asked(&env, &done);
            finish(&env, &["resume"], 0);
            assert_eq!(came_of(&session), expected, "{place}");
            assert_eq!(asked(&env, &done), before, "{place}");
        }
    }
}

#[test]
fn a_status_that_is_missing_broken_or_old_is_made_from_the_record() {
    let expected = undisturbed(&world(), RUN);
    for (fault, contents) in [("missing", None), ("broken", Some("{")), ("old", Some("old"))] {
        let env = world();
        die(&env, "slot-end-settled", RUN);
        let session = env.session();
        let status = session.path("status.json");
        let is_at = |id: &String| session.slot(id)["state"].as_str().unwrap().to_owned();
        let known: Vec<String> = session.slots().iter().map(is_at).collect();
        assert!(known.contains(&"COMPLETED".to_owned()));
        let old = std::fs::read_to_string(&status).unwrap().replace("COMPLETED", "PENDING");
        match contents {
            None => std::fs::remove_file(&status).unwrap(),
            Some("old") => std::fs::write(&status, old).unwrap(),
            Some(text) => std::fs::write(&status, text).unwrap(),
        }
        let shown = finish(&env, &["status"], 0).0;
        assert!(shown.contains("interrupted") && shown.contains("COMPLETED"), "{fault}: {shown}");
        finish(&env, &["resume"], 0);
        assert_eq!(came_of(&session), expected, "{fault}");
    }
}

#[test]
fn a_record_that_was_changed_is_not_resumed() {
    let env = world();
    die(&env, "slot-end-settled", RUN);
    let session = env.session();
    let text = session.text("events.jsonl").replacen("\"attempt\":1", "\"attempt\":7", 1);
    std::fs::write(session.path("events.jsonl"), text).unwrap();
    let (_, err) = finish(&env, &["resume"], 6);
    assert!(err.contains("events.jsonl` line"), "{err}");
}

/// Fails unless resuming and judging again are refused with `words`, nobody is asked and nothing written.
fn refused(damage: impl Fn(&Session), words: &str) {
    let env = world();
    finish(&env, RUN, 0);
    damage(&env.session());
    let before = (snapshot(&env), PANEL.map(|name| calls(&env, name).len()));
    for arguments in [&["resume"][..], &["resume", "--failed", "--accept-drift"], &["judge"]] {
        let (_, err) = finish(&env, arguments, 6);
        assert!(err.contains(words), "{arguments:?}, no `{words}` in: {err}");
        assert_eq!((snapshot(&env), PANEL.map(|name| calls(&env, name).len())), before, "{arguments:?}");
        finish(&env, &["verify"], 6);
    }
}

#[test]
fn a_record_that_is_shorter_than_its_seal_or_ends_with_another_line_is_not_healed() {
    for gone in [1, 2, 6] {
        let cut = |session: &Session| {
            let text = session.text("events.jsonl");
            let lines: Vec<&str> = text.split_inclusive('\n').collect();
            std::fs::write(session.path("events.jsonl"), lines[..lines.len() - gone].concat()).unwrap();
        };
        refused(cut, "`session-meta.json` seals");
    }
    let other = |session: &Session| {
        let text = session.text("events.jsonl").trim_end().to_owned();
        std::fs::write(session.path("events.jsonl"), format!("{text} \n")).unwrap();
    };
    refused(other, "it is not the line that `session-meta.json` seals");
}

#[test]
fn a_file_that_is_gone_from_a_session_of_which_nothing_is_left_is_told_as_verify_tells_it() {
    for file in ["status.json", "judging/response-02.md", "judging/votes.json", "judging/prompt-01.md", "verdict.md"] {
        let env = world();
        finish(&env, RUN, 0);
        let session = env.session();
        std::fs::remove_file(session.path(file)).unwrap();
        let before = snapshot(&env);
        let (_, err) = finish(&env, &["resume"], 6);
        assert!(err.contains(file), "{file}: {err}");
        let (out, _) = finish(&env, &["verify"], 6);
        assert!(out.contains(file), "{file}: {out}");
        assert_eq!(snapshot(&env), before, "{file}");
    }
}

#[test]
fn a_judges_reply_that_is_gone_is_not_asked_for_again() {
    let env = world();
    die(&env, "votes-written", RUN);
    let session = env.session();
    std::fs::remove_file(session.path("judging/response-02.md")).unwrap();
    let before = (snapshot(&env), PANEL.map(|name| calls(&env, name).len()));
    let (_, err) = finish(&env, &["resume", "--accept-drift"], 6);
    assert!(err.contains("judging/response-02.md` is missing"), "{err}");
    assert_eq!((snapshot(&env), PANEL.map(|name| calls(&env, name).len())), before);
}

#[test]
fn a_round_that_was_held_and_has_no_record_any_more_is_not_held_again() {
    refused(|session| std::fs::remove_dir_all(session.path("judging")).unwrap(), "judging/events.jsonl` is missing");
    refused(|session| std::fs::remove_file(session.path("judging/events.jsonl")).unwrap(), "is missing");
    refused(|session| std::fs::write(session.path("judging/events.jsonl"), "").unwrap(), "the record is empty");
    refused(|session| std::fs::write(session.path("events.jsonl"), "").unwrap(), "the record is empty");
}
