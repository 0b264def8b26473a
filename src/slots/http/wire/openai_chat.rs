//! `openai-chat`: chat completions, as OpenAI defined them and as many servers answer them.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value, json};

use super::adapter::object;
use super::{Adapter, Decoder, Malformed, Optional, Piece};
use crate::money::Usd;
use crate::session::slot::{StopReason, Usage};
use crate::slots::http::Request;
use crate::slots::http::failure::{Stated, readable};

/// The adapter.
pub(super) struct OpenaiChat;

impl Adapter for OpenaiChat {
    fn path(&self, _model: &str) -> String {
        "chat/completions".to_owned()
    }

    fn body(&self, request: &Request<'_>) -> Map<String, Value> {
        let settings = request.settings;
        let mut messages = Vec::new();
        if let Some(system) = &settings.system {
            messages.push(json!({"role": "system", "content": system}));
        }
        messages.extend(request.plain_messages());
        let schema = request.schema.filter(|_| request.provider.json_schema).map(|schema| {
            let inner = json!({"name": schema.name, "strict": true, "schema": schema.value});
            json!({"type": "json_schema", "json_schema": inner})
        });
        let fields = [
            ("model", Some(json!(request.model))),
            ("messages", Some(Value::Array(messages))),
            ("stream", Some(json!(true))),
            ("stream_options", Some(json!({"include_usage": true}))),
            ("temperature", settings.temperature.map(Value::from)),
            ("top_p", settings.top_p.map(Value::from)),
            ("seed", settings.seed.map(Value::from)),
            ("max_tokens", settings.max_tokens.map(Value::from)),
            ("reasoning_effort", settings.reasoning_effort.clone().map(Value::from)),
            ("response_format", schema),
        ];
        object(fields)
    }

    fn optional(&self) -> &'static [Optional] {
        const SCHEMA: &[&str] = &["json_schema", "json schema", "structured output", "structured outputs", "grammar"];
        const {
            &[
                Optional::top(&[&["temperature"]]),
                Optional::top(&[&["top_p"]]),
                Optional::top(&[&["seed"]]),
                Optional::top(&[&["max_tokens"]]),
                Optional::top(&[&["max_completion_tokens"]]),
                Optional { words: &["reasoning effort"], ..Optional::top(&[&["reasoning_effort"]]) },
                Optional { words: &["include_usage"], ..Optional::top(&[&["stream_options"]]) },
                Optional { name: "json_schema", paths: &[&["response_format"]], words: SCHEMA },
            ]
        }
    }

    fn instead(&self, name: &str, value: &Value, refusal: &Stated) -> Option<(&'static [&'static str], Value)> {
        let newer = name == "max_tokens" && refusal.message.contains("max_completion_tokens");
        newer.then(|| (&["max_completion_tokens"][..], value.clone()))
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(Chat)
    }
}

/// Chunks hold no state between them: the answer is the sum of its pieces.
struct Chat;

/// A chunk of a stream, or a whole answer: they differ in `delta` and `message` only.
#[derive(Deserialize)]
struct Chunk<'a> {
    #[serde(default, borrow)]
    choices: Option<Vec<Choice<'a>>>,
    #[serde(default)]
    usage: Option<RawUsage>,
    #[serde(default)]
    x_groq: Option<GroqPart>,
    #[serde(default)]
    error: Option<Value>,
}

#[derive(Deserialize)]
struct GroqPart {
    #[serde(default)]
    usage: Option<RawUsage>,
    #[serde(default)]
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    #[serde(default)]
    index: Option<u64>,
    #[serde(default, borrow)]
    delta: Option<Delta<'a>>,
    #[serde(default, borrow)]
    message: Option<Delta<'a>>,
    #[serde(default, borrow)]
    finish_reason: Option<Cow<'a, str>>,
    #[serde(default)]
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Delta<'a> {
    #[serde(default, borrow)]
    content: Option<Content<'a>>,
    #[serde(default, borrow)]
    reasoning_content: Option<Content<'a>>,
    #[serde(default, borrow)]
    reasoning: Option<Content<'a>>,
    #[serde(default)]
    refusal: Option<String>,
}

/// Text, or typed parts of which only those of type `text` are the answer.
enum Content<'a> {
    Text(Cow<'a, str>),
    Parts(Vec<Part>),
    /// Something else, which is no text.
    Other,
}

/// By hand: a derived untagged enum would copy every piece of text once more.
impl<'de: 'a, 'a> Deserialize<'de> for Content<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AnyShape;

        impl<'de> Visitor<'de> for AnyShape {
            type Value = Content<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("text or a list of parts")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Content::Text(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Content::Text(Cow::Owned(text.to_owned())))
            }

            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(Content::Other)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let mut parts = Vec::new();
                while let Some(part) = list.next_element()? {
                    parts.push(part);
                }
                Ok(Content::Parts(parts))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Content::Other)
            }
        }

        deserializer.deserialize_any(AnyShape)
    }
}

#[derive(Deserialize)]
struct Part {
    #[serde(default, rename = "type")]
    kind: Option<String>,
    #[serde(default)]
    text: Option<String>,
}

impl Content<'_> {
    fn is_blank(&self) -> bool {
        match self {
            Self::Text(text) => text.is_empty(),
            Self::Parts(parts) => parts.is_empty(),
            Self::Other => true,
        }
    }
}

#[derive(Deserialize)]
struct RawUsage {
    #[serde(default)]
    prompt_tokens: Option<u64>,
    #[serde(default)]
    completion_tokens: Option<u64>,
    #[serde(default)]
    prompt_cache_hit_tokens: Option<u64>,
    #[serde(default)]
    prompt_tokens_details: Option<InputDetails>,
    #[serde(default)]
    completion_tokens_details: Option<OutputDetails>,
    #[serde(default)]
    cost: Option<Value>,
}

#[derive(Deserialize)]
struct InputDetails {
    #[serde(default)]
    cached_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct OutputDetails {
    #[serde(default)]
    reasoning_tokens: Option<u64>,
}

impl Decoder for Chat {
    fn event(&mut self, name: &str, data: &[u8], pieces: &mut Vec<Piece>) -> Result<(), Malformed> {
        let trimmed = data.trim_ascii();
        if trimmed == b"[DONE]" {
            pieces.push(Piece::End);
            return Ok(());
        }
        if trimmed.is_empty() {
            return Ok(());
        }
        if name == "error" {
            let value = serde_json::from_slice::<Value>(trimmed).ok();
            let stated = value.as_ref().and_then(Stated::in_value);
            pieces.push(Piece::Error(stated.unwrap_or_else(|| Stated::plain(readable(trimmed)))));
            return Ok(());
        }
        read(trimmed, pieces)
    }

    fn whole(&mut self, body: &[u8], pieces: &mut Vec<Piece>) -> Result<(), Malformed> {
        read(body, pieces)?;
        pieces.push(Piece::End);
        Ok(())
    }
}

fn read(json: &[u8], pieces: &mut Vec<Piece>) -> Result<(), Malformed> {
    let chunk = match serde_json::from_slice::<Chunk<'_>>(json) {
        Ok(chunk) => chunk,
        // A list with an error in it, as one gateway answers, is not a chunk.
        Err(error) => match serde_json::from_slice(json).ok().as_ref().and_then(Stated::in_value) {
            Some(stated) => {
                pieces.push(Piece::Error(stated));
                return Ok(());
            }
            None => return Err(Malformed::of(&error, json)),
        },
    };
    let groq_error = chunk.x_groq.as_ref().and_then(|part| part.error.clone());
    let choice_error = chunk.choices.iter().flatten().find_map(|choice| choice.error.clone());
    let error = [chunk.error, choice_error, groq_error].into_iter().flatten().find(|error| !error.is_null());
    if let Some(error) = error {
        pieces.push(Piece::Error(Stated::of_error(&error)));
        return Ok(());
    }
    let usage = chunk.usage.or_else(|| chunk.x_groq.and_then(|part| part.usage));
    if chunk.choices.is_none() && usage.is_none() {
        if let Some(stated) = serde_json::from_slice(json).ok().as_ref().and_then(Stated::in_value) {
            pieces.push(Piece::Error(stated));
        }
        // Anything else is a frame of the server's own (a ping, a notice).
        return Ok(());
    }
    if chunk.choices.as_ref().is_some_and(|choices| !choices.is_empty()) {
        pieces.push(Piece::Begun);
    }
    // One answer was asked for; a second choice would be woven into it.
    for choice in chunk.choices.into_iter().flatten().filter(|choice| choice.index.unwrap_or(0) == 0) {
        if let Some(delta) = choice.delta.or(choice.message) {
            take_delta(delta, pieces);
        }
        if let Some(finish) = choice.finish_reason.filter(|finish| !finish.is_empty()) {
            pieces.push(stop(&finish));
        }
    }
    if let Some(usage) = usage {
        if let Some(cost) = usage.cost.as_ref().and_then(Value::as_f64).and_then(Usd::reported) {
            pieces.push(Piece::Cost(cost));
        }
        pieces.push(Piece::Usage(Usage {
            input_tokens: usage.prompt_tokens,
            cached_input_tokens: usage
                .prompt_tokens_details
                .and_then(|details| details.cached_tokens)
                .or(usage.prompt_cache_hit_tokens),
            output_tokens: usage.completion_tokens,
            reasoning_tokens: usage.completion_tokens_details.and_then(|details| details.reasoning_tokens),
        }));
    }
    Ok(())
}

fn take_delta(delta: Delta<'_>, pieces: &mut Vec<Piece>) {
    let thoughts = [delta.reasoning_content, delta.reasoning];
    if thoughts.iter().flatten().any(|thought| !thought.is_blank()) {
        pieces.push(Piece::Thinking);
    }
    match delta.content {
        Some(Content::Text(text)) if !text.is_empty() => pieces.push(Piece::Text(text.into_owned())),
        Some(Content::Parts(parts)) => {
            for part in parts {
                match (part.kind.as_deref(), part.text) {
                    (Some("text"), Some(text)) if !text.is_empty() => pieces.push(Piece::Text(text)),
                    (Some("text"), _) => {}
                    _ => pieces.push(Piece::Thinking),
                }
            }
        }
        _ => {}
    }
    if let Some(refusal) = delta.refusal.filter(|refusal| !refusal.is_empty()) {
        pieces.push(Piece::Refusal(refusal));
    }
}

/// What a `finish_reason` means; besides the standard's own words those of servers that copy the format.
fn stop(finish: &str) -> Piece {
    match finish.to_ascii_lowercase().as_str() {
        "stop" | "eos" | "eos_token" | "end_turn" | "stop_sequence" | "complete" | "completed" => {
            Piece::Stop(StopReason::Done)
        }
        "length" | "max_tokens" | "model_length" | "max_length" => Piece::Stop(StopReason::Length),
        "content_filter" | "safety" | "refusal" | "sensitive" => Piece::Stop(StopReason::Refused),
        "tool_calls" | "function_call" => Piece::tool_call(),
        // `error`, `insufficient_system_resource` and whatever comes next.
        other => Piece::unknown_stop(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(json: &str) -> Vec<Piece> {
        let mut pieces = Vec::new();
        Chat.event("", json.as_bytes(), &mut pieces).unwrap();
        pieces.retain(|piece| *piece != Piece::Begun);
        pieces
    }

    fn text(text: &str) -> Piece {
        Piece::Text(text.to_owned())
    }

    #[test]
    fn text_and_stop_of_one_chunk_keep_their_order() {
        let json = r#"{"choices":[{"index":0,"delta":{"content":"a\n\u00e9"},"finish_reason":"stop"}]}"#;
        assert_eq!(pieces(json), [text("a\né"), Piece::Stop(StopReason::Done)]);
    }

    #[test]
    fn an_empty_first_chunk_counts_as_begun() {
        let mut pieces = Vec::new();
        Chat.event("", br#"{"choices":[{"delta":{"role":"assistant","content":""}}]}"#, &mut pieces).unwrap();
        assert_eq!(pieces, [Piece::Begun]);
    }

    #[test]
    fn reasoning_is_kept_out_in_every_spelling() {
        for delta in [
            r#"{"reasoning_content":"hm","content":null}"#,
            r#"{"reasoning":"hm","content":""}"#,
            r#"{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]}"#,
        ] {
            assert_eq!(pieces(&format!(r#"{{"choices":[{{"delta":{delta}}}]}}"#)), [Piece::Thinking], "{delta}");
        }
        let parts = r#"{"choices":[{"delta":{"content":[{"type":"text","text":"yes"}]}}]}"#;
        assert_eq!(pieces(parts), [text("yes")]);
    }

    #[test]
    fn a_second_choice_is_not_woven_into_the_answer() {
        let json = r#"{"choices":[{"index":1,"delta":{"content":"no"}},{"index":0,"delta":{"content":"yes"}}]}"#;
        assert_eq!(pieces(json), [text("yes")]);
    }

    #[test]
    fn usage_is_read_with_its_details_and_unknown_stays_unknown() {
        let json = r#"{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":5,"cost":0.25,
            "prompt_tokens_details":{"cached_tokens":3},"completion_tokens_details":{"reasoning_tokens":2}}}"#;
        let usage = Usage {
            input_tokens: Some(7),
            cached_input_tokens: Some(3),
            output_tokens: Some(5),
            reasoning_tokens: Some(2),
        };
        assert_eq!(pieces(json), [Piece::Cost(Usd::from_nanos(250_000_000)), Piece::Usage(usage)]);
        assert_eq!(pieces(r#"{"choices":[],"usage":{}}"#), [Piece::Usage(Usage::default())]);
    }

    #[test]
    fn an_error_inside_the_stream_is_one() {
        for json in [
            r#"{"error":{"message":"m","code":429}}"#,
            r#"{"choices":[{"delta":{"content":"x"},"finish_reason":"error"}],"error":{"message":"m","code":429}}"#,
            r#"{"choices":[{"error":{"message":"m","code":429}}]}"#,
            r#"[{"error":{"message":"m","code":429}}]"#,
        ] {
            let stated = Stated { message: "m".to_owned(), status: Some(429), ..Stated::default() };
            assert_eq!(pieces(json), [Piece::Error(stated)], "{json}");
        }
        let mut named = Vec::new();
        Chat.event("error", b"it broke", &mut named).unwrap();
        assert_eq!(named, [Piece::Error(Stated::plain("it broke"))]);
    }

    #[test]
    fn stops_are_told_apart_and_an_unknown_one_is_no_success() {
        assert_eq!(stop("length"), Piece::Stop(StopReason::Length));
        assert_eq!(stop("content_filter"), Piece::Stop(StopReason::Refused));
        for finish in ["tool_calls", "error", "something_new"] {
            assert!(matches!(stop(finish), Piece::Broken(_)), "{finish}");
        }
    }

    #[test]
    fn a_frame_of_the_servers_own_is_skipped_and_nonsense_is_refused() {
        assert_eq!(pieces(r#"{"type":"ping"}"#), []);
        assert_eq!(pieces(r#"{"error":null,"choices":[]}"#), []);
        assert!(Chat.event("", b"{\"choices\": [", &mut Vec::new()).is_err());
    }
}
