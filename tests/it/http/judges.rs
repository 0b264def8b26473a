//! Judges behind HTTP: held to the JSON schema where the provider takes one, by the fenced form where it does not.

use serde_json::{Value, json};

use super::wires::{MODEL, OpenaiChat, WIRES, Wire, said};
use crate::support::{Answer, Server, TeamToml, TestEnv, assert_consistent, judges, run_and_judge, voters};

/// The key of the provider, which must never be written anywhere.
const KEY: &str = "sk-narwhal-0123456789abcdefghijklmnop";

/// What to answer a request with: a status and a body, or the text of a stream.
enum Reply {
    Refuse(u16, Value),
    Text(String),
}

fn provider(reply: impl Fn(&Value) -> Reply + Send + Sync + 'static) -> Server {
    Server::start(move |request| match reply(&request.body) {
        Reply::Refuse(status, body) => Answer::json(status, &body),
        Reply::Text(text) => said(&OpenaiChat, &[&text]),
    })
}

/// Two models of this provider judge the answers of two agents.
fn world(server: &Server) -> TestEnv {
    let judge = |model: &str| vec![("use", format!("narwhal@{model}").into()), ("temperature", 0.5.into())];
    let config: TeamToml = voters(&[("kiwi", "the RIGHT one", "approve"), ("plum", "the other one", "approve")])
        .provider(
            "narwhal",
            &[
                ("wire", "openai-chat".into()),
                ("base_url", server.url("v1").into()),
                ("api_key_env", "NARWHAL_API_KEY".into()),
                ("json_schema", true.into()),
            ],
        )
        .model("tusk", &judge("tusk-1"))
        .model("horn", &judge("horn-1"));
    TestEnv::with(&config).set("NARWHAL_API_KEY", KEY)
}

fn prompt(request: &Value) -> &str {
    OpenaiChat.prompt(request).unwrap()
}

/// The aliases of the prompt, each with whether its answer is the right one.
fn aliases(prompt: &str) -> Vec<(String, bool)> {
    let parts = prompt.split("### Response ").skip(1);
    parts
        .map(|part| (part.lines().next().unwrap().to_owned(), part.lines().nth(2).unwrap().contains("RIGHT")))
        .collect()
}

fn word(right: bool) -> &'static str {
    if right { "APPROVE" } else { "REJECT" }
}

fn json_ballot(prompt: &str) -> String {
    let votes: serde_json::Map<String, Value> = aliases(prompt)
        .into_iter()
        .map(|(alias, right)| {
            (alias, json!({"verdict": word(right), "confidence": 7, "summary": "Read.", "key_issues": ["Too short"]}))
        })
        .collect();
    json!({"votes": votes}).to_string()
}

fn fenced_ballot(prompt: &str) -> String {
    let block = |(alias, right): (String, bool)| {
        format!("```vote\nRESPONSE: {alias}\nVERDICT: {}\nCONFIDENCE: 7\nSUMMARY: Read.\n```\n", word(right))
    };
    aliases(prompt).into_iter().map(block).collect()
}

fn assert_won_by_kiwi(env: &TestEnv) {
    let session = env.session();
    assert_eq!(session.json("verdict.json")["winner"], session.id_of("kiwi"), "{}", session.text("verdict.md"));
    assert_consistent(&session);
}

#[test]
fn a_judge_is_held_to_a_schema_of_exactly_its_aliases_and_its_json_counts() {
    let server = provider(|request| Reply::Text(json_ballot(prompt(request))));
    let env = world(&server);
    run_and_judge(&env, &["--judges", "tusk,horn"], 0);
    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    for request in &requests {
        let body = &request.body;
        assert_eq!(request.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
        assert_eq!(body["response_format"]["type"], "json_schema");
        let schema = &body["response_format"]["json_schema"]["schema"];
        let mut required: Vec<&str> =
            schema["properties"]["votes"]["required"].as_array().unwrap().iter().map(|a| a.as_str().unwrap()).collect();
        let mut shown = aliases(prompt(body));
        required.sort_unstable();
        shown.sort();
        assert_eq!(required, shown.iter().map(|(alias, _)| alias.as_str()).collect::<Vec<_>>());
        assert!(prompt(body).contains("Reply with one JSON object"), "{}", prompt(body));
    }
    let issues = env.session().json("verdict.json")["keyIssues"].clone();
    assert_eq!((&issues[0]["text"], &issues[0]["count"]), (&"Too short".into(), &4.into()));
    assert_won_by_kiwi(&env);
}

#[test]
fn a_provider_that_refuses_the_schema_is_asked_without_it_and_its_fenced_ballot_counts() {
    let server = provider(|request| match request.get("response_format") {
        Some(_) => Reply::Refuse(
            400,
            json!({"error": {"message": "response_format is not supported by this model", "param": "response_format"}}),
        ),
        None => Reply::Text(fenced_ballot(prompt(request))),
    });
    let env = world(&server);
    let (out, _) = run_and_judge(&env, &["--judges", "tusk,horn", "--retries", "0"], 0);
    assert_eq!(server.requests().len(), 4, "each judge is asked once with the schema, once without");
    let round = env.session().round("judging");
    for judge in round.slots() {
        let ended = round.events().into_iter().find(|e| e["event"] == "slot_ended" && e["slot"] == *judge).unwrap();
        assert_eq!(ended["droppedSettings"], json!(["json_schema"]));
        assert!(
            out.contains(&format!(
                "- Note: judge {judge} was asked without `json_schema`, which its provider does not take"
            )),
            "{out}"
        );
    }
    assert_won_by_kiwi(&env);
}

/// The aliases that a schema demands.
fn demanded(schema: &Value) -> Vec<String> {
    let required = schema["properties"]["votes"]["required"].as_array().unwrap();
    let mut aliases: Vec<String> = required.iter().map(|alias| alias.as_str().unwrap().to_owned()).collect();
    aliases.sort_unstable();
    aliases
}

#[test]
fn on_every_wire_a_judge_is_held_to_its_aliases_or_asked_without_a_schema() {
    let server = Server::start(|request| {
        let (takes, name) = request.cell().split_once('.').unwrap();
        let wire = WIRES.into_iter().find(|wire| wire.name() == name).unwrap();
        let (pointer, refusal) = wire.schema();
        let prompt = wire.prompt(&request.body).unwrap();
        match (takes, request.body.pointer(pointer)) {
            ("takes", Some(schema)) => {
                let mut shown: Vec<String> = aliases(prompt).into_iter().map(|(alias, _)| alias).collect();
                shown.sort_unstable();
                assert_eq!(demanded(schema), shown, "{name}");
                said(wire, &[&json_ballot(prompt)])
            }
            ("takes", None) => Answer::nothing(),
            (_, Some(_)) => Answer::json(400, &refusal),
            (_, None) => said(wire, &[&fenced_ballot(prompt)]),
        }
    });
    let mut config = voters(&[("kiwi", "the RIGHT one", "approve"), ("plum", "the other one", "approve")]);
    let mut names = Vec::new();
    for (takes, wire) in ["takes", "refuses"].into_iter().flat_map(|takes| WIRES.map(|wire| (takes, wire))) {
        let name = format!("{takes}-{}", wire.name());
        let keys = [
            ("wire", wire.name().into()),
            ("base_url", server.url(&format!("{takes}.{}", wire.name())).into()),
            ("json_schema", true.into()),
        ];
        config = config.provider(&name, &keys).model(&name, &[("use", format!("{name}@{MODEL}").into())]);
        names.push(name);
    }
    let env = TestEnv::with(&config);
    run_and_judge(&env, &["--judges", &names.join(",")], 0);
    let round = env.session().round("judging");
    let judges = judges(&round);
    for name in &names {
        assert_eq!(judges[name]["votes"].as_array().unwrap().len(), 2, "{name}: {}", judges[name]);
        let id = round.id_of(name);
        let ended = round.events().into_iter().find(|e| e["event"] == "slot_ended" && e["slot"] == *id).unwrap();
        let dropped = if name.starts_with("takes") { Value::Null } else { json!(["json_schema"]) };
        assert_eq!(ended["droppedSettings"], dropped, "{name}");
    }
    assert_won_by_kiwi(&env);
}

#[test]
fn json_in_a_fence_and_json_for_a_provider_without_schemas_count_too() {
    let server = provider(|request| match request["model"].as_str() {
        Some("tusk-1") => Reply::Text(format!("```json\n{}\n```\n", json_ballot(prompt(request)))),
        _ => Reply::Text(fenced_ballot(prompt(request))),
    });
    let env = world(&server);
    run_and_judge(&env, &["--judges", "tusk,horn"], 0);
    assert_won_by_kiwi(&env);
}

#[test]
fn a_setting_that_a_slot_was_asked_without_is_in_the_verdict() {
    let server = provider(|request| match request.get("temperature") {
        Some(_) => Reply::Refuse(
            400,
            json!({"error": {"message": "Unsupported parameter: temperature", "param": "temperature"}}),
        ),
        None if aliases(prompt(request)).is_empty() => Reply::Text("an answer".to_owned()),
        None => Reply::Text(json_ballot(prompt(request))),
    });
    let env = world(&server);
    let (out, _) = run_and_judge(&env, &["-m", "tusk,kiwi,plum"], 0);
    let tusk = env.session().id_of("tusk");
    assert!(out.contains(&format!("- Note: slot {tusk} was asked without `temperature`")), "{out}");
    assert_consistent(&env.session());
}

#[test]
fn a_judge_that_cannot_be_asked_is_missing_and_neither_key_nor_provider_is_told_before_the_verdict() {
    let server = provider(|request| match request["model"].as_str() {
        Some("tusk-1") => Reply::Refuse(
            401,
            json!({"error": {"message": format!("narwhal: bad key {KEY} for tusk-1"), "type": "invalid_api_key"}}),
        ),
        _ => Reply::Text(json_ballot(prompt(request))),
    });
    let env = world(&server);
    let (out, err) = run_and_judge(&env, &["--judges", "tusk,horn"], 3);
    let session = env.session();
    let judge = &judges(&session.round("judging"))["tusk"];
    assert_eq!((&judge["state"], judge["votes"].as_array().unwrap().len()), (&"FAILED".into(), 0));
    assert!(out.contains("is FAILED, `auth`"), "{out}");
    for file in session.files() {
        let text = String::from_utf8_lossy(&std::fs::read(session.path(&file)).unwrap()).into_owned();
        assert!(!text.contains(KEY), "the key is in {file}");
        let names = file.ends_with("manifest.json") || file.ends_with("verdict.md") || file == "session-meta.json";
        assert!(names || !text.to_lowercase().contains("narwhal"), "{file}: {text}");
        assert!(names || !text.contains("tusk"), "{file}: {text}");
    }
    assert!(!out.contains(KEY) && !err.contains(KEY), "{out}{err}");
    assert!(!err.to_lowercase().contains("narwhal") && !err.contains("tusk"), "{err}");
    assert_consistent(&session);
}
