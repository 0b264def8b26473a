//! Why a slot has no answer: the first cause that applies, in words of its own.

use toml::Value;

use super::{reason, run};
use crate::support::{Session, TeamToml, TestEnv, after_lacks, wait_until};

const CLAUDE: (&str, &str) = ("output", "claude-stream-json");

/// One slot with these steps and further options; gives the exit code and the session.
fn alone(steps: &[&str], keys: &[(&str, &str)], options: &[&str]) -> (Option<i32>, Session, TestEnv) {
    let keys: Vec<(&str, Value)> = keys.iter().map(|(name, value)| (*name, Value::from(*value))).collect();
    let env = TestEnv::with(&TeamToml::new().agent_with("a", steps, &keys));
    let (code, _, session) = run(&env, &[&["-m", "a", "two words"], options].concat());
    (code, session, env)
}

fn why(steps: &[&str], keys: &[(&str, &str)], options: &[&str]) -> String {
    let (code, session, _env) = alone(steps, keys, options);
    assert_eq!(code, Some(4));
    reason(&session, "01")
}

#[test]
fn an_exit_of_0_without_usable_text_is_no_success() {
    for (steps, detail) in
        [(&["exit 0"][..], "no text"), (&[r"write \n"], "1 byte, all blank"), (&[r"write  \t\r\n \n"], "all blank")]
    {
        let (code, session, _env) = alone(steps, &[], &[]);
        assert_eq!((code, reason(&session, "01").as_str()), (Some(4), "EMPTY/empty_output"));
        let slot = session.slot("01");
        assert!(slot["error"]["detail"].as_str().unwrap().contains(detail), "{slot}");
        assert_eq!((&slot["exitCode"], slot["outputSize"].is_null()), (&0.into(), true), "{slot}");
        assert!(session.text("errors/01.log").starts_with("empty_output: "));
    }
}

#[test]
fn a_long_answer_that_ends_in_blanks_is_an_answer() {
    let (code, session, _env) = alone(&["print x", "write \\n\\n\\n", "bytes 0", "write     "], &[], &[]);
    assert_eq!(code, Some(0), "{}", session.slot("01"));
}

#[test]
fn size_and_pattern_are_asked_of_the_whole_answer_and_blamed_apart() {
    let steps = ["print VOTE at the very beginning", "bytes 200000"];
    let (code, session, _env) = alone(&steps, &[], &["--min-bytes", "200000", "--require-pattern", "(?m)^VOTE"]);
    assert_eq!(code, Some(0), "{}", session.slot("01"));
    assert_eq!(why(&["print short"], &[], &["--min-bytes", "7", "--require-pattern", "nope"]), "EMPTY/too_short");
    assert_eq!(why(&["print short"], &[], &["--min-bytes", "6", "--require-pattern", "nope"]), "EMPTY/shape_mismatch");
    let (code, _, _env) = alone(&["print x"], &[], &[]);
    assert_eq!(code, Some(0), "a short answer is valid unless a size is asked for");
}

#[test]
fn an_error_that_the_program_reports_comes_before_its_exit_code() {
    let result =
        r#"{"type":"result","subtype":"success","is_error":true,"api_error_status":401,"result":"who are you"}"#;
    for exit in ["exit 1", "exit 0"] {
        let (_, session, _env) = alone(&[&format!("print {result}"), exit], &[CLAUDE], &[]);
        assert_eq!(reason(&session, "01"), "FAILED/auth");
        assert_eq!(session.slot("01")["error"]["detail"], "status 401: who are you");
    }
    assert_eq!(why(&["claude all is well", "exit 3"], &[CLAUDE], &[]), "FAILED/nonzero_exit");
    assert_eq!(why(&["print half", "kill-self SIGKILL"], &[], &[]), "FAILED/nonzero_exit");
}

#[test]
fn the_exit_code_comes_before_what_the_text_looks_like() {
    assert_eq!(why(&["exit 3"], &[], &["--min-bytes", "5"]), "FAILED/nonzero_exit");
    let (_, session, _env) = alone(&["stderr went wrong", "print half", "exit 3"], &[], &[]);
    let slot = session.slot("01");
    assert_eq!((&slot["exitCode"], &slot["error"]["detail"]), (&3.into(), &"exit code 3: went wrong".into()));
    assert_eq!(slot["error"]["stderrSnippet"], "went wrong");
    assert_eq!(slot["error"]["stdoutSnippet"], "half");
    assert_eq!(slot["error"]["errorLogPath"], "errors/01.log");
    assert!(session.text("errors/01.log").contains("went wrong"));
    assert_eq!(session.text("errors/01.partial.md"), "half\n");
}

#[test]
fn a_cut_answer_and_a_refusal_are_named() {
    let result = |stop: &str| {
        format!(
            r#"print {{"type":"result","subtype":"success","is_error":false,"result":"some text","stop_reason":"{stop}"}}"#
        )
    };
    assert_eq!(why(&[&result("max_tokens")], &[CLAUDE], &[]), "FAILED/truncated");
    let blank = result("max_tokens").replace("some text", "");
    assert_eq!(why(&[&blank], &[CLAUDE], &["--min-bytes", "5"]), "FAILED/truncated", "cut comes before empty");
    assert_eq!(why(&[&result("refusal")], &[CLAUDE], &[]), "EMPTY/refused");
    let accept = [("output", Value::from("claude-stream-json")), ("accept_truncated", Value::from(true))];
    let env = TestEnv::with(&TeamToml::new().agent_with("a", &[&result("max_tokens")], &accept));
    let (code, _, session) = run(&env, &["-m", "a", "two words"]);
    assert_eq!((code, &session.slot("01")["truncated"]), (Some(0), &true.into()));
}

#[test]
fn a_program_that_ends_without_its_terminal_event_gave_no_whole_answer() {
    let frame = r#"print {"type":"assistant","message":{"content":[{"type":"text","text":"half"}]}}"#;
    let (_, session, _env) = alone(&[frame], &[CLAUDE], &[]);
    assert_eq!(reason(&session, "01"), "FAILED/unterminated");
    assert_eq!(session.text("errors/01.partial.md"), "half\n");
}

#[test]
fn a_question_to_nobody_is_blocked_with_the_question() {
    let ask = r#"print {"type":"assistant","message":{"content":[{"type":"tool_use","name":"AskUserQuestion","input":{"questions":[{"question":"Which file?"}]}}]}}"#;
    let end = r#"print {"type":"result","subtype":"success","is_error":false,"result":"","stop_reason":"end_turn"}"#;
    let (_, session, _env) = alone(&[ask, end], &[CLAUDE], &[]);
    assert_eq!(reason(&session, "01"), "FAILED/blocked");
    assert_eq!(session.slot("01")["error"]["detail"], "Which file?");
}

#[test]
fn an_agent_that_gave_up_on_background_tasks_gave_no_whole_answer() {
    let sentence = "stderr Background tasks still running after 600s; terminating.";
    assert_eq!(why(&[sentence, "claude a part of it"], &[CLAUDE], &[]), "EMPTY/background_task_ceiling");
    assert_eq!(why(&[sentence, "print a part of it"], &[], &[]), "EMPTY/background_task_ceiling");
    let (code, session, _env) = alone(&["stderr Background tasks: 2", "claude all"], &[CLAUDE], &[]);
    assert_eq!(code, Some(0), "{}", session.slot("01"));
}

#[test]
fn a_prompt_that_the_agent_took_as_its_own_command_was_not_read() {
    let own = r#"print {"type":"assistant","message":{"model":"<synthetic>","content":[{"type":"text","text":"/help is not available"}]}}"#;
    let end = r#"print {"type":"result","subtype":"success","is_error":false,"num_turns":0,"result":"/help is not available"}"#;
    let (_, session, _env) = alone(&[own, end], &[CLAUDE], &[]);
    assert_eq!(reason(&session, "01"), "EMPTY/prompt_not_read");
    let slot = session.slot("01");
    assert!(slot["error"]["detail"].as_str().unwrap().contains("/help is not available"), "{slot}");
    assert!(slot["error"]["nextStep"].as_str().unwrap().contains("`/`"), "{slot}");
}

#[test]
fn a_flood_of_standard_error_is_cut_in_the_log_and_never_in_the_way() {
    let (_, session, _env) = alone(&["stderr FIRST", "stderr-bytes 20000000", "stderr LAST", "exit 1"], &[], &[]);
    assert_eq!(reason(&session, "01"), "FAILED/nonzero_exit");
    assert_eq!(session.slot("01")["error"]["detail"], "exit code 1: LAST", "its last words are why");
    let log = session.text("errors/01.log");
    assert!(log.len() < 5 << 20, "{}", log.len());
    assert!(log.contains("FIRST") && log.contains("LAST") && log.contains("bytes left out"));
    let healthy = alone(&["stderr noise", "print answer"], &[], &[]);
    let left = std::fs::read_dir(healthy.1.path("errors")).unwrap().count();
    assert_eq!(left, 0, "a slot that is well leaves nothing in `errors/`");
}

#[test]
fn a_program_that_cannot_be_started_fails_its_slot_with_a_text_that_names_nobody() {
    let env = TestEnv::new();
    let command = |program: &str| [("command", Value::Array(vec![Value::from(program)]))];
    let locked = env.write("locked-program-zq", "#!/bin/sh\n").display().to_string();
    let config = TeamToml::new()
        .model("ghost", &command("no-such-program-zq"))
        .model("locked", &command(&locked))
        .agent("steady", &["print the answer"]);
    env.write("team.toml", config.text());
    let (code, output, session) = run(&env, &["-v", "-m", "ghost,steady,locked,ghost", "two words"]);
    assert_eq!(code, Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let steady = session.id_of("steady");
    assert_eq!(session.slot(&steady)["state"], "COMPLETED");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let terminal = text(&output.stdout) + &after_lacks(&text(&output.stderr));
    for id in session.slots().iter().filter(|id| **id != steady) {
        assert_eq!(reason(&session, id), "FAILED/spawn_failed");
        let error = session.slot(id)["error"].clone();
        let detail = error["detail"].as_str().unwrap();
        let expected = match session.json("manifest.json")["models"][id]["model"].as_str().unwrap() {
            "ghost" => format!("program `[{id}.program]` was not found"),
            _ => format!("program `[{id}.program]` cannot be executed"),
        };
        assert!(detail.contains(&expected), "{detail}");
        assert!(!error["nextStep"].as_str().unwrap().is_empty());
        assert!(session.text(&format!("errors/{id}.log")).contains(detail));
        assert!(terminal.contains(detail.lines().next().unwrap()), "{detail} is not in {terminal}");
        for other in session.slots().iter().filter(|other| *other != id) {
            assert!(!detail.contains(&format!("[{other}.")), "{detail}");
        }
    }
    let names = ["program-zq", "ghost", "steady", "locked", "fake-agent"];
    session.assert_names_nobody(&names);
    for word in names {
        assert!(!terminal.contains(word), "`{word}` in {terminal}");
    }
}

#[test]
fn a_missing_agent_is_named_as_missing_and_its_slot_is_not_named_before_the_verdict() {
    let agents = std::path::Path::new(env!("CARGO_BIN_EXE_fake-agent")).parent().unwrap();
    let env =
        TestEnv::with(&TeamToml::new().agent("steady", &["print fine"])).set("PATH", &agents.display().to_string());
    let (code, output, session) = run(&env, &["-v", "-m", "claude:opus,codex,steady,internal", "two words"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.starts_with("warning: `claude` is not installed, or not in PATH: claude:opus cannot answer"),
        "{said}"
    );
    let said = after_lacks(&said);
    let names = ["claude", "opus", "anthropic", "codex", "openai", "internal", "steady"];
    for model in ["claude:opus", "codex", "internal"] {
        let id = session.id_of(model);
        assert_eq!(reason(&session, &id), "FAILED/spawn_failed");
        let detail = session.slot(&id)["error"]["detail"].clone();
        assert_eq!(detail, format!("program `[{id}.program]` was not found"));
    }
    session.assert_names_nobody(&names);
    for word in names {
        assert!(!said.to_lowercase().contains(word), "`{word}` in {said}");
    }
    let status = env.team(&["status"]).output().unwrap();
    let status = String::from_utf8_lossy(&status.stdout).to_lowercase();
    assert!(names.iter().all(|word| !status.contains(word)), "{status}");
}

#[test]
fn what_a_program_says_of_itself_moves_no_cursor_and_names_nobody_while_it_runs() {
    let env = TestEnv::new();
    let gate = env.path("go");
    let tool = r#"print {"type":"assistant","message":{"content":[{"type":"tool_use","name":"mcp__other-one__\\u001b[2Jfetch\\u202e"}]}}"#;
    let error = r#"print {"type":"result","subtype":"success","is_error":true,"result":"one\\u001b[2J two\\u0007\\r three\\u202e"}"#;
    let script = format!("{tool}\nwait-for {}\n{error}\nexit 1\n", gate.display());
    let script = format!("@{}", env.write("script", script).display());
    let output = [("output", Value::from("claude-stream-json"))];
    let config = TeamToml::new().agent_with("talks", &[&script], &output).agent("other-one", &["print fine"]);
    env.write("team.toml", config.text());
    let mut team = env.start(&["run", "-v", "-m", "talks,other-one", "two words"]);
    let session = env.session_with("status.json");
    let id = session.id_of("talks");
    let activity = wait_until("the tool", || {
        let slot = session.slot(&id);
        slot["activity"].as_str().filter(|activity| activity.starts_with("tool ")).map(str::to_owned)
    });
    assert_eq!(activity, r"tool [model]__\u{1b}[2Jfetch\u{202e}");
    env.write("go", "");
    assert_eq!(team.wait().code(), Some(0));
    let escaped = r"one\u{1b}[2J two\u{7}\r three\u{202e}";
    assert_eq!(session.slot(&id)["error"]["detail"], escaped);
    assert!(team.stderr().contains(escaped), "{}", team.stderr());
    for (place, text) in [("terminal", team.stderr()), ("log", session.text(&format!("errors/{id}.log")))] {
        assert!(!text.contains(['\u{1b}', '\u{7}', '\r', '\u{202e}']), "{place}: {text:?}");
    }
}
