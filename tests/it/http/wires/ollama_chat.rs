//! `ollama-chat`: one JSON object a line; the one that is `done` is the last.

use serde_json::{Value, json};

use super::{Event, KEY, MODEL, RefusedSetting, Reply, Role, Stop, THOUGHT, Wire};

#[derive(Debug)]
pub(crate) struct OllamaChat;

fn line(role: Role, data: &Value) -> Event {
    Event::new(role, format!("{data}\n"))
}

fn part(message: Value) -> Value {
    json!({"model": MODEL, "created_at": "2025-10-26T17:15:24.097767Z", "message": message, "done": false})
}

fn done(message: Value, reply: &Reply<'_>) -> Value {
    let reason = match reply.stop {
        // No filter stands in front of a local model: what it declines, it declines in its words.
        Stop::Done | Stop::Refused => "stop",
        Stop::Length => "length",
    };
    json!({
        "model": MODEL, "created_at": "2025-10-26T17:15:24.166576Z", "message": message, "done": true,
        "done_reason": reason, "total_duration": 4_883_583_458_u64, "load_duration": 1_334_875_u64,
        "prompt_eval_count": reply.prompt_tokens, "prompt_eval_duration": 342_546_000_u64, "eval_count": 40,
        "eval_duration": 4_535_599_000_u64,
    })
}

fn refusal(message: &str) -> Value {
    json!({"error": message})
}

impl Wire for OllamaChat {
    fn name(&self) -> &'static str {
        "ollama-chat"
    }

    fn path(&self) -> String {
        "api/chat".to_owned()
    }

    fn key_header(&self) -> (&'static str, String) {
        ("authorization", format!("Bearer {KEY}"))
    }

    fn takes(&self, body: &Value) -> bool {
        // Not to ask for a stream is to ask for one.
        body["model"] == MODEL && body["stream"] != false
    }

    fn prompt<'a>(&self, body: &'a Value) -> Option<&'a str> {
        let last = body["messages"].as_array()?.last().filter(|message| message["role"] == "user")?;
        last["content"].as_str()
    }

    fn schema(&self) -> (&'static str, Value) {
        ("/format", refusal("invalid JSON schema in format"))
    }

    fn content_type(&self) -> &'static str {
        "application/x-ndjson"
    }

    fn stream(&self, reply: &Reply<'_>) -> Vec<Event> {
        let thought = json!({"role": "assistant", "content": "", "thinking": THOUGHT});
        let mut events = vec![line(Role::Start, &part(thought))];
        let text = |piece: &&str| line(Role::Text, &part(json!({"role": "assistant", "content": piece})));
        events.extend(reply.pieces.iter().map(text));
        events.push(line(Role::Last, &done(json!({"role": "assistant", "content": ""}), reply)));
        events
    }

    fn whole(&self, reply: &Reply<'_>) -> Value {
        done(json!({"role": "assistant", "content": reply.text(), "thinking": THOUGHT}), reply)
    }

    fn error_event(&self) -> Event {
        line(Role::Last, &refusal("an error was encountered while running the model: unexpected EOF"))
    }

    fn error(&self, status: u16) -> Value {
        match status {
            400 => refusal("invalid message content type: float64"),
            401 => json!({"error": format!("unauthorized: {KEY}"), "signin_url": "https://ollama.com/connect"}),
            402 => refusal("payment required"),
            403 => refusal("this model requires a subscription, upgrade for access: https://ollama.com/upgrade"),
            404 => refusal(&format!("model '{MODEL}' not found")),
            408 => refusal("request timed out"),
            413 => refusal("request body too large"),
            429 => refusal("too many concurrent requests"),
            500 => refusal("llama runner process has terminated: exit status 2"),
            503 => refusal("server busy, please try again.  maximum pending requests exceeded"),
            _ => refusal("overloaded"),
        }
    }

    fn spent_quota(&self) -> (u16, Value) {
        let message = "you (someone) have reached your weekly usage limit, upgrade for higher limits: \
                       https://ollama.com/upgrade";
        (429, refusal(message))
    }

    fn blocked_prompt(&self) -> Option<(u16, String)> {
        None
    }

    fn too_long(&self) -> (u16, Value) {
        (400, refusal("the input length exceeds the context length"))
    }

    fn refused_setting(&self) -> RefusedSetting {
        RefusedSetting {
            key: "reasoning_effort",
            value: "high".into(),
            pointer: "/think",
            refusal: refusal(&format!("\"{MODEL}\" does not support thinking")),
        }
    }
}
