//! What a person is told of what is missing or failed, on every command and at every verbosity.

use crate::support::{TeamToml, TestEnv, finish};

fn env() -> TestEnv {
    TestEnv::with(&TeamToml::new().agent("good", &["print fine"]).agent("bad", &["stderr no luck", "exit 3"]))
}

/// The exit code, standard output and standard error.
fn team(env: &TestEnv, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = env.team(arguments).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn a_quiet_command_that_fails_says_why_and_which_slots() {
    let env = env();
    let (code, _, said) = team(&env, &["-q", "run", "--strict", "-m", "good,bad", "two words"]);
    assert_eq!(code, Some(4));
    let bad = env.session().id_of("bad");
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), 2, "{said}");
    assert!(lines[0].starts_with("error: `--strict`: 1 of 2 slots completed"), "{said}");
    assert!(lines[1].starts_with(&format!("error: slot {bad} FAILED nonzero_exit: exit code 3")), "{said}");
}

#[test]
fn a_quiet_command_that_decides_nothing_says_so() {
    let env = env();
    let (code, out, said) = team(&env, &["-q", "run-and-judge", "-m", "good,bad", "two words"]);
    assert_eq!((code, out.contains("# Verdict")), (Some(3), false), "{out}");
    assert!(said.starts_with("error: no decision: "), "{said}");
    assert!(said.contains("FAILED nonzero_exit"), "{said}");
}

#[test]
fn a_quiet_command_that_succeeds_is_silent() {
    let env = env();
    let (code, _, said) = team(&env, &["-q", "run", "-m", "good,bad", "two words"]);
    assert_eq!((code, said.as_str()), (Some(0), ""));
}

#[test]
fn what_a_model_lacks_is_told_by_its_name_before_the_session_is_made() {
    let env = TestEnv::with(
        &TeamToml::new().agent("good", &["print fine"]).model("gone", &[("command", vec!["no-such-program"].into())]),
    );
    let (code, _, said) = team(&env, &["run", "-m", "groq@x,good,gone,groq@x", "two words"]);
    assert_eq!(code, Some(0), "the others answer: {said}");
    let warnings: Vec<&str> = said.lines().take_while(|line| line.starts_with("warning: ")).collect();
    assert_eq!(
        warnings,
        [
            "warning: GROQ_API_KEY is not set: groq@x cannot answer",
            "warning: `no-such-program` is not installed, or not in PATH: gone cannot answer",
        ],
        "each once, and first of all: {said}"
    );
    let env = env.set("GROQ_API_KEY", "dummy");
    let (_, _, said) = team(&env, &["run", "-m", "good", "two words"]);
    assert!(!said.contains("warning"), "{said}");
}

#[test]
fn judges_that_are_named_are_looked_at_and_the_panel_itself_is_not() {
    let env = TestEnv::with(&TeamToml::new().agent("a", &["print one"]).agent("b", &["print two"]));
    assert_eq!(team(&env, &["run", "-m", "a,b", "two words"]).0, Some(0));
    let (_, _, said) = team(&env, &["judge", "latest", "--judges", "groq@x"]);
    assert!(said.contains("warning: GROQ_API_KEY is not set: groq@x cannot answer"), "{said}");
    // Their programs are gone by now; the order of the warnings would be that of the slots.
    let config = TeamToml::new().model("a", &[("command", vec!["gone"].into())]);
    env.write("team.toml", config.text());
    let (_, _, said) = team(&env, &["judge", "latest"]);
    assert!(!said.contains("cannot answer"), "{said}");
}

#[test]
fn the_next_step_of_a_slot_or_a_judge_that_was_lost_is_to_resume() {
    let step = team::session::slot::Reason::OwnerDied.next_step();
    assert!(step.contains("`team resume`"), "{step}");
}

#[test]
fn a_session_with_a_file_gone_or_damaged_is_told_with_a_way_out() {
    let env = env();
    assert_eq!(team(&env, &["run", "-m", "good", "two words"]).0, Some(0));
    let session = env.session();
    std::fs::remove_file(session.path("manifest.json")).unwrap();
    let (code, _, said) = team(&env, &["show", "latest", "--reveal"]);
    assert_eq!(code, Some(6), "{said}");
    assert!(said.contains("manifest.json` is missing") && said.contains("hint: "), "{said}");
    // The status is made anew from the record, which says the same; nothing is left to make it from where both are damaged.
    std::fs::write(session.path("status.json"), "{garbage").unwrap();
    assert_eq!(team(&env, &["status", "latest"]).0, Some(0));
    std::fs::write(session.path("events.jsonl"), "{garbage\n").unwrap();
    let (code, _, said) = team(&env, &["status", "latest"]);
    assert_eq!(code, Some(6), "{said}");
    assert!(said.contains("status.json") && said.contains("hint: "), "{said}");
}

#[test]
fn a_deep_check_points_to_no_log_for_there_is_none() {
    let env = env();
    let (code, out, _) = team(&env, &["doctor", "--deep", "-m", "bad"]);
    assert_eq!(code, Some(2), "{out}");
    assert!(out.contains("nonzero_exit: exit code 3"), "{out}");
    assert!(out.contains("hint: `team run -m` this model"), "{out}");
    assert!(!out.contains("read the log"), "{out}");
}

#[test]
fn a_folder_is_told_from_a_prompt() {
    let env = env();
    std::fs::create_dir(env.path("folder")).unwrap();
    for arguments in [&["folder"][..], &["/"], &["-i", "folder"]] {
        let (code, _, said) = team(&env, &[&["run", "-m", "good"], arguments].concat());
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains("is a folder") && said.contains("hint: "), "{said}");
    }
    let (code, _, said) = team(&env, &["run", "-m", "good", "-i", "nofile"]);
    assert_eq!(code, Some(2));
    assert!(said.contains("the input `nofile` does not exist") && said.contains("hint: "), "{said}");
    assert!(!env.path("ai-docs").exists());
}

#[test]
fn help_that_cannot_be_written_is_an_error() {
    let env = TestEnv::new();
    for arguments in ["--help", "--version", "run --help"] {
        let mut command = env.command_under(&[], &arguments.split(' ').collect::<Vec<_>>());
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = command.stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(70), "{arguments}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("cannot write to standard output"), "{arguments}: {said}");
    }
}

#[test]
fn a_server_without_tls_is_told_with_the_way_to_ask_it() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = std::thread::spawn(move || {
        use std::io::{Read, Write};
        let (mut stream, _) = listener.accept().unwrap();
        assert!(stream.read(&mut [0; 1024]).unwrap() > 0);
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n").unwrap();
    });
    let keys = [("wire", "openai-chat".into()), ("base_url", format!("https://{address}/v1").into())];
    let env = TestEnv::with(&TeamToml::new().provider("plain", &keys));
    let (code, _, said) = team(&env, &["run", "--retries", "0", "-m", "plain@m", "two words"]);
    server.join().unwrap();
    assert_eq!(code, Some(4), "{said}");
    let error = &env.session().slot("01")["error"];
    assert_eq!(error["reason"], "network", "{error}");
    assert!(error["detail"].as_str().unwrap().contains("does not speak TLS at this port: try `http://`"), "{error}");
}

#[test]
fn an_address_in_capitals_is_asked_and_a_broken_one_is_told_with_its_line() {
    let env = TestEnv::new();
    let written = |address: &str| format!("[providers.p]\nwire = \"openai-chat\"\nbase_url = \"{address}\"\n");
    env.write("team.toml", written("HTTP://127.0.0.1:1/v1"));
    assert_eq!(team(&env, &["config"]).0, Some(0));
    for address in ["http://", "http:///v1", "http://127.0.0.1:99999/v1", "http://127.0.0.1/a b"] {
        env.write("team.toml", written(address));
        let (code, _, said) = team(&env, &["run", "-m", "p@m", "two words"]);
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains(&format!("team.toml:3: `[providers.p]`: `base_url` `{address}`")), "{said}");
        assert!(said.contains("write it like"), "{said}");
    }
    env.write("team.toml", written("http://ann:hush-hush@/v1"));
    let (code, _, said) = team(&env, &["config"]);
    assert!(code == Some(2) && !said.contains("hush"), "{said}");
}

#[test]
fn a_model_that_opencode_does_not_know_is_told_as_such_though_only_its_log_says_it() {
    let frame = r#"{"type":"error","timestamp":1,"sessionID":"s","error":{"name":"UnknownError","data":{"message":"Unexpected server error. Check server logs for details.","ref":"err_4"}}}"#;
    let log = r#"timestamp=2026-11-30T12:37:18.756Z level=ERROR run=b0 message=failed error="ProviderModelNotFoundError: Model not found: nowhere/." cause="x""#;
    let env = TestEnv::new();
    let script = env.write("script", format!("print {frame}\nstderr {log}\nexit 1\n"));
    let script = format!("@{}", script.display());
    let config = TeamToml::new().agent_with("talker", &[&script], &[("output", "opencode-json".into())]);
    env.write("team.toml", config.text());
    let (code, _, said) = team(&env, &["run", "--retries", "0", "-m", "talker", "two words"]);
    assert_eq!(code, Some(4), "{said}");
    let error = &env.session().slot("01")["error"];
    assert_eq!((&error["reason"], &error["detail"]), (&"unknown_model".into(), &"Model not found: nowhere/.".into()));
}

#[test]
fn where_standard_output_is_closed_the_session_has_all_of_it_and_is_named() {
    let env = TestEnv::with(&TeamToml::new().agent("kiwi", &["print an answer"]).panel(&["kiwi"]));
    let mut team = env.start_under(&["sh", "-c", "exec \"$@\" >&-", "sh"], &["run", "two words"]);
    assert_eq!(team.wait().code(), Some(0), "{}", team.stderr());
    let session = env.session();
    assert!(team.stderr().contains(&format!("session: {}", session.dir().canonicalize().unwrap().display())));
    assert_eq!(session.text("response-01.md"), "an answer\n");
    // Nothing that was to be printed went into a file that took the closed descriptor's number.
    finish(&env, &["verify"], 0);
}
