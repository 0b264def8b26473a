//! `anthropic-messages`: Anthropic's Messages API, and servers that copy it.
//!
//! The last event is `message_stop`: the stop reason comes before it, and counts only once it came.

use std::borrow::Cow;

use reqwest::header::{HeaderName, HeaderValue, InvalidHeaderValue};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::adapter::{head, nested, object, sensitive};
use super::{Adapter, Decoder, Malformed, Optional, Piece};
use crate::config::ModelSettings;
use crate::session::slot::{StopReason, Usage};
use crate::slots::http::Request;
use crate::slots::http::failure::{Stated, readable};

/// `max_tokens` where the user sets none: the format requires one, reasoning included, and this is the largest that
/// every model since Claude Opus 4 takes.
const MAX_TOKENS: u64 = 32_000;

/// The adapter.
pub(super) struct AnthropicMessages;

impl Adapter for AnthropicMessages {
    fn path(&self, _model: &str) -> String {
        "messages".to_owned()
    }

    fn key_header(&self, key: &str) -> Result<(HeaderName, HeaderValue), InvalidHeaderValue> {
        sensitive(HeaderName::from_static("x-api-key"), key)
    }

    fn headers(&self) -> &'static [(&'static str, &'static str)] {
        &[("anthropic-version", "2023-06-01")]
    }

    fn body(&self, request: &Request<'_>) -> Map<String, Value> {
        let settings = request.settings;
        let (thinking, effort) = reasoning(settings);
        let format = request
            .schema
            .filter(|_| request.provider.json_schema)
            .map(|schema| json!({"type": "json_schema", "schema": without_bounds(&schema.value)}));
        object([
            ("model", Some(json!(request.model))),
            ("system", settings.system.clone().map(Value::from)),
            ("messages", Some(Value::Array(request.plain_messages()))),
            ("stream", Some(json!(true))),
            ("max_tokens", Some(json!(settings.max_tokens.unwrap_or(MAX_TOKENS)))),
            ("temperature", settings.temperature.map(Value::from)),
            ("top_p", settings.top_p.map(Value::from)),
            ("thinking", thinking),
            ("output_config", nested([("effort", effort), ("format", format)])),
        ])
    }

    fn lacks(&self) -> &'static [&'static str] {
        &["seed"]
    }

    fn optional(&self) -> &'static [Optional] {
        const {
            &[
                Optional::top(&[&["temperature"]]),
                Optional::top(&[&["top_p"]]),
                Optional {
                    name: "reasoning_effort",
                    paths: &[&["output_config", "effort"]],
                    words: &["output_config.effort"],
                },
                Optional { name: "reasoning_effort", ..Optional::top(&[&["thinking"]]) },
                Optional {
                    name: "json_schema",
                    paths: &[&["output_config", "format"]],
                    words: &[
                        "output_config",
                        "output format",
                        "structured output",
                        "structured outputs",
                        "json_schema",
                        "schema",
                    ],
                },
            ]
        }
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::<Messages>::default()
    }
}

/// `thinking` and the effort: an effort in words lets the model decide how much it thinks, a number is a budget of
/// tokens, and `none` turns thinking off.
fn reasoning(settings: &ModelSettings) -> (Option<Value>, Option<Value>) {
    let Some(effort) = &settings.reasoning_effort else { return (None, None) };
    match (effort.as_str(), effort.parse::<u64>()) {
        ("none", _) => (Some(json!({"type": "disabled"})), None),
        (_, Ok(budget)) => (Some(json!({"type": "enabled", "budget_tokens": budget})), None),
        _ => (Some(json!({"type": "adaptive"})), Some(json!(effort))),
    }
}

/// The schema without the bounds of numbers, which this format refuses; what is read checks them anyway.
fn without_bounds(schema: &Value) -> Value {
    match schema {
        Value::Object(map) => {
            let is_number = matches!(map.get("type").and_then(Value::as_str), Some("integer" | "number"));
            let bound = |key: &str| is_number && matches!(key, "minimum" | "maximum");
            map.iter()
                .filter(|(key, _)| !bound(key))
                .map(|(key, value)| (key.clone(), without_bounds(value)))
                .collect::<Map<_, _>>()
                .into()
        }
        Value::Array(list) => list.iter().map(without_bounds).collect::<Vec<_>>().into(),
        other => other.clone(),
    }
}

/// What has been said so far.
#[derive(Default)]
struct Messages {
    usage: RawUsage,
    stop: Option<String>,
    explanation: Option<String>,
}

#[derive(Deserialize)]
struct Head<'a> {
    #[serde(default, rename = "type", borrow)]
    kind: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Start {
    #[serde(default)]
    message: Option<Message>,
}

#[derive(Deserialize)]
struct BlockStart {
    #[serde(default)]
    content_block: Option<Block>,
}

#[derive(Deserialize)]
struct BlockDelta<'a> {
    #[serde(borrow)]
    delta: Delta<'a>,
}

#[derive(Deserialize)]
struct Delta<'a> {
    #[serde(default, rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(default, borrow)]
    text: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct MessageDelta {
    #[serde(default)]
    delta: Option<Ending>,
    #[serde(default)]
    usage: Option<RawUsage>,
}

#[derive(Deserialize)]
struct Ending {
    #[serde(default)]
    stop_reason: Option<String>,
    #[serde(default)]
    stop_details: Option<StopDetails>,
}

#[derive(Deserialize)]
struct StopDetails {
    #[serde(default)]
    explanation: Option<String>,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    content: Option<Vec<Block>>,
    #[serde(default)]
    usage: Option<RawUsage>,
    #[serde(flatten)]
    ending: Ending,
}

#[derive(Deserialize)]
struct Block {
    #[serde(default, rename = "type")]
    kind: String,
    #[serde(default)]
    text: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RawUsage {
    input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    output_tokens_details: Option<OutputDetails>,
}

#[derive(Deserialize)]
struct OutputDetails {
    #[serde(default)]
    thinking_tokens: Option<u64>,
}

impl Decoder for Messages {
    fn event(&mut self, name: &str, data: &[u8], pieces: &mut Vec<Piece>) -> Result<(), Malformed> {
        let data = data.trim_ascii();
        if data.is_empty() || data == b"[DONE]" {
            return Ok(());
        }
        let Some(head) = head::<Head<'_>>(name, data, pieces)? else { return Ok(()) };
        match head.kind.as_deref().unwrap_or(name) {
            "content_block_delta" => {
                let delta = parse::<BlockDelta<'_>>(data)?.delta;
                match (&*delta.kind, delta.text) {
                    ("text_delta", Some(text)) if !text.is_empty() => pieces.push(Piece::Text(text.into_owned())),
                    ("thinking_delta" | "signature_delta", _) => pieces.push(Piece::Thinking),
                    _ => {}
                }
            }
            "content_block_start" => {
                if let Some(block) = parse::<BlockStart>(data)?.content_block {
                    pieces.push(Piece::Begun);
                    take_block(block, pieces);
                }
            }
            "message_start" => {
                let usage = parse::<Start>(data)?.message.and_then(|message| message.usage);
                self.usage(usage, pieces);
            }
            "message_delta" => {
                let event: MessageDelta = parse(data)?;
                if let Some(ending) = event.delta {
                    self.ending(ending);
                }
                self.usage(event.usage, pieces);
            }
            "message_stop" => self.end(pieces),
            // `ping`, `content_block_stop` and whatever comes next mean nothing here; an error may come without a type.
            kind => {
                let stated = || serde_json::from_slice(data).ok().as_ref().and_then(Stated::in_value);
                match stated().filter(|_| matches!(kind, "error" | "")) {
                    Some(stated) => pieces.push(Piece::Error(stated)),
                    None if kind == "error" => pieces.push(Piece::Error(Stated::plain(readable(data)))),
                    None => {}
                }
            }
        }
        Ok(())
    }

    fn whole(&mut self, body: &[u8], pieces: &mut Vec<Piece>) -> Result<(), Malformed> {
        let value: Value = parse(body)?;
        if value.get("content").is_none()
            && let Some(stated) = Stated::in_value(&value)
        {
            pieces.push(Piece::Error(stated));
            return Ok(());
        }
        let message: Message = parse(body)?;
        pieces.push(Piece::Begun);
        for block in message.content.unwrap_or_default() {
            take_block(block, pieces);
        }
        self.ending(message.ending);
        self.usage(message.usage, pieces);
        self.end(pieces);
        Ok(())
    }
}

impl Messages {
    /// The end of the stream tells only what it knows anew.
    fn usage(&mut self, usage: Option<RawUsage>, pieces: &mut Vec<Piece>) {
        let Some(new) = usage else { return };
        let old = &mut self.usage;
        old.input_tokens = new.input_tokens.or(old.input_tokens);
        old.cache_creation_input_tokens = new.cache_creation_input_tokens.or(old.cache_creation_input_tokens);
        old.cache_read_input_tokens = new.cache_read_input_tokens.or(old.cache_read_input_tokens);
        old.output_tokens = new.output_tokens.or(old.output_tokens);
        old.output_tokens_details = new.output_tokens_details.or(old.output_tokens_details.take());
        let (written, read) = (old.cache_creation_input_tokens, old.cache_read_input_tokens);
        pieces.push(Piece::Usage(Usage {
            // The format counts the three apart.
            input_tokens: old.input_tokens.map(|tokens| tokens + written.unwrap_or(0) + read.unwrap_or(0)),
            cached_input_tokens: read,
            output_tokens: old.output_tokens,
            reasoning_tokens: old.output_tokens_details.as_ref().and_then(|details| details.thinking_tokens),
        }));
    }

    fn ending(&mut self, ending: Ending) {
        self.explanation = ending.stop_details.and_then(|details| details.explanation).or(self.explanation.take());
        self.stop = ending.stop_reason.or(self.stop.take());
    }

    fn end(&mut self, pieces: &mut Vec<Piece>) {
        match self.stop.as_deref() {
            None | Some("end_turn" | "stop_sequence") => pieces.push(Piece::Stop(StopReason::Done)),
            Some("max_tokens" | "model_context_window_exceeded") => pieces.push(Piece::Stop(StopReason::Length)),
            Some("refusal") => {
                let words = self.explanation.take().filter(|words| !words.trim().is_empty());
                pieces.push(words.map_or(Piece::Stop(StopReason::Refused), Piece::Refusal));
            }
            Some("tool_use") => pieces.push(Piece::tool_call()),
            Some(other) => pieces.push(Piece::unknown_stop(other)),
        }
        pieces.push(Piece::End);
    }
}

fn take_block(block: Block, pieces: &mut Vec<Piece>) {
    match (block.kind.as_str(), block.text) {
        ("text", Some(text)) if !text.is_empty() => pieces.push(Piece::Text(text)),
        ("thinking" | "redacted_thinking", _) => pieces.push(Piece::Thinking),
        _ => {}
    }
}

fn parse<'a, T: Deserialize<'a>>(data: &'a [u8]) -> Result<T, Malformed> {
    serde_json::from_slice(data).map_err(|error| Malformed::of(&error, data))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(events: &[Value]) -> Vec<Piece> {
        let mut decoder = Messages::default();
        let mut pieces = Vec::new();
        for event in events {
            decoder.event("", event.to_string().as_bytes(), &mut pieces).unwrap();
        }
        pieces.retain(|piece| *piece != Piece::Begun);
        pieces
    }

    fn stopped(reason: &str) -> Vec<Piece> {
        pieces(&[json!({"type": "message_delta", "delta": {"stop_reason": reason}}), json!({"type": "message_stop"})])
    }

    #[test]
    fn a_stream_is_text_thinking_usage_and_an_end() {
        let said = pieces(&[
            json!({"type": "message_start", "message": {"content": [], "stop_reason": null, "usage":
                {"input_tokens": 3, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 100, "output_tokens": 1}}}),
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}}),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "hm"}}),
            json!({"type": "ping"}),
            json!({"type": "content_block_stop", "index": 0}),
            json!({"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}}),
            json!({"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "Grüße"}}),
            json!({"type": "content_block_delta", "index": 1, "delta": {"type": "citations_delta", "citation": {}}}),
            json!({"type": "something_new", "delta": 3}),
            json!({"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": null},
                "usage": {"output_tokens": 40, "output_tokens_details": {"thinking_tokens": 30}}}),
            json!({"type": "message_stop"}),
        ]);
        let usage = |output_tokens, reasoning_tokens| {
            Piece::Usage(Usage {
                input_tokens: Some(123),
                cached_input_tokens: Some(100),
                output_tokens: Some(output_tokens),
                reasoning_tokens,
            })
        };
        let expected = [
            usage(1, None),
            Piece::Thinking,
            Piece::Thinking,
            Piece::Text("Grüße".to_owned()),
            usage(40, Some(30)),
            Piece::Stop(StopReason::Done),
            Piece::End,
        ];
        assert_eq!(said, expected);
    }

    #[test]
    fn a_stop_counts_only_with_the_last_event() {
        assert_eq!(pieces(&[json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}})]), []);
    }

    #[test]
    fn each_stop_has_its_meaning() {
        assert_eq!(stopped("end_turn"), [Piece::Stop(StopReason::Done), Piece::End]);
        assert_eq!(stopped("stop_sequence"), [Piece::Stop(StopReason::Done), Piece::End]);
        assert_eq!(stopped("max_tokens"), [Piece::Stop(StopReason::Length), Piece::End]);
        assert_eq!(stopped("model_context_window_exceeded"), [Piece::Stop(StopReason::Length), Piece::End]);
        assert_eq!(stopped("refusal"), [Piece::Stop(StopReason::Refused), Piece::End]);
        assert_eq!(stopped("tool_use"), [Piece::tool_call(), Piece::End]);
        assert_eq!(stopped("pause_turn"), [Piece::unknown_stop("pause_turn"), Piece::End]);
        let explained = json!({"type": "message_delta", "delta": {"stop_reason": "refusal",
            "stop_details": {"type": "refusal", "category": "bio", "explanation": "No."}}});
        assert_eq!(pieces(&[explained, json!({"type": "message_stop"})])[0], Piece::Refusal("No.".to_owned()));
    }

    #[test]
    fn an_error_in_the_stream_is_one() {
        let stated = Stated { kinds: vec!["overloaded_error".to_owned()], ..Stated::plain("Overloaded") };
        for event in [
            json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
            json!({"error": {"type": "overloaded_error", "message": "Overloaded"}}),
        ] {
            assert_eq!(pieces(&[event]), [Piece::Error(stated.clone())]);
        }
        assert!(Messages::default().event("", b"{", &mut Vec::new()).is_err());
    }

    #[test]
    fn an_answer_that_came_whole_is_read() {
        let body = json!({"type": "message", "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "yes"}],
            "stop_reason": "max_tokens", "usage": {"input_tokens": 1, "output_tokens": 2}});
        let mut pieces = Vec::new();
        Messages::default().whole(body.to_string().as_bytes(), &mut pieces).unwrap();
        assert_eq!(pieces[1..3], [Piece::Thinking, Piece::Text("yes".to_owned())]);
        assert_eq!(pieces[4..], [Piece::Stop(StopReason::Length), Piece::End]);
    }

    #[test]
    fn an_effort_in_words_is_adaptive_a_number_a_budget_and_none_is_off() {
        let of = |effort: &str| {
            reasoning(&ModelSettings { reasoning_effort: Some(effort.to_owned()), ..ModelSettings::default() })
        };
        assert_eq!(of("high"), (Some(json!({"type": "adaptive"})), Some(json!("high"))));
        assert_eq!(of("4096"), (Some(json!({"type": "enabled", "budget_tokens": 4096})), None));
        assert_eq!(of("none"), (Some(json!({"type": "disabled"})), None));
        assert_eq!(reasoning(&ModelSettings::default()), (None, None));
    }

    #[test]
    fn bounds_of_numbers_leave_the_schema_and_nothing_else_does() {
        let schema =
            json!({"type": "object", "properties": {"minimum": {"type": "integer", "minimum": 1, "maximum": 9}}});
        let kept = json!({"type": "object", "properties": {"minimum": {"type": "integer"}}});
        assert_eq!(without_bounds(&schema), kept);
    }
}
