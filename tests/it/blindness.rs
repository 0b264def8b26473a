//! Until the verdict nothing but a manifest says which model a slot is: no file, nothing printed, no prompt, and nothing
//! that another slot can see.

mod everything;
mod leaks;
mod panel;

use serde_json::{Value, json};

use crate::support::{Session, TeamToml, TestEnv, after_lacks, assert_consistent, finish, wait_until};

/// Every word that would name a member of the panel of [`zoo`].
const NAMES: [&str; 13] = [
    "quokka",
    "wombat",
    "numbat",
    "narwhal",
    "dugong",
    "bilby",
    "potoroo",
    "fake-agent",
    "fake_agent",
    "NARWHAL_KEY",
    "QUOKKA_TOKEN",
    "bandicoot",
    "galago",
];

/// Agents under programs of their own names, that print their own names where they should not, one that cannot be
/// started, one behind a provider that is not there, and a recording that is damaged.
fn zoo() -> TestEnv {
    let env =
        TestEnv::new().set("NARWHAL_KEY", "sk-narwhal-0123456789abcdefghijklmnop").set("QUOKKA_TOKEN", "tok-98765432");
    std::fs::create_dir_all(env.path("bin")).unwrap();
    let agent = |program: &str, steps: &[&str]| {
        let path = env.path(&format!("bin/{program}"));
        if !path.exists() {
            std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_fake-agent"), &path).unwrap();
        }
        let path = path.display().to_string();
        let words = std::iter::once(path.as_str()).chain(steps.iter().copied()).map(toml::Value::from);
        toml::Value::Array(words.collect())
    };
    // What a process can find out about its machine: every command line and environment in sight, and its own folder.
    let spy = "cat /proc/*/cmdline /proc/*/environ /proc/*/comm 2>/dev/null | tr '\\0' '\\n'; ps -ef 2>/dev/null; ls -la . ..";
    let shell = |script: &str| toml::Value::Array(["sh", "-c", script].map(toml::Value::from).to_vec());
    env.write("potoroo.jsonl", "{\"type\": \"nonsense\"}\n");
    let config = TeamToml::new()
        .model(
            "quokka-large",
            &[
                (
                    "command",
                    agent(
                        "bilby",
                        &[
                            "wait-for seen",
                            "stderr bilby: quokka-large is thinking",
                            "answer first text",
                            "vote approve",
                        ],
                    ),
                ),
                (
                    "env",
                    toml::Value::Table([("QUOKKA_TOKEN".to_owned(), "${QUOKKA_TOKEN}".into())].into_iter().collect()),
                ),
            ],
        )
        .model(
            "numbat",
            &[(
                "command",
                agent("numbat-cli", &["stderr numbat-cli: no such model numbat", "print I would be numbat", "exit 3"]),
            )],
        )
        .model(
            "wombat",
            &[("command", toml::Value::Array(vec![env.path("bin/wombat-cli").display().to_string().into()]))],
        )
        .model("dugong", &[("use", "narwhal@dugong-7b".into())])
        .model("galago", &[("use", "replay:potoroo.jsonl#claude-stream-json".into())])
        .model("spy", &[("command", shell(spy))])
        .model("bandicoot", &[("command", agent("bandicoot", &["wait-for seen", "vote approve"]))])
        .provider(
            "narwhal",
            &[
                ("wire", "openai-chat".into()),
                // Nobody listens on the port for discarding.
                ("base_url", "http://127.0.0.1:9/narwhal/v1".into()),
                ("api_key_env", "NARWHAL_KEY".into()),
            ],
        );
    env.write("team.toml", config.text());
    env
}

#[track_caller]
fn assert_blind(what: &str, text: &str) {
    let lower = text.to_lowercase();
    for name in NAMES {
        assert!(!lower.contains(&name.to_lowercase()), "{what} names `{name}`:\n{text}");
    }
}

/// Every file but the manifests, and but what a model itself wrote for an answer: that is kept as it is.
#[track_caller]
fn assert_files_blind(session: &Session) {
    for file in session.files() {
        if !file.ends_with("manifest.json") && !file.ends_with(".partial.md") {
            assert_blind(&file, &String::from_utf8_lossy(&std::fs::read(session.path(&file)).unwrap()));
        }
    }
}

#[test]
fn what_a_program_calls_its_tools_and_why_it_waits_names_nobody() {
    let tool = json!({"type": "assistant", "parent_tool_use_id": null, "session_id": "s", "message": {
        "id": "m", "content": [{"type": "tool_use", "id": "t", "name": "mcp__quokka__look", "input": {}}]}});
    let retry = json!({"type": "system", "subtype": "api_retry", "attempt": 1, "max_retries": 3,
        "retry_delay_ms": 5000, "error_status": 529, "error": "overloaded by quokka", "session_id": "s"});
    let config = TeamToml::new().agent_with(
        "quokka",
        &[
            "swallow",
            &format!("print {tool}"),
            "wait-for one",
            &format!("print {retry}"),
            "wait-for two",
            "claude done",
        ],
        &[("output", "claude-stream-json".into())],
    );
    let env = TestEnv::with(&config);
    let mut run = env.start(&["run", "-v", "--json", "-m", "quokka", "Which one is it?"]);
    let session = env.session_with("status.json");
    let activity = |start: &str| {
        wait_until(start, || {
            session.slot("01")["activity"].as_str().filter(|activity| activity.starts_with(start)).map(str::to_owned)
        })
    };
    assert_blind("a tool's name", &activity("tool"));
    std::fs::write(session.path("work/01/one"), "").unwrap();
    assert_blind("a retry", &activity("retry"));
    std::fs::write(session.path("work/01/two"), "").unwrap();
    assert_eq!(run.wait().code(), Some(0), "{}", run.stderr());
    assert_blind("the output", &(run.stdout() + &run.stderr()));
    assert_files_blind(&session);
}

#[test]
fn a_json_run_names_nobody_either() {
    let env = zoo();
    let output = env
        .team(&["run", "--json", "-v", "-m", "numbat,wombat,dugong,galago,spy", "--retries", "0", "Which one is it?"])
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_blind("stdout", &text(&output.stdout));
    assert_blind("stderr", &after_lacks(&text(&output.stderr)));
    assert!(text(&output.stdout).lines().all(|line| serde_json::from_str::<Value>(line).is_ok()));
}

#[test]
fn show_fills_the_placeholders_only_when_told_to_and_records_that_it_did() {
    let env = zoo();
    finish(&env, &["run", "-m", "numbat,wombat,spy", "Which one is it?"], 0);
    let session = env.session();
    let (numbat, wombat) = (session.id_of("numbat"), session.id_of("wombat"));
    let (blind, _) = finish(&env, &["show", "latest", &wombat], 0);
    assert!(blind.contains(&format!("[{wombat}.program]")), "{blind}");
    assert_blind("show", &blind);
    let events = session.events().len();

    let (open, _) = finish(&env, &["show", "latest", &wombat, "--reveal"], 0);
    assert!(open.contains("wombat-cli"), "{open}");
    assert!(!open.contains(&format!("[{wombat}.")), "{open}");
    let (all, _) = finish(&env, &["show", "--reveal"], 0);
    assert!(all.contains(&format!("{numbat}  numbat")) && all.contains(&format!("{wombat}  wombat")), "{all}");
    let (json, _) = finish(&env, &["show", "--reveal", "--json"], 0);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["models"][&numbat], "numbat");

    let record = session.events();
    assert_eq!(record.len(), events + 3, "showing is recorded, each time");
    assert!(record[events..].iter().all(|event| event["event"] == "revealed"));
    assert_consistent(&session);
    // Others are as blind as before.
    assert_files_blind(&session);
    let (again, _) = finish(&env, &["show", "latest", &wombat], 0);
    assert_eq!(again, blind);
    assert_eq!(session.events().len(), events + 3, "looking is not recorded");
}

#[test]
fn an_answer_is_shown_as_it_is_and_a_slot_that_is_not_there_is_an_error() {
    let env = TestEnv::with(&TeamToml::new().agent("kiwi", &["write first\\n\\n[01.model] stays\\n"]));
    finish(&env, &["run", "-m", "kiwi", "Which one is it?"], 0);
    let (out, _) = finish(&env, &["show", "latest", "01"], 0);
    assert_eq!(out, env.session().text("response-01.md"));
    let (_, err) = finish(&env, &["show", "latest", "02"], 2);
    assert!(err.contains("has no slot `02`"), "{err}");
    let (_, err) = finish(&env, &["show", "latest", "two"], 2);
    assert!(err.contains("two"), "{err}");
}
