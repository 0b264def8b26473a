//! The modes and resources that only look.

use serde_json::{Value, json};

use super::world::{all_running, gated, names_nobody, quick, status_until};
use crate::support::{McpClient, TeamToml, TestEnv, finish};

#[test]
fn a_card_of_six_settled_slots_is_small_and_quotes_nobody() {
    let env = TestEnv::new();
    let config = TeamToml::new()
        .agent("a", &["answer QUOTED", "exit 3"])
        .agent("b", &["stderr QUOTED", "exit 7"])
        .agent("c", &["print  "])
        .agent("d", &["answer QUOTED"])
        .agent("e", &["kill-self SIGKILL"])
        .model("f", &[("command", toml::Value::Array(vec!["no-such-program".into()]))])
        .panel(&["a", "b", "c", "d", "e", "f"]);
    env.write("team.toml", config.text());
    finish(&env, &["run", "--name", "a-name-of-more-than-twenty", "--min-bytes", "100", "which?"], 4);
    let mut client = McpClient::connect(&env);
    let called = client.call(&json!({"mode": "status"}));
    let (text, card) = (called.text(0), called.object());
    assert_eq!(card["slots"].as_array().unwrap().len(), 6);
    assert!(called.0.to_string().len() < 2500, "{} bytes: {text}", called.0.to_string().len());
    assert!(!called.0.to_string().contains("QUOTED"), "{text}");
    for slot in card["slots"].as_array().unwrap() {
        assert!(card["nextSteps"][slot["reason"].as_str().unwrap()].is_string(), "{slot}");
    }
    client.leave();
}

#[test]
fn names_are_told_before_the_verdict_only_when_asked_for_and_the_record_keeps_it() {
    let env = quick();
    finish(&env, &["run", "which?"], 0);
    let revealed = || env.session().events().iter().filter(|event| event["event"] == "revealed").count();
    let mut client = McpClient::connect(&env);
    for mode in ["status", "show"] {
        names_nobody(&client.call(&json!({"mode": mode})).0.to_string());
        names_nobody(&client.call(&json!({"mode": mode, "reveal": false})).0.to_string());
    }
    assert_eq!(revealed(), 0);
    let status = client.object(&json!({"mode": "status", "reveal": true}));
    let models = json!({"01": env.session().json("manifest.json")["models"]["01"]["model"],
                        "02": env.session().json("manifest.json")["models"]["02"]["model"]});
    assert_eq!((&status["models"], revealed()), (&models, 1));
    let shown = client.call(&json!({"mode": "show", "reveal": true}));
    assert!(shown.text(1).contains("zebra") && shown.text(1).contains("yak"), "{}", shown.text(1));
    assert_eq!(revealed(), 2);
    assert_eq!(client.object(&json!({"mode": "verify"}))["verified"], true);
    client.leave();
}

#[test]
fn a_session_at_work_is_not_revealed() {
    let env = gated();
    let mut client = McpClient::connect(&env);
    let begun = client.object(&json!({"mode": "run", "input": "which?"}));
    status_until(&mut client, &begun["session"], all_running);
    let said = client.refused(&json!({"mode": "status", "reveal": true}));
    assert!(said.contains("is owned by process"), "{said}");
    names_nobody(&said);
    client.leave();
}

#[test]
fn a_server_that_was_started_anew_answers_about_every_session_from_its_folder() {
    let env = quick();
    let mut first = McpClient::connect(&env);
    let one = first.object(&json!({"mode": "run-and-judge", "input": "which?", "self_vote": "slot"}));
    first.leave();
    finish(&env, &["run", "--name", "by-hand", "which?"], 0);
    let mut second = McpClient::connect(&env);
    let list = second.object(&json!({"mode": "list"}));
    assert_eq!(list["all"], 2);
    assert!(list["sessions"][0]["session"].as_str().unwrap().starts_with("team-by-hand-"), "{list}");
    assert_eq!(list["sessions"][1]["session"], one["session"]);
    names_nobody(&list.to_string());
    assert_eq!(second.object(&json!({"mode": "list", "limit": 1}))["sessions"].as_array().unwrap().len(), 1);
    let status = second.object(&json!({"mode": "status", "path": one["session"]}));
    for part in ["slots", "votes", "verdict", "state", "path"] {
        assert_eq!(status[part], one[part], "{part}");
    }
    assert!(second.call(&json!({"mode": "show", "path": one["session"]})).text(1).starts_with("# Verdict"));
    second.leave();
}

#[test]
fn what_was_changed_is_not_shown_and_told_by_verify() {
    let env = quick();
    finish(&env, &["run-and-judge", "--self-vote", "slot", "which?"], 0);
    let mut client = McpClient::connect(&env);
    std::fs::write(env.session().path("verdict.md"), "zebra wins").unwrap();
    std::fs::write(env.session().path("response-01.md"), "forged").unwrap();
    let said = client.refused(&json!({"mode": "show"}));
    assert!(said.contains("is not as it was recorded") && !said.contains("zebra"), "{said}");
    let said = client.refused(&json!({"mode": "show", "slot": "01"}));
    assert!(said.contains("response-01.md"), "{said}");
    let found = client.object(&json!({"mode": "verify"}));
    assert_eq!(found["verified"], false);
    assert!(found["mismatches"].to_string().contains("response-01.md"), "{found}");
    client.leave();
}

#[test]
fn a_long_answer_is_cut_and_says_where_the_rest_is() {
    let env = TestEnv::with(&TeamToml::new().agent("zebra", &["bytes 100000"]).panel(&["zebra"]));
    finish(&env, &["run", "which?"], 0);
    let mut client = McpClient::connect(&env);
    let shown = client.call(&json!({"mode": "show", "slot": "01"}));
    let text = shown.text(1);
    assert!(
        text.len() < 50_000 && text.contains("of 100000 bytes; the rest is in the file"),
        "{}",
        &text[text.len() - 99..]
    );
    let file = shown.object()["file"].as_str().unwrap().to_owned();
    assert_eq!(std::fs::read(file).unwrap().len(), 100_000);
    client.leave();
}

#[test]
fn sessions_that_are_not_there_or_elsewhere_are_refused() {
    let env = quick();
    let other = quick();
    finish(&other, &["run", "which?"], 0);
    let elsewhere = other.session().dir().display().to_string();
    let mut client = McpClient::connect(&env);
    let said = client.refused(&json!({"mode": "status", "path": "team-nope"}));
    assert!(said.contains("`team-nope`"), "{said}");
    for mode in ["status", "verify", "judge", "resume", "cancel", "show"] {
        let said = client.refused(&json!({"mode": mode, "path": elsewhere}));
        assert!(said.contains("neither below the working directory nor among the sessions"), "{said}");
    }
    for mode in ["judge", "resume", "cancel"] {
        let said = client.refused(&json!({"mode": mode}));
        assert!(said.starts_with(&format!("`{mode}` needs `path`, the session")), "{said}");
    }
    client.leave();
}

#[test]
fn the_verdict_and_the_report_are_resources() {
    let env = quick();
    finish(&env, &["run", "--name", "unjudged", "which?"], 0);
    finish(&env, &["run-and-judge", "--name", "judged", "--self-vote", "slot", "which?"], 0);
    let judged = env.sessions().into_iter().find(|session| session.has("verdict.md")).unwrap();
    let mut client = McpClient::connect(&env);
    let listed = client.request("resources/list", &json!({}))["result"]["resources"].clone();
    let uris: Vec<&str> = listed.as_array().unwrap().iter().map(|found| found["uri"].as_str().unwrap()).collect();
    let verdict = format!("team://sessions/{}/verdict", judged.id());
    let of_judged = |uri: &&str| uri.contains(&judged.id());
    assert_eq!((uris.len(), uris.iter().copied().filter(of_judged).count()), (3, 2), "{uris:?}");
    assert!(uris.contains(&verdict.as_str()));
    let read = |client: &mut McpClient, uri: &str| client.request("resources/read", &json!({"uri": uri}));
    let found = read(&mut client, &verdict)["result"]["contents"][0].clone();
    assert_eq!((&found["mimeType"], &found["text"]), (&json!("text/markdown"), &json!(judged.text("verdict.md"))));
    let report = read(&mut client, "team://sessions/team-unjudged/report");
    let text = report["result"]["contents"][0]["text"].as_str().unwrap().to_owned();
    assert!(text.contains("black") && text.contains("brown"), "{text}");
    names_nobody(&text);
    let missing = read(&mut client, "team://sessions/team-unjudged/verdict");
    assert!(missing["error"]["message"].as_str().unwrap().contains("has no verdict yet"), "{missing}");
    for wrong in ["team://sessions/../manifest", "file:///etc/passwd", "team://sessions/latest/manifest"] {
        let refused = read(&mut client, wrong);
        assert_eq!(refused["error"]["code"], -32002, "{refused}");
    }
    let templates = client.request("resources/templates/list", &json!({}))["result"]["resourceTemplates"].clone();
    let names: Vec<&Value> = templates.as_array().unwrap().iter().map(|template| &template["name"]).collect();
    assert_eq!(names, ["verdict", "report", "consolidated", "findings"]);
    client.leave();
}
