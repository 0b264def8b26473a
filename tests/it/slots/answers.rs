//! The bytes of an answer, whatever the pieces in which they come.

use std::path::{Path, PathBuf};

use toml::Value;

use super::{reason, run};
use crate::support::{TeamToml, TestEnv};

/// Recordings with an answer: file, format, the answer.
const RECORDINGS: [(&str, &str, &str); 6] = [
    ("claude/plain.stream-json.stdout", "claude-stream-json", HELLO),
    ("claude/tool.stream-json.stdout", "claude-stream-json", TOOL),
    ("codex/tool.json.stdout", "codex-json", TOOL),
    ("gemini/tool.stream-json.stdout", "gemini-json", TOOL),
    ("opencode/tool.json.stdout", "opencode-json", TOOL),
    ("codex/plain.text.stdout", "text", HELLO),
];

const HELLO: &str = "Hello from the fake provider: the answer is 42.\n";
const TOOL: &str = "I will run a command.\n\nAfter the tool: done.\n";

/// Sizes of pieces, used over and over; the last is drawn once and for all.
const SLICES: [&str; 5] = ["1", "7", "13", "5000", "311,1,64,2,997,3,3,40,5,1203,17"];

fn recording(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/streams").join(file)
}

#[test]
fn a_recorded_stream_gives_the_same_answer_in_any_slices_and_as_a_replay() {
    let mut config = TeamToml::new();
    let mut panel = Vec::new();
    for (number, (file, format, answer)) in RECORDINGS.into_iter().enumerate() {
        let file = recording(file).display().to_string();
        for (slicing, sizes) in SLICES.into_iter().enumerate() {
            let alias = format!("r{number}s{slicing}");
            let step = format!("print-slices {sizes} {file}");
            config = config.agent_with(&alias, &["swallow", &step], &[("output", Value::from(format))]);
            panel.push((alias, answer));
        }
        for (way, pace) in [("full", ""), ("paced", "@20000")] {
            let alias = format!("r{number}{way}");
            config = config.model(&alias, &[("use", Value::from(format!("replay:{file}#{format}{pace}")))]);
            panel.push((alias, answer));
        }
    }
    let env = TestEnv::with(&config);
    let names: Vec<&str> = panel.iter().map(|(alias, _)| alias.as_str()).collect();
    let (code, output, session) = run(&env, &["-m", &names.join(","), "two words"]);
    assert_eq!(code, Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    for (alias, answer) in &panel {
        let id = session.id_of(alias);
        assert_eq!(session.slot(&id)["state"], "COMPLETED", "{alias}: {}", session.slot(&id));
        assert_eq!(session.text(&format!("response-{id}.md")), *answer, "{alias}");
        assert_eq!(session.slot(&id)["outputSize"], answer.len(), "{alias}");
    }
}

#[test]
fn every_text_of_a_long_conversation_is_kept_in_order() {
    let env = TestEnv::new();
    let frame = |text: &str| {
        format!(
            r#"{{"type":"assistant","message":{{"content":[{{"type":"text","text":"{text}"}}]}},"parent_tool_use_id":null}}"#
        )
    };
    let turn = r#"{"type":"result","subtype":"success","is_error":false,"result":"x","stop_reason":"end_turn"}"#;
    let stream = [
        &frame("first, and long"),
        "a plain line of another program",
        r#"{"type":"rate_limit_event","rate_limit_info":{"status":"allowed"}}"#,
        r#"{"an":"object that is no frame"}"#,
        &frame("second"),
        turn,
        r#"{"type":"system","subtype":"init"}"#,
        &frame("a later turn"),
        turn,
    ];
    env.write("stream", stream.join("\n"));
    let step = format!("print-file {}", env.path("stream").display());
    let config = TeamToml::new().agent_with("a", &[&step], &[("output", Value::from("claude-stream-json"))]);
    env.write("team.toml", config.text());
    let (code, _, session) = run(&env, &["-m", "a", "two words"]);
    assert_eq!(code, Some(0), "{}", session.slot("01"));
    assert_eq!(
        session.text("response-01.md"),
        "first, and long\n\na plain line of another program\n{\"an\":\"object that is no frame\"}\n\nsecond\n\na later turn\n"
    );
}

#[test]
fn text_is_kept_byte_for_byte() {
    // No final line end, a lone carriage return, blank lines at both ends, bytes that are no UTF-8.
    let config = TeamToml::new().agent("a", &[r"write \n\n a\r b \xff\xfe\n\n "]).agent("b", &["bytes 65536"]);
    let env = TestEnv::with(&config);
    let (code, _, session) = run(&env, &["-m", "a,b", "two words"]);
    assert_eq!(code, Some(0));
    let (a, b) = (session.id_of("a"), session.id_of("b"));
    let bytes = std::fs::read(session.path(&format!("response-{a}.md"))).unwrap();
    assert_eq!(bytes, b"\n\n a\r b \xff\xfe\n\n ");
    assert_eq!(session.slot(&b)["outputSize"], 65_536);
}

#[test]
fn a_torn_frame_of_a_program_that_died_is_no_text_and_its_partial_text_is_kept() {
    let env = TestEnv::new();
    let whole = std::fs::read(recording("claude/tool.stream-json.stdout")).unwrap();
    let cut = memchr::memmem::find(&whole, b"After the tool").unwrap();
    env.write("stream", &whole[..cut]);
    let step = format!("print-file {}", env.path("stream").display());
    let config = TeamToml::new().agent_with("a", &[&step], &[("output", Value::from("claude-stream-json"))]);
    env.write("team.toml", config.text());
    let (code, _, session) = run(&env, &["-m", "a", "two words"]);
    assert_eq!((code, reason(&session, "01").as_str()), (Some(4), "FAILED/unterminated"));
    assert_eq!(session.text("errors/01.partial.md"), "I will run a command.\n");
}

#[test]
fn standard_input_is_the_whole_prompt_and_at_its_end() {
    for size in [300_000, 5_000_000] {
        let config = TeamToml::new()
            .agent("stdin", &["read-stdin"])
            .agent_with("file", &["# {prompt_file}", "read-stdin"], &[("prompt", Value::from("file"))])
            .agent("deaf", &["print never read it"]);
        let env = TestEnv::with(&config);
        let text: String = "A line of the prompt, é.\n".chars().cycle().take(size).collect();
        env.write("in.md", &text);
        let (code, output, session) = run(&env, &["-m", "stdin,deaf,file", "in.md"]);
        assert_eq!(code, Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(session.text("input.md") == text);
        let hash = session.events()[0]["input"].as_str().unwrap().to_owned();
        let said = session.text(&format!("response-{}.md", session.id_of("stdin")));
        assert_eq!(said, format!("stdin bytes={} sha256={hash}\n", text.len()));
        let said = session.text(&format!("response-{}.md", session.id_of("file")));
        assert!(said.starts_with("stdin bytes=0 "), "a prompt in a file leaves stdin empty, at its end: {said}");
    }
}

#[test]
fn a_program_that_takes_its_prompt_as_a_file_gets_the_file_itself() {
    let config = TeamToml::new().agent_with("a", &["print-file {prompt_file}"], &[("prompt", Value::from("file"))]);
    let env = TestEnv::with(&config);
    env.write("in.md", "Which is better?\r\n");
    let (_, _, session) = run(&env, &["-m", "a", "in.md"]);
    assert_eq!(session.text("response-01.md"), "Which is better?\r\n", "{}", session.slot("01"));
}

#[test]
fn the_environment_is_an_allow_list_and_what_is_declared() {
    let config = TeamToml::new().agent_with(
        "a",
        &["env-names", "env PWD", "env DECLARED", "cwd"],
        &[("env", Value::Table([("DECLARED".to_owned(), Value::from("${GIVEN}-there"))].into_iter().collect()))],
    );
    let env = TestEnv::with(&config)
        .set("GIVEN", "over")
        .set("SOME_PRIVATE_THING", "no")
        .set("CLAUDECODE", "1")
        .set("ANTHROPIC_API_KEY", "key-of-another")
        .set("OPENAI_API_KEY", "key-of-another")
        .set("HTTPS_PROXY", "http://127.0.0.1:9");
    let (code, output, session) = run(&env, &["-m", "a", "two words"]);
    assert_eq!(code, Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let text = session.text("response-01.md");
    let lines: Vec<&str> = text.lines().collect();
    let names: Vec<&str> = lines[0].split(' ').collect();
    assert_eq!(
        names,
        [
            "DECLARED",
            "HOME",
            "HTTPS_PROXY",
            "LC_ALL",
            "NO_PROXY",
            "PATH",
            "PWD",
            "TMPDIR",
            "TZ",
            "XDG_CACHE_HOME",
            "XDG_CONFIG_HOME",
            "XDG_DATA_HOME",
            "XDG_RUNTIME_DIR",
            "XDG_STATE_HOME",
        ]
    );
    let work = session.path("work/01").canonicalize().unwrap().display().to_string();
    assert_eq!(lines[1..], [format!("PWD={work}"), "DECLARED=over-there".to_owned(), work]);
}
