//! A complete answer of a program that does not end.

use std::path::Path;

use toml::Value;

use super::run;
use crate::support::{TeamToml, TestEnv};

const HELLO: &str = "Hello from the fake provider: the answer is 42.\n";

/// Each format that says where its answer ends: a recording, its format, a frame that says nothing.
const FORMATS: [(&str, &str, &str); 4] = [
    ("claude/plain.stream-json.stdout", "claude-stream-json", r#"{"type":"system","subtype":"status"}"#),
    ("codex/plain.json.stdout", "codex-json", r#"{"type":"heartbeat"}"#),
    ("gemini/plain.stream-json.stdout", "gemini-json", r#"{"type":"heartbeat"}"#),
    ("opencode/plain.json.stdout", "opencode-json", r#"{"type":"heartbeat","sessionID":"s"}"#),
];

#[test]
fn an_answer_is_taken_after_a_while_whatever_its_program_goes_on_with_and_its_end_says_so() {
    let mut config = TeamToml::new();
    let mut panel = Vec::new();
    for (number, (file, format, heartbeat)) in FORMATS.into_iter().enumerate() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/streams").join(file).display().to_string();
        let print = format!("print-file {file}");
        let beat = format!("chatter 50 {heartbeat}");
        let ways: [(&str, &[&str]); 4] = [
            ("quiet", &["hang"]),
            ("beats", &["ignore-term", &beat]),
            ("holds", &["spawn setsid ;; ignore-term ;; hang", "ignore-term", "hang"]),
            ("fine", &["on-term print more ;; exit 0", "hang"]),
        ];
        for (way, steps) in ways {
            let alias = format!("{way}{number}");
            let steps = [&["swallow", &print], steps].concat();
            config = config.agent_with(&alias, &steps, &[("output", Value::from(format))]);
            panel.push(alias);
        }
    }
    let env = TestEnv::with(&config);
    let (code, output, session) = run(&env, &["-m", &panel.join(","), "two words"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(code, Some(0), "{stderr}");
    let events = session.events();
    for alias in &panel {
        let id = session.id_of(alias);
        let slot = session.slot(&id);
        assert_eq!((&slot["state"], &slot["error"].is_null()), (&"COMPLETED".into(), &true), "{alias}: {slot}");
        let text = session.text(&format!("response-{id}.md"));
        let said = if alias.starts_with("fine") { text.strip_suffix("\nmore\n").unwrap_or(&text) } else { &text };
        assert_eq!(said, HELLO, "{alias}");
        let end = events.iter().find(|event| event["event"] == "slot_ended" && event["slot"] == id.as_str());
        assert_eq!(end.unwrap()["lingered"], true, "{alias}: {end:?}");
        let line = stderr.lines().find(|line| line.starts_with(&format!("{id} COMPLETED"))).unwrap();
        assert!(line.ends_with("(its program did not end and was stopped)"), "{line}");
    }
}

#[test]
fn a_turn_that_begins_after_a_result_has_all_the_time_it_needs() {
    let env = TestEnv::new();
    let text = |text: &str| {
        format!(r#"print {{"type":"assistant","message":{{"content":[{{"type":"text","text":"{text}"}}]}}}}"#)
    };
    let result = r#"print {"type":"result","subtype":"success","is_error":false,"stop_reason":"end_turn"}"#;
    let again = r#"print {"type":"system","subtype":"init"}"#;
    // Longer than a program may go on after its answer.
    let steps = [&text("first"), result, again, "sleep 12000", &text("second"), result];
    let config = TeamToml::new().agent_with("a", &steps, &[("output", Value::from("claude-stream-json"))]);
    env.write("team.toml", config.text());
    let (code, _, session) = run(&env, &["-m", "a", "two words"]);
    assert_eq!(code, Some(0), "{}", session.slot("01"));
    assert_eq!(session.text("response-01.md"), "first\n\nsecond\n");
    let end = session.events().into_iter().find(|event| event["event"] == "slot_ended").unwrap();
    assert!(end["lingered"].is_null(), "{end}");
}
