//! Sessions that go on, were stopped, or came to nothing.

use nix::sys::signal::Signal;

use super::{copy, first, look, verified};
use crate::support::{Background, Session, TeamToml, TestEnv, finish, voters, wait_until};

/// Two that answer and vote at once, and one that begins and waits for `go`, as a slot and as a judge.
fn with_a_slow_one() -> TestEnv {
    let env = TestEnv::new();
    let go = format!("wait-for {}", env.path("go").display());
    let config = voters(&[("kiwi", "one answer", "approve"), ("plum", "another answer", "approve")])
        .agent("slow", &["write half", &go, "write  an answer"])
        .agent("judge", &[&go, "vote approve"]);
    env.write("team.toml", config.text());
    env
}

fn wait_for(folder: &Session, model: &str, state: &str) {
    wait_until(state, || folder.has("manifest.json").then_some(()));
    wait_until(state, || {
        let slot = folder.json("manifest.json")["models"]
            .as_object()
            .unwrap()
            .iter()
            .find(|(_, member)| member["model"] == model)
            .map(|(slot, _)| slot.clone())?;
        (folder.slot(&slot)["state"] == state).then_some(())
    });
}

fn notes(found: &serde_json::Value) -> String {
    found["notes"].to_string()
}

fn started(env: &TestEnv) -> (Background, Session) {
    let team = env.start(&["run", "-m", "kiwi,plum,slow", "Which one?"]);
    let session = env.session_with("status.json");
    for (model, state) in [("kiwi", "COMPLETED"), ("plum", "COMPLETED"), ("slow", "RUNNING")] {
        wait_for(&session, model, state);
    }
    (team, session)
}

#[test]
fn a_session_that_goes_on_verifies_as_far_as_it_is_and_a_change_in_it_is_found() {
    let env = with_a_slow_one();
    let (mut team, session) = started(&env);
    let found = verified(&env, session.dir(), 0);
    assert_eq!(found["state"], "in_progress");
    assert!(found["owner"].as_str().unwrap().contains(&team.pid().to_string()), "{found:#}");
    assert!(notes(&found).contains("is at work on the session"), "{found:#}");
    assert_eq!(found["checked"]["answers"], 2);
    std::fs::write(session.path("response-99.md"), "planted").unwrap();
    assert_eq!(first(&verified(&env, session.dir(), 6)).0, "response-99.md");
    std::fs::remove_file(session.path("response-99.md")).unwrap();
    std::fs::write(env.path("go"), "").unwrap();
    assert_eq!(team.wait().code(), Some(0), "{}", team.stderr());
    assert_eq!(verified(&env, session.dir(), 0)["state"], "completed");
}

#[test]
fn an_interrupted_session_verifies_says_so_and_keeps_what_is_complete() {
    let env = with_a_slow_one();
    let (mut team, session) = started(&env);
    team.signal(Signal::SIGKILL);
    team.wait();
    env.wait_for_no_processes();
    let found = verified(&env, session.dir(), 0);
    assert_eq!(found["state"], "interrupted");
    assert!(notes(&found).contains("was interrupted"), "{found:#}");
    let (out, _) = finish(&env, &["verify"], 0);
    assert!(out.contains("state    interrupted\n") && out.contains(", not closed, head "), "{out}");

    let slow = session.id_of("slow");
    // Its owner may have been stopped between the answer and its event.
    let copied = copy(&session, &env.path("early"));
    std::fs::write(copied.path(&format!("response-{slow}.md")), "half an answer").unwrap();
    let found = look(copied.dir());
    assert_eq!(found["verified"], true, "{found:#}");
    assert!(notes(&found).contains(&format!("`response-{slow}.md` is not recorded yet")), "{found:#}");
    // Its owner may have been stopped in the middle of a line.
    let text = session.text("events.jsonl");
    std::fs::write(copied.path("events.jsonl"), format!("{text}{{\"seq\":9,\"pre")).unwrap();
    let found = look(copied.dir());
    assert_eq!(found["verified"], true, "{found:#}");
    assert!(notes(&found).contains("the last line of `events.jsonl` is not whole"), "{found:#}");
    // But a complete answer is as it was, and the status never was anything that the record did not come to.
    let kiwi = session.id_of("kiwi");
    std::fs::write(copied.path(&format!("response-{kiwi}.md")), "better").unwrap();
    assert_eq!(first(&look(copied.dir())).0, format!("response-{kiwi}.md"));
    let copied = copy(&session, &env.path("status"));
    let status = copied.text("status.json").replacen("COMPLETED", "FAILED", 1);
    std::fs::write(copied.path("status.json"), status).unwrap();
    assert_eq!(first(&look(copied.dir())).0, "status.json");
}

#[test]
fn a_status_that_lags_behind_an_interrupted_record_is_no_mismatch() {
    let env = with_a_slow_one();
    let (mut team, session) = started(&env);
    let lagging = session.text("status.json");
    team.signal(Signal::SIGKILL);
    team.wait();
    env.wait_for_no_processes();
    let text = session.text("events.jsonl");
    // The status of the moment before a line is what a kill between the two leaves.
    let lines: Vec<&str> = text.lines().collect();
    let head = crate::support::sha256(lines.last().unwrap().as_bytes());
    let line = serde_json::json!({
        "seq": lines.len() + 1, "prev": head, "at": "2090-01-01T00:00:00Z", "event": "stop_requested", "cause": "cancel", "slots": [],
    });
    let closed = serde_json::json!({
        "seq": lines.len() + 2, "prev": crate::support::sha256(line.to_string().as_bytes()), "at": "2090-01-01T00:00:00Z",
        "event": "closed", "state": "cancelled",
    });
    std::fs::write(session.path("events.jsonl"), format!("{text}{line}\n{closed}\n")).unwrap();
    std::fs::write(session.path("status.json"), &lagging).unwrap();
    let found = verified(&env, session.dir(), 0);
    assert!(notes(&found).contains("its owner was stopped in between"), "{found:#}");
    // What was changed in it is named, and not what came after it.
    let kiwi = session.id_of("kiwi");
    let mut status = session.json("status.json");
    status["models"][&kiwi]["exitCode"] = 7.into();
    std::fs::write(session.path("status.json"), status.to_string()).unwrap();
    let (file, _, what) = first(&verified(&env, session.dir(), 6));
    let place = format!("is not what the record comes to, at `models.{kiwi}.exitCode`");
    assert_eq!((file.as_str(), what), ("status.json", place));
    std::fs::write(session.path("status.json"), lagging).unwrap();
    // A meta that claims to be closed must hold the seal.
    let meta = session.text("session-meta.json").replace("in_progress", "completed");
    std::fs::write(session.path("session-meta.json"), meta).unwrap();
    let (file, _, what) = first(&verified(&env, session.dir(), 6));
    assert_eq!((file.as_str(), what.as_str()), ("session-meta.json", "holds no seal, though it says `completed`"));
}

#[test]
fn a_round_that_was_killed_is_told_and_the_verdict_before_it_still_verifies() {
    let env = with_a_slow_one();
    finish(&env, &["run-and-judge", "-m", "kiwi,plum", "--self-vote", "include", "Which one?"], 0);
    let session = env.session();
    let mut team = env.start(&["judge", "--judges", "judge"]);
    wait_for(&session.round("judging-2"), "judge", "RUNNING");
    assert_eq!(verified(&env, session.dir(), 0)["checked"]["rounds"], 2);
    team.signal(Signal::SIGKILL);
    team.wait();
    env.wait_for_no_processes();
    let found = verified(&env, session.dir(), 0);
    assert!(notes(&found).contains("the round in `judging-2` was never closed"), "{found:#}");
    std::fs::write(session.path("judging-2/response-02.md"), "planted").unwrap();
    assert_eq!(first(&look(session.dir())).0, "judging-2/response-02.md");
    std::fs::remove_file(session.path("judging-2/response-02.md")).unwrap();
    let verdict = session.text("verdict.md");
    std::fs::write(session.path("verdict.md"), "# Verdict\n").unwrap();
    assert_eq!(first(&look(session.dir())).0, "verdict.md");
    std::fs::write(session.path("verdict.md"), verdict).unwrap();
    // Resumed, the broken round is finished.
    std::fs::write(env.path("go"), "").unwrap();
    finish(&env, &["resume"], 0);
    let found = verified(&env, session.dir(), 0);
    assert_eq!((&found["checked"]["rounds"], &found["checked"]["verdicts"]), (&2.into(), &2.into()));
}

#[test]
fn a_round_that_was_cancelled_keeps_ballots_that_are_what_the_replies_say() {
    let env = with_a_slow_one();
    finish(&env, &["run", "-m", "kiwi,plum", "Which one?"], 0);
    let session = env.session();
    let mut team = env.start(&["judge", "--judges", "kiwi,plum,judge", "--self-vote", "include"]);
    let round = session.round("judging");
    for (model, state) in [("kiwi", "COMPLETED"), ("plum", "COMPLETED"), ("judge", "RUNNING")] {
        wait_for(&round, model, state);
    }
    finish(&env, &["cancel"], 0);
    assert_eq!(team.wait().code(), Some(130), "{}", team.stderr());
    let found = verified(&env, session.dir(), 0);
    assert_eq!((&found["checked"]["ballots"], &found["checked"]["verdicts"]), (&2.into(), &0.into()), "{found:#}");
    // No event holds the hash of these votes; the replies do.
    let votes = round.text("votes.json");
    std::fs::write(round.path("votes.json"), votes.replacen("APPROVE", "REJECT", 1)).unwrap();
    let (file, _, what) = first(&look(session.dir()));
    assert_eq!(file, "judging/votes.json");
    assert!(what.starts_with("is not what the replies and the record come to"), "{what}");
}

#[test]
fn sessions_that_failed_were_not_judged_or_could_not_be_decided_verify() {
    let config = TeamToml::new()
        .agent("dead", &["stderr gone", "exit 3"])
        .agent("late", &["write half", "hang"])
        .agent("kiwi", &["answer yes", "vote garbage"])
        .agent("plum", &["answer no", "vote abstain"]);
    let env = TestEnv::with(&config);
    finish(&env, &["run", "--name", "failed", "-m", "dead", "Which one?"], 4);
    finish(&env, &["run", "--name", "timed", "-m", "late,kiwi", "--timeout", "1s", "Which one?"], 0);
    finish(&env, &["run-and-judge", "--name", "undecided", "-m", "kiwi,plum,dead", "Which one?"], 3);
    for (name, state) in [("failed", "failed"), ("timed", "completed"), ("undecided", "completed")] {
        let session = env.sessions().into_iter().find(|session| session.id().contains(name)).unwrap();
        let found = verified(&env, session.dir(), 0);
        assert_eq!(found["state"], state, "{found:#}");
        assert_eq!(found["notes"].as_array().unwrap().len(), 0, "{found:#}");
    }
}
