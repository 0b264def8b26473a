//! A run with votes is killed at every named place; resumed, it comes to the same, and nobody who was done is asked again.

use std::collections::BTreeSet;

use team::fault::Point;

use super::world::{CameOf, PANEL, asked, calls, came_of, die, finished, snapshot, undisturbed, world, world_voting};
use crate::support::{TestEnv, finish};

const RUN: &[&str] = &["run-and-judge", "which is the best?"];
const TWO_PASSES: &[&str] = &["run-and-judge", "which is the best?", "--passes", "2"];

/// Where no session exists yet.
const BEFORE: [&str; 8] = [
    "session-folder",
    "session-locked",
    "panel-input",
    "panel-manifest",
    "panel-record",
    "panel-recorded",
    "panel-filled",
    "file-written",
];

/// Where the session is closed or its record says so.
const CLOSED: [&str; 4] = ["close-recorded:2", "close-settled:2", "close-status:2", "session-closed"];

const ANSWERING: [&str; 16] = [
    "session-made",
    "slot-started",
    "slot-started:2",
    "slot-started:3",
    "answer-written",
    "answer-synced",
    "answer-synced:3",
    "answer-named",
    "answer-named:3",
    "slot-end-heard",
    "slot-end-heard:3",
    "slot-end-recorded",
    "slot-end-recorded:3",
    "slot-end-settled",
    "panel-done",
    "file-written:6",
];

const JUDGING: [&str; 18] = [
    "round-folder",
    "round-recorded",
    "panel-manifest:2",
    "panel-record:2",
    "panel-recorded:2",
    "panel-filled:2",
    "prompt-written",
    "prompt-written:3",
    "prompt-recorded",
    "prompt-recorded:2",
    "slot-started:4",
    "slot-started:6",
    "answer-written:5",
    "answer-named:4",
    "answer-named:6",
    "slot-end-recorded:5",
    "panel-done:2",
    "ballot-recorded:2",
];

const VERDICT: [&str; 12] = [
    "votes-written",
    "verdict-json",
    "verdict-text",
    "verdict-recorded",
    "close-begun",
    "close-settled",
    "round-closed",
    "round-tied",
    "verdict-json-copied",
    "verdict-text-copied",
    "session-verdict",
    "close-begun:2",
];

const TURNS: [&str; 11] = [
    "turn-folder",
    "turn-recorded",
    "panel-manifest:3",
    "panel-recorded:3",
    "prompt-recorded:5",
    "slot-started:8",
    "answer-named:7",
    "answer-synced:9",
    "ballot-recorded:5",
    "turn-closed",
    "turn-tied",
];

const SHOWING: [&str; 3] = ["workspace-copied", "workspace-named", "workspace-recorded"];

const RESUMING: [&str; 3] = ["interrupt-recorded", "lost-recorded", "reopen-recorded"];

/// Where the results of `--legacy` are copied; tried where that is (`keeping::legacy`).
const COPYING: [&str; 1] = ["copy-written"];

/// Every place is named in a list above.
#[test]
fn no_place_is_left_out() {
    let lists = [
        &BEFORE[..],
        &CLOSED,
        &ANSWERING,
        &JUDGING,
        &VERDICT,
        &TURNS,
        &SHOWING,
        &RESUMING,
        &COPYING,
        &super::imports::PLACES,
        &crate::review::PLACES,
        &crate::fix::PLACES,
        &crate::conversations::killed::PLACES,
    ];
    let tried: BTreeSet<&str> =
        lists.into_iter().flatten().map(|name| name.split_once(':').map_or(*name, |(name, _)| name)).collect();
    assert_eq!(tried, Point::ALL.iter().map(|point| point.as_str()).collect());
}

/// Kills a run of the panel at `point`, resumes it, and compares.
#[track_caller]
fn cut_off_at(point: &str, run: &[&str], expected: &CameOf) {
    let env = world();
    die(&env, point, run);
    resumes(&env, point, expected);
}

/// Resumes what was cut off at `point`, and compares.
#[track_caller]
fn resumes(env: &TestEnv, point: &str, expected: &CameOf) {
    let session = env.session();
    let before = snapshot(env);
    let shown = finish(env, &["status", "--json"], 0).0;
    let is_closed = CLOSED.contains(&point);
    assert_eq!(
        shown.contains("\"state\":\"interrupted\"") || shown.contains("\"state\": \"interrupted\""),
        !is_closed,
        "{point}: {shown}"
    );
    let listed = finish(env, &["list"], 0).0;
    assert_eq!(listed.contains("interrupted"), !is_closed, "{point}: {listed}");
    // What was cut off between two files that belong together is told, and is no mismatch.
    let (verified, _) = finish(env, &["verify"], 0);
    assert_eq!(verified.contains("the session was interrupted"), !is_closed, "{point}: {verified}");
    assert_eq!(snapshot(env), before, "{point}: looking writes nothing");

    let done = finished(&session);
    let before_that = asked(env, &done);
    let (out, err) = finish(env, &["resume"], 0);
    assert!(out.contains("# Verdict"), "{point}: {out}\n{err}");
    assert_eq!(&came_of(&session), expected, "{point}");
    assert_eq!(asked(env, &done), before_that, "{point}: whoever was done is not asked again: {done:?}");
    for name in PANEL {
        // The passes differ in their prompts; a prompt that was asked is asked again as it was.
        let prompts: BTreeSet<_> = calls(env, name).into_iter().collect();
        let wanted = if expected_passes(&session) == 2 { 3 } else { 2 };
        assert_eq!(prompts.len(), wanted, "{point}: {prompts:?}");
    }
    let left: Vec<String> =
        session.files().into_iter().filter(|f| f.contains(".tmp-") || f.ends_with(".part")).collect();
    assert!(left.is_empty(), "{point}: {left:?}");

    let whole = snapshot(env);
    let (out, err) = finish(env, &["resume", &session.id()], 0);
    assert!(out.contains("# Verdict") && err.contains("nothing is left to do"), "{point}: {out}\n{err}");
    assert_eq!(snapshot(env), whole, "{point}");
}

fn expected_passes(session: &crate::support::Session) -> u64 {
    session.json("judging/votes.json")["passes"].as_u64().unwrap()
}

/// Tries every place, a few at a time.
#[track_caller]
fn each(points: &[&str], run: &[&str]) {
    let expected = undisturbed(&world(), run);
    std::thread::scope(|scope| {
        for some in points.chunks(points.len().div_ceil(3)) {
            let expected = &expected;
            scope.spawn(move || {
                for point in some {
                    cut_off_at(point, run, expected);
                }
            });
        }
    });
}

#[test]
fn a_run_that_is_killed_while_its_workspace_is_taken_is_finished_by_resume() {
    let expected = undisturbed(&world(), RUN);
    for point in SHOWING {
        let env = world();
        env.write("shown/a.txt", "x");
        die(&env, point, &[RUN, &["--workspace", "shown"]].concat());
        resumes(&env, point, &expected);
        finish(&env, &["verify"], 0);
    }
}

#[test]
fn a_run_that_is_killed_while_its_folder_is_made_is_no_session_and_another_can_be_run() {
    for point in BEFORE {
        let env = world();
        die(&env, point, RUN);
        let (_, err) = finish(&env, &["resume"], 2);
        assert!(err.contains("never became a whole session") && err.contains("run the same again"), "{point}: {err}");
        for command in ["status", "show", "resume", "judge", "cancel"] {
            let id = env.sessions()[0].id();
            for name in [&id, &id[..10], &format!("ai-docs/sessions/{id}")] {
                let (_, err) = finish(&env, &[command, name], 2);
                assert!(err.contains(&format!("{id}` never became a whole session")), "{point} {command}: {err}");
            }
        }
        // By its name it can be looked at as soon as it has a record.
        let recorded = ["panel-recorded", "panel-filled"].contains(&point);
        for folder in env.sessions() {
            let (out, err) = finish(&env, &["verify", &folder.id()], if recorded { 0 } else { 2 });
            let told = if recorded {
                out.contains("`session-meta.json` was not written yet")
            } else {
                err.contains("never became a whole session")
            };
            assert!(told, "{point}: {out}{err}");
        }
        assert_eq!(finish(&env, &["list", "--json"], 0).0.trim(), "[]", "{point}");
        for name in PANEL {
            assert!(calls(&env, name).is_empty(), "{point}: nobody was asked");
        }
        finish(&env, RUN, 0);
        finish(&env, &["show", "latest"], 0);
    }
}

#[test]
fn a_run_that_is_killed_while_slots_answer_comes_to_the_same() {
    each(&ANSWERING, RUN);
}

#[test]
fn a_run_that_is_killed_while_judges_vote_comes_to_the_same() {
    each(&JUDGING, RUN);
}

#[test]
fn a_run_that_is_killed_while_its_verdict_is_published_comes_to_the_same() {
    each(&VERDICT, RUN);
}

#[test]
fn a_run_that_is_killed_while_it_is_closed_comes_to_the_same() {
    each(&CLOSED, RUN);
}

#[test]
fn a_run_that_is_killed_while_judges_are_asked_in_reverse_order_comes_to_the_same() {
    each(&TURNS, TWO_PASSES);
}

#[test]
fn a_resume_that_is_killed_can_be_resumed() {
    let expected = undisturbed(&world(), RUN);
    for point in RESUMING.iter().copied().chain(["answer-named", "verdict-recorded", "slot-end-heard:2"]) {
        let env = world();
        die(&env, "slot-started:3", RUN);
        die(&env, point, &["resume"]);
        resumes(&env, point, &expected);
    }
}

#[test]
fn a_judge_that_is_asked_for_the_rest_is_asked_once_however_often_the_run_is_killed() {
    let rules = ["first missing", "again approve"];
    let env = world_voting(&rules);
    let run: &[&str] = &["run-and-judge", "which is the best?"];
    let output = env.team(run).output().unwrap();
    let code = output.status.code();
    let whole = env.session();
    let counted = |session: &crate::support::Session| {
        let votes = session.json("judging/votes.json");
        let judges = votes["judges"].as_array().unwrap().iter();
        judges
            .map(|judge| (judge["votes"].as_array().unwrap().len(), judge["repair"]["state"].clone()))
            .collect::<Vec<_>>()
    };
    let expected = counted(&whole);
    assert!(whole.has("judging/repair/events.jsonl"));
    for point in ["turn-recorded", "answer-named:7", "answer-synced:9", "turn-tied", "votes-written"] {
        let env = world_voting(&rules);
        die(&env, point, run);
        let session = env.session();
        let done = finished(&session);
        let before = asked(&env, &done);
        let output = env.team(&["resume"]).output().unwrap();
        assert_eq!(output.status.code(), code, "{point}: {}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(counted(&session), expected, "{point}");
        assert_eq!(asked(&env, &done), before, "{point}: {done:?}");
    }
}
