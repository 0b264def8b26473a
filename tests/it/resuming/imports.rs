//! Ballots from elsewhere whose counting was cut off are counted from the copies that are kept in the round.

use serde_json::{Value, json};

use super::world::{PANEL, calls, die, snapshot, world};
use crate::support::{Session, TestEnv, assert_consistent, finish};

/// Where an import can be cut off once all of it is kept and recorded; and right before.
pub(super) const PLACES: [&str; 11] = [
    "import-kept:2",
    "slot-started",
    "import-reply",
    "import-reply:2",
    "slot-end-recorded",
    "ballot-recorded",
    "votes-written",
    "verdict-json",
    "verdict-recorded",
    "round-tied",
    "close-recorded:2",
];

const PATTERN: &str = r"^(?<answer>\S+) (?<verdict>\w+)$";

const IMPORT: [&str; 7] = ["judge", "--import", "strict.txt", "--import", "mild.txt", "--import-pattern", PATTERN];

/// A finished run, and two files of ballots for it.
fn answered() -> (TestEnv, Session) {
    let env = world();
    finish(&env, &["run", "which is the best?"], 0);
    env.write("strict.txt", "kiwi APPROVE\nplum REJECT\npear REJECT\n");
    env.write("mild.txt", "kiwi APPROVE\nplum APPROVE\n");
    let session = env.session();
    (env, session)
}

/// What came of the votes, by model.
fn came_of(session: &Session) -> Vec<Value> {
    assert_consistent(session);
    let verdict = session.json("verdict.json");
    let row = |name: &&str| {
        let id = session.id_of(name);
        let answers = verdict["answers"].as_array().unwrap();
        let answer = answers.iter().find(|answer| answer["id"] == *id).unwrap();
        json!([name, answer["rank"], answer["approvals"], answer["rejections"], answer["missing"]])
    };
    let mut rows: Vec<Value> = PANEL.iter().map(row).collect();
    rows.push(verdict["imported"]["files"].as_array().unwrap().iter().map(|file| file["name"].clone()).collect());
    rows.push((verdict["winner"] == *session.id_of("kiwi")).into());
    rows
}

#[test]
fn an_import_that_is_killed_comes_to_the_same_without_its_files() {
    let (env, session) = answered();
    finish(&env, &IMPORT, 0);
    let expected = came_of(&session);
    for point in &PLACES[1..] {
        let (env, session) = answered();
        die(&env, point, &IMPORT);
        finish(&env, &["verify"], 0);
        std::fs::remove_file(env.path("strict.txt")).unwrap();
        std::fs::remove_file(env.path("mild.txt")).unwrap();
        let (out, err) = finish(&env, &["resume"], 0);
        assert!(out.contains("# Verdict"), "{point}: {out}{err}");
        assert_eq!(came_of(&session), expected, "{point}");
        assert!(!session.has("judging-2"), "{point}");
        assert!(PANEL.iter().all(|name| calls(&env, name).len() == 1), "{point}: nobody is asked");
        finish(&env, &["verify"], 0);
        let whole = snapshot(&env);
        let (_, err) = finish(&env, &["resume"], 0);
        assert!(err.contains("nothing is left to do"), "{point}: {err}");
        assert_eq!(snapshot(&env), whole, "{point}");
    }
}

#[test]
fn an_import_of_which_not_every_file_is_kept_has_to_be_given_again_and_a_changed_copy_is_not_counted() {
    let (env, session) = answered();
    die(&env, PLACES[0], &IMPORT);
    finish(&env, &["verify"], 0);
    // What was to be counted is not: nothing is decided.
    let (_, err) = finish(&env, &["resume"], 3);
    let again = format!("--import strict.txt --import mild.txt --import-pattern '{PATTERN}'`");
    assert!(err.contains("the import was cut off and its ballots are not counted") && err.contains(&again), "{err}");
    finish(&env, &["verify"], 0);
    finish(&env, &IMPORT, 0);
    assert!(session.has("judging-2/verdict.json"));

    let (env, session) = answered();
    die(&env, "votes-written", &IMPORT);
    std::fs::write(session.path("judging/import-02.txt"), "kiwi REJECT\nplum APPROVE\n").unwrap();
    let before = snapshot(&env);
    let (_, err) = finish(&env, &["resume"], 6);
    assert!(err.contains("import-02.txt` is not as it was recorded"), "{err}");
    assert_eq!(snapshot(&env), before);
}

#[test]
fn an_import_of_which_nothing_is_kept_is_told_of_and_has_to_be_given_again() {
    for point in ["reopen-recorded", "round-folder", "round-recorded", "panel-manifest", "panel-record"] {
        let env = world();
        finish(&env, &["run-and-judge", "which is the best?"], 0);
        let session = env.session();
        env.write("strict.txt", "kiwi APPROVE\nplum REJECT\npear REJECT\n");
        env.write("mild.txt", "kiwi APPROVE\nplum APPROVE\n");
        die(&env, point, &IMPORT);
        let (out, err) = finish(&env, &["resume"], 3);
        let again = format!("import them again: `team judge {} --import FILE`", session.id());
        assert!(err.contains(&again) && !err.contains("had not begun"), "{point}: {err}");
        assert!(out.contains("# Verdict"), "{point}: the one before stands: {out}");
        finish(&env, &["verify"], 0);
        finish(&env, &IMPORT, 0);
        assert!(session.has("judging-2/verdict.json"), "{point}");
        finish(&env, &["verify"], 0);
        let (_, err) = finish(&env, &["resume"], 0);
        assert!(!err.contains("import them again"), "{point}: {err}");
    }
}

#[test]
fn a_round_of_ballots_from_elsewhere_after_one_that_was_asked_is_no_change_of_the_prompts() {
    let env = world();
    finish(&env, &["run-and-judge", "which is the best?"], 0);
    let session = env.session();
    std::fs::copy(session.path("judging/votes.json"), env.path("theirs.json")).unwrap();
    finish(&env, &["judge", "--import", "theirs.json"], 0);
    let before = (snapshot(&env), PANEL.map(|name| calls(&env, name).len()));
    let (_, err) = finish(&env, &["resume"], 0);
    assert!(err.contains("nothing is left to do") && !err.contains("prompt text"), "{err}");
    assert_eq!((snapshot(&env), PANEL.map(|name| calls(&env, name).len())), before);
    finish(&env, &["verify"], 0);
}
