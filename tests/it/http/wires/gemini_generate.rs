//! `gemini-generate`: every event is a whole small response; the one with a `finishReason` is the last.

use serde_json::{Value, json};

use super::{Event, KEY, MODEL, RefusedSetting, Reply, Role, Stop, THOUGHT, Wire};

#[derive(Debug)]
pub(crate) struct GeminiGenerate;

fn usage(prompt_tokens: u64) -> Value {
    json!({
        "promptTokenCount": prompt_tokens, "candidatesTokenCount": 10, "totalTokenCount": prompt_tokens + 40,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": prompt_tokens}], "thoughtsTokenCount": 30,
    })
}

fn response(parts: Value, finish: Option<&str>, prompt_tokens: u64) -> Value {
    let mut candidate = json!({"content": {"parts": parts, "role": "model"}, "index": 0});
    if let Some(finish) = finish {
        candidate["finishReason"] = finish.into();
    }
    json!({
        "candidates": [candidate], "usageMetadata": usage(prompt_tokens), "modelVersion": MODEL,
        "responseId": "Il0taoSYJ5Cez7IPsJ2X0Ac",
    })
}

fn finish(stop: Stop) -> &'static str {
    match stop {
        Stop::Done => "STOP",
        Stop::Length => "MAX_TOKENS",
        Stop::Refused => "SAFETY",
    }
}

/// Google ends the lines of its events in CR LF.
fn event(role: Role, data: &Value) -> Event {
    Event::new(role, format!("data: {data}\r\n\r\n"))
}

fn thought() -> Value {
    json!({"text": THOUGHT, "thought": true})
}

fn refusal(code: u16, status: &str, message: &str, details: Value) -> Value {
    json!({"error": {"code": code, "message": message, "status": status, "details": details}})
}

/// A spent quota of this id, with the wait that the server proposes.
fn quota(id: &str, wait: &str) -> Value {
    let message = "You exceeded your current quota, please check your plan and billing details. For more information on \
                   this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits.";
    let violation = json!({
        "quotaMetric": "generativelanguage.googleapis.com/generate_content_free_tier_requests", "quotaId": id,
        "quotaDimensions": {"location": "global", "model": MODEL}, "quotaValue": "10",
    });
    let details = json!([
        {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [violation]},
        {"@type": "type.googleapis.com/google.rpc.Help", "links": [
            {"description": "Learn more about Gemini API quotas", "url": "https://ai.google.dev/gemini-api/docs/rate-limits"},
        ]},
        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": wait},
    ]);
    refusal(429, "RESOURCE_EXHAUSTED", message, details)
}

/// A stream in which every event with text carries a `finishReason`, as the first models sent it: only the last counts.
pub(crate) fn stopping_in_every_event(reply: &Reply<'_>) -> Vec<Event> {
    let (last, texts) = reply.pieces.split_last().unwrap();
    let part = |role, piece: &str, stop| {
        event(role, &response(json!([{"text": piece}]), Some(finish(stop)), reply.prompt_tokens))
    };
    let mut events: Vec<Event> = texts.iter().map(|piece| part(Role::Text, piece, Stop::Done)).collect();
    events.push(part(Role::Last, last, reply.stop));
    events
}

impl Wire for GeminiGenerate {
    fn name(&self) -> &'static str {
        "gemini-generate"
    }

    fn path(&self) -> String {
        format!("models/{MODEL}:streamGenerateContent?alt=sse")
    }

    fn key_header(&self) -> (&'static str, String) {
        ("x-goog-api-key", KEY.to_owned())
    }

    fn takes(&self, body: &Value) -> bool {
        // Model and stream are in the URL.
        body["contents"].as_array().is_some_and(|contents| contents.len() == 1)
    }

    fn prompt<'a>(&self, body: &'a Value) -> Option<&'a str> {
        body["contents"][0]["parts"][0]["text"].as_str()
    }

    fn schema(&self) -> (&'static str, Value) {
        let message = format!("JSON mode is not enabled for models/{MODEL}");
        ("/generationConfig/responseJsonSchema", refusal(400, "INVALID_ARGUMENT", &message, json!([])))
    }

    fn content_type(&self) -> &'static str {
        "text/event-stream"
    }

    fn stream(&self, reply: &Reply<'_>) -> Vec<Event> {
        let tokens = reply.prompt_tokens;
        let mut events = vec![event(Role::Start, &response(json!([thought()]), None, tokens))];
        let text = |piece: &&str| event(Role::Text, &response(json!([{"text": piece}]), None, tokens));
        events.extend(reply.pieces.iter().map(text));
        let last = json!([{"text": "", "thoughtSignature": "AY89a18iOcFus5wr5bW5xN6zZ4aUiCyh"}]);
        events.push(event(Role::Last, &response(last, Some(finish(reply.stop)), tokens)));
        events
    }

    fn whole(&self, reply: &Reply<'_>) -> Value {
        let parts = json!([thought(), {"text": reply.text()}]);
        response(parts, Some(finish(reply.stop)), reply.prompt_tokens)
    }

    fn error_event(&self) -> Event {
        event(Role::Last, &self.error(503))
    }

    fn error(&self, status: u16) -> Value {
        let none = json!([]);
        match status {
            400 => refusal(400, "INVALID_ARGUMENT", "Invalid value at 'contents[0].parts[0]' (oneof)", none),
            401 => refusal(
                401,
                "UNAUTHENTICATED",
                &format!("Request had invalid authentication credentials: {KEY}"),
                json!([{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "ACCESS_TOKEN_EXPIRED"}]),
            ),
            402 => refusal(402, "FAILED_PRECONDITION", "Billing is not enabled for this project.", none),
            403 => refusal(403, "PERMISSION_DENIED", "The caller does not have permission", none),
            404 => refusal(
                404,
                "NOT_FOUND",
                &format!(
                    "models/{MODEL} is not found for API version v1beta, or is not supported for generateContent."
                ),
                none,
            ),
            408 => refusal(408, "DEADLINE_EXCEEDED", "The request timed out.", none),
            413 => refusal(413, "INVALID_ARGUMENT", "Request payload size exceeds the limit: 20971520 bytes.", none),
            429 => quota("GenerateRequestsPerMinutePerProjectPerModel-FreeTier", "0.25s"),
            500 => refusal(500, "INTERNAL", "An internal error has occurred. Please retry or report it.", none),
            503 => refusal(503, "UNAVAILABLE", "The model is overloaded. Please try again later.", none),
            other => refusal(other, "UNAVAILABLE", "Overloaded", none),
        }
    }

    fn spent_quota(&self) -> (u16, Value) {
        (429, quota("GenerateRequestsPerDayPerProjectPerModel-FreeTier", "34s"))
    }

    fn refused_key(&self) -> (u16, Value) {
        let info = json!({
            "@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID", "domain": "googleapis.com",
        });
        (400, refusal(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", json!([info])))
    }

    fn blocked_prompt(&self) -> Option<(u16, String)> {
        let feedback = json!({"blockReason": "PROHIBITED_CONTENT"});
        let data = json!({"promptFeedback": feedback, "usageMetadata": usage(1), "modelVersion": MODEL});
        Some((200, event(Role::Last, &data).bytes))
    }

    fn too_long(&self) -> (u16, Value) {
        let message = "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).";
        (400, refusal(400, "INVALID_ARGUMENT", message, json!([])))
    }

    fn refused_setting(&self) -> RefusedSetting {
        RefusedSetting {
            key: "reasoning_effort",
            value: "high".into(),
            pointer: "/generationConfig/thinkingConfig",
            refusal: refusal(400, "INVALID_ARGUMENT", "thinking_config is not supported.", json!([])),
        }
    }
}
