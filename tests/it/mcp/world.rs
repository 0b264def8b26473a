//! Panels for the server's tests.

use std::time::Instant;

use serde_json::{Value, json};

use crate::support::{DEADLINE, McpClient, TeamToml, TestEnv, voters};

/// Two agents that answer at once and approve.
pub(super) fn quick() -> TestEnv {
    TestEnv::with(&voters(&[("zebra", "black", "approve"), ("yak", "brown", "approve")]))
}

/// Two agents that answer when the file `go` is there, and then approve.
pub(super) fn gated() -> TestEnv {
    let env = TestEnv::new();
    let gate = format!("wait-for {}", env.path("go").display());
    let steps = |answer: &str| vec![gate.clone(), format!("answer {answer}"), "vote approve".to_owned()];
    let panel = [("zebra", steps("black")), ("yak", steps("brown"))];
    let config = panel.iter().fold(TeamToml::new(), |config, (name, steps)| {
        config.agent(name, &steps.iter().map(String::as_str).collect::<Vec<_>>())
    });
    env.write("team.toml", config.panel(&["zebra", "yak"]).text());
    env
}

/// Asks for the status until it is as `wanted`.
#[track_caller]
pub(super) fn status_until(client: &mut McpClient, session: &Value, wanted: impl Fn(&Value) -> bool) -> Value {
    let start = Instant::now();
    loop {
        let status = client.object(&json!({"mode": "status", "path": session}));
        if wanted(&status) {
            return status;
        }
        assert!(start.elapsed() < DEADLINE, "waited in vain; last: {status}");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

/// Whether every slot is at work.
pub(super) fn all_running(status: &Value) -> bool {
    status["slots"].as_array().unwrap().iter().all(|slot| slot["state"] == "RUNNING")
}

/// Fails when `text` names a model of these panels.
#[track_caller]
pub(super) fn names_nobody(text: &str) {
    for name in ["zebra", "yak", "fake-agent"] {
        assert!(!text.contains(name), "names `{name}`: {text}");
    }
}
