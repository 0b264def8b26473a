//! Programs that are told by files of their own, and those whose retries are only in their log.

use nix::sys::signal::Signal;

use super::{reason, run};
use crate::support::{TeamToml, TestEnv, wait_until};

/// What is left where private folders are made.
fn left(env: &TestEnv) -> Vec<String> {
    let folder = env.home().parent().unwrap().join("tmp");
    let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.starts_with("team-")).collect()
}

const GEMINI: &str = r#"#!/bin/sh
cat > /dev/null
private=${GEMINI_CLI_HOME%/home}
echo "mode $(stat -c %a "$private")"
echo "login $(cat "$GEMINI_CLI_HOME/.gemini/oauth_creds.json")"
echo "attempts $(grep -o '"maxAttempts": [0-9]*' "$GEMINI_CLI_HOME/.gemini/settings.json")"
echo "tools $(grep -c allow "$private/policy.toml")"
echo "arguments $*" | sed "s#$private#PRIVATE#"
echo report > "$TMPDIR/report.json"
echo kept > "$GEMINI_CLI_HOME/.gemini/oauth_creds.json"
echo '{"type":"result","status":"success"}'
"#;

#[test]
fn gemini_finds_what_it_is_told_in_a_folder_of_its_own_that_goes_with_it() {
    let env = TestEnv::new().program("gemini", GEMINI);
    let users = env.home().join(".gemini");
    std::fs::create_dir_all(&users).unwrap();
    std::fs::write(users.join("oauth_creds.json"), "mine").unwrap();
    let (code, output, session) = run(&env, &["--retries", "4", "-m", "gemini:pro", "two words"]);
    assert_eq!(code, Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let expected = "mode 700\nlogin mine\nattempts \"maxAttempts\": 5\ntools 1\n\
        arguments --output-format stream-json --approval-mode default --extensions none \
        --admin-policy PRIVATE/policy.toml --model=pro\n";
    assert_eq!(session.text("response-01.md"), expected);
    assert_eq!(std::fs::read_to_string(users.join("oauth_creds.json")).unwrap(), "kept\n", "a new sign-in is kept");
    assert_eq!(left(&env), Vec::<String>::new());
}

#[test]
fn a_private_folder_goes_also_when_team_is_killed() {
    let env = TestEnv::new()
        .program("gemini", "#!/bin/sh\necho \"$GEMINI_CLI_HOME\" > \"$HOME/here\"\nexec fake-agent hang\n");
    let mut team = env.start(&["run", "-m", "gemini", "two words"]);
    wait_until("the program", || env.home().join("here").exists().then_some(()));
    assert_eq!(left(&env).len(), 1);
    team.signal(Signal::SIGKILL);
    team.wait();
    env.wait_for_no_processes();
    wait_until("the folder to go", || left(&env).is_empty().then_some(()));
}

#[test]
fn settings_of_the_users_that_cannot_be_read_fail_their_slot_by_name() {
    let env = TestEnv::new().program("gemini", GEMINI);
    std::fs::create_dir_all(env.home().join(".gemini")).unwrap();
    std::fs::write(env.home().join(".gemini/settings.json"), "{\"general\": }").unwrap();
    let (code, output, session) = run(&env, &["-m", "gemini", "two words"]);
    assert_eq!(code, Some(4));
    assert_eq!(reason(&session, "01"), "FAILED/spawn_failed");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("settings.json`: expected value at line 1 column 13"), "{stderr}");
    assert_eq!(left(&env), Vec::<String>::new());
}

/// A failed request, as opencode logs it.
const FAILED: &str = "echo 'timestamp=T level=ERROR run=r message=\"stream error\" providerID=p modelID=m session.id=s \
    small=false agent=build mode=primary error.error=\"AI_APICallError: Service Unavailable\"' >&2\n";

#[test]
fn retries_that_are_only_in_a_log_are_shown_and_bounded() {
    let script = format!("#!/bin/sh\ncat > /dev/null\n{}exec fake-agent hang\n", FAILED.repeat(3));
    let env = TestEnv::new().program("opencode", &script);
    let (code, output, session) = run(&env, &["--retries", "1", "-m", "opencode", "two words"]);
    assert_eq!(code, Some(4));
    assert_eq!(reason(&session, "01"), "FAILED/api_error");
    let slot = session.slot("01");
    let detail = slot["error"]["detail"].as_str().unwrap();
    assert!(detail.starts_with("Service Unavailable (asked "), "{slot}");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(!stderr.contains("did not end"), "{stderr}");
    env.wait_for_no_processes();
}

#[test]
fn an_answer_after_a_retry_is_an_answer() {
    let frame = r#"{"type":"text","sessionID":"s","part":{"id":"p","text":"Here it is.","time":{}}}"#;
    let end = r#"{"type":"step_finish","sessionID":"s","part":{"reason":"stop"}}"#;
    let script = format!("#!/bin/sh\ncat > /dev/null\n{FAILED}echo '{frame}'\necho '{end}'\n");
    let env = TestEnv::new().program("opencode", &script);
    let (code, output, session) = run(&env, &["--retries", "1", "-m", "opencode", "two words"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stderr.contains("01 retry 1/1 (Service Unavailable)"), "{stderr}");
    assert_eq!(session.text("response-01.md"), "Here it is.\n");
}

/// Leaves what the real ones leave while they work: who works where, and a database of prompts.
const CLAUDE: &str = r#"#!/bin/sh
cat > /dev/null; mkdir -p "$HOME/.claude/sessions"; cat "$HOME"/.claude/sessions/* 2> /dev/null
echo "{\"cwd\": \"$PWD\"}" > "$HOME/.claude/sessions/7.json"; : > written; until [ -e go ]; do sleep 0.02; done
exec fake-agent 'claude Here it is.'
"#;
const CODEX: &str = r#"#!/bin/sh
cat > /dev/null; mkdir -p "$HOME/.codex/sessions"; ls "$HOME/.codex/sessions" "$CODEX_SQLITE_HOME" >&2
echo "$PWD" > "$HOME/.codex/sessions/x"; echo "$PWD" > "$CODEX_SQLITE_HOME/state_5.sqlite"
case "$*" in *"sqlite_home=\"$CODEX_SQLITE_HOME\""*) ;; *) exit 9;; esac
: > written; until [ -e go ]; do sleep 0.02; done
echo '{"type":"thread.started","thread_id":"t"}'
echo '{"type":"item.completed","item":{"id":"i","type":"agent_message","text":"Here it is."}}'
echo '{"type":"turn.completed","usage":{"input_tokens":1,"cached_input_tokens":0,"output_tokens":1}}'
"#;

#[test]
fn who_works_where_is_told_to_nobody_by_what_programs_leave_in_home() {
    let env = TestEnv::new().program("claude", CLAUDE).program("codex", CODEX);
    std::fs::create_dir_all(env.home().join(".codex")).unwrap();
    std::fs::write(env.home().join(".codex/auth.json"), "{}").unwrap();
    let look =
        r#"until [ -e look ]; do sleep 0.02; done; find "$HOME" /tmp -type f -exec cat {} + 2> /dev/null; echo seen"#;
    let spy = toml::Value::Array(["sh", "-c", look].map(toml::Value::from).to_vec());
    env.write("team.toml", TeamToml::new().model("spy", &[("command", spy)]).text());
    let mut team = env.start(&["run", "-m", "claude,codex,codex,spy", "two words"]);
    let session = env.session_with("status.json");
    let spy = session.id_of("spy");
    let ids = session.slots();
    let others: Vec<&String> = ids.iter().filter(|id| **id != spy).collect();
    for id in &others {
        wait_until("a trace", || session.has(&format!("work/{id}/written")).then_some(()));
    }
    std::fs::write(session.path(&format!("work/{spy}/look")), "").unwrap();
    wait_until("the spy", || (session.slot(&spy)["state"] == "COMPLETED").then_some(()));
    for id in &others {
        std::fs::write(session.path(&format!("work/{id}/go")), "").unwrap();
    }
    assert_eq!(team.wait().code(), Some(0), "{}", team.stderr());
    assert_eq!(ids.iter().filter(|id| session.slot(id)["state"] == "COMPLETED").count(), 4, "{}", team.stderr());
    let record = session.text("events.jsonl");
    let answer = session.text(&format!("response-{spy}.md"));
    assert!(answer.contains("seen"), "{answer}");
    // Landlock can put nothing in the place of a folder of HOME; the databases are private under it as well.
    let enforced = record.contains("session files: enforced");
    assert_eq!(answer.contains("/work/"), !enforced, "{answer}");
    let files = |folder: &str| {
        let entries = std::fs::read_dir(env.home().join(folder)).unwrap().map(|entry| entry.unwrap().file_name());
        entries.filter(|name| name.to_string_lossy().contains('.')).count()
    };
    assert_eq!(files(".codex"), 1, "its sign-in and no database");
    assert!(!enforced || files(".claude/sessions") == 0);
    assert_eq!(left(&env), Vec::<String>::new());
}
