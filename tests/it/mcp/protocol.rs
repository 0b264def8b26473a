//! Both revisions, and what a client is told before it calls anything.

use serde_json::{Value, json};

use super::world::quick;
use crate::support::{Called, McpClient, WITH_HANDSHAKE, WITHOUT};

/// What every request carries in the revision without a handshake.
fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": WITHOUT,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    })
}

#[test]
fn the_handshake_says_who_serves_and_what_there_is() {
    let env = quick();
    let mut client = McpClient::start(&env);
    let told = client.shake_hands();
    assert_eq!(told["protocolVersion"], WITH_HANDSHAKE);
    assert_eq!(told["serverInfo"]["name"], "team");
    assert_eq!(told["serverInfo"]["version"], env!("CARGO_PKG_VERSION"));
    for capability in ["tools", "resources", "prompts"] {
        assert!(told["capabilities"][capability].is_object(), "{told}");
    }
    assert!(told["instructions"].as_str().unwrap().contains("run-and-judge"), "{told}");
    assert_eq!(client.request("ping", &json!({}))["result"], json!({}));
    client.leave();
}

#[test]
fn a_client_of_a_revision_that_is_not_known_gets_one_that_is() {
    let env = quick();
    let mut client = McpClient::start(&env);
    let info = json!({"name": "test", "version": "1"});
    let params = json!({"protocolVersion": "2099-01-01", "capabilities": {}, "clientInfo": info});
    assert_eq!(client.request("initialize", &params)["result"]["protocolVersion"], WITH_HANDSHAKE);
    client.leave();
}

#[test]
fn without_a_handshake_each_request_stands_for_itself() {
    let env = quick();
    let mut client = McpClient::start(&env);
    let told = client.request("server/discover", &json!({"_meta": meta()}))["result"].clone();
    let versions = told["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!(WITHOUT)) && versions.contains(&json!(WITH_HANDSHAKE)), "{told}");
    let tools = client.request("tools/list", &json!({"_meta": meta()}))["result"].clone();
    assert_eq!((&tools["tools"][0]["name"], &tools["resultType"]), (&json!("team"), &json!("complete")));
    let arguments = json!({"mode": "run-and-judge", "input": "which?", "self_vote": "slot"});
    let params = json!({"_meta": meta(), "name": "team", "arguments": arguments});
    let called = Called(client.request("tools/call", &params));
    assert_eq!(called.object()["result"], "done");
    assert_eq!(called.0["result"]["resultType"], "complete");
    client.leave();
}

#[test]
fn without_a_handshake_a_request_that_lacks_its_version_or_has_a_wrong_one_is_told_so() {
    let env = quick();
    let mut client = McpClient::start(&env);
    let lacks = client.request("tools/list", &json!({}));
    assert_eq!(lacks["error"]["code"], -32602, "{lacks}");
    let mut other = meta();
    other["io.modelcontextprotocol/protocolVersion"] = json!("2099-01-01");
    let wrong = client.request("tools/list", &json!({"_meta": other}));
    assert!(wrong["error"]["data"].to_string().contains(WITHOUT), "{wrong}");
    // Nothing of that is in the way of what is right.
    assert!(client.request("tools/list", &json!({"_meta": meta()}))["result"]["tools"].is_array());
    client.leave();
}

#[test]
fn each_tool_is_described_in_few_words_with_a_closed_schema_and_honest_hints() {
    let env = quick();
    let mut client = McpClient::connect(&env);
    let reply = client.request("tools/list", &json!({}));
    let tools = reply["result"]["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["team", "team_review", "team_fix", "team_respond"]);
    // All of it is in the context of whoever may call one.
    assert!(reply.to_string().len() < 12_500, "{} bytes", reply.to_string().len());
    for tool in tools {
        assert_eq!(tool["inputSchema"]["additionalProperties"], false);
        jsonschema::validator_for(&tool["inputSchema"]).unwrap();
        let hints = &tool["annotations"];
        assert_eq!((&hints["readOnlyHint"], &hints["idempotentHint"]), (&json!(false), &json!(false)));
        // What is declined or ended stays so; everything else only adds.
        assert_eq!(hints["destructiveHint"], tool["name"] == "team_respond");
        assert_eq!(hints["openWorldHint"], true);
    }
    assert_eq!(tools[0]["inputSchema"]["required"], json!(["mode"]));
    assert_eq!(tools[3]["inputSchema"]["required"], json!(["path"]));
    let modes =
        json!(["run", "judge", "run-and-judge", "vote", "status", "cancel", "list", "show", "verify", "resume"]);
    assert_eq!(tools[0]["inputSchema"]["properties"]["mode"]["enum"], modes);
    client.leave();
}

#[test]
fn prompts_are_listed_and_filled_in() {
    let env = quick();
    let mut client = McpClient::connect(&env);
    let prompts = client.request("prompts/list", &json!({}))["result"]["prompts"].clone();
    let names: Vec<&str> = prompts.as_array().unwrap().iter().map(|prompt| prompt["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["best-answer", "approve", "review-change", "fix-findings", "read-verdict"]);
    let arguments = json!({"question": "Why is the sky blue?", "models": "zebra,yak"});
    let filled = client.request("prompts/get", &json!({"name": "best-answer", "arguments": arguments}));
    let text = filled["result"]["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(text.contains("`models` [\"zebra\",\"yak\"]") && text.ends_with("Why is the sky blue?"), "{text}");
    let lacks = client.request("prompts/get", &json!({"name": "approve"}));
    assert_eq!(lacks["error"]["message"], "the prompt `approve` needs `file`");
    client.leave();
}

#[test]
fn nothing_but_the_protocol_is_on_standard_output_and_the_server_ends_with_its_client() {
    let env = quick();
    let mut client = McpClient::connect(&env);
    client.object(&json!({"mode": "run-and-judge", "input": "which?", "self_vote": "slot"}));
    assert_eq!(client.unasked(), [] as [Value; 0]);
    client.leave();
}
