//! `anthropic-messages`: a message of numbered content blocks, with pings in between.

use serde_json::{Value, json};

use super::{Event, KEY, MODEL, RefusedSetting, Reply, Role, Stop, THOUGHT, Wire, sse};

#[derive(Debug)]
pub(crate) struct AnthropicMessages;

fn event(role: Role, data: Value) -> Event {
    let name = data["type"].as_str().unwrap().to_owned();
    Event::new(role, sse(Some(&name), &data))
}

fn stop_reason(stop: Stop) -> &'static str {
    match stop {
        Stop::Done => "end_turn",
        Stop::Length => "max_tokens",
        Stop::Refused => "refusal",
    }
}

fn message(content: Value, stop_reason: Value, usage: Value) -> Value {
    json!({
        "id": "msg_1nZdL29xx5MUA1yADyHTEsnR8uuvGzszyY", "type": "message", "role": "assistant", "content": content,
        "model": MODEL, "stop_reason": stop_reason, "stop_sequence": null, "usage": usage,
    })
}

fn usage(prompt_tokens: u64, output_tokens: u64) -> Value {
    json!({
        "input_tokens": prompt_tokens, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
        "output_tokens": output_tokens,
    })
}

fn refusal(kind: &str, message: &str) -> Value {
    json!({
        "type": "error", "error": {"type": kind, "message": message}, "request_id": "req_018EeWyXxfu5pfWkrYcMdjWG",
    })
}

impl Wire for AnthropicMessages {
    fn name(&self) -> &'static str {
        "anthropic-messages"
    }

    fn path(&self) -> String {
        "v1/messages".to_owned()
    }

    fn key_header(&self) -> (&'static str, String) {
        ("x-api-key", KEY.to_owned())
    }

    fn takes(&self, body: &Value) -> bool {
        body["model"] == MODEL && body["stream"] == true && body["max_tokens"].is_u64()
    }

    fn prompt<'a>(&self, body: &'a Value) -> Option<&'a str> {
        let message = Some(&body["messages"][0]).filter(|message| message["role"] == "user")?;
        message["content"].as_str().or_else(|| message["content"][0]["text"].as_str())
    }

    fn schema(&self) -> (&'static str, Value) {
        let message = "output_config.format: Extra inputs are not permitted";
        ("/output_config/format/schema", refusal("invalid_request_error", message))
    }

    fn stream(&self, reply: &Reply<'_>) -> Vec<Event> {
        let start = |index: u64, block: Value| {
            event(Role::Start, json!({"type": "content_block_start", "index": index, "content_block": block}))
        };
        let delta = |role: Role, index: u64, delta: Value| {
            event(role, json!({"type": "content_block_delta", "index": index, "delta": delta}))
        };
        let end = |role: Role, index: u64| event(role, json!({"type": "content_block_stop", "index": index}));
        let message = message(json!([]), Value::Null, usage(reply.prompt_tokens, 1));
        let mut events = vec![
            event(Role::Start, json!({"type": "message_start", "message": message})),
            start(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
            event(Role::Start, json!({"type": "ping"})),
            delta(Role::Start, 0, json!({"type": "thinking_delta", "thinking": THOUGHT})),
            delta(Role::Start, 0, json!({"type": "signature_delta", "signature": "EqQBCgIYAhIM1gbcDa9GJwZA2b3h"})),
            end(Role::Start, 0),
        ];
        if !reply.pieces.is_empty() {
            events.push(start(1, json!({"type": "text", "text": ""})));
            let text = |piece: &&str| delta(Role::Text, 1, json!({"type": "text_delta", "text": piece}));
            events.extend(reply.pieces.iter().map(text));
            events.push(end(Role::Close, 1));
        }
        let stopped = json!({"stop_reason": stop_reason(reply.stop), "stop_sequence": null});
        let usage = json!({"output_tokens": 40});
        events.push(event(Role::Stop, json!({"type": "message_delta", "delta": stopped, "usage": usage})));
        events.push(event(Role::Last, json!({"type": "message_stop"})));
        events
    }

    fn whole(&self, reply: &Reply<'_>) -> Value {
        let thinking = json!({"type": "thinking", "thinking": THOUGHT, "signature": "EqQBCgIYAhIM1gbcDa9GJwZA2b3h"});
        let content = json!([thinking, {"type": "text", "text": reply.text()}]);
        message(content, json!(stop_reason(reply.stop)), usage(reply.prompt_tokens, 40))
    }

    fn error_event(&self) -> Event {
        event(Role::Last, json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}))
    }

    fn error(&self, status: u16) -> Value {
        match status {
            400 => refusal("invalid_request_error", "messages: text content blocks must be non-empty"),
            401 => refusal("authentication_error", &format!("invalid x-api-key: {KEY}")),
            402 => refusal("billing_error", "There is an issue with your billing or payment information."),
            403 => refusal("permission_error", "Your API key does not have permission to use the specified resource."),
            404 => refusal("not_found_error", &format!("model: {MODEL}")),
            408 => refusal("timeout_error", "The request timed out."),
            413 => refusal("request_too_large", "Request exceeds the maximum size"),
            429 => refusal(
                "rate_limit_error",
                "This request would exceed your organization's rate limit of 50,000 input tokens per minute.",
            ),
            529 => refusal("overloaded_error", "Overloaded"),
            _ => refusal("api_error", "Internal server error"),
        }
    }

    fn spent_quota(&self) -> (u16, Value) {
        let message = "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to \
                       upgrade or purchase credits.";
        (400, refusal("invalid_request_error", message))
    }

    fn blocked_prompt(&self) -> Option<(u16, String)> {
        let error = refusal("invalid_request_error", "Output blocked by content filtering policy");
        Some((400, error.to_string()))
    }

    fn too_long(&self) -> (u16, Value) {
        (400, refusal("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"))
    }

    fn refused_setting(&self) -> RefusedSetting {
        RefusedSetting {
            key: "temperature",
            value: 0.5.into(),
            pointer: "/temperature",
            refusal: refusal("invalid_request_error", "`temperature` is deprecated for this model."),
        }
    }
}
