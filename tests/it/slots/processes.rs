//! However a slot ends, no process of it is left, and what was complete is kept.

use nix::sys::signal::Signal;

use toml::Value;

use super::{reason, run};
use crate::support::{TeamToml, TestEnv, wait_until};

/// Where the tree of a slot is held together by a PID namespace where that works, and where by a walk of the tree.
const ISOLATIONS: [Option<&str>; 2] = [None, Some("none")];

fn env_for(isolation: Option<&str>) -> TestEnv {
    match isolation {
        Some(value) => TestEnv::new().set("TEAM_ISOLATION", value),
        None => TestEnv::new(),
    }
}

/// Steps of an agent with a `setsid` escapee and a tool in a group of its own, all deaf to SIGTERM; it prints `half` when
/// both are there.
fn stubborn(env: &TestEnv) -> Vec<String> {
    let (escapee, tool) = (env.path("escapee"), env.path("tool"));
    let (escapee, tool) = (escapee.display(), tool.display());
    vec![
        "ignore-term".to_owned(),
        format!("spawn setsid ;; ignore-term ;; close-stdout ;; touch {escapee} ;; hang"),
        format!("spawn setpgid ;; ignore-term ;; touch {tool} ;; hang"),
        format!("wait-for {escapee}"),
        format!("wait-for {tool}"),
        "print half".to_owned(),
        "hang".to_owned(),
    ]
}

fn write_agent(env: &TestEnv, steps: &[String]) {
    let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
    env.write("team.toml", TeamToml::new().agent("stubborn", &steps).agent("other", &["print fine"]).text());
}

#[test]
fn a_slot_that_a_limit_ended_leaves_no_process_and_stops_no_other_slot() {
    // At the same time, for each takes the limit and the grace after it.
    std::thread::scope(|scope| {
        for isolation in ISOLATIONS {
            for (limit, expected) in [("--timeout", "TIMEOUT/timeout"), ("--idle-timeout", "TIMEOUT/idle_timeout")] {
                scope.spawn(move || ended_by(isolation, limit, expected));
            }
        }
    });
}

fn ended_by(isolation: Option<&str>, limit: &str, expected: &str) {
    let env = env_for(isolation);
    write_agent(&env, &stubborn(&env));
    let (code, _, session) = run(&env, &["-m", "stubborn,other", limit, "3s", "two words"]);
    let left = env.processes();
    assert!(left.is_empty(), "{isolation:?} {limit}: {left:?}");
    assert!(env.path("escapee").exists() && env.path("tool").exists());
    let id = session.id_of("stubborn");
    assert_eq!((code, reason(&session, &id).as_str()), (Some(0), expected), "{isolation:?}");
    let detail = session.slot(&id)["error"]["detail"].as_str().unwrap().to_owned();
    assert!(detail.contains("5 bytes of text until then"), "{detail}");
    assert_eq!(session.text(&format!("errors/{id}.partial.md")), "half\n");
    assert_eq!(session.slot(&session.id_of("other"))["state"], "COMPLETED");
}

#[test]
fn a_silent_slot_without_a_limit_is_not_ended() {
    // Quiet for longer than any heartbeat of the file: it ends when it wants to.
    let env = TestEnv::new();
    let gate = env.path("go");
    let step = format!("wait-for {}", gate.display());
    env.write("team.toml", TeamToml::new().agent("a", &[&step, "print late"]).text());
    let mut team = env.start(&["run", "-m", "a", "two words"]);
    let session = env.session_with("status.json");
    wait_until("a second of silence", || (session.slot("01")["idleSeconds"].as_u64()? >= 1).then_some(()));
    assert_eq!(session.slot("01")["state"], "RUNNING");
    env.write("go", "");
    assert!(team.wait().success(), "{}", team.stderr());
    assert_eq!(session.text("response-01.md"), "late\n");
}

#[test]
fn a_prompt_is_on_no_command_line() {
    let env = TestEnv::new();
    env.write("team.toml", TeamToml::new().agent("a", &["print here", "hang"]).text());
    env.write("in.md", "A confidential question.\n");
    let mut team = env.start(&["run", "-m", "a", "in.md"]);
    let session = env.session_with("status.json");
    wait_until("the agent", || (session.slot("01")["liveBytes"].as_u64()? > 0).then_some(()));
    let processes = env.processes();
    assert!(processes.len() >= 3, "the program, a supervisor and the agent: {processes:?}");
    assert!(processes.iter().all(|(_, line)| !line.contains("confidential")), "{processes:?}");
    team.signal(Signal::SIGTERM);
    assert_eq!(team.wait().code(), Some(143));
    assert!(env.processes().is_empty());
}

#[test]
fn a_killed_team_leaves_no_process() {
    for isolation in ISOLATIONS {
        let env = env_for(isolation);
        write_agent(&env, &stubborn(&env));
        let mut team = env.start(&["run", "-m", "stubborn,stubborn,stubborn", "two words"]);
        let session = env.session_with("status.json");
        wait_until("all three at work", || {
            let live = |id: &str| session.slot(id)["liveBytes"].as_u64();
            ["01", "02", "03"].iter().all(|id| live(id) == Some(5)).then_some(())
        });
        team.signal(Signal::SIGKILL);
        team.wait();
        env.wait_for_no_processes();
    }
}

#[test]
fn an_answer_is_kept_whoever_goes_on_after_it() {
    std::thread::scope(|scope| {
        for isolation in ISOLATIONS {
            scope.spawn(move || kept_in(isolation));
        }
    });
}

fn kept_in(isolation: Option<&str>) {
    let output = [("output", Value::from("claude-stream-json"))];
    let config = TeamToml::new()
        .agent_with("leaks", &["claude whole", "spawn setsid ;; chatter 20"], &output)
        .agent("textleak", &["print whole", "spawn setsid ;; ignore-term ;; chatter 20"])
        .agent("quietleak", &["print whole", "spawn setsid ;; hang"]);
    let env = env_for(isolation);
    env.write("team.toml", config.text());
    let (code, output, session) = run(&env, &["-m", "leaks,textleak,quietleak", "two words"]);
    assert!(env.processes().is_empty(), "{:?}", env.processes());
    assert_eq!(code, Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    for model in ["leaks", "textleak", "quietleak"] {
        let id = session.id_of(model);
        assert_eq!(session.slot(&id)["state"], "COMPLETED", "{model}: {}", session.slot(&id));
        let text = session.text(&format!("response-{id}.md"));
        assert!(text.starts_with("whole\n"), "{model}: {text}");
        if model == "quietleak" {
            assert_eq!(text, "whole\n");
        }
    }
}
