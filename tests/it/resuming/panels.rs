//! What is asked again of a run that was cut off or ended in part, and on which terms.

use nix::sys::signal::Signal;
use serde_json::json;

use super::world::{count, die, snapshot, world};
use crate::support::{TeamToml, TestEnv, finish, wait_until};

/// `early` answers at once, `late` when `go` exists, `shaky` only when `cured` exists.
fn early_late_shaky() -> TestEnv {
    let env = TestEnv::new();
    let step = |word: &str, file: &str| format!("{word} {}", env.path(file).display());
    let config = TeamToml::new()
        .agent("early", &[&step("note", "early.calls"), "answer early"])
        .agent("late", &[&step("note", "late.calls"), "write la", &step("wait-for", "go"), "write te\\n"])
        .agent("shaky", &[&step("note", "shaky.calls"), &step("need", "cured"), "answer well"]);
    env.write("team.toml", config.text());
    env
}

fn counts(env: &TestEnv) -> [usize; 3] {
    ["early", "late", "shaky"].map(|name| count(env, name, "answer"))
}

#[test]
fn a_slot_that_ran_when_its_owner_died_is_lost_on_record_and_answers_in_a_second_attempt() {
    let env = early_late_shaky();
    let mut team = env.start(&["run", "-m", "early,late", "why?"]);
    let session = env.session_with("status.json");
    let (early, late) = (session.id_of("early"), session.id_of("late"));
    wait_until("the early answer", || (session.slot(&early)["state"] == "COMPLETED").then_some(()));
    wait_until("the late one's question", || (count(&env, "late", "answer") == 1).then_some(()));
    team.signal(Signal::SIGKILL);
    team.wait();
    env.wait_for_no_processes();
    let shown: serde_json::Value = serde_json::from_str(&finish(&env, &["status", "--json"], 0).0).unwrap();
    assert_eq!(
        shown["status"]["models"][&late]["error"]["nextStep"].as_str().unwrap().split_once(" asks").unwrap().0,
        "`team resume`"
    );
    env.write("go", "");
    let (out, err) = finish(&env, &["resume"], 0);
    assert_eq!(out.trim(), session.dir().canonicalize().unwrap().display().to_string());
    assert!(err.contains(&format!("slot {late}")), "{err}");
    assert_eq!(session.text(&format!("response-{late}.md")), "late\n");
    assert_eq!(
        (session.slot(&late)["attempts"].clone(), session.slot(&early)["attempts"].clone()),
        (json!(2), json!(1))
    );
    assert_eq!(counts(&env), [1, 2, 0]);
    let ends: Vec<_> =
        session.events().into_iter().filter(|event| event["event"] == "slot_ended" && event["slot"] == *late).collect();
    assert_eq!(ends[0]["state"], "LOST");
    assert_eq!(ends[0]["error"]["reason"], "owner_died");
    assert_eq!((ends.len(), ends[1]["state"].clone()), (2, json!("COMPLETED")));
    assert_eq!(session.json("session-meta.json")["status"], "completed");
}

#[test]
fn after_ctrl_c_what_was_stopped_is_asked_again_and_what_failed_only_on_request() {
    let env = early_late_shaky();
    let mut team = env.start(&["run", "-m", "early,late,shaky", "why?"]);
    let session = env.session_with("status.json");
    let (late, shaky) = (session.id_of("late"), session.id_of("shaky"));
    let early = session.id_of("early");
    wait_until("the early one's end", || (session.slot(&early)["state"] == "COMPLETED").then_some(()));
    wait_until("the shaky one's end", || (session.slot(&shaky)["state"] == "FAILED").then_some(()));
    wait_until("the late one's question", || (count(&env, "late", "answer") == 1).then_some(()));
    team.signal(Signal::SIGINT);
    assert_eq!(team.wait().code(), Some(130));
    assert!(team.stderr().contains(&format!("`team resume {}` goes on", session.id())), "{}", team.stderr());
    env.write("go", "");
    finish(&env, &["resume"], 0);
    assert_eq!(counts(&env), [1, 2, 1]);
    assert_eq!(session.slot(&late)["state"], "COMPLETED");
    assert_eq!(session.slot(&shaky)["state"], "FAILED");
    env.write("cured", "");
    let (_, err) = finish(&env, &["resume"], 0);
    assert!(err.contains("nothing is left to do"), "{err}");
    assert_eq!(counts(&env), [1, 2, 1]);
    finish(&env, &["resume", "--failed"], 0);
    assert_eq!(counts(&env), [1, 2, 2]);
    assert_eq!(session.text(&format!("response-{shaky}.md")), "well\n");
    assert!(session.slot(&shaky)["error"].is_null());
}

#[test]
fn the_terms_of_the_beginning_hold_for_what_is_resumed() {
    let env = early_late_shaky();
    env.write("go", "");
    die(
        &env,
        "session-made",
        &["run", "-m", "early,late", "why?", "--strict", "--require-pattern", "^ea", "--jobs", "1"],
    );
    let (_, err) = finish(&env, &["resume"], 4);
    assert!(err.contains("`--strict`: 1 of 2 slots completed"), "{err}");
    let session = env.session();
    assert_eq!(session.slot(&session.id_of("late"))["error"]["reason"], "shape_mismatch");
}

#[test]
fn other_limits_can_be_given_to_what_is_resumed() {
    let env = early_late_shaky();
    finish(&env, &["run", "-m", "early,late", "why?", "--timeout", "300ms"], 0);
    let session = env.session();
    let late = session.id_of("late");
    assert_eq!(session.slot(&late)["state"], "TIMEOUT");
    finish(&env, &["resume", "--failed"], 0);
    assert_eq!(session.slot(&late)["state"], "TIMEOUT", "the limit of the beginning holds");
    env.write("go", "");
    finish(&env, &["resume", "--failed", "--timeout", "none"], 0);
    assert_eq!(session.slot(&late)["state"], "COMPLETED");
    assert_eq!(session.slot(&late)["attempts"], 3);
}

#[test]
fn an_answer_that_the_disk_refused_is_asked_for_again_when_there_is_room() {
    let config = TeamToml::new().agent("flood", &["bytes 300000"]).agent("quick", &["print fits"]);
    let env = TestEnv::with(&config);
    let mut team = env.start_under(&["prlimit", "--fsize=100000", "--"], &["run", "-m", "flood,quick", "how much?"]);
    assert_eq!(team.wait().code(), Some(0), "{}", team.stderr());
    let session = env.session();
    let flood = session.id_of("flood");
    assert_eq!(session.slot(&flood)["error"]["reason"], "io_error");
    assert!(session.slot(&flood)["error"]["nextStep"].as_str().unwrap().contains("`team resume --failed`"));
    finish(&env, &["resume", "--failed"], 0);
    assert_eq!(session.text(&format!("response-{flood}.md")).len(), 300_000);
}

#[test]
fn an_answer_that_is_missing_changed_or_planted_stops_the_resume_before_anybody_is_asked() {
    for fault in ["missing", "changed", "planted"] {
        let env = world();
        die(&env, "slot-end-settled", &["run", "--jobs", "1", "which?"]);
        let session = env.session();
        let done = session.slots().into_iter().find(|id| session.slot(id)["state"] == "COMPLETED").unwrap();
        let open = session.slots().into_iter().find(|id| session.slot(id)["state"] == "PENDING");
        let file = match fault {
            "planted" => format!("response-{}.md", open.unwrap()),
            _ => format!("response-{done}.md"),
        };
        match fault {
            "missing" => std::fs::remove_file(session.path(&file)).unwrap(),
            _ => std::fs::write(session.path(&file), "other words").unwrap(),
        }
        let before = snapshot(&env);
        let calls: usize = super::world::PANEL.iter().map(|name| count(&env, name, "answer")).sum();
        let (_, err) = finish(&env, &["resume"], 6);
        assert!(err.contains(&file), "{fault}: {err}");
        assert_eq!(snapshot(&env), before, "{fault}: nothing is written");
        assert_eq!(super::world::PANEL.iter().map(|name| count(&env, name, "answer")).sum::<usize>(), calls);
    }
}
