//! Tokens and money in the verdict and in `session-meta.json`.

use serde_json::{Value, json};

use crate::support::{
    APPROVE, Answer, Request, Server, Session, TeamToml, TestEnv, assert_consistent, finish, run_and_judge,
};

/// The ballots of a judge that approves all it is shown.
fn ballot(prompt: &str) -> String {
    let aliases = prompt.split("### Response ").skip(1).filter_map(|part| part.split_whitespace().next());
    aliases.map(|alias| APPROVE.replace("{alias}", alias).replace("\\n", "\n")).collect()
}

/// An answer or ballots, with 1000 tokens in, 400 of them cached, and 100 out; the model `reports` says what it cost.
pub(super) fn counted(request: &Request) -> Answer {
    let prompt = request.body["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap();
    let text = if prompt.contains("### Response ") { ballot(prompt) } else { "An answer.".to_owned() };
    let mut usage = json!({"prompt_tokens": 1000, "completion_tokens": 100,
        "prompt_tokens_details": {"cached_tokens": 400}});
    if request.body["model"] == "reports" {
        usage["cost"] = json!(0.1);
    }
    let message = json!({"role": "assistant", "content": text});
    Answer::json(200, &json!({"choices": [{"index": 0, "finish_reason": "stop", "message": message}], "usage": usage}))
}

/// `input`, `cached_input` and `output` per million.
pub(super) fn price(input: f64, cached: f64, output: f64) -> toml::Value {
    toml::Value::Table(toml::toml! { input = input cached_input = cached output = output as_of = "2026-01-31" })
}

/// Three models of one provider, which is not free because it wants a key: priced, reporting, unknown.
fn zoo(server: &Server) -> TestEnv {
    let keys =
        [("wire", "openai-chat".into()), ("base_url", server.url("v1").into()), ("api_key_env", "ZOO_KEY".into())];
    let config = TeamToml::new()
        .provider("zoo", &keys)
        .model("quoll", &[("use", "zoo@priced".into()), ("price", price(2.0, 0.5, 8.0))])
        .model("wombat", &[("use", "zoo@reports".into())])
        .model("bilby", &[("use", "zoo@secret".into())])
        .panel(&["quoll", "wombat", "bilby"]);
    TestEnv::with(&config).set("ZOO_KEY", "dummy")
}

fn money(session: &Session) -> Value {
    session.json("session-meta.json")["money"].clone()
}

#[test]
fn the_verdict_tells_tokens_and_money_by_seat_and_what_is_unknown() {
    let server = Server::start(counted);
    let env = zoo(&server);
    let (verdict, err) = run_and_judge(&env, &[], 0);
    let session = env.session();
    let round = session.round("judging");
    let cost = verdict.split("## Cost").nth(1).expect("a section of costs");
    for (model, dollars) in [("quoll", "0.0022"), ("wombat", "0.10"), ("bilby", "unknown")] {
        let (slot, judge) = (session.id_of(model), round.id_of(model));
        assert!(cost.contains(&format!("| slot {slot} | {model} | 1 | 1000 | 100 | {dollars} |")), "{cost}");
        assert!(cost.contains(&format!("| judge {judge} | {model} | 1 | 1000 | 100 | {dollars} |")), "{cost}");
    }
    assert!(cost.contains("| all | | 6 | 6000 | 600 | 0.2044 and more |"), "{cost}");
    assert!(cost.contains("The cost of 2 of 6 calls (33 %) is unknown"), "{cost}");
    assert!(!err.contains("0.1"), "{err}");

    let money = money(&session);
    assert_eq!(
        (&money["known_usd"], &money["calls"], &money["unknown_calls"]),
        (&json!("0.2044"), &json!(6), &json!(2))
    );
    let seat = &money["seats"][format!("slot {}", session.id_of("bilby"))];
    assert_eq!(seat["known_usd"], Value::Null, "unknown is not zero");
    assert_consistent(&session);
}

#[test]
fn before_the_verdict_no_file_but_the_manifest_tells_a_cost_and_afterwards_the_record_is_enough() {
    let server = Server::start(counted);
    let env = zoo(&server);
    finish(&env, &["run", "Which one is it?"], 0);
    let session = env.session();
    assert_eq!(money(&session), Value::Null);
    let manifest = session.text("manifest.json");
    assert!(manifest.contains("\"price\"") && manifest.contains("\"2.00\""), "{manifest}");
    for file in session.files().iter().filter(|file| *file != "manifest.json") {
        let text = session.text(file);
        for told in ["0.1,", "0.10", "0.0022", "\"price\"", "usd", "cost\":0"] {
            assert!(!text.contains(told), "`{file}` tells `{told}`: {text}");
        }
    }
    let (verdict, _) = finish(&env, &["judge", "latest"], 0);
    assert!(verdict.contains("| 1 | 1000 | 100 | 0.10 |"), "{verdict}");
    assert_eq!(money(&session)["known_usd"], "0.2044");
    assert_consistent(&session);
    // A second round adds to what the session has spent, and its own verdict tells its own judges.
    let (verdict, _) = finish(&env, &["judge", "latest"], 0);
    assert!(verdict.contains("| all | | 6 | 6000 | 600 | 0.2044 and more |"), "{verdict}");
    assert_eq!(money(&session)["known_usd"], "0.3066");
    assert_consistent(&session);
}

#[test]
fn a_changed_cost_is_found() {
    let server = Server::start(counted);
    let env = zoo(&server);
    run_and_judge(&env, &[], 0);
    let session = env.session();
    for file in ["verdict.md", "judging/verdict.md"] {
        let text = session.text(file).replace("0.2044", "0.2000");
        std::fs::write(session.path(file), text).unwrap();
    }
    finish(&env, &["verify", "latest"], 6);
}

#[test]
fn frames_of_agents_report_costs_and_a_zero_of_theirs_is_unknown() {
    let frames = |cost: &str| {
        let text =
            r#"print {"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"Yes."}]}}"#;
        let end = format!(
            r#"print {{"type":"result","subtype":"success","is_error":false,"result":"Yes.","total_cost_usd":{cost},"usage":{{"input_tokens":12,"output_tokens":9}}}}"#
        );
        ["swallow".to_owned(), text.to_owned(), end]
    };
    let format = [("output", toml::Value::from("claude-stream-json"))];
    let mut config = TeamToml::new();
    for (name, cost) in [("quoll", "0.037"), ("wombat", "0.0")] {
        let steps = frames(cost);
        config = config.agent_with(name, &steps.each_ref().map(String::as_str), &format);
    }
    let env = TestEnv::with(&config.agent("judge", &["vote approve"]));
    let (verdict, _) =
        finish(&env, &["run-and-judge", "-m", "quoll,wombat", "--judges", "judge", "Which one is it?"], 0);
    assert!(verdict.contains("| quoll | 1 | 12 | 9 | 0.037 |"), "{verdict}");
    assert!(verdict.contains("| wombat | 1 | 12 | 9 | unknown |"), "{verdict}");
    assert!(verdict.contains("| judge | 1 | unknown | unknown | unknown |"), "{verdict}");
    assert!(verdict.contains("The cost of 2 of 3 calls (66 %) is unknown"), "{verdict}");
    assert_consistent(&env.session());
}

#[test]
fn a_vote_on_a_task_tells_what_it_cost() {
    let server = Server::start(|_| {
        let text = "```vote\nVERDICT: APPROVE\nCONFIDENCE: 8\nSUMMARY: Fine.\nKEY_ISSUES: None\n```\n";
        Answer::json(
            200,
            &json!({"choices": [{"index": 0, "finish_reason": "stop", "message":
            {"role": "assistant", "content": text}}], "usage": {"prompt_tokens": 1000, "completion_tokens": 100}}),
        )
    });
    let env = zoo(&server);
    let (verdict, _) = finish(&env, &["vote", "-m", "quoll,quoll", "Ship it?"], 0);
    assert!(verdict.contains("| all | | 2 | 2000 | 200 | 0.0056 |"), "{verdict}");
    assert_eq!(money(&env.session())["known_usd"], "0.0056");
}

#[test]
fn a_server_on_this_machine_without_a_key_costs_nothing() {
    let server = Server::start(counted);
    let keys = [("wire", "openai-chat".into()), ("base_url", server.url("v1").into())];
    let env = TestEnv::with(&TeamToml::new().provider("zoo", &keys));
    let (verdict, _) = run_and_judge(&env, &["-m", "zoo@a,zoo@b"], 0);
    assert!(verdict.contains("| all | | 4 | 4000 | 400 | 0.00 |"), "{verdict}");
    assert!(!verdict.contains("is unknown"), "{verdict}");
}
