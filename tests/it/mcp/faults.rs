//! What a client should not do, and too much at once.

use serde_json::{Value, json};

use super::world::{all_running, gated, quick, status_until};
use crate::support::{McpClient, TeamToml, TestEnv};

#[test]
fn half_a_message_waits_for_its_other_half() {
    let env = quick();
    let mut client = McpClient::connect(&env);
    client.write(b"{\"jsonrpc\":\"2.0\",\"id\":\"half\",\"meth");
    // The server is not kept from anything else by it.
    client.write(b"od\":\"tools/list\"}\r\n");
    let reply = client.message(|message| message["id"] == "half");
    assert!(reply["result"]["tools"].is_array(), "{reply}");
    client.leave();
}

#[test]
fn half_a_message_at_the_end_is_no_message() {
    let env = quick();
    let mut client = McpClient::connect(&env);
    client.write(b"{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"tools/call\",\"params\":{\"name\":\"team\",\"arguments\":{\"mode\":\"run\",");
    client.leave();
    assert!(env.sessions().is_empty());
}

#[test]
fn what_is_no_message_gets_an_error_and_ends_nothing() {
    let env = quick();
    let mut client = McpClient::connect(&env);
    for (line, code) in [
        ("{\"jsonrpc\":\"2.0\",", -32700),
        ("not json", -32700),
        ("\"text\"", -32600),
        ("[]", -32600),
        ("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", -32600),
    ] {
        client.line(line);
        let reply = client.message(|message| message.get("error").is_some());
        assert_eq!(reply["error"]["code"], code, "{line}: {reply}");
        assert!(reply["id"].is_null(), "{reply}");
    }
    client.write(b"\xff\xfe\n\n  \n");
    assert_eq!(client.message(|message| message.get("error").is_some())["error"]["code"], -32700);
    // One without the version is refused by its id.
    client.line("{\"id\":\"mine\",\"method\":\"tools/list\"}");
    assert_eq!(client.message(|message| message["id"] == "mine")["error"]["code"], -32600);
    // What nobody waits for is not answered.
    client.line("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/unheard-of\"}");
    client.line("{\"jsonrpc\":\"2.0\",\"id\":77,\"result\":{}}");
    assert_eq!(client.request("ping", &json!({}))["result"], json!({}));
    assert!(client.unasked().is_empty(), "{:?}", client.unasked());
    client.leave();
}

#[test]
fn notifications_and_replies_before_anything_else_do_not_end_the_server() {
    let env = quick();
    let mut client = McpClient::start(&env);
    client.line("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
    client.line("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
    client.line("rubbish");
    assert_eq!(client.message(|message| message.get("error").is_some())["error"]["code"], -32700);
    client.shake_hands();
    client.leave();
}

#[test]
fn a_huge_message_is_refused_by_its_id_and_the_next_one_is_served() {
    let env = quick();
    let mut client = McpClient::connect(&env);
    let text = "x\\\"{".repeat(5 * 1024 * 1024);
    client.write(b"{\"jsonrpc\":\"2.0\",\"method\":\"tools/call\",\"params\":{\"id\":1,\"name\":\"team\",\"arguments\":{\"mode\":\"run\",\"input\":\"");
    client.write(text.as_bytes());
    client.line("\"}},\"id\":\"huge\"}");
    let reply = client.message(|message| message["id"] == "huge");
    assert_eq!(reply["error"]["code"], -32600);
    assert!(reply["error"]["message"].as_str().unwrap().contains("longer than 16 MiB"), "{reply}");
    assert_eq!(client.object(&json!({"mode": "list"}))["all"], 0);
    client.leave();
}

#[test]
fn a_large_text_is_sent_whole() {
    let env = quick();
    let mut client = McpClient::connect(&env);
    let text = "a line of a long question\n".repeat(100_000);
    client.object(&json!({"mode": "run-and-judge", "input": text, "self_vote": "slot"}));
    assert_eq!(env.session().text("input.md"), text);
    client.leave();
}

#[test]
fn unknown_tools_methods_and_wrong_types_are_told_with_their_place() {
    let env = quick();
    let mut client = McpClient::connect(&env);
    let unknown = client.request("tools/call", &json!({"name": "tema", "arguments": {}}));
    assert_eq!(
        unknown["error"],
        json!({"code": -32602, "message": "there is no tool `tema`; there is `team`, `team_review`, `team_fix`, `team_respond`"})
    );
    assert_eq!(client.request("sessions/list", &json!({}))["error"]["code"], -32601);
    for params in [json!({"name": 5}), json!({"name": "team", "arguments": "mode=run"}), json!({}), json!([1])] {
        let reply = client.request("tools/call", &params);
        assert!([-32602, -32600].contains(&reply["error"]["code"].as_i64().unwrap()), "{params}: {reply}");
    }
    for (arguments, expected) in [
        (json!({}), "`mode` is missing"),
        (json!({"mode": "runn"}), "`mode`: unknown variant `runn`"),
        (json!({"mode": "run", "inputs": "x"}), "`inputs` is no argument of `team`\nhint: did you mean `input`?"),
        (json!({"mode": "run", "input": ["x"]}), "`input`: invalid type: sequence, expected a string"),
        (json!({"mode": "run", "input": "x", "models": "a"}), "`models`: invalid type: string \"a\""),
        (json!({"mode": "list", "limit": 0}), "`limit`: invalid value: integer `0`"),
        (json!({"mode": "list", "path": "x"}), "the mode `list` has no use for `path`"),
        (json!({"mode": "show", "slot": "two"}), "no session"),
    ] {
        let said = client.refused(&arguments);
        assert!(said.contains(expected), "{arguments}: {said}");
    }
    assert!(env.sessions().is_empty());
    client.leave();
}

#[test]
fn fifty_calls_at_once_are_all_answered_and_each_run_is_its_own() {
    let env = TestEnv::with(&TeamToml::new().agent("zebra", &["answer black"]).panel(&["zebra"]));
    let mut client = McpClient::connect(&env);
    let mut calls = Vec::new();
    for number in 0..50 {
        calls.push(match number % 10 {
            0 => client.begin(&json!({"mode": "run", "input": format!("question {number}")})),
            1 => client.begin(&json!({"mode": "wrong"})),
            2 => client.send("resources/list", &json!({})),
            _ => client.begin(&json!({"mode": "list"})),
        });
    }
    let replies: Vec<Value> = calls.into_iter().map(|call| client.reply(call)).collect();
    assert!(replies.iter().all(|reply| reply["result"].is_object()), "{replies:?}");
    let failed = |reply: &&Value| reply["result"]["isError"] == true;
    assert_eq!(replies.iter().filter(failed).count(), 5);
    for number in (0..50).step_by(10) {
        let text = replies[number]["result"]["content"][0]["text"].as_str().unwrap();
        let begun: Value = serde_json::from_str(text).unwrap();
        let status = status_until(&mut client, &begun["session"], |status| status["state"] == "completed");
        let input = std::path::Path::new(status["path"].as_str().unwrap()).join("input.md");
        assert_eq!(std::fs::read_to_string(input).unwrap(), format!("question {number}"));
    }
    assert_eq!(env.sessions().len(), 5);
    client.leave();
}

#[test]
fn two_servers_see_one_session_and_only_its_owner_acts_on_it() {
    let env = gated();
    let mut owner = McpClient::connect(&env);
    let mut other = McpClient::connect(&env);
    let begun = owner.object(&json!({"mode": "run", "input": "which?"}));
    let session = &begun["session"];
    status_until(&mut other, session, all_running);
    for mode in ["judge", "resume"] {
        let said = other.refused(&json!({"mode": mode, "path": session}));
        assert!(said.contains("is owned by process"), "{said}");
    }
    // A stop is asked of the owner, by whom it may be.
    let stopped = other.object(&json!({"mode": "cancel", "path": session, "slot": "01"}));
    assert!(stopped["done"].as_str().unwrap().contains("slot 01"), "{stopped}");
    other.leave();
    env.write("go", "");
    let status = status_until(&mut owner, session, |status| status["state"] == "completed");
    assert_eq!(status["slots"][0]["state"], "CANCELLED");
    owner.leave();
}
