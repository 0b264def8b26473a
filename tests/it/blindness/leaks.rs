//! Names in other forms than the one in the configuration, and words that name a slot without its name.

use serde_json::json;

use crate::support::{Answer, Server, Session, TeamToml, TestEnv, after_lacks, finish};

/// Runs one model that fails; everything that was written and shown, but for the manifest.
#[track_caller]
fn failed(env: &TestEnv, model: &str) -> (Session, String) {
    let output = env.team(&["run", "-v", "--retries", "0", "-m", model, "Which one is it?"]).output().unwrap();
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    let session = env.session();
    // What is missing was told before anybody had a number.
    let told = after_lacks(std::str::from_utf8(&output.stderr).unwrap());
    let mut text = String::from_utf8(output.stdout).unwrap() + &told;
    for file in session.files() {
        if !file.ends_with("manifest.json") && !file.ends_with(".partial.md") {
            text.push_str(&String::from_utf8_lossy(&std::fs::read(session.path(&file)).unwrap()));
        }
    }
    for command in [&["show", "latest", "01"][..], &["status", "--json"]] {
        let (out, err) = finish(env, command, 0);
        text.push_str(&(out + &err));
    }
    (session, text)
}

#[track_caller]
fn assert_none(text: &str, telling: &[&str]) {
    let lower = text.to_lowercase();
    for word in telling {
        assert!(!lower.contains(&word.to_lowercase()), "`{word}` in\n{text}");
    }
}

fn detail(session: &Session) -> String {
    session.slot("01")["error"]["detail"].as_str().unwrap().to_owned()
}

#[test]
fn an_escaped_or_cut_off_name_in_a_providers_message_names_nobody() {
    let server = Server::start(|_| {
        let message = "no route: q=zork%2Fqwen3-32b%3Afree, m=qwen3%2D32b%3afree; zork\\/qwen3\\u002d32b \
            &quot;qwen3&#45;32b&quot; zork/qwen3-32b:fr... try again";
        Answer::json(400, &json!({"error": {"message": message, "type": "invalid_request_error"}}))
    });
    let config = TeamToml::new()
        .model("kea", &[("use", "nest@zork/qwen3-32b:free".into())])
        .provider("nest", &[("wire", "openai-chat".into()), ("base_url", server.url("/v1").into())]);
    let env = TestEnv::with(&config);
    let (session, text) = failed(&env, "kea");
    assert_none(&text, &["qwen", "zork", ":fr", "%2f", "%3a"]);
    let expected = "no route: q=[01.model], m=[01.model]; [01.model] &quot;[01.model]&quot; [01.model]... try again";
    assert!(detail(&session).contains(expected), "{}", detail(&session));
}

#[test]
fn the_provider_of_a_route_is_as_telling_as_the_model() {
    let script = "#!/bin/sh\ncat > /dev/null\n\
        echo 'OpenRouter API Key is required: get one at https://openrouter.ai/keys' >&2\n\
        echo \"unknown: or@qwen/qwen3-32b's API; set OPENROUTER_API_KEY\" >&2\nexit 1\n";
    let env = TestEnv::new().program("claudish", script);
    let (_, text) = failed(&env, "claudish:or@qwen/qwen3-32b");
    assert_none(&text, &["openrouter", "or@", "/keys", "qwen", "claudish"]);
    assert!(text.contains("[01.model] API Key is required: get one at [01.model]\n"), "{text}");
    assert!(text.contains("unknown: [01.model]'s API; set [01.key]"), "{text}");
}

#[test]
fn a_model_that_a_program_chose_itself_is_as_telling_as_one_that_it_was_given() {
    let script = "#!/bin/sh\ncat > /dev/null\n\
        echo 'level=INFO message=stream providerID=rookery modelID=big-pickle session.id=s' >&2\n\
        echo 'no luck with Big Pickle today' >&2\nexit 1\n";
    let env = TestEnv::new().program("opencode", script);
    let (session, text) = failed(&env, "opencode");
    assert_none(&text, &["rookery", "pickle", "opencode"]);
    let log = session.text("errors/01.log");
    assert!(log.contains("providerID=[01.model] modelID=[01.model] session.id=s"), "{log}");
    assert!(log.contains("no luck with [01.model] today"), "{log}");
}

#[test]
fn a_model_that_is_known_only_after_it_was_named_is_taken_out_of_what_was_kept() {
    let script = "#!/bin/sh\ncat > /dev/null\necho 'warming up kea-9-parrot' >&2\n\
        echo '{\"type\":\"system\",\"subtype\":\"init\",\"model\":\"kea-9-parrot\",\"session_id\":\"s\"}'\n\
        echo 'kea-9-parrot went away. Please run /login' >&2\nexit 1\n";
    let env = TestEnv::new().program("claude", script);
    let (session, text) = failed(&env, "claude");
    assert_none(&text, &["kea", "parrot", "/login", "claude"]);
    let log = session.text("errors/01.log");
    assert!(log.contains("[01.model] went away. Please run [01.program]"), "{log}");
}

#[test]
fn an_identifier_goes_whole_and_prose_paths_and_the_words_of_an_alias_stay() {
    let config = TeamToml::new().agent(
        "error-prompt",
        &[
            "stderr [error-prompt-code:unrecognized] error-prompt_api::endpoint::sockets: closed",
            "stderr the prompt has an error in work/01/prompt.md, says fake-agent.",
            "exit 1",
        ],
    );
    let env = TestEnv::with(&config);
    let (session, text) = failed(&env, "error-prompt");
    assert_none(&text, &["-code:", "_api::", "sockets", "fake-agent"]);
    let log = session.text("errors/01.log");
    assert!(log.contains("[[01.model]] [01.model]: closed\n"), "{log}");
    assert!(log.contains("the prompt has an error in work/01/prompt.md, says [01.program].\n"), "{log}");
}
