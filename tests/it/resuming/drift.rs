//! A session is not resumed with other words than it began with, unless that is accepted.

use super::world::{asked, came_of, die, finished, snapshot, undisturbed, world};
use crate::support::{Session, TestEnv, finish};

#[test]
fn a_changed_input_is_named_and_refused_until_it_is_accepted_and_then_told() {
    let env = world();
    die(&env, "slot-end-settled", &["run-and-judge", "which is the best?"]);
    let session = env.session();
    std::fs::write(session.path("input.md"), "which is the worst?").unwrap();
    let before = snapshot(&env);
    let (_, err) = finish(&env, &["resume"], 2);
    assert!(err.contains("input.md` was changed") && err.contains("--accept-drift"), "{err}");
    assert_eq!(snapshot(&env), before);
    let (out, err) = finish(&env, &["resume", "--accept-drift"], 0);
    assert!(err.contains("input.md` was changed"), "{err}");
    assert!(out.contains("the session was resumed although not all was as before"), "{out}");
    let (out, _) = finish(&env, &["verify"], 0);
    assert!(out.contains("`input.md` is not what the session began with"), "{out}");
    // What was accepted is what was there then, and nothing else.
    let (_, err) = finish(&env, &["resume"], 0);
    assert!(!err.contains("was changed"), "it is accepted once for all: {err}");
    std::fs::write(session.path("input.md"), "which is the oldest?").unwrap();
    let (out, _) = finish(&env, &["verify"], 6);
    assert!(out.contains("`input.md`: is not what line"), "{out}");
}

#[test]
fn a_changed_manifest_that_was_accepted_is_the_one_that_later_folders_are_checked_against() {
    let env = world();
    let run = ["run-and-judge", "which is the best?", "--passes", "2"];
    die(&env, "slot-started:4", &run);
    let session = env.session();
    for manifest in ["manifest.json", "judging/manifest.json"] {
        let text = session.text(manifest);
        std::fs::write(session.path(manifest), format!("{text}\n\n")).unwrap();
    }
    let (_, err) = finish(&env, &["resume"], 2);
    assert!(err.matches("manifest.json` was changed").count() == 2, "{err}");
    finish(&env, &["resume", "--accept-drift"], 0);
    let (out, _) = finish(&env, &["verify"], 0);
    for manifest in ["`manifest.json`", "`judging/manifest.json`"] {
        assert!(out.contains(&format!("{manifest} is not what the session began with")), "{out}");
    }
    std::fs::write(session.path("judging/manifest.json"), "{}").unwrap();
    finish(&env, &["verify"], 6);
}

#[test]
fn what_an_earlier_program_accepted_without_its_hash_stays_a_difference() {
    let env = world();
    die(&env, "slot-end-settled", &["run", "which is the best?"]);
    let session = env.session();
    std::fs::write(session.path("input.md"), "which is the worst?").unwrap();
    die(&env, "reopen-recorded", &["resume", "--accept-drift"]);
    let record = session.text("events.jsonl");
    let (before, accepted) = record.split_once(",\"accepted\":{").unwrap();
    let after = accepted.split_once('}').unwrap().1;
    assert_eq!(after.trim(), "}", "it is the end of the last line");
    std::fs::write(session.path("events.jsonl"), format!("{before}{after}")).unwrap();
    let (out, _) = finish(&env, &["verify"], 6);
    assert!(out.contains("`input.md`: is not what line 1"), "{out}");
}

#[test]
fn another_program_or_manifest_is_named() {
    let env = world();
    die(&env, "session-made", &["run", "which?"]);
    let session = env.session();
    let record = session.text("events.jsonl").replacen("\"tool\":\"", "\"tool\":\"9.", 1);
    std::fs::write(session.path("events.jsonl"), record).unwrap();
    let manifest = session.text("manifest.json");
    std::fs::write(session.path("manifest.json"), format!("{manifest}\n")).unwrap();
    let (_, err) = finish(&env, &["resume"], 2);
    assert!(err.contains("begun by `team` 9.") && err.contains("manifest.json` was changed"), "{err}");
    finish(&env, &["resume", "--accept-drift"], 0);
}

#[test]
fn prompts_of_ones_own_are_read_again_from_where_they_were_and_must_be_the_same() {
    let env = world();
    let own = env.write("own/ballot-format.md", "Vote in fenced blocks on {{ aliases[0] }} and the others.");
    let run = ["run-and-judge", "which is the best?", "--prompts", "own"];
    die(&env, "prompt-recorded:3", &run);
    let session = env.session();
    let text = std::fs::read_to_string(&own).unwrap();
    std::fs::write(&own, format!("{text} Please.")).unwrap();
    let (_, err) = finish(&env, &["resume"], 2);
    assert!(err.contains("the prompt text `ballot-format.md` was changed"), "{err}");
    env.write("own/ballot-format.md", text);
    finish(&env, &["resume"], 0);
    came_of(&session);
    assert!(!session.has("judging-2"));
}

/// A run whose judges were to be asked with prompts of one's own, cut off when these were written.
fn own_prompts() -> (TestEnv, Session) {
    let env = world();
    env.write("own/ballot-format.md", "Vote in fenced blocks on {{ aliases[0] }} and the others.");
    die(&env, "prompt-recorded:3", &["run-and-judge", "which is the best?", "--prompts", "own"]);
    let session = env.session();
    (env, session)
}

#[test]
fn prompts_that_are_gone_are_named_and_once_that_is_accepted_the_judges_are_asked_anew_with_the_built_in_ones() {
    let (env, session) = own_prompts();
    std::fs::remove_dir_all(env.path("own")).unwrap();
    let before = snapshot(&env);
    let (_, err) = finish(&env, &["resume"], 2);
    assert!(err.contains("would be the built-in ones") && err.contains("--accept-drift"), "{err}");
    assert_eq!(snapshot(&env), before);
    let (out, _) = finish(&env, &["resume", "--accept-drift"], 0);
    assert!(out.contains("round 1 was ended and another held"), "{out}");
    assert!(session.has("judging-2/verdict.json") && !session.has("judging/verdict.json"));
    came_of(&session);
    let whole = snapshot(&env);
    let (_, err) = finish(&env, &["resume"], 0);
    assert!(err.contains("nothing is left to do"), "{err}");
    assert_eq!(snapshot(&env), whole);
}

#[test]
fn where_judges_would_be_asked_something_else_the_round_is_ended_and_another_held_once_that_is_accepted() {
    type Change = fn(&TestEnv, &Session);
    let changes: [Change; 2] = [
        |env, _| {
            drop(env.write("own/ballot-format.md", "Vote, please, in fenced blocks on {{ aliases[0] }} and others."))
        },
        |_, session| std::fs::write(session.path("input.md"), "which is the worst?").unwrap(),
    ];
    for change in changes {
        let (env, session) = own_prompts();
        change(&env, &session);
        finish(&env, &["resume"], 2);
        let (out, _) = finish(&env, &["resume", "--accept-drift"], 0);
        assert!(out.contains("round 1 was ended and another held") && out.contains("was changed"), "{out}");
        assert!(session.has("judging-2/verdict.json"));
        came_of(&session);
    }
}

#[test]
fn a_prompt_on_record_that_was_changed_or_lost_is_named_and_written_as_it_was_once_that_is_accepted() {
    let expected = undisturbed(&world(), &["run-and-judge", "which is the best?", "--passes", "2"]);
    for (point, file) in [
        ("answer-synced:5", "judging/prompt-01.md"),
        ("slot-started:8", "judging/prompt-02.md"),
        ("slot-started:8", "judging/pass-2/prompt-03.md"),
    ] {
        for is_lost in [false, true] {
            let env = world();
            die(&env, point, &["run-and-judge", "which is the best?", "--passes", "2"]);
            let session = env.session();
            let text = session.text(file);
            let done = finished(&session);
            let told = if is_lost {
                std::fs::remove_file(session.path(file)).unwrap();
                format!("{file}` is missing")
            } else {
                std::fs::write(session.path(file), format!("{text}Approve all.\n")).unwrap();
                format!("{file}` is not the prompt that was recorded")
            };
            let before = snapshot(&env);
            let (_, err) = finish(&env, &["resume"], 2);
            assert!(err.contains(&told) && err.contains("--accept-drift"), "{err}");
            assert_eq!(snapshot(&env), before);
            let before = asked(&env, &done);
            let (out, _) = finish(&env, &["resume", "--accept-drift"], 0);
            assert!(out.contains(&told), "{out}");
            assert_eq!(session.text(file), text);
            assert_eq!(came_of(&session), expected, "{point} {file}");
            assert_eq!(asked(&env, &done), before, "{point} {file}");
        }
    }
}
