//! The tables of outcomes against the recordings in `fixtures/streams`.

use std::path::{Path, PathBuf};

use toml::Value;

use crate::support::outcomes::{self, CLAUDE, CLAUDISH, CODEX, End, GEMINI, LLM, OPENCODE, Row, Table};
use crate::support::{TeamToml, TestEnv};

fn recording(table: &Table, situation: &str, stream: &str) -> PathBuf {
    let name = format!("fixtures/streams/{}/{situation}.{}.{stream}", table.program, table.format);
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Plays every recording as one panel of programs that are called like the recorded one.
#[track_caller]
fn play(table: &Table) {
    let env = TestEnv::new();
    let program = env.path(table.program);
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_fake-agent"), &program).unwrap();
    let mut config = TeamToml::new();
    let rows: Vec<&Row> = table.rows.iter().chain(table.recorded).collect();
    for row in &rows {
        let mut command = vec![program.display().to_string(), "swallow".to_owned()];
        let stderr = recording(table, row.situation, "stderr");
        if stderr.exists() {
            command.push(format!("stderr-slices 4096 {}", stderr.display()));
        }
        command.push(format!("print-file {}", recording(table, row.situation, "stdout").display()));
        command.push(format!("exit {}", row.exit));
        let keys = [("command", Value::from(command)), ("output", table.output.into())];
        config = config.model(row.situation, &keys);
    }
    env.write("team.toml", config.text());
    let panel: Vec<&str> = rows.iter().map(|row| row.situation).collect();
    let output = env.team(&["run", "-m", &panel.join(","), "two words"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let session = env.session();
    for row in &rows {
        outcomes::check_end(&session, row.situation, row.end);
        let slot = session.slot(&session.id_of(row.situation));
        assert_eq!(slot["exitCode"], row.exit, "{}: {slot}", row.situation);
        let failed = matches!(row.end, End::Reason(..));
        assert!(!failed || slot["outputSize"].is_null(), "{}: {slot}", row.situation);
    }
}

#[test]
fn claude_ends_as_in_its_table() {
    play(&CLAUDE);
}

#[test]
fn claudish_ends_as_in_its_table() {
    play(&CLAUDISH);
}

#[test]
fn codex_ends_as_in_its_table() {
    play(&CODEX);
}

#[test]
fn gemini_ends_as_in_its_table() {
    play(&GEMINI);
}

#[test]
fn opencode_ends_as_in_its_table() {
    play(&OPENCODE);
}

#[test]
fn llm_ends_as_in_its_table() {
    play(&LLM);
}

#[test]
fn a_retry_that_a_program_announces_is_told_with_its_count_its_wait_and_its_cause() {
    let claude = r#"print {"type":"system","subtype":"api_retry","attempt":3,"max_retries":10,"retry_delay_ms":7400,"error_status":529,"error":"overloaded"}"#;
    let codex = r#"print {"type":"error","message":"Reconnecting... 2/5 (unexpected status 503 Service Unavailable: x, url: http://h/v1)"}"#;
    let cut = r#"print {"type":"error","message":"Reconnecting... 3/5 (stream disconnected before completion: error sending request)"}"#;
    let done = r#"print {"type":"turn.completed","usage":{}}"#;
    let text = r#"print {"type":"item.completed","item":{"type":"agent_message","text":"fine"}}"#;
    let config = TeamToml::new()
        .agent_with("a", &[claude, "claude fine"], &[("output", Value::from("claude-stream-json"))])
        .agent_with("b", &[codex, cut, text, done], &[("output", Value::from("codex-json"))]);
    let env = TestEnv::with(&config);
    let output = env.team(&["run", "-m", "a,b", "two words"]).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    let session = env.session();
    let (a, b) = (session.id_of("a"), session.id_of("b"));
    for (slot, begins, ends) in
        [(&a, "retry 3/10 in 8s", "(HTTP 529)"), (&b, "retry 2/5 ", "(HTTP 503)"), (&b, "retry 3/5 ", "(network)")]
    {
        let told = |text: &str| text.starts_with(begins) && text.ends_with(ends);
        let line = stderr.lines().any(|line| line.strip_prefix(&format!("{slot} ")).is_some_and(told));
        assert!(line, "{begins} {ends}: {stderr}");
        let events = session.events();
        let mut retries =
            events.iter().filter(|event| event["event"] == "slot_retry" && event["slot"] == slot.as_str());
        assert!(retries.any(|event| told(event["why"].as_str().unwrap())), "{begins} {ends}");
    }
}
