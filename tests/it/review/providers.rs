//! Models of scripted providers that take part in a review.

use serde_json::json;

use crate::support::{Answer, Server, TeamToml};

/// A whole answer of a chat provider.
pub(super) fn said(text: &str) -> Answer {
    let message = json!({ "role": "assistant", "content": text });
    Answer::json(200, &json!({ "choices": [{ "index": 0, "message": message, "finish_reason": "stop" }] }))
}

/// `config` with this chat provider, which takes JSON schemas.
pub(super) fn provider(config: TeamToml, name: &str, server: &Server) -> TeamToml {
    let keys = [("wire", "openai-chat".into()), ("base_url", server.url("v1").into()), ("json_schema", true.into())];
    config.provider(name, &keys)
}

/// The prompts that a chat provider was asked with.
pub(super) fn prompts(server: &Server) -> Vec<String> {
    let prompt = |body: &serde_json::Value| {
        let messages = body["messages"].as_array().unwrap();
        messages.last().unwrap()["content"].as_str().unwrap().to_owned()
    };
    server.requests().iter().map(|request| prompt(&request.body)).collect()
}
