//! The managed local model: no key, no agent.

use crate::support::{Session, TeamToml};
use crate::tools::env_with_local_model;

/// Every slot of the panel and of its judges ended with an answer, and a verdict exists.
#[track_caller]
pub(crate) fn check(session: &Session, seats: usize) {
    assert_eq!(session.json("session-meta.json")["status"], "completed");
    for panel in [session.clone(), session.round("judging")] {
        let slots = panel.slots();
        assert_eq!(slots.len(), seats);
        for id in slots {
            assert_eq!(panel.slot(&id)["state"], "COMPLETED", "{id}: {}", panel.slot(&id));
            assert!(!panel.text(&format!("response-{id}.md")).trim().is_empty());
        }
    }
    assert!(session.has("verdict.json"));
}

#[test]
fn the_demo_ends_with_a_verdict_on_three_seats() {
    let env = env_with_local_model();
    let output = env.team(&["demo"]).timeout(std::time::Duration::from_secs(900)).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    let session = env.session();
    check(&session, 3);
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert_eq!(stdout.trim(), session.text("verdict.md").trim(), "stdout is the verdict");
    env.wait_for_no_processes();
}

#[test]
fn a_panel_of_the_local_model_is_judged_seat_by_seat() {
    let env = env_with_local_model();
    // A small model does not always know when to stop.
    let settings = [
        ("use", "local@smollm2".into()),
        ("max_tokens", 300.into()),
        ("temperature", 0.2.into()),
        ("accept_truncated", true.into()),
    ];
    env.write("team.toml", TeamToml::new().model("small", &settings).text());
    let model = "small";
    let output = env
        .team(&[
            "run-and-judge",
            "-m",
            &[model; 3].join(","),
            "--self-vote",
            "slot",
            "Why is the sky blue? One sentence.",
        ])
        .timeout(std::time::Duration::from_secs(900))
        .output()
        .unwrap();
    let session = env.session();
    // Whether so small a model votes or abstains is chance; that the code tells which is not.
    let expected = match session.json("verdict.json")["decision"].as_str() {
        Some("ranking") => 0,
        Some("noDecision") => 3,
        other => panic!("{other:?}"),
    };
    assert_eq!(output.status.code(), Some(expected), "{}", String::from_utf8_lossy(&output.stderr));
    check(&session, 3);
    env.wait_for_no_processes();
}
