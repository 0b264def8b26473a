//! `ollama-chat`: Ollama's own chat, one JSON object per line. The last one has `"done": true`.
//!
//! Ollama cuts a prompt that does not fit, and drops the oldest text when an answer outgrows its context, both without
//! a word. It is told to do neither: then the one is an error, and the other a stop for length.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::adapter::{nested, object};
use super::{Adapter, Decoder, Malformed, Optional, Piece};
use crate::session::slot::{StopReason, Usage};
use crate::slots::http::Request;
use crate::slots::http::events::Framing;
use crate::slots::http::failure::Stated;

/// The adapter.
pub(super) struct OllamaChat;

impl Adapter for OllamaChat {
    fn path(&self, _model: &str) -> String {
        "api/chat".to_owned()
    }

    fn framing(&self) -> Framing {
        Framing::JsonLines
    }

    fn body(&self, request: &Request<'_>) -> Map<String, Value> {
        let settings = request.settings;
        let mut messages = Vec::new();
        if let Some(system) = &settings.system {
            messages.push(json!({"role": "system", "content": system}));
        }
        messages.extend(request.plain_messages());
        let schema = request.schema.filter(|_| request.provider.json_schema);
        let options = nested([
            // Without it Ollama takes a context of its own choosing, 4096 tokens on small machines.
            ("num_ctx", settings.context.map(Value::from)),
            ("num_predict", settings.max_tokens.map(Value::from)),
            ("temperature", settings.temperature.map(Value::from)),
            ("top_p", settings.top_p.map(Value::from)),
            ("seed", settings.seed.map(Value::from)),
        ]);
        object([
            ("model", Some(json!(request.model))),
            ("messages", Some(Value::Array(messages))),
            ("stream", Some(json!(true))),
            ("truncate", Some(json!(false))),
            ("shift", Some(json!(false))),
            ("think", settings.reasoning_effort.as_deref().map(think)),
            ("format", schema.map(|schema| schema.value.clone())),
            ("options", options),
        ])
    }

    fn optional(&self) -> &'static [Optional] {
        &[
            Optional { name: "reasoning_effort", paths: &[&["think"]], words: &["thinking"] },
            Optional { name: "temperature", paths: &[&["options", "temperature"]], words: &[] },
            Optional { name: "top_p", paths: &[&["options", "top_p"]], words: &[] },
            Optional { name: "seed", paths: &[&["options", "seed"]], words: &[] },
            Optional { name: "max_tokens", paths: &[&["options", "num_predict"]], words: &[] },
            Optional { name: "context", paths: &[&["options", "num_ctx"]], words: &[] },
            Optional {
                name: "json_schema",
                paths: &[&["format"]],
                words: &["grammar", "schema", "structured outputs"],
            },
        ]
    }

    fn instead(&self, name: &str, value: &Value, refusal: &Stated) -> Option<(&'static [&'static str], Value)> {
        // Most models only know whether they think, not how much.
        let only_whether = name == "reasoning_effort" && value.is_string() && refusal.message.contains("think value");
        only_whether.then(|| (&["think"][..], json!(true)))
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(Chat)
    }
}

/// `none` turns thinking off; other words are Ollama's own (`low`, `medium`, `high`, ..).
fn think(effort: &str) -> Value {
    match effort {
        "none" | "false" => json!(false),
        "true" => json!(true),
        level => json!(level),
    }
}

/// Lines hold no state between them: the answer is the sum of its pieces.
struct Chat;

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(default, borrow)]
    message: Option<Message<'a>>,
    #[serde(default)]
    done: bool,
    #[serde(default)]
    done_reason: Option<String>,
    #[serde(default)]
    prompt_eval_count: Option<u64>,
    #[serde(default)]
    prompt_eval_cached_count: Option<u64>,
    #[serde(default)]
    eval_count: Option<u64>,
    #[serde(default)]
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(default, borrow)]
    content: Option<Cow<'a, str>>,
    #[serde(default, borrow)]
    thinking: Option<Cow<'a, str>>,
    #[serde(default)]
    tool_calls: Option<Vec<serde::de::IgnoredAny>>,
}

impl Decoder for Chat {
    fn event(&mut self, _name: &str, data: &[u8], pieces: &mut Vec<Piece>) -> Result<(), Malformed> {
        let line: Line<'_> = serde_json::from_slice(data).map_err(|error| Malformed::of(&error, data))?;
        if let Some(error) = line.error.filter(|error| !error.is_null()) {
            pieces.push(Piece::Error(Stated::of_error(&error)));
            return Ok(());
        }
        if let Some(message) = line.message {
            pieces.push(Piece::Begun);
            if message.thinking.is_some_and(|thought| !thought.is_empty()) {
                pieces.push(Piece::Thinking);
            }
            if let Some(text) = message.content.filter(|text| !text.is_empty()) {
                pieces.push(Piece::Text(text.into_owned()));
            }
            if message.tool_calls.is_some_and(|calls| !calls.is_empty()) {
                pieces.push(Piece::tool_call());
            }
        }
        if line.done {
            pieces.push(Piece::Usage(Usage {
                input_tokens: line.prompt_eval_count,
                cached_input_tokens: line.prompt_eval_cached_count,
                output_tokens: line.eval_count,
                reasoning_tokens: None,
            }));
            pieces.push(match line.done_reason.as_deref() {
                // Old servers give no reason.
                None | Some("" | "stop") => Piece::Stop(StopReason::Done),
                Some("length") => Piece::Stop(StopReason::Length),
                Some(other) => Piece::unknown_stop(other),
            });
            pieces.push(Piece::End);
        }
        Ok(())
    }

    fn whole(&mut self, body: &[u8], pieces: &mut Vec<Piece>) -> Result<(), Malformed> {
        self.event("", body, pieces)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(line: &Value) -> Vec<Piece> {
        let mut pieces = Vec::new();
        Chat.event("", line.to_string().as_bytes(), &mut pieces).unwrap();
        pieces.retain(|piece| *piece != Piece::Begun);
        pieces
    }

    #[test]
    fn lines_are_thinking_text_and_an_end_with_its_usage() {
        let message =
            |content: &str, thinking: &str| json!({"role": "assistant", "content": content, "thinking": thinking});
        assert_eq!(pieces(&json!({"message": message("", "hm"), "done": false})), [Piece::Thinking]);
        assert_eq!(pieces(&json!({"message": message("Grüße", ""), "done": false})), [Piece::Text("Grüße".to_owned())]);
        let last = json!({"message": message("", ""), "done": true, "done_reason": "stop", "total_duration": 1,
            "prompt_eval_count": 40, "prompt_eval_cached_count": 32, "eval_count": 5});
        let usage = Usage {
            input_tokens: Some(40),
            cached_input_tokens: Some(32),
            output_tokens: Some(5),
            reasoning_tokens: None,
        };
        assert_eq!(pieces(&last), [Piece::Usage(usage), Piece::Stop(StopReason::Done), Piece::End]);
    }

    #[test]
    fn each_end_has_its_meaning() {
        let end = |reason: Value| pieces(&json!({"done": true, "done_reason": reason}))[1].clone();
        assert_eq!(end(json!("length")), Piece::Stop(StopReason::Length));
        assert_eq!(end(Value::Null), Piece::Stop(StopReason::Done));
        assert_eq!(end(json!("load")), Piece::unknown_stop("load"));
        let call = json!({"message": {"content": "", "tool_calls": [{"function": {"name": "x"}}]}, "done": false});
        assert_eq!(pieces(&call), [Piece::tool_call()]);
    }

    #[test]
    fn an_error_line_is_one_and_nonsense_is_refused() {
        assert_eq!(
            pieces(&json!({"error": "model 'x' not found"})),
            [Piece::Error(Stated::plain("model 'x' not found"))]
        );
        assert_eq!(pieces(&json!({"status": "something new"})), []);
        assert!(Chat.event("", b"{\"message\":", &mut Vec::new()).is_err());
    }

    #[test]
    fn an_effort_is_a_level_or_whether_to_think_at_all() {
        assert_eq!([think("none"), think("true"), think("high")], [json!(false), json!(true), json!("high")]);
    }
}
