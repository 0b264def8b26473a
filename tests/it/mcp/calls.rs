//! The modes that ask models.

use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use super::world::{all_running, gated, names_nobody, quick, status_until};
use crate::support::{McpClient, TeamToml, TestEnv, assert_consistent};

#[test]
fn a_run_returns_at_once_with_its_slots_and_names_nobody_until_the_verdict() {
    let env = gated();
    let mut client = McpClient::connect(&env);
    let begun = client.call(&json!({"mode": "run", "input": "which?", "name": "colours"}));
    names_nobody(&begun.0.to_string());
    let begun = begun.object();
    let session = &begun["session"];
    assert!(session.as_str().unwrap().starts_with("team-colours-"), "{begun}");
    assert_eq!(begun["path"], env.session().dir().display().to_string());
    assert_eq!((&begun["slots"], &begun["detached"]), (&json!(["01", "02"]), &json!(false)));
    assert_eq!(begun["next"][0], json!({"mode": "status", "path": session}));
    // The live figures follow a moment after the start.
    let told = |slot: &Value| slot["bytes"].is_u64() && slot["idleSeconds"].is_u64() && slot["activity"].is_string();
    let live = |status: &Value| all_running(status) && status["slots"].as_array().unwrap().iter().all(told);
    let status = status_until(&mut client, session, live);
    names_nobody(&status.to_string());
    assert!(status["means"].as_str().unwrap().contains("quiet"), "{status}");
    env.write("go", "");
    let status = status_until(&mut client, session, |status| status["state"] == "completed");
    names_nobody(&status.to_string());
    assert_eq!((&status["means"], &status["slots"][0]["file"]), (&Value::Null, &json!("response-01.md")));
    assert_eq!(status["next"][1], json!({"mode": "judge", "path": session}));
    for slot in ["01", "02"] {
        let shown = client.call(&json!({"mode": "show", "path": session, "slot": slot}));
        names_nobody(&shown.0.to_string());
        assert!(["black\n", "brown\n"].contains(&shown.text(1).as_str()), "{}", shown.text(1));
    }
    names_nobody(&client.call(&json!({"mode": "show", "path": session})).0.to_string());
    let judged = client.call(&json!({"mode": "judge", "path": session, "self_vote": "slot"}));
    assert_eq!(judged.object()["result"], "done");
    assert!(judged.text(1).contains("zebra") && judged.text(1).contains("yak"), "{}", judged.text(1));
    assert_consistent(&env.session());
    client.leave();
}

#[test]
fn a_call_that_waits_tells_how_far_it_is() {
    let env = gated();
    let mut client = McpClient::connect(&env);
    let arguments = json!({"mode": "run-and-judge", "input": "which?", "self_vote": "slot"});
    let params = json!({"_meta": {"progressToken": "mine"}, "name": "team", "arguments": arguments});
    let call = client.send("tools/call", &params);
    let running = |message: &Value| {
        message["params"]["message"].as_str().is_some_and(|line| line.starts_with("0 of 2 slots settled, 2 running"))
    };
    let told = client.message(running);
    assert_eq!((&told["method"], &told["params"]["progressToken"]), (&json!("notifications/progress"), &json!("mine")));
    env.write("go", "");
    let reply = client.reply(call);
    assert_eq!(reply["result"]["isError"], false, "{reply}");
    let told: Vec<(f64, &str)> = client
        .unasked()
        .iter()
        .map(|told| (told["params"]["progress"].as_f64().unwrap(), told["params"]["message"].as_str().unwrap()))
        .collect();
    assert!(told.windows(2).all(|pair| pair[0].0 < pair[1].0), "{told:?}");
    assert!(told.iter().any(|(_, line)| line.contains("judges settled")), "{told:?}");
    told.iter().for_each(|(_, line)| names_nobody(line));
    client.leave();
}

#[test]
fn a_call_without_a_token_is_told_nothing_until_its_reply() {
    let env = quick();
    let mut client = McpClient::connect(&env);
    client.object(&json!({"mode": "vote", "input": "Ship it."}));
    assert!(client.unasked().is_empty());
    client.leave();
}

#[test]
fn a_vote_is_decided_by_its_bar() {
    let member = |verdict: &str| {
        format!("print ```vote\\nVERDICT: {verdict}\\nCONFIDENCE: 7\\nSUMMARY: Looked at.\\nKEY_ISSUES: None\\n```")
    };
    let names = ["zebra", "yak", "xerus"];
    let config = names
        .iter()
        .zip(["APPROVE", "APPROVE", "REJECT"])
        .fold(TeamToml::new(), |config, (name, verdict)| config.agent(name, &["swallow", &member(verdict)]));
    let env = TestEnv::with(&config.panel(&names));
    let mut client = McpClient::connect(&env);
    for (threshold, result, code, outcome) in [
        ("majority", "done", 0, "APPROVED"),
        ("75%", "no decision", 3, "SPLIT"),
        ("unanimous", "no decision", 3, "SPLIT"),
    ] {
        let called = client.call(&json!({"mode": "vote", "input": "Ship it.", "threshold": threshold, "quorum": 3}));
        let object = called.object();
        assert_eq!((&object["result"], &object["exitCode"]), (&json!(result), &json!(code)), "{object}");
        let told = object["verdict"]["outcome"].as_str().unwrap();
        assert!(told.starts_with(outcome), "{told}");
        assert!(called.text(1).contains(&format!("# Verdict: {outcome}")), "{}", called.text(1));
    }
    client.leave();
}

#[test]
fn demands_on_answers_are_those_of_the_command_line() {
    let env = quick();
    let mut client = McpClient::connect(&env);
    let begun = client.object(&json!({"mode": "run", "input": "which?", "require_pattern": "black"}));
    let status = status_until(&mut client, &begun["session"], |status| status["state"] == "completed");
    let reasons: Vec<&Value> = status["slots"].as_array().unwrap().iter().map(|slot| &slot["reason"]).collect();
    assert!(reasons.contains(&&json!("shape_mismatch")) && reasons.contains(&&Value::Null), "{status}");
    let begun = client.object(&json!({"mode": "run", "input": "which?", "min_output_bytes": 100}));
    let status = status_until(&mut client, &begun["session"], |status| status["state"] == "failed");
    assert!(status["slots"].as_array().unwrap().iter().all(|slot| slot["reason"] == "too_short"), "{status}");
    let said = client.refused(&json!({"mode": "run", "input": "which?", "require_pattern": "("}));
    assert!(said.starts_with("`require_pattern`: "), "{said}");
    client.leave();
}

#[test]
fn the_input_is_sent_byte_for_byte_from_a_text_or_a_file_below_the_working_directory() {
    let env = quick();
    let mut client = McpClient::connect(&env);
    let text = "\u{feff}# Naïve?\r\n\"quoted\" --flag\n";
    client.object(&json!({"mode": "run-and-judge", "input": text, "self_vote": "slot"}));
    env.write("docs/-question.md", text);
    client.object(&json!({"mode": "run-and-judge", "input_file": "docs/-question.md", "self_vote": "slot"}));
    let absolute = env.path("docs/-question.md").display().to_string();
    client.object(&json!({"mode": "run-and-judge", "input_file": absolute, "self_vote": "slot"}));
    let inputs: Vec<String> = env.sessions().iter().map(|session| session.text("input.md")).collect();
    assert_eq!(inputs, [text; 3]);
    client.leave();
}

#[test]
fn what_is_outside_of_the_working_directory_is_refused_wherever_links_lead() {
    let env = quick();
    std::fs::write(env.home().join("secret.md"), "a secret").unwrap();
    symlink(env.home().join("secret.md"), env.path("innocent.md")).unwrap();
    symlink(env.home(), env.path("way-out")).unwrap();
    let outside = env.home().join("secret.md").display().to_string();
    let mut client = McpClient::connect(&env);
    for file in ["../home/secret.md", "innocent.md", "way-out/secret.md", "/etc/passwd", &outside] {
        let said = client.refused(&json!({"mode": "run", "input_file": file}));
        let expected = format!("`input_file` names `{file}`, which is not inside the current directory");
        assert!(said.starts_with(&expected), "{said}");
    }
    for (argument, folder) in [("path", "way-out/x"), ("workspace", "way-out"), ("path", "..")] {
        let said = client.refused(&json!({"mode": "run", "input": "which?", argument: folder}));
        assert!(said.starts_with(&format!("`{argument}` names `{folder}`, which is not inside")), "{said}");
    }
    for (file, why) in [("absent.md", "which cannot be read"), (".", "which is a folder"), ("", "names nothing")] {
        let said = client.refused(&json!({"mode": "run", "input_file": file}));
        assert!(said.contains(why), "{said}");
    }
    assert!(env.sessions().is_empty());
    client.leave();
}

#[test]
fn the_input_is_given_in_one_way() {
    let env = quick();
    env.write("q.md", "which?");
    let mut client = McpClient::connect(&env);
    for (arguments, expected) in [
        (json!({"mode": "run", "input": "a", "input_file": "q.md"}), "both `input` and `input_file` were given"),
        (json!({"mode": "vote"}), "no input was given"),
        (json!({"mode": "run", "input": " \n"}), "`input` is empty"),
        (json!({"mode": "run", "input": "a\u{0}b"}), "`input` has a NUL at byte 1"),
    ] {
        let said = client.refused(&arguments);
        assert!(said.starts_with(expected), "{said}");
    }
    client.leave();
}

#[test]
fn a_session_can_be_made_in_a_folder_of_the_callers_and_is_found_there() {
    let env = quick();
    let mut client = McpClient::connect(&env);
    let begun = client.object(&json!({"mode": "run", "input": "which?", "path": "mine/here"}));
    let path = begun["path"].as_str().unwrap();
    assert!(path.starts_with(&env.path("mine/here").display().to_string()), "{begun}");
    // It is not among the sessions, so that its folder is its name in further calls.
    let next = &begun["next"][0]["path"];
    assert_eq!(next, path);
    status_until(&mut client, next, |status| status["state"] == "completed");
    client.leave();
}

#[test]
fn a_wrong_name_of_a_model_is_told_before_anything_is_made() {
    let env = quick();
    let mut client = McpClient::connect(&env);
    let said = client.refused(&json!({"mode": "run", "input": "which?", "models": ["zebra", "yack"]}));
    assert!(said.contains("`yack`") && said.contains("did you mean `yak`"), "{said}");
    assert!(env.sessions().is_empty());
    let said = client.refused(&json!({"mode": "run", "input": "which?", "models": ["--version"]}));
    assert!(said.contains("`--version`"), "{said}");
    client.leave();
}

#[test]
fn what_was_stopped_goes_on_with_resume() {
    let env = gated();
    let mut client = McpClient::connect(&env);
    let begun = client.object(&json!({"mode": "run", "input": "which?"}));
    let session = &begun["session"];
    status_until(&mut client, session, all_running);
    let stopped = client.object(&json!({"mode": "cancel", "path": session}));
    assert!(stopped["done"].as_str().unwrap().ends_with("is cancelled"), "{stopped}");
    let status = client.object(&json!({"mode": "status", "path": session}));
    assert_eq!(status["next"], json!([{"mode": "resume", "path": session}]));
    env.write("go", "");
    let again = client.object(&json!({"mode": "resume", "path": session}));
    assert_eq!((&again["session"], &again["slots"]), (session, &json!(["01", "02"])));
    status_until(&mut client, session, |status| status["state"] == "completed");
    let done = client.object(&json!({"mode": "resume", "path": session}));
    assert_eq!((&done["result"], &done["state"]), (&json!("done"), &json!("completed")));
    assert_consistent(&env.session());
    client.leave();
}

#[test]
fn one_slot_is_stopped_and_the_others_go_on() {
    let env = gated();
    let mut client = McpClient::connect(&env);
    let begun = client.object(&json!({"mode": "run", "input": "which?"}));
    let session = &begun["session"];
    status_until(&mut client, session, all_running);
    client.object(&json!({"mode": "cancel", "path": session, "slot": "02"}));
    env.write("go", "");
    let status = status_until(&mut client, session, |status| status["state"] == "completed");
    let states: Vec<&Value> = status["slots"].as_array().unwrap().iter().map(|slot| &slot["state"]).collect();
    assert_eq!(states, ["COMPLETED", "CANCELLED"]);
    client.leave();
}

#[test]
fn a_panel_that_fails_is_a_result_that_names_nobody() {
    let failing = ["stderr zebra and yak are out of order", "exit 3"];
    let config = TeamToml::new().agent("zebra", &failing).agent("yak", &failing).panel(&["zebra", "yak"]);
    let env = TestEnv::with(&config);
    let mut client = McpClient::connect(&env);
    let called = client.call(&json!({"mode": "run-and-judge", "input": "which?", "self_vote": "slot"}));
    let object = called.object();
    assert_eq!((&object["result"], &object["exitCode"]), (&json!("nothing usable"), &json!(4)));
    assert_eq!(object["next"], json!([{"mode": "resume", "path": object["session"], "failed": true}]));
    names_nobody(&called.0.to_string());
    client.leave();
}
