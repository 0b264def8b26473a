//! Members of a vote behind HTTP.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::wires::{OpenaiChat, Wire, said};
use crate::support::{Server, TeamToml, TestEnv, assert_consistent, finish};

#[test]
fn a_provider_that_can_is_held_to_the_schema_and_asked_once_more_in_its_form() {
    let server = Server::start(|request| {
        let prompt = OpenaiChat.prompt(&request.body).unwrap().to_owned();
        let again = prompt.contains("Your reply:");
        let vote = json!({"verdict": "REJECT", "confidence": 9, "summary": "No.", "key_issues": ["Slow"]});
        let shy = request.body["model"] == "shy-1" && !again;
        said(&OpenaiChat, &[&if shy { "I will not say.".to_owned() } else { vote.to_string() }])
    });
    let keys = |model: &str| vec![("use", format!("narwhal@{model}").into())];
    let config = TeamToml::new()
        .provider(
            "narwhal",
            &[("wire", "openai-chat".into()), ("base_url", server.url("v1").into()), ("json_schema", true.into())],
        )
        .model("bold", &keys("bold-1"))
        .model("shy", &keys("shy-1"))
        .panel(&["bold", "shy"]);
    let env = TestEnv::with(&config);
    finish(&env, &["vote", "Should it?"], 1);
    let session = env.session();
    assert_consistent(&session);
    let verdict = session.json("verdict.json");
    assert_eq!(verdict["votes"]["rejections"], 2);
    assert_eq!(verdict["keyIssues"][0]["count"], 2);
    let shy = session.id_of("shy");
    let shy = verdict["members"].as_array().unwrap().iter().find(|member| member["id"] == shy).unwrap();
    assert_eq!((&shy["vote"], &shy["repair"]["vote"]["verdict"]), (&Value::Null, &json!("REJECT")));
    assert!(session.text("verdict.md").contains("a vote came of it"));
    let mut asked: BTreeMap<String, usize> = BTreeMap::new();
    for request in server.requests() {
        let schema = &request.body["response_format"]["json_schema"]["schema"];
        let mut required: Vec<&str> =
            schema["required"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
        required.sort_unstable();
        assert_eq!(required, ["confidence", "key_issues", "summary", "verdict"], "{}", request.body);
        *asked.entry(request.body["model"].as_str().unwrap().to_owned()).or_default() += 1;
    }
    assert_eq!(asked, BTreeMap::from([("bold-1".to_owned(), 1), ("shy-1".to_owned(), 2)]));
    let prompt = session.text(&format!("repair/prompt-{}.md", session.id_of("shy")));
    assert!(prompt.contains("Reply with one JSON object") && !prompt.contains("```vote"), "{prompt}");
}
