//! What becomes of runs when their client, or the server, is gone.

use std::os::unix::process::ExitStatusExt;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use super::world::{all_running, gated, status_until};
use crate::support::{McpClient, Session, TestEnv, assert_consistent, finish, wait_until};

/// A server with a run whose slots are at work.
fn with_run(env: &TestEnv, detach: bool) -> McpClient {
    let mut client = McpClient::connect(env);
    let begun = client.object(&json!({"mode": "run", "input": "which?", "detach": detach}));
    assert_eq!(begun["detached"], detach);
    status_until(&mut client, &begun["session"], all_running);
    client
}

/// Waits until the only session is as its meta says.
#[track_caller]
fn wait_for_state(env: &TestEnv, state: &str) {
    wait_until(state, || (env.session().json("session-meta.json")["status"] == state).then_some(()));
}

fn signal(client: &McpClient, signal: Signal) {
    kill(Pid::from_raw(i32::try_from(client.pid()).unwrap()), signal).unwrap();
}

#[test]
fn a_run_is_stopped_cleanly_when_its_client_is_gone_and_resume_finishes_it() {
    let env = gated();
    with_run(&env, false).leave();
    // When the server has ended, so has the run.
    assert_eq!(env.session().json("session-meta.json")["status"], "cancelled");
    assert!(env.processes().is_empty(), "{:?}", env.processes());
    env.write("go", "");
    finish(&env, &["resume", "latest"], 0);
    assert_consistent(&env.session());
}

#[test]
fn a_detached_run_goes_on_when_its_client_is_gone() {
    let env = gated();
    with_run(&env, true).leave();
    env.write("go", "");
    wait_for_state(&env, "completed");
    env.wait_for_no_processes();
    assert_consistent(&env.session());
    let mut client = McpClient::connect(&env);
    assert_eq!(client.object(&json!({"mode": "status"}))["state"], "completed");
    client.leave();
}

#[test]
fn a_run_is_stopped_cleanly_when_its_server_is_killed() {
    let env = gated();
    let mut client = with_run(&env, false);
    signal(&client, Signal::SIGKILL);
    assert_eq!(client.wait().signal(), Some(9));
    wait_for_state(&env, "cancelled");
    env.wait_for_no_processes();
    assert_consistent(&env.session());
}

#[test]
fn a_detached_run_goes_on_when_its_server_is_killed() {
    let env = gated();
    let mut client = with_run(&env, true);
    signal(&client, Signal::SIGKILL);
    client.wait();
    env.write("go", "");
    wait_for_state(&env, "completed");
    env.wait_for_no_processes();
}

#[test]
fn a_signal_ends_the_server_and_what_belongs_to_it() {
    for (sent, code) in [(Signal::SIGTERM, 143), (Signal::SIGINT, 130)] {
        let env = gated();
        let mut client = with_run(&env, false);
        signal(&client, sent);
        assert_eq!(client.wait().code(), Some(code));
        assert_eq!(env.session().json("session-meta.json")["status"], "cancelled");
        env.wait_for_no_processes();
    }
}

#[test]
fn a_call_that_waits_is_stopped_when_its_client_is_gone() {
    let env = gated();
    let mut client = McpClient::connect(&env);
    client.begin(&json!({"mode": "run-and-judge", "input": "which?"}));
    let session = env.session_with("status.json");
    wait_until("the slots", || (session.slot("02")["state"] == "RUNNING").then_some(()));
    client.leave();
    assert_eq!(session.json("session-meta.json")["status"], "cancelled");
    env.wait_for_no_processes();
}

#[test]
fn a_call_that_its_client_takes_back_is_stopped_and_the_server_goes_on() {
    let env = gated();
    let mut client = McpClient::connect(&env);
    let call = client.begin(&json!({"mode": "run-and-judge", "input": "which?"}));
    let session = env.session_with("status.json");
    wait_until("the slots", || (session.slot("02")["state"] == "RUNNING").then_some(()));
    let taken_back = json!({"requestId": call, "reason": "no more time"});
    client.line(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": taken_back}).to_string());
    wait_for_state(&env, "cancelled");
    let status = client.object(&json!({"mode": "status"}));
    assert_eq!(status["state"], "cancelled");
    client.leave();
    env.wait_for_no_processes();
}

#[test]
fn a_detached_call_that_is_taken_back_goes_on() {
    let env = gated();
    let mut client = McpClient::connect(&env);
    let arguments = json!({"mode": "run-and-judge", "input": "which?", "self_vote": "slot", "detach": true});
    let call = client.begin(&arguments);
    let session = env.session_with("status.json");
    wait_until("the slots", || (session.slot("02")["state"] == "RUNNING").then_some(()));
    client.line(
        &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": call}}).to_string(),
    );
    env.write("go", "");
    let status = status_until(&mut client, &Value::from(session.id()), |status| status["state"] == "completed");
    assert_eq!(status["verdict"]["file"], "verdict.md");
    client.leave();
    env.wait_for_no_processes();
}

#[test]
fn a_signal_for_the_servers_whole_group_reaches_what_is_attached_and_not_what_is_detached() {
    let env = gated();
    let mut client = with_run(&env, true);
    let begun = client.object(&json!({"mode": "run", "input": "which?"}));
    status_until(&mut client, &begun["session"], all_running);
    let group = Pid::from_raw(-i32::try_from(client.pid()).unwrap());
    kill(group, Signal::SIGKILL).unwrap();
    assert_eq!(client.wait().signal(), Some(9));
    let attached = Session::at(begun["path"].as_str().unwrap());
    let detached = env.sessions().into_iter().find(|session| session.id() != attached.id()).unwrap();
    env.write("go", "");
    wait_until("the detached run", || (detached.json("session-meta.json")["status"] == "completed").then_some(()));
    env.wait_for_no_processes();
    finish(&env, &["resume", attached.dir().to_str().unwrap()], 0);
    assert_consistent(&attached);
}

#[test]
fn a_server_whose_program_was_installed_anew_meanwhile_goes_on() {
    let env = gated();
    let program = env.path("team");
    let install = || {
        std::fs::remove_file(&program).ok();
        let from = env!("CARGO_BIN_EXE_team");
        if std::fs::hard_link(from, &program).is_err() {
            std::fs::copy(from, &program).unwrap();
        }
    };
    install();
    let script = format!("shift; exec '{}' \"$@\"", program.display());
    let mut client = McpClient::start_under(&env, &["sh", "-c", &script, "sh"]);
    client.shake_hands();
    install();
    env.write("go", "");
    let judged = client.object(&json!({"mode": "run-and-judge", "input": "which?", "self_vote": "slot"}));
    assert_eq!(judged["result"], "done");
    client.leave();
}
