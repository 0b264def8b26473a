//! Secrets reach a slot and its answer, and no other place.

use toml::Value;

use crate::support::{Session, TeamToml, TestEnv, wait_until};

/// What the slot is handed, by a variable whose name says so and by one whose name says nothing.
const GIVEN: &str = "Zq7-given.value/with+signs=";
const QUIET: &str = "plainly-told-9821";

/// What must stay as it is: it stands for a value and is none.
const PLACEHOLDERS: [&str; 4] =
    ["${GIVEN_TOKEN}", "api_key=your-api-key-here", "Authorization: Bearer $TOKEN", "sk-xxxxxxxxxxxxxxxxxxxxxxxx"];

/// Tokens of the usual shapes, put together here so that none stands in this file.
fn shapes() -> Vec<String> {
    let hex = "0a1b2c3d4e5f60718293a4b5c6d7e8f901234567";
    vec![
        format!("{}-ant-api03-{hex}", "sk"),
        format!("{}-proj-{hex}", "sk"),
        format!("{}_{}", "ghp", &hex[..36]),
        format!("{}_pat_{hex}", "github"),
        format!("{}{}", "AKIA", "QWERTYUIOPASDFGH"),
        format!("{}-{hex}", "xoxb"),
        format!("{}{}", "AIza", &hex[..35]),
        format!("{}hbGciOiJIUzI1NiJ9.{}zdWIiOiIxMjM0NTY3ODkwIn0.{hex}", "eyJ", "eyJ"),
    ]
}

/// Text that holds every secret once in some surrounding, and every placeholder.
fn text() -> String {
    let mut lines = vec![
        format!("calling with {GIVEN} now"),
        format!("{{\"quiet\":\"{QUIET}\"}}"),
        format!("https://user:{QUIET}@127.0.0.1/path"),
        "Authorization: Basic dXNlcjpodW50ZXIyaHVudGVyMg==".to_owned(),
        "db_password=\"hunter2hunter2\"".to_owned(),
    ];
    lines.extend(shapes().into_iter().map(|shape| format!("token {shape} refused")));
    lines.extend(PLACEHOLDERS.map(str::to_owned));
    lines.join("\n") + "\n"
}

fn secrets() -> Vec<String> {
    let others = ["dXNlcjpodW50ZXIyaHVudGVyMg", "hunter2hunter2"].map(str::to_owned);
    [GIVEN.to_owned(), QUIET.to_owned()].into_iter().chain(others).chain(shapes()).collect()
}

/// Fails when `text` holds a secret, or a telling part of one.
#[track_caller]
fn assert_clean(place: &str, text: &str) {
    for secret in secrets() {
        for part in [&secret[..], &secret[..secret.len() * 2 / 3], &secret[secret.len() / 3..]] {
            assert!(!text.contains(part), "{place} holds `{part}` of `{secret}`");
        }
    }
}

/// Every file that is no answer, no manifest and no prompt.
#[track_caller]
fn assert_folder_clean(session: &Session) {
    for file in session.files() {
        let answer = file.starts_with("response-") || file.ends_with(".partial.md");
        if !answer && file != "manifest.json" && !file.starts_with("work/") {
            assert_clean(&file, &String::from_utf8_lossy(&std::fs::read(session.path(&file)).unwrap()));
        }
    }
}

fn declared() -> Value {
    let variables = [("GIVEN_TOKEN", "${GIVEN_TOKEN}"), ("MOOD", "${MOOD}")];
    Value::Table(variables.into_iter().map(|(name, value)| (name.to_owned(), Value::from(value))).collect())
}

fn env() -> TestEnv {
    TestEnv::new().set("GIVEN_TOKEN", GIVEN).set("MOOD", QUIET)
}

#[test]
fn no_secret_on_standard_error_is_written_or_shown_in_whatever_pieces_it_comes() {
    let env = env();
    let noise = env.write("noise", text()).display().to_string();
    let mut config = TeamToml::new();
    let slicings = ["1", "2", "3", "7", "1000000", "19,1,64,2,5,3,40,11"];
    let names: Vec<String> = (0..slicings.len()).map(|number| format!("m{number}")).collect();
    for (name, sizes) in names.iter().zip(slicings) {
        let step = format!("stderr-slices {sizes} {noise}");
        config = config.agent_with(name, &[&step, "exit 1"], &[("env", declared())]);
    }
    env.write("team.toml", config.text());
    let output = env.team(&["run", "-v", "--json", "-m", &names.join(","), "two words"]).output().unwrap();
    assert_eq!(output.status.code(), Some(4));
    assert_clean("standard output", &String::from_utf8_lossy(&output.stdout));
    assert_clean("standard error", &String::from_utf8_lossy(&output.stderr));
    let session = env.session();
    assert_folder_clean(&session);
    for id in session.slots() {
        let log = session.text(&format!("errors/{id}.log"));
        for placeholder in PLACEHOLDERS {
            // The variable's name would tell whose it is.
            let shown = placeholder.replace("GIVEN_TOKEN", &format!("[{id}.key]"));
            assert!(log.contains(&shown), "`{shown}` is not in {log}");
        }
        assert!(log.contains("calling with [redacted] now"), "{log}");
    }
    for arguments in [&["show", "latest"][..], &["show", "latest", "01"], &["status"], &["status", "--json"], &["list"]]
    {
        let output = env.team(arguments).output().unwrap();
        assert_clean(&format!("{arguments:?}"), &String::from_utf8_lossy(&output.stdout));
        assert_clean(&format!("{arguments:?}"), &String::from_utf8_lossy(&output.stderr));
    }
    let revealed = env.team(&["show", "latest", "--reveal"]).output().unwrap();
    assert_clean("what is revealed", &String::from_utf8_lossy(&revealed.stdout));
    assert_folder_clean(&session);
}

#[test]
fn no_secret_in_an_error_that_a_program_reports_is_written_or_shown() {
    let env = env();
    let words = serde_json::to_string(&text()).unwrap();
    let claude =
        format!(r#"{{"type":"result","subtype":"success","is_error":true,"api_error_status":401,"result":{words}}}"#);
    let codex = format!(r#"{{"type":"turn.failed","error":{{"message":{words}}}}}"#);
    let mut config = TeamToml::new();
    let mut names = Vec::new();
    for (format, frame) in [("claude-stream-json", claude), ("codex-json", codex), ("text", text())] {
        for sizes in ["1", "13", "100000"] {
            let file = env.write(&format!("{format}.out"), format!("{frame}\n")).display().to_string();
            let name = format!("{}-{sizes}", &format[..4]);
            let step = format!("print-slices {sizes} {file}");
            config =
                config.agent_with(&name, &[&step, "exit 1"], &[("env", declared()), ("output", Value::from(format))]);
            names.push(name);
        }
    }
    env.write("team.toml", config.text());
    let output = env.team(&["run", "-v", "-m", &names.join(","), "two words"]).output().unwrap();
    assert_eq!(output.status.code(), Some(4), "{}", String::from_utf8_lossy(&output.stderr));
    assert_clean("standard output", &String::from_utf8_lossy(&output.stdout));
    assert_clean("standard error", &String::from_utf8_lossy(&output.stderr));
    let session = env.session();
    assert_folder_clean(&session);
    let id = session.id_of("clau-1");
    assert!(session.slot(&id)["error"]["detail"].as_str().unwrap().contains("calling with [redacted] now"));
    for id in session.slots() {
        let shown = env.team(&["show", "latest", &id]).output().unwrap();
        assert_clean("what is shown", &String::from_utf8_lossy(&shown.stdout));
        assert_clean("what is shown", &String::from_utf8_lossy(&shown.stderr));
    }
}

#[test]
fn a_secret_where_a_snippet_is_cut_is_not_shown_in_part() {
    let env = env();
    let mut config = TeamToml::new();
    let mut names = Vec::new();
    for pad in [385, 393, 399, 8_176, 8_190, 32_750, 32_766] {
        let filler = |size: usize| "filler ".chars().cycle().take(size).collect::<String>();
        let text = format!("{} {GIVEN} {} {GIVEN} {}", filler(pad), filler(90_000), filler(pad));
        let file = env.write(&format!("out-{pad}"), text).display().to_string();
        let name = format!("p{pad}");
        let steps = [format!("print-slices 997 {file}"), format!("stderr-slices 997 {file}"), "exit 1".to_owned()];
        config = config.agent_with(&name, &steps.each_ref().map(String::as_str), &[("env", declared())]);
        names.push(name);
    }
    env.write("team.toml", config.text());
    let output = env.team(&["run", "-v", "-m", &names.join(","), "two words"]).output().unwrap();
    assert_eq!(output.status.code(), Some(4), "{}", String::from_utf8_lossy(&output.stderr));
    let session = env.session();
    for file in session.files().iter().filter(|file| !file.ends_with(".partial.md") && *file != "manifest.json") {
        let text = session.text(file);
        for part in GIVEN.as_bytes().windows(6).map(|part| std::str::from_utf8(part).unwrap()) {
            assert!(!text.contains(part), "`{file}` holds `{part}`");
        }
    }
}

#[test]
fn an_answer_is_kept_as_it_is_whatever_it_holds() {
    let env = env();
    let file = env.write("answer", text()).display().to_string();
    let step = format!("print-slices 5 {file}");
    let config = TeamToml::new().agent_with("a", &[&step, "env GIVEN_TOKEN"], &[("env", declared())]);
    env.write("team.toml", config.text());
    let output = env.team(&["run", "-v", "--json", "-m", "a", "two words"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let session = env.session();
    assert_eq!(session.text("response-01.md"), format!("{}GIVEN_TOKEN={GIVEN}\n", text()));
    assert_folder_clean(&session);
    assert_clean("standard output", &String::from_utf8_lossy(&output.stdout));
    assert_clean("standard error", &String::from_utf8_lossy(&output.stderr));
}

#[test]
fn no_secret_is_in_what_a_slot_is_said_to_be_doing() {
    let env = env();
    let gate = env.path("go");
    let tool = format!(
        r#"print {{"type":"assistant","message":{{"content":[{{"type":"tool_use","name":"fetch {GIVEN} now"}}]}}}}"#
    );
    let script =
        env.write("script", format!("{tool}\nwait-for {}\nclaude fine\n", gate.display())).display().to_string();
    let config = TeamToml::new().agent_with(
        "a",
        &[&format!("@{script}")],
        &[("env", declared()), ("output", Value::from("claude-stream-json"))],
    );
    env.write("team.toml", config.text());
    let mut team = env.start(&["run", "-v", "--json", "-m", "a", "two words"]);
    let session = env.session_with("status.json");
    let activity = wait_until("the tool", || {
        session.slot("01")["activity"].as_str().filter(|activity| activity.starts_with("tool ")).map(str::to_owned)
    });
    assert_eq!(activity, "tool fetch [redacted] now");
    let status = env.team(&["status"]).output().unwrap();
    assert_clean("the status", &String::from_utf8_lossy(&status.stdout));
    env.write("go", "");
    assert!(team.wait().success(), "{}", team.stderr());
    assert_folder_clean(&session);
    assert_clean("standard output", &team.stdout());
    assert_clean("standard error", &team.stderr());
}

#[test]
fn a_missing_key_is_told_before_anything_is_asked() {
    let closed = "http://127.0.0.1:9/v1".into();
    let provider = [("wire", "openai-chat".into()), ("base_url", closed), ("api_key_env", "OFFICE_KEY".into())];
    let config = TeamToml::new().provider("office", &provider).agent("other", &["print fine"]);
    let env = TestEnv::with(&config);
    env.team(&["run", "-m", "office@m,other", "two words"]).assert().code(0);
    let session = env.session();
    let slot = session.slot(&session.id_of("office@m"));
    // Had it been asked, nobody would have listened, and the reason would be `network`.
    assert_eq!(slot["error"]["reason"], "auth", "{slot}");
    let id = session.id_of("office@m");
    assert_eq!(slot["error"]["detail"], format!("the variable `[{id}.key]` is not set"));
}

#[test]
fn events_that_cannot_be_written_are_no_success() {
    let env = TestEnv::with(&TeamToml::new().agent("a", &["print fine"]));
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut run = env.command_under(&[], &["run", "--json", "-m", "a", "two words"]);
    let status = run.stdout(full).stderr(std::process::Stdio::null()).status().unwrap();
    assert_eq!(status.code(), Some(70));
    assert!(env.session().has("response-01.md"), "the answer is kept all the same");
}
