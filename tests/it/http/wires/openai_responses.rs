//! `openai-responses`: typed, numbered events; the last one carries the whole response once more.

use serde_json::{Value, json};

use super::{Event, KEY, MODEL, RefusedSetting, Reply, Role, Stop, THOUGHT, Wire, openai_errors, sse};

#[derive(Debug)]
pub(crate) struct OpenaiResponses;

const ITEM: &str = "msg_67ccd2bf17f0819081ff3bb2cf6508e6";
const REASONING: &str = "rs_6806bfca0b2481918a5748308061a260";

fn response(status: &str, output: Value, usage: Value) -> Value {
    json!({
        "id": "resp_67ccd2bed1ec8190b14f964abc054267", "object": "response", "created_at": 1_741_476_542,
        "status": status, "error": null, "incomplete_details": null, "instructions": null, "max_output_tokens": null,
        "model": MODEL, "output": output, "parallel_tool_calls": true, "previous_response_id": null,
        "reasoning": {"effort": "medium", "summary": "auto"}, "store": false, "temperature": 1.0,
        "text": {"format": {"type": "text"}}, "tool_choice": "auto", "tools": [], "top_p": 1.0,
        "truncation": "disabled", "usage": usage, "user": null, "metadata": {},
    })
}

fn usage(prompt_tokens: u64) -> Value {
    json!({
        "input_tokens": prompt_tokens, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 40,
        "output_tokens_details": {"reasoning_tokens": 30}, "total_tokens": prompt_tokens + 40,
    })
}

fn reasoning_item() -> Value {
    json!({"id": REASONING, "type": "reasoning", "summary": [{"type": "summary_text", "text": THOUGHT}]})
}

fn message_item(status: &str, content: Value) -> Value {
    json!({"id": ITEM, "type": "message", "status": status, "role": "assistant", "content": content})
}

fn text_part(text: &str) -> Value {
    json!({"type": "output_text", "annotations": [], "logprobs": [], "text": text})
}

/// The content of the message: a model that declines says so in a part of its own.
fn content(reply: &Reply<'_>) -> Value {
    match reply.stop {
        Stop::Refused => json!([{"type": "refusal", "refusal": "I cannot help with that."}]),
        _ if reply.pieces.is_empty() => json!([]),
        _ => json!([text_part(&reply.text())]),
    }
}

fn final_response(reply: &Reply<'_>) -> Value {
    let status = if reply.stop == Stop::Length { "incomplete" } else { "completed" };
    let mut output = vec![reasoning_item()];
    if content(reply) != json!([]) {
        output.push(message_item(status, content(reply)));
    }
    let mut response = response(status, Value::Array(output), usage(reply.prompt_tokens));
    if reply.stop == Stop::Length {
        response["incomplete_details"] = json!({"reason": "max_output_tokens"});
    }
    response
}

/// Numbers the events in the order in which they are made.
#[derive(Default)]
struct Events(Vec<Event>);

impl Events {
    fn push(&mut self, role: Role, kind: &str, fields: Value) {
        let mut data = json!({"type": kind, "sequence_number": self.0.len()});
        for (name, value) in fields.as_object().unwrap() {
            data[name] = value.clone();
        }
        self.0.push(Event::new(role, sse(Some(kind), &data)));
    }
}

impl Wire for OpenaiResponses {
    fn name(&self) -> &'static str {
        "openai-responses"
    }

    fn path(&self) -> String {
        "responses".to_owned()
    }

    fn key_header(&self) -> (&'static str, String) {
        ("authorization", format!("Bearer {KEY}"))
    }

    fn takes(&self, body: &Value) -> bool {
        body["model"] == MODEL && body["stream"] == true
    }

    fn prompt<'a>(&self, body: &'a Value) -> Option<&'a str> {
        // Either the text itself, or a list of messages whose content is the text or a part with it.
        match body["input"].as_array() {
            None => body["input"].as_str(),
            Some(items) => {
                let content = &items.last()?["content"];
                content.as_str().or_else(|| content[0]["text"].as_str())
            }
        }
    }

    fn schema(&self) -> (&'static str, Value) {
        let message = format!(
            "Invalid parameter: 'text.format' of type 'json_schema' is not supported with model version `{MODEL}`."
        );
        let error = json!({"message": message, "type": "invalid_request_error", "param": "text.format", "code": null});
        ("/text/format/schema", json!({"error": error}))
    }

    fn stream(&self, reply: &Reply<'_>) -> Vec<Event> {
        let mut events = Events::default();
        let in_progress = response("in_progress", json!([]), Value::Null);
        events.push(Role::Start, "response.created", json!({"response": in_progress}));
        events.push(Role::Start, "response.in_progress", json!({"response": in_progress}));
        let opened = json!({"id": REASONING, "type": "reasoning", "summary": []});
        events.push(Role::Start, "response.output_item.added", json!({"output_index": 0, "item": opened}));
        let at = |mut fields: Value| {
            fields["item_id"] = REASONING.into();
            fields["output_index"] = 0.into();
            fields["summary_index"] = 0.into();
            fields
        };
        let part = |text: &str| json!({"part": {"type": "summary_text", "text": text}});
        events.push(Role::Start, "response.reasoning_summary_part.added", at(part("")));
        events.push(Role::Start, "response.reasoning_summary_text.delta", at(json!({"delta": THOUGHT})));
        events.push(Role::Start, "response.reasoning_summary_text.done", at(json!({"text": THOUGHT})));
        events.push(Role::Start, "response.reasoning_summary_part.done", at(part(THOUGHT)));
        events.push(Role::Start, "response.output_item.done", json!({"output_index": 0, "item": reasoning_item()}));
        if content(reply) != json!([]) {
            message(reply, &mut events);
        }
        let kind = if reply.stop == Stop::Length { "response.incomplete" } else { "response.completed" };
        events.push(Role::Last, kind, json!({"response": final_response(reply)}));
        events.0
    }

    fn whole(&self, reply: &Reply<'_>) -> Value {
        final_response(reply)
    }

    fn error_event(&self) -> Event {
        let message = "Our servers are currently overloaded. Please try again later.";
        let data = json!({
            "type": "error", "sequence_number": 3, "code": "server_is_overloaded", "message": message, "param": null,
        });
        Event::new(Role::Last, sse(Some("error"), &data))
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
        let message = "Your input exceeds the context window of this model. Please adjust your input and try again.";
        let error = json!({
            "message": message, "type": "invalid_request_error", "param": "input", "code": "context_length_exceeded",
        });
        (400, json!({"error": error}))
    }

    fn refused_setting(&self) -> RefusedSetting {
        let message = "Unsupported parameter: 'temperature' is not supported with this model.";
        let error = json!({
            "message": message, "type": "invalid_request_error", "param": "temperature", "code": null,
        });
        RefusedSetting {
            key: "temperature",
            value: 0.5.into(),
            pointer: "/temperature",
            refusal: json!({"error": error}),
        }
    }
}

fn message(reply: &Reply<'_>, events: &mut Events) {
    let item = message_item("in_progress", json!([]));
    events.push(Role::Start, "response.output_item.added", json!({"output_index": 1, "item": item}));
    let at = |mut fields: Value| {
        fields["item_id"] = ITEM.into();
        fields["output_index"] = 1.into();
        fields["content_index"] = 0.into();
        fields
    };
    if reply.stop == Stop::Refused {
        let part = |text: &str| json!({"part": {"type": "refusal", "refusal": text}});
        let words = "I cannot help with that.";
        events.push(Role::Start, "response.content_part.added", at(part("")));
        events.push(Role::Text, "response.refusal.delta", at(json!({"delta": words})));
        events.push(Role::Close, "response.refusal.done", at(json!({"refusal": words})));
        events.push(Role::Close, "response.content_part.done", at(part(words)));
    } else {
        events.push(Role::Start, "response.content_part.added", at(json!({"part": text_part("")})));
        for piece in reply.pieces {
            events.push(Role::Text, "response.output_text.delta", at(json!({"delta": piece, "logprobs": []})));
        }
        let text = reply.text();
        events.push(Role::Close, "response.output_text.done", at(json!({"text": text, "logprobs": []})));
        events.push(Role::Close, "response.content_part.done", at(json!({"part": text_part(&text)})));
    }
    let status = if reply.stop == Stop::Length { "incomplete" } else { "completed" };
    let item = message_item(status, content(reply));
    events.push(Role::Close, "response.output_item.done", json!({"output_index": 1, "item": item}));
}
