//! `gemini-generate`: Google's `streamGenerateContent`.
//!
//! Every event is a whole response with a piece of the text. There is no event that only says that the stream is over:
//! the answer is done when a candidate has a `finishReason`, and what follows (the usage) is waited for until the
//! connection ends.

use std::borrow::Cow;

use reqwest::header::{HeaderName, HeaderValue, InvalidHeaderValue};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value, json};

use super::adapter::{nested, object, sensitive};
use super::{Adapter, Decoder, Malformed, Optional, Piece};
use crate::session::slot::{StopReason, Usage};
use crate::slots::http::Request;
use crate::slots::http::exchange::Said;
use crate::slots::http::failure::{Stated, readable};

/// Budgets of reasoning, in tokens, for models that take a number instead of a level: those by which Google's own
/// OpenAI-compatible endpoint translates the words.
const BUDGETS: [(&str, u64); 4] = [("minimal", 1024), ("low", 1024), ("medium", 8192), ("high", 24_576)];

/// The adapter.
pub(super) struct GeminiGenerate;

impl Adapter for GeminiGenerate {
    fn path(&self, model: &str) -> String {
        // `models/x` and `tunedModels/x` are full names.
        let kind = if model.contains('/') { "" } else { "models/" };
        format!("{kind}{model}:streamGenerateContent")
    }

    fn query(&self) -> Option<(&'static str, &'static str)> {
        // Without it the answer is one JSON list.
        Some(("alt", "sse"))
    }

    fn key_header(&self, key: &str) -> Result<(HeaderName, HeaderValue), InvalidHeaderValue> {
        sensitive(HeaderName::from_static("x-goog-api-key"), key)
    }

    fn body(&self, request: &Request<'_>) -> Map<String, Value> {
        let settings = request.settings;
        let schema = request.schema.filter(|_| request.provider.json_schema);
        let config = nested([
            ("temperature", settings.temperature.map(Value::from)),
            ("topP", settings.top_p.map(Value::from)),
            ("seed", settings.seed.map(Value::from)),
            ("maxOutputTokens", settings.max_tokens.map(Value::from)),
            ("responseMimeType", schema.map(|_| json!("application/json"))),
            ("responseJsonSchema", schema.map(|schema| schema.value.clone())),
            ("thinkingConfig", settings.reasoning_effort.as_deref().map(thinking)),
        ]);
        object([
            ("systemInstruction", settings.system.as_ref().map(|system| json!({"parts": [{"text": system}]}))),
            ("contents", Some(request.messages().map(content).collect())),
            ("generationConfig", config),
        ])
    }

    fn optional(&self) -> &'static [Optional] {
        &[
            Optional { name: "temperature", paths: &[&["generationConfig", "temperature"]], words: &[] },
            Optional { name: "top_p", paths: &[&["generationConfig", "topP"]], words: &["top_p"] },
            Optional { name: "seed", paths: &[&["generationConfig", "seed"]], words: &[] },
            Optional {
                name: "max_tokens",
                paths: &[&["generationConfig", "maxOutputTokens"]],
                words: &["max_output_tokens"],
            },
            Optional {
                name: "reasoning_effort",
                paths: &[&["generationConfig", "thinkingConfig"]],
                words: &[
                    "thinking_config",
                    "thinkinglevel",
                    "thinkingbudget",
                    "thinking level",
                    "thinking budget",
                    "thinking",
                ],
            },
            Optional {
                name: "json_schema",
                paths: &[&["generationConfig", "responseJsonSchema"], &["generationConfig", "responseMimeType"]],
                words: &["response_json_schema", "response_schema", "response_mime_type", "json mode", "schema"],
            },
        ]
    }

    fn instead(&self, name: &str, value: &Value, _refusal: &Stated) -> Option<(&'static [&'static str], Value)> {
        let level = value.get("thinkingLevel").and_then(Value::as_str).filter(|_| name == "reasoning_effort")?;
        let (_, budget) = BUDGETS.iter().find(|(word, _)| level.eq_ignore_ascii_case(word))?;
        Some((&["generationConfig", "thinkingConfig"], json!({"thinkingBudget": budget})))
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::<Generate>::default()
    }
}

/// One message of a conversation.
fn content((said, text): (Said, &str)) -> Value {
    let role = match said {
        Said::ByUs => "user",
        Said::ByTheModel => "model",
    };
    json!({"role": role, "parts": [{"text": text}]})
}

/// A number is a budget of tokens (-1 lets the model decide), `none` is a budget of 0, a word is a level.
fn thinking(effort: &str) -> Value {
    match (effort, effort.parse::<i64>()) {
        ("none", _) => json!({"thinkingBudget": 0}),
        (_, Ok(budget)) => json!({"thinkingBudget": budget}),
        _ => json!({"thinkingLevel": effort}),
    }
}

/// What has been said so far.
#[derive(Default)]
struct Generate;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Chunk<'a> {
    #[serde(default, borrow)]
    candidates: Option<Vec<Candidate<'a>>>,
    #[serde(default)]
    prompt_feedback: Option<Feedback>,
    #[serde(default)]
    usage_metadata: Option<RawUsage>,
    #[serde(default)]
    error: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate<'a> {
    #[serde(default)]
    index: Option<u64>,
    #[serde(default, borrow)]
    content: Option<Content<'a>>,
    #[serde(default)]
    finish_reason: Option<String>,
    #[serde(default)]
    finish_message: Option<String>,
}

#[derive(Deserialize)]
struct Content<'a> {
    #[serde(default, borrow)]
    parts: Option<Vec<Part<'a>>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part<'a> {
    #[serde(default, borrow)]
    text: Option<Cow<'a, str>>,
    #[serde(default)]
    thought: Option<bool>,
    #[serde(default)]
    function_call: Option<IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Feedback {
    #[serde(default)]
    block_reason: Option<String>,
    #[serde(default)]
    block_reason_message: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawUsage {
    #[serde(default)]
    prompt_token_count: Option<u64>,
    #[serde(default)]
    cached_content_token_count: Option<u64>,
    #[serde(default)]
    candidates_token_count: Option<u64>,
    #[serde(default)]
    thoughts_token_count: Option<u64>,
}

impl Decoder for Generate {
    fn event(&mut self, name: &str, data: &[u8], pieces: &mut Vec<Piece>) -> Result<(), Malformed> {
        let data = data.trim_ascii();
        if data.is_empty() || data == b"[DONE]" {
            return Ok(());
        }
        match serde_json::from_slice(data) {
            Ok(chunk) => take(chunk, pieces),
            Err(error) => match serde_json::from_slice(data).ok().as_ref().and_then(Stated::in_value) {
                Some(stated) => pieces.push(Piece::Error(stated)),
                None if name == "error" => pieces.push(Piece::Error(Stated::plain(readable(data)))),
                None => return Err(Malformed::of(&error, data)),
            },
        }
        Ok(())
    }

    /// One response, or the list of all that the stream would have been.
    fn whole(&mut self, body: &[u8], pieces: &mut Vec<Piece>) -> Result<(), Malformed> {
        match serde_json::from_slice::<Vec<Chunk<'_>>>(body) {
            Ok(list) => list.into_iter().for_each(|chunk| take(chunk, pieces)),
            Err(_) => self.event("", body, pieces)?,
        }
        Ok(())
    }
}

fn take(chunk: Chunk<'_>, pieces: &mut Vec<Piece>) {
    if let Some(error) = chunk.error.filter(|error| !error.is_null()) {
        pieces.push(Piece::Error(Stated::of_error(&error)));
        return;
    }
    if let Some(usage) = chunk.usage_metadata {
        let (text, thoughts) = (usage.candidates_token_count, usage.thoughts_token_count);
        pieces.push(Piece::Usage(Usage {
            input_tokens: usage.prompt_token_count,
            cached_input_tokens: usage.cached_content_token_count,
            // The format counts the two apart.
            output_tokens: text.or(thoughts).map(|_| text.unwrap_or(0) + thoughts.unwrap_or(0)),
            reasoning_tokens: thoughts,
        }));
    }
    let feedback =
        chunk.prompt_feedback.and_then(|feedback| Some((feedback.block_reason?, feedback.block_reason_message)));
    if let Some((reason, message)) = feedback {
        pieces.push(Piece::Refusal(blocked("the prompt was blocked", &reason, message)));
    }
    // One answer was asked for; a second candidate would be woven into it.
    for candidate in chunk.candidates.into_iter().flatten().filter(|one| one.index.unwrap_or(0) == 0) {
        pieces.push(Piece::Begun);
        for part in candidate.content.and_then(|content| content.parts).into_iter().flatten() {
            match part.text {
                _ if part.function_call.is_some() => pieces.push(Piece::tool_call()),
                _ if part.thought == Some(true) => pieces.push(Piece::Thinking),
                Some(text) if !text.is_empty() => pieces.push(Piece::Text(text.into_owned())),
                _ => {}
            }
        }
        if let Some(reason) = candidate.finish_reason {
            pieces.extend(stop(&reason, candidate.finish_message));
        }
    }
}

/// What a `finishReason` means.
fn stop(reason: &str, message: Option<String>) -> Option<Piece> {
    match reason {
        "" | "FINISH_REASON_UNSPECIFIED" => None,
        "STOP" => Some(Piece::Stop(StopReason::Done)),
        "MAX_TOKENS" => Some(Piece::Stop(StopReason::Length)),
        "SAFETY"
        | "RECITATION"
        | "BLOCKLIST"
        | "PROHIBITED_CONTENT"
        | "SPII"
        | "MODEL_ARMOR"
        | "IMAGE_SAFETY"
        | "IMAGE_PROHIBITED_CONTENT"
        | "IMAGE_RECITATION" => Some(Piece::Refusal(blocked("the answer was blocked", reason, message))),
        "UNEXPECTED_TOOL_CALL" => Some(Piece::tool_call()),
        // `OTHER`, `LANGUAGE`, `MALFORMED_FUNCTION_CALL` and whatever comes next.
        other => Some(Piece::unknown_stop(other)),
    }
}

fn blocked(what: &str, reason: &str, message: Option<String>) -> String {
    let message = message.filter(|message| !message.trim().is_empty()).map(|message| format!(": {message}"));
    format!("{what} ({reason}){}", message.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(events: &[Value]) -> Vec<Piece> {
        let mut pieces = Vec::new();
        for event in events {
            Generate.event("", event.to_string().as_bytes(), &mut pieces).unwrap();
        }
        pieces.retain(|piece| *piece != Piece::Begun);
        pieces
    }

    fn text(text: &str) -> Piece {
        Piece::Text(text.to_owned())
    }

    fn finished(reason: &str) -> Vec<Piece> {
        pieces(&[json!({"candidates": [{"finishReason": reason}]})])
    }

    fn stream() -> [Value; 3] {
        [
            json!({"candidates": [{"content": {"role": "model", "parts": [{"text": "hm", "thought": true}, {"text": "Grü"}]},
                "index": 0}], "usageMetadata": {"promptTokenCount": 9}, "modelVersion": "m"}),
            json!({"candidates": [{"content": {"parts": [{"text": "ße"}]}, "index": 0}, {"index": 1, "content":
                {"parts": [{"text": "no"}]}}]}),
            json!({"candidates": [{"content": {"parts": [{"text": "", "thoughtSignature": "x"}]}, "finishReason": "STOP"}],
                "usageMetadata": {"promptTokenCount": 9, "cachedContentTokenCount": 4, "candidatesTokenCount": 2,
                "thoughtsTokenCount": 5, "totalTokenCount": 16}}),
        ]
    }

    #[test]
    fn a_stream_is_text_thinking_usage_and_a_stop() {
        let early = Usage { input_tokens: Some(9), ..Usage::default() };
        let last = Usage {
            input_tokens: Some(9),
            cached_input_tokens: Some(4),
            output_tokens: Some(7),
            reasoning_tokens: Some(5),
        };
        let expected = [
            Piece::Usage(early),
            Piece::Thinking,
            text("Grü"),
            text("ße"),
            Piece::Usage(last),
            Piece::Stop(StopReason::Done),
        ];
        assert_eq!(pieces(&stream()), expected);
        let mut whole = Vec::new();
        Generate.whole(json!(stream()).to_string().as_bytes(), &mut whole).unwrap();
        whole.retain(|piece| *piece != Piece::Begun);
        assert_eq!(whole, expected, "as one list");
    }

    #[test]
    fn each_finish_has_its_meaning() {
        assert_eq!(finished("MAX_TOKENS"), [Piece::Stop(StopReason::Length)]);
        for reason in ["SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"] {
            assert_eq!(finished(reason), [Piece::Refusal(format!("the answer was blocked ({reason})"))]);
        }
        for reason in ["OTHER", "LANGUAGE", "MALFORMED_FUNCTION_CALL", "SOMETHING_NEW"] {
            assert_eq!(finished(reason), [Piece::unknown_stop(reason)]);
        }
        let call = json!({"candidates": [{"content": {"parts": [{"functionCall": {"name": "x"}}]}}]});
        assert_eq!(pieces(&[call]), [Piece::tool_call()]);
    }

    #[test]
    fn a_blocked_prompt_is_refused_in_its_own_words() {
        let said = pieces(&[json!({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": {}})]);
        let refusal = Piece::Refusal("the prompt was blocked (PROHIBITED_CONTENT)".to_owned());
        assert_eq!(said, [Piece::Usage(Usage::default()), refusal]);
    }

    #[test]
    fn an_error_in_the_stream_is_one_and_unknown_chunks_are_skipped() {
        let error = json!({"error": {"code": 503, "message": "busy", "status": "UNAVAILABLE"}});
        let stated = Stated { kinds: vec!["UNAVAILABLE".to_owned()], status: Some(503), ..Stated::plain("busy") };
        assert_eq!(pieces(std::slice::from_ref(&error)), [Piece::Error(stated.clone())]);
        assert_eq!(pieces(&[json!([error])]), [Piece::Error(stated)]);
        assert_eq!(pieces(&[json!({"responseId": "x"})]), []);
        assert!(Generate.event("", b"{\"candidates\": 3}", &mut Vec::new()).is_err());
    }

    #[test]
    fn an_effort_is_a_level_in_words_and_a_budget_in_numbers() {
        for (effort, config) in [
            ("low", json!({"thinkingLevel": "low"})),
            ("512", json!({"thinkingBudget": 512})),
            ("-1", json!({"thinkingBudget": -1})),
            ("none", json!({"thinkingBudget": 0})),
        ] {
            assert_eq!(thinking(effort), config);
        }
    }

    #[test]
    fn full_names_of_models_are_kept() {
        assert_eq!(GeminiGenerate.path("gemini-2.5-pro"), "models/gemini-2.5-pro:streamGenerateContent");
        assert_eq!(GeminiGenerate.path("tunedModels/x"), "tunedModels/x:streamGenerateContent");
    }
}
