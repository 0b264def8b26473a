//! Stopped from outside: signals, `team cancel`, the deadline, an owner that is killed. Whatever ends a command, the
//! folder tells the truth, complete answers stay, and no process does.

use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use super::support::{Background, Session, TeamToml, TestEnv, wait_until};

/// Longer than any orderly step here takes, shorter than what a stop without haste waits for.
const AT_ONCE: Duration = Duration::from_millis(2500);

/// A world whose agents are made from the paths of the gates that they wait at.
fn world(agents: impl FnOnce(&dyn Fn(&str) -> String) -> TeamToml) -> TestEnv {
    let env = TestEnv::new();
    let gate = |name: &str| env.path(name).display().to_string();
    let config = agents(&gate);
    env.write("team.toml", config.text());
    env
}

/// `quick` and `other` answer and approve everything; `slow` begins to answer and never ends.
fn quick_and_slow() -> TestEnv {
    world(|gate| {
        TeamToml::new()
            .agent("quick", &["answer yes", "vote approve"])
            .agent("other", &["answer no", "vote approve"])
            .agent("slow", &["print half of it", &format!("touch {}", gate("begun")), "hang"])
    })
}

/// Starts `quick_and_slow` with `arguments` and waits until only `slow` is at work.
fn started(env: &TestEnv, arguments: &[&str]) -> (Background, Session) {
    let mut all = arguments.to_vec();
    all.extend(["-m", "quick,other,slow", "which?"]);
    let team = env.start(&all);
    let session = env.session_with("status.json");
    for model in ["quick", "other"] {
        wait_for_state(&session, &session.id_of(model), "COMPLETED");
    }
    wait_until("the slow slot", || env.path("begun").exists().then_some(()));
    (team, session)
}

fn wait_for_state(session: &Session, slot: &str, state: &str) {
    wait_until(state, || (session.slot(slot)["state"] == state).then_some(()));
}

fn wait_for_event(session: &Session, name: &str, count: usize) {
    wait_until(name, || (events(session, name).len() >= count).then_some(()));
}

fn events(session: &Session, name: &str) -> Vec<Value> {
    session.events().into_iter().filter(|event| event["event"] == name).collect()
}

fn state(session: &Session, model: &str) -> String {
    session.slot(&session.id_of(model))["state"].as_str().unwrap().to_owned()
}

/// The record ends with `closed`, and it, `status.json` and `session-meta.json` say the same.
#[track_caller]
fn assert_closed(session: &Session, state: &str) {
    let last = session.events().pop().unwrap();
    assert_eq!((&last["event"], &last["state"]), (&json!("closed"), &json!(state)));
    assert_eq!(session.json("status.json")["state"], state);
    let meta = session.json("session-meta.json");
    assert_eq!(meta["status"], state);
    assert_eq!(meta["events"]["count"], last["seq"]);
    for (id, entry) in session.json("status.json")["models"].as_object().unwrap() {
        assert!(entry.get("liveBytes").is_none(), "{id} is over: {entry}");
        let complete = entry["state"] == "COMPLETED";
        assert_eq!(session.has(&format!("response-{id}.md")), complete, "{id}: {entry}");
    }
}

#[test]
fn a_stop_signal_keeps_complete_answers_begins_no_judging_and_is_the_exit_code() {
    for (signal, code, cause) in
        [(Signal::SIGINT, 130, "interrupt"), (Signal::SIGTERM, 143, "terminate"), (Signal::SIGHUP, 129, "hang_up")]
    {
        let env = quick_and_slow();
        let (mut team, session) = started(&env, &["run-and-judge"]);
        team.signal(signal);
        assert_eq!(team.wait().code(), Some(code), "{}", team.stderr());
        env.wait_for_no_processes();

        assert_closed(&session, "cancelled");
        assert_eq!(events(&session, "stop_requested")[0]["cause"], cause);
        assert_eq!(session.text(&format!("response-{}.md", session.id_of("quick"))), "yes\n");
        let slow = session.id_of("slow");
        let entry = session.slot(&slow);
        assert_eq!((&entry["state"], &entry["error"]["reason"]), (&json!("CANCELLED"), &json!("cancelled")));
        assert_eq!(entry["outputSize"], Value::Null);
        assert_eq!(session.text(&format!("errors/{slow}.partial.md")), "half of it\n");
        assert!(!session.has("judging") && !session.has("verdict.md"));
        let path = format!("{}\n", session.dir().canonicalize().unwrap().display());
        assert_eq!(team.stdout(), path, "the session is named all the same");
        assert!(team.stderr().contains(&format!("stopped ({cause}); what was complete is kept")), "{}", team.stderr());
    }
}

#[test]
fn slots_that_wait_for_their_turn_never_start_after_a_stop() {
    let env = world(|gate| TeamToml::new().agent("slow", &[&format!("touch {}", gate("begun")), "hang"]));
    let mut team = env.start(&["run", "-m", "slow,slow,slow", "--jobs", "1", "which?"]);
    wait_until("the first slot", || env.path("begun").exists().then_some(()));
    team.signal(Signal::SIGINT);
    assert_eq!(team.wait().code(), Some(130));
    let session = env.session();
    assert_closed(&session, "cancelled");
    assert_eq!(events(&session, "slot_started").len(), 1);
    assert_eq!(events(&session, "slot_ended").len(), 3);
}

#[test]
fn a_second_signal_kills_at_once_what_ignores_the_first() {
    let env = world(|gate| {
        let begun = format!("touch {}", gate("begun"));
        TeamToml::new().agent("stubborn", &["ignore-term", "spawn setsid ;; ignore-term ;; hang", &begun, "hang"])
    });
    let mut team = env.start(&["run", "-m", "stubborn", "which?"]);
    wait_until("the slot", || env.path("begun").exists().then_some(()));
    let session = env.session();
    team.signal(Signal::SIGINT);
    wait_for_event(&session, "stop_requested", 1);
    let before = Instant::now();
    team.signal(Signal::SIGINT);
    assert_eq!(team.wait().code(), Some(130));
    assert!(before.elapsed() < AT_ONCE, "{:?}", before.elapsed());
    env.wait_for_no_processes();
    assert_closed(&session, "cancelled");
    assert_eq!(state(&session, "stubborn"), "CANCELLED");
}

#[test]
fn a_third_signal_leaves_at_once_and_no_process_stays() {
    let env = world(|gate| TeamToml::new().agent("slow", &[&format!("touch {}", gate("begun")), "hang"]));
    let mut team = env.start(&["run", "-m", "slow", "which?"]);
    wait_until("the slot", || env.path("begun").exists().then_some(()));
    let session = env.session();
    // A supervisor that stands still cannot end its slot: without haste the program would wait for it.
    let [supervisor] = children_of(team.pid())[..] else { panic!("one slot has one supervisor") };
    kill(supervisor, Signal::SIGSTOP).unwrap();
    for count in [1, 2] {
        team.signal(Signal::SIGINT);
        wait_for_event(&session, "stop_requested", count);
    }
    let before = Instant::now();
    team.signal(Signal::SIGINT);
    assert_eq!(team.wait().code(), Some(130));
    assert!(before.elapsed() < AT_ONCE, "{:?}", before.elapsed());
    kill(supervisor, Signal::SIGCONT).unwrap();
    env.wait_for_no_processes();
    let status = env.team(&["status", "latest", "--json"]).output().unwrap().stdout;
    let status: Value = serde_json::from_slice(&status).unwrap();
    assert_eq!(status["status"]["state"], "interrupted");
}

fn children_of(parent: u32) -> Vec<Pid> {
    let of_parent = |pid: &i32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit_once(") ").and_then(|(_, rest)| rest.split(' ').nth(1)) == Some(&parent.to_string())
    };
    let entries = std::fs::read_dir("/proc").unwrap();
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
    pids.filter(of_parent).map(Pid::from_raw).collect()
}

#[test]
fn a_caller_that_ignores_hang_ups_is_heard() {
    let env = quick_and_slow();
    let mut team = env.start_under(&["nohup"], &["run", "-m", "quick,slow", "which?"]);
    wait_until("the slow slot", || env.path("begun").exists().then_some(()));
    team.signal(Signal::SIGHUP);
    let session = env.session();
    let cancelled = env.team(&["cancel", "latest"]).output().unwrap();
    assert!(cancelled.status.success());
    assert_eq!(team.wait().code(), Some(130), "by the request, not by the hang-up");
    assert_eq!(events(&session, "stop_requested").len(), 1);
}

/// Two complete answers, and a judge that votes beside one that never does.
fn judging() -> (TestEnv, Background, Session) {
    let env = world(|gate| {
        TeamToml::new()
            .agent("quick", &["answer yes"])
            .agent("other", &["answer no"])
            .agent("first", &["vote approve-word yes"])
            .agent("second", &["vote approve-word yes"])
            .agent("thinker", &[&format!("touch {}", gate("begun")), "hang"])
    });
    let team = env.start(&["run-and-judge", "-m", "quick,other", "--judges", "first,second,thinker", "which?"]);
    wait_until("the slow judge", || env.path("begun").exists().then_some(()));
    let session = env.session();
    let round = session.round("judging");
    for model in ["first", "second"] {
        wait_for_state(&round, &round.id_of(model), "COMPLETED");
    }
    (env, team, session)
}

#[test]
fn a_stop_while_judges_run_keeps_what_was_voted_and_makes_no_verdict() {
    let (env, mut team, session) = judging();
    team.signal(Signal::SIGINT);
    assert_eq!(team.wait().code(), Some(130), "{}", team.stderr());
    env.wait_for_no_processes();
    assert_closed(&session, "cancelled");
    let round = session.round("judging");
    let last = round.events().pop().unwrap();
    assert_eq!((&last["event"], &last["state"]), (&json!("closed"), &json!("cancelled")));
    assert_eq!(state(&round, "thinker"), "CANCELLED");
    let voted = round.id_of("first");
    let votes = round.json("votes.json");
    let of_first = votes["judges"].as_array().unwrap().iter().find(|judge| judge["id"] == json!(voted)).unwrap();
    assert_eq!(of_first["votes"].as_array().map(Vec::len), Some(2), "{votes}");
    for name in ["verdict.md", "verdict.json", "judging/verdict.md", "judging/verdict.json"] {
        assert!(!session.has(name), "{name}");
    }
    assert_eq!(session.json("session-meta.json")["models_used"], Value::Null);
    assert!(!team.stderr().contains("quick"), "nobody is named: {}", team.stderr());
}

#[test]
fn a_cancelled_judge_is_one_judge_less() {
    let (env, mut team, session) = judging();
    let round = session.round("judging");
    let thinker = round.id_of("thinker");
    let output = env.team(&["cancel", "latest", &thinker]).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(told, format!("judge {thinker} of `{}` is CANCELLED\n", session.id()));
    assert_eq!(team.wait().code(), Some(0), "{}", team.stderr());
    assert_closed(&session, "completed");
    assert!(session.has("verdict.md"));
}

#[test]
fn cancelling_one_slot_leaves_the_others_alone_and_can_be_repeated() {
    let env = world(|gate| {
        TeamToml::new()
            .agent("slow", &[&format!("touch {}", gate("begun")), "hang"])
            .agent("gated", &[&format!("wait-for {}", gate("go")), "print here"])
    });
    let mut team = env.start(&["run", "-m", "slow,gated", "which?"]);
    wait_until("the slow slot", || env.path("begun").exists().then_some(()));
    let session = env.session();
    let slow = session.id_of("slow");
    for _ in 0..2 {
        env.team(&["cancel", &session.id(), &slow])
            .assert()
            .code(0)
            .stdout("")
            .stderr(format!("slot {slow} of `{}` is CANCELLED\n", session.id()));
    }
    assert_eq!(state(&session, "gated"), "RUNNING");
    env.write("go", "");
    assert_eq!(team.wait().code(), Some(0), "{}", team.stderr());
    assert_closed(&session, "completed");
    assert_eq!(state(&session, "gated"), "COMPLETED");
    assert_eq!(events(&session, "stop_requested").len(), 1, "the second request changed nothing");
    env.team(&["cancel", &session.id(), &slow]).assert().code(0);
}

#[test]
fn cancelling_a_session_ends_its_owner_like_ctrl_c_and_can_be_repeated() {
    let env = quick_and_slow();
    let (mut team, session) = started(&env, &["run-and-judge"]);
    env.team(&["cancel", &session.id()]).assert().code(0).stdout("");
    assert_eq!(team.wait().code(), Some(130));
    env.wait_for_no_processes();
    assert_closed(&session, "cancelled");
    assert_eq!(events(&session, "stop_requested")[0]["cause"], "cancel");
    let before = session.files();
    let said = format!("`{}` is cancelled\n", session.id());
    env.team(&["cancel", &session.id()]).assert().code(0).stderr(said);
    assert_eq!(session.files(), before, "nothing is left for an owner that is not there");
}

#[test]
fn cancelling_what_does_not_exist_is_a_mistake_of_the_caller() {
    let env = quick_and_slow();
    env.team(&["run", "-m", "quick", "which?"]).assert().code(0);
    let session = env.session();
    let of = |arguments: &[&str]| {
        let output = env.team(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };
    let unknown = of(&["cancel", &session.id(), "07"]);
    assert!(unknown.contains(&format!("session `{}` has no slot `07`", session.id())), "{unknown}");
    assert!(unknown.contains("hint: `team status` shows"), "{unknown}");
    assert!(of(&["cancel", &session.id(), "one"]).contains("for example `02`"));
    assert!(of(&["cancel", "team-nothing"]).contains("no session `team-nothing`"));
    assert!(!session.has(".requests"));
}

#[test]
fn a_request_that_comes_too_late_for_its_slot_does_not_hit_the_judge_of_the_same_number() {
    let (env, mut team, session) = judging();
    let thinker = session.round("judging").id_of("thinker");
    let request = json!({"version": 1, "at": "2026-01-01T00:00:00Z", "request": "cancel", "slot": thinker});
    env.write("request", request.to_string());
    std::fs::create_dir_all(session.path(".requests")).unwrap();
    let taken = session.path(".requests/1-00000000.json");
    std::fs::rename(env.path("request"), &taken).unwrap();
    wait_until("the request to be taken", || (!taken.exists()).then_some(()));
    assert_eq!(state(&session.round("judging"), "thinker"), "RUNNING");
    team.signal(Signal::SIGINT);
    team.wait();
    assert_eq!(events(&session.round("judging"), "stop_requested").len(), 1);
}

#[test]
fn a_request_to_an_owner_that_died_does_not_hit_the_next_one() {
    let env = quick_and_slow();
    env.team(&["run", "-m", "quick,other", "which?"]).assert().code(0);
    let session = env.session();
    let request = json!({"version": 1, "at": "2026-01-01T00:00:00Z", "request": "cancel", "slot": null});
    std::fs::create_dir_all(session.path(".requests")).unwrap();
    std::fs::write(session.path(".requests/1-00000000.json"), request.to_string()).unwrap();
    env.team(&["judge", "latest", "--self-vote", "include"]).assert().code(0);
    assert_closed(&session, "completed");
}

#[test]
fn the_deadline_ends_what_runs_and_what_waits_and_the_answers_decide_the_exit_code() {
    let env = quick_and_slow();
    for (arguments, models, jobs, code, state) in [
        ("run", "quick,slow", "2", 0, "completed"),
        ("run-and-judge", "quick,other,slow", "3", 3, "completed"),
        ("run", "slow,slow", "1", 4, "failed"),
    ] {
        let before = env.sessions().len();
        let mut command = env.team(&[
            arguments,
            "-m",
            models,
            "--jobs",
            jobs,
            "--deadline",
            "3s",
            "--name",
            &format!("n{before}"),
            "x?",
        ]);
        let output = command.output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{arguments} {models}: {told}");
        assert!(told.contains("stopped (deadline); what was complete is kept"), "{told}");
        let sessions = env.sessions();
        let session = sessions.iter().find(|session| session.id().starts_with(&format!("team-n{before}"))).unwrap();
        assert_closed(session, state);
        let states = session.json("status.json")["models"].clone();
        for (id, member) in session.json("manifest.json")["models"].as_object().unwrap() {
            let expected =
                if member["model"] == "slow" { ("TIMEOUT", json!("timeout")) } else { ("COMPLETED", Value::Null) };
            let entry = &states[id];
            assert_eq!((&entry["state"], &entry["error"]["reason"]), (&json!(expected.0), &expected.1), "{id}");
        }
        assert!(!session.has("judging"));
    }
}

#[test]
fn a_killed_owner_is_shown_as_interrupted_and_looking_changes_nothing() {
    let env = quick_and_slow();
    let (mut team, session) = started(&env, &["run"]);
    team.signal(Signal::SIGKILL);
    assert_eq!(team.wait().signal(), Some(9));
    env.wait_for_no_processes();

    let before = contents(&session);
    let status = env.team(&["status", &session.id(), "--json"]).output().unwrap();
    assert!(status.status.success());
    let status: Value = serde_json::from_slice(&status.stdout).unwrap();
    assert_eq!((&status["status"]["state"], &status["owner"]), (&json!("interrupted"), &Value::Null));
    let slow = &status["status"]["models"][session.id_of("slow")];
    assert_eq!((&slow["state"], &slow["error"]["reason"]), (&json!("LOST"), &json!("owner_died")));
    assert_eq!(status["status"]["models"][session.id_of("quick")]["state"], "COMPLETED");
    let list = env.team(&["list", "--json"]).output().unwrap().stdout;
    assert_eq!(serde_json::from_slice::<Value>(&list).unwrap()[0]["state"], "interrupted");
    env.team(&["show", &session.id()]).assert().code(0);
    env.team(&["cancel", &session.id()]).assert().code(0).stderr(format!("`{}` is interrupted\n", session.id()));
    assert_eq!(contents(&session), before);

    let judged = env.team(&["judge", &session.id()]).output().unwrap();
    let told = String::from_utf8_lossy(&judged.stderr).into_owned();
    assert_eq!(judged.status.code(), Some(2), "{told}");
    assert!(told.contains("was interrupted"), "the lock is free, the panel unfinished: {told}");
}

/// Every file with its bytes; the lock is written by whoever takes it.
fn contents(session: &Session) -> Vec<(PathBuf, Vec<u8>)> {
    session.files().into_iter().map(|name| (session.path(&name), std::fs::read(session.path(&name)).unwrap())).collect()
}

#[test]
fn a_status_older_than_the_record_is_put_right_when_shown() {
    let env = quick_and_slow();
    env.team(&["run", "-m", "quick", "which?"]).assert().code(0);
    let session = env.session();
    // As if the owner had been killed after the record and before the status was written.
    let mut status = session.json("status.json");
    status["state"] = json!("in_progress");
    status["models"]["01"]["state"] = json!("RUNNING");
    std::fs::write(session.path("status.json"), status.to_string()).unwrap();
    let shown = env.team(&["status", "latest", "--json"]).output().unwrap().stdout;
    let shown: Value = serde_json::from_slice(&shown).unwrap();
    assert_eq!(
        (&shown["status"]["state"], &shown["status"]["models"]["01"]["state"]),
        (&json!("completed"), &json!("COMPLETED"))
    );
}

#[test]
fn a_session_with_a_living_owner_is_not_judged_and_the_owner_is_named() {
    let env = quick_and_slow();
    let (mut team, session) = started(&env, &["run"]);
    let before = Instant::now();
    let output = env.team(&["judge", &session.id()]).output().unwrap();
    assert!(before.elapsed() >= Duration::from_secs(1), "it waits for the lock a little");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains(&format!("`{}` is owned by process {} on `", session.id(), team.pid())), "{told}");
    assert!(told.contains("hint: wait for it, or stop it with `team cancel`"), "{told}");
    team.signal(Signal::SIGTERM);
    assert_eq!(team.wait().code(), Some(143));
    assert_closed(&session, "cancelled");
}
