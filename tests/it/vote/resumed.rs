//! A vote that was cut off goes on where it was, and comes to what it would have come to.

use std::os::unix::process::ExitStatusExt;

use nix::sys::signal::Signal;

use super::says;
use crate::support::{Session, TeamToml, TestEnv, assert_consistent, finish, wait_until};

/// Two that vote, one that votes only in prose, each noting when it is asked.
fn world() -> TestEnv {
    let env = TestEnv::new();
    let note = |name: &str| format!("note {}", env.path(&format!("{name}.calls")).display());
    let config = [
        ("kiwi", says("APPROVE", "Good.", &[])),
        ("plum", says("REJECT", "Bad.", &["Slow"])),
        ("pear", "print Hm.".to_owned()),
    ]
    .iter()
    .fold(TeamToml::new().panel(&["kiwi", "plum", "pear"]), |config, (name, step)| {
        config.agent(name, &[&note(name), step])
    });
    env.write("team.toml", config.text());
    env
}

/// How often a member was asked.
fn calls(env: &TestEnv, name: &str) -> usize {
    std::fs::read_to_string(env.path(&format!("{name}.calls"))).unwrap_or_default().lines().count()
}

/// The decision and the counts, without what chance decides.
fn came_of(session: &Session) -> (serde_json::Value, serde_json::Value, serde_json::Value) {
    assert_consistent(session);
    let verdict = session.json("verdict.json");
    let meta = session.json("session-meta.json");
    (verdict["decision"].clone(), verdict["votes"].clone(), meta["phases_completed"].clone())
}

#[test]
fn killed_anywhere_it_is_resumed_without_asking_anybody_again_whose_reply_is_complete() {
    let env = world();
    finish(&env, &["vote", "Should it?"], 3);
    let expected = came_of(&env.session());
    for point in [
        "session-made",
        "slot-end-settled",
        "panel-done",
        "ballot-recorded:2",
        "turn-folder",
        "turn-recorded",
        "prompt-written",
        "prompt-recorded",
        "ballot-recorded:4",
        "turn-closed",
        "turn-tied",
        "verdict-json",
        "verdict-text",
        "session-verdict",
        "close-recorded",
        "close-status",
    ] {
        let env = world();
        let output = env.team(&["vote", "Should it?"]).env("TEAM_FAULT_POINT", point).output().unwrap();
        assert_eq!(output.status.signal(), Some(9), "`{point}` was not reached");
        env.wait_for_no_processes();
        let session = env.session();
        finish(&env, &["verify"], 0);
        let complete: Vec<&str> = ["kiwi", "plum"]
            .into_iter()
            .filter(|name| session.has(&format!("response-{}.md", session.id_of(name))))
            .collect();
        let before: Vec<usize> = complete.iter().map(|name| calls(&env, name)).collect();
        let (out, _) = finish(&env, &["resume"], 3);
        assert_eq!(out, session.text("verdict.md"), "{point}");
        let after: Vec<usize> = complete.iter().map(|name| calls(&env, name)).collect();
        assert_eq!(before, after, "{point}");
        assert_eq!(came_of(&session), expected, "{point}");
        let (again, _) = finish(&env, &["resume"], 3);
        assert_eq!(again, out, "{point}: nothing is left to do");
    }
}

#[test]
fn stopped_by_hand_nothing_is_counted_until_it_is_resumed() {
    let env = TestEnv::new();
    let wait = format!("wait-for {}", env.path("go").display());
    let config = TeamToml::new()
        .agent("quick", &["swallow", &says("APPROVE", "Good.", &[])])
        .agent("slow", &["swallow", &wait, &says("APPROVE", "Good too.", &[])])
        .panel(&["quick", "slow"]);
    env.write("team.toml", config.text());
    let mut team = env.start(&["vote", "Should it?"]);
    let session = wait_until("the first vote", || {
        let session = env.sessions().pop()?;
        (session.has("manifest.json") && session.has(&format!("response-{}.md", session.id_of("quick"))))
            .then_some(session)
    });
    team.signal(Signal::SIGINT);
    assert_eq!(team.wait().code(), Some(130));
    assert!(!session.has("verdict.md"));
    assert_eq!(session.json("session-meta.json")["status"], "cancelled");
    env.write("go", "");
    let (out, _) = finish(&env, &["resume"], 0);
    assert!(out.starts_with("# Verdict: APPROVED\n"), "{out}");
    assert_consistent(&session);
}

#[test]
fn a_member_that_failed_is_asked_again_on_request_and_the_verdict_is_made_anew() {
    let env = TestEnv::new();
    let need = format!("need {}", env.path("ink").display());
    let config = TeamToml::new()
        .agent("kiwi", &["swallow", &says("APPROVE", "Good.", &[])])
        .agent("plum", &["swallow", "print Hm."])
        .agent("late", &["swallow", &need, &says("APPROVE", "Good now.", &[])])
        .panel(&["kiwi", "plum", "late"]);
    env.write("team.toml", config.text());
    let (first, _) = finish(&env, &["vote", "Should it?"], 3);
    assert!(first.starts_with("# Verdict of a partial panel: INCONCLUSIVE\n"), "{first}");
    let session = env.session();
    let (out, _) = finish(&env, &["resume"], 3);
    assert_eq!(out, first, "what failed is left alone unless it is asked for");
    env.write("ink", "");
    let (out, _) = finish(&env, &["resume", "--failed"], 0);
    assert!(out.starts_with("# Verdict of a partial panel: APPROVED\n"), "{out}");
    assert_consistent(&session);
    assert!(session.has("repair"), "the further turn of the first time stays");
}

#[test]
fn a_changed_text_prompt_or_reply_is_not_counted_on() {
    for (file, code) in [("input.md", 2), ("response", 6)] {
        let env = world();
        env.team(&["vote", "Should it?"]).env("TEAM_FAULT_POINT", "panel-done").output().unwrap();
        env.wait_for_no_processes();
        let session = env.session();
        let file = match file {
            "response" => format!("response-{}.md", session.id_of("kiwi")),
            other => other.to_owned(),
        };
        let text = session.text(&file);
        std::fs::write(session.path(&file), text.replace("APPROVE", "REJECT").replace("vote", "note")).unwrap();
        let (_, err) = finish(&env, &["resume"], code);
        assert!(err.contains(&file), "{err}");
        assert!(!session.has("verdict.md"));
    }
}
