//! `openai-chat`: chunks of a chat completion, as OpenAI and the routers in front of it send them.

use serde_json::{Value, json};

use super::{Event, KEY, MODEL, RefusedSetting, Reply, Role, Stop, THOUGHT, Wire, openai_errors, sse};

#[derive(Debug)]
pub(crate) struct OpenaiChat;

fn chunk(delta: Value, finish: Value) -> Value {
    json!({
        "id": "chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT", "object": "chat.completion.chunk", "created": 1_741_569_952,
        "model": MODEL, "service_tier": "default", "system_fingerprint": "fp_44709d6fcb", "usage": null,
        "choices": [{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}],
    })
}

fn finish(stop: Stop) -> Value {
    match stop {
        Stop::Done => json!("stop"),
        Stop::Length => json!("length"),
        Stop::Refused => json!("content_filter"),
    }
}

fn usage(prompt_tokens: u64) -> Value {
    json!({
        "prompt_tokens": prompt_tokens, "completion_tokens": 40, "total_tokens": prompt_tokens + 40,
        "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 30, "audio_tokens": 0},
    })
}

impl Wire for OpenaiChat {
    fn name(&self) -> &'static str {
        "openai-chat"
    }

    fn path(&self) -> String {
        "chat/completions".to_owned()
    }

    fn key_header(&self) -> (&'static str, String) {
        ("authorization", format!("Bearer {KEY}"))
    }

    fn takes(&self, body: &Value) -> bool {
        body["model"] == MODEL && body["stream"] == true
    }

    fn prompt<'a>(&self, body: &'a Value) -> Option<&'a str> {
        let last = body["messages"].as_array()?.last().filter(|message| message["role"] == "user")?;
        last["content"].as_str()
    }

    fn schema(&self) -> (&'static str, Value) {
        let message = "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.";
        let error = json!({"message": message, "type": "invalid_request_error", "param": null, "code": null});
        ("/response_format/json_schema/schema", json!({"error": error}))
    }

    fn stream(&self, reply: &Reply<'_>) -> Vec<Event> {
        let plain = |delta: Value| sse(None, &chunk(delta, Value::Null));
        let mut events = vec![
            // A router's sign of life while the model has said nothing.
            Event::new(Role::Start, ": OPENROUTER PROCESSING\n\n"),
            Event::new(Role::Start, plain(json!({"role": "assistant", "content": "", "refusal": null}))),
            Event::new(Role::Start, plain(json!({"reasoning_content": THOUGHT, "content": null}))),
        ];
        events.extend(reply.pieces.iter().map(|piece| Event::new(Role::Text, plain(json!({"content": piece})))));
        let mut last = chunk(json!({}), Value::Null);
        last["choices"] = json!([]);
        last["usage"] = usage(reply.prompt_tokens);
        events.push(Event::new(Role::Stop, sse(None, &chunk(json!({}), finish(reply.stop)))));
        events.push(Event::new(Role::Close, sse(None, &last)));
        events.push(Event::new(Role::Last, "data: [DONE]\n\n"));
        events
    }

    fn whole(&self, reply: &Reply<'_>) -> Value {
        let message = json!({
            "role": "assistant", "content": reply.text(), "reasoning_content": THOUGHT, "refusal": null,
            "annotations": [],
        });
        json!({
            "id": "chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT", "object": "chat.completion", "created": 1_741_569_952,
            "model": MODEL, "usage": usage(reply.prompt_tokens),
            "choices": [{"index": 0, "message": message, "logprobs": null, "finish_reason": finish(reply.stop)}],
        })
    }

    fn error_event(&self) -> Event {
        let mut chunk = chunk(json!({"content": ""}), json!("error"));
        chunk["error"] = json!({"code": 502, "message": "Provider disconnected"});
        Event::new(Role::Last, sse(None, &chunk))
    }

    fn error(&self, status: u16) -> Value {
        openai_errors::error(status)
    }

    fn spent_quota(&self) -> (u16, Value) {
        openai_errors::spent_quota()
    }

    fn blocked_prompt(&self) -> Option<(u16, String)> {
        openai_errors::blocked_prompt()
    }

    fn too_long(&self) -> (u16, Value) {
        let message = "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens. \
                       Please reduce the length of the messages.";
        let error = json!({
            "message": message, "type": "invalid_request_error", "param": "messages", "code": "context_length_exceeded",
        });
        (400, json!({"error": error}))
    }

    fn refused_setting(&self) -> RefusedSetting {
        let message = "Unsupported value: 'temperature' does not support 0.5 with this model. Only the default (1) value \
                       is supported.";
        let error = json!({
            "message": message, "type": "invalid_request_error", "param": "temperature", "code": "unsupported_value",
        });
        RefusedSetting {
            key: "temperature",
            value: 0.5.into(),
            pointer: "/temperature",
            refusal: json!({"error": error}),
        }
    }
}
