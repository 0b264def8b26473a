//! A session that is resumed where slots are kept apart by other means says so, and verifies.

use super::world::{die, world};
use crate::support::finish;

const RUN: [&str; 2] = ["run-and-judge", "which is the best?"];

#[test]
fn what_kept_judges_apart_is_what_the_verdict_says_wherever_it_is_published() {
    // All that is left is to publish: nobody is asked where it is resumed.
    let env = world();
    die(&env, "votes-written", &RUN);
    let session = env.session();
    let begun = session.events()[0]["isolation"].as_str().unwrap().to_owned();
    let output = env.team(&["resume"]).env("TEAM_ISOLATION", "none").output().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    assert!(out.contains(&format!("- Isolation: {begun}")), "{out}");
    assert!(!out.contains("other means"), "nobody was asked there: {out}");
    finish(&env, &["verify"], 0);
}

#[test]
fn judges_that_are_asked_by_other_means_than_the_slots_are_told_with_both() {
    let env = world();
    die(&env, "slot-started:5", &RUN);
    let session = env.session();
    let begun = session.events()[0]["isolation"].as_str().unwrap().to_owned();
    let output = env.team(&["resume"]).env("TEAM_ISOLATION", "none").output().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    let now =
        session.round("judging").events().iter().rev().find_map(|event| event["isolation"].as_str().map(str::to_owned));
    let now = now.unwrap();
    assert!(now.contains("convention") && now != begun, "{now}");
    assert!(out.contains(&format!("- Isolation: {now}")), "{out}");
    assert!(
        out.contains(&format!("before the session was resumed slots were kept apart by other means: {begun}")),
        "{out}"
    );
    finish(&env, &["verify"], 0);
}
