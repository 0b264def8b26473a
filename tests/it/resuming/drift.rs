//! A session is not resumed with other words than it began with, unless that is accepted.

use super::world::{came_of, die, snapshot, world};
use crate::support::finish;

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
    let (out, _) = finish(&env, &["verify"], 6);
    assert!(out.contains("input.md"), "what was accepted stays a difference: {out}");
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
    let (_, err) = finish(&env, &["resume", "--accept-drift"], 2);
    assert!(err.contains("would not be asked what it was asked before"), "{err}");
    std::fs::remove_dir_all(env.path("own")).unwrap();
    let (_, err) = finish(&env, &["resume"], 2);
    assert!(err.contains("own") && err.contains("put them back"), "{err}");
    env.write("own/ballot-format.md", text);
    finish(&env, &["resume"], 0);
    came_of(&session);
}
