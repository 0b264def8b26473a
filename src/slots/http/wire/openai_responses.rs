//! `openai-responses`: OpenAI's Responses API, and servers that copy it.
//!
//! Its stream tells every text twice: in pieces, and again whole when a part, an item and the response are done. The
//! whole forms count only where no piece came. The last event is `response.completed`, `response.incomplete` or
//! `response.failed`.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::adapter::{head, nested, object};
use super::{Adapter, Decoder, Malformed, Optional, Piece};
use crate::session::slot::{StopReason, Usage};
use crate::slots::http::Request;
use crate::slots::http::failure::{Stated, readable};

/// The adapter.
pub(super) struct OpenaiResponses;

impl Adapter for OpenaiResponses {
    fn path(&self, _model: &str) -> String {
        "responses".to_owned()
    }

    fn body(&self, request: &Request<'_>) -> Map<String, Value> {
        let settings = request.settings;
        let format = request
            .schema
            .filter(|_| request.provider.json_schema)
            .map(|schema| json!({"type": "json_schema", "name": schema.name, "strict": true, "schema": schema.value}));
        object([
            ("model", Some(json!(request.model))),
            ("instructions", settings.system.clone().map(Value::from)),
            ("input", Some(input(request))),
            ("stream", Some(json!(true))),
            // Nothing is asked about a response later: the provider need not keep it.
            ("store", Some(json!(false))),
            ("temperature", settings.temperature.map(Value::from)),
            ("top_p", settings.top_p.map(Value::from)),
            ("max_output_tokens", settings.max_tokens.map(Value::from)),
            ("reasoning", nested([("effort", settings.reasoning_effort.clone().map(Value::from))])),
            ("text", nested([("format", format)])),
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
                Optional { name: "max_tokens", ..Optional::top(&[&["max_output_tokens"]]) },
                Optional {
                    name: "reasoning_effort",
                    paths: &[&["reasoning", "effort"]],
                    words: &["reasoning.effort", "reasoning effort", "reasoning"],
                },
                Optional {
                    name: "json_schema",
                    paths: &[&["text", "format"]],
                    words: &[
                        "text.format",
                        "json_schema",
                        "json schema",
                        "structured output",
                        "structured outputs",
                        "grammar",
                    ],
                },
                Optional::top(&[&["store"]]),
            ]
        }
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::<Responses>::default()
    }
}

/// The prompt alone, or the messages of a conversation: the provider stores nothing that could be referred to.
fn input(request: &Request<'_>) -> Value {
    if request.history.is_empty() { json!(request.prompt) } else { Value::Array(request.plain_messages()) }
}

/// What has been said so far.
#[derive(Default)]
struct Responses {
    /// The number of the last event; a repeated one carries it again.
    last: Option<u64>,
    /// Parts (item and part number) of which text came in pieces or whole.
    told: BTreeSet<(u64, u64)>,
    /// The item that the last text belongs to.
    item: Option<u64>,
}

#[derive(Deserialize)]
struct Head<'a> {
    #[serde(default, rename = "type", borrow)]
    kind: Option<Cow<'a, str>>,
    #[serde(default)]
    sequence_number: Option<u64>,
}

/// The events that carry text, whole or in pieces.
#[derive(Deserialize)]
struct Part<'a> {
    #[serde(default)]
    output_index: u64,
    #[serde(default)]
    content_index: u64,
    #[serde(default, borrow)]
    delta: Option<Cow<'a, str>>,
    #[serde(default, borrow)]
    text: Option<Cow<'a, str>>,
    #[serde(default, borrow)]
    refusal: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct WithItem<'a> {
    #[serde(default)]
    output_index: u64,
    #[serde(borrow)]
    item: &'a RawValue,
}

#[derive(Deserialize)]
struct WithResponse<'a> {
    #[serde(borrow)]
    response: &'a RawValue,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Response {
    status: Option<String>,
    error: Option<Value>,
    incomplete_details: Option<Incomplete>,
    output: Option<Vec<Item>>,
    usage: Option<RawUsage>,
}

#[derive(Deserialize)]
struct Incomplete {
    #[serde(default)]
    reason: Option<String>,
}

#[derive(Deserialize)]
struct Item {
    #[serde(default, rename = "type")]
    kind: String,
    #[serde(default)]
    content: Option<Vec<Content>>,
}

#[derive(Deserialize)]
struct Content {
    #[serde(default, rename = "type")]
    kind: String,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    refusal: Option<String>,
}

#[derive(Deserialize)]
struct RawUsage {
    #[serde(default)]
    input_tokens: Option<u64>,
    #[serde(default)]
    input_tokens_details: Option<InputDetails>,
    #[serde(default)]
    output_tokens: Option<u64>,
    #[serde(default)]
    output_tokens_details: Option<OutputDetails>,
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

impl Decoder for Responses {
    fn event(&mut self, name: &str, data: &[u8], pieces: &mut Vec<Piece>) -> Result<(), Malformed> {
        let data = data.trim_ascii();
        // Of some copies of the format; the event before it was the last one.
        if data.is_empty() || data == b"[DONE]" {
            return Ok(());
        }
        let Some(head) = head::<Head<'_>>(name, data, pieces)? else { return Ok(()) };
        // Some copies number every event 0.
        let number = head.sequence_number.filter(|number| *number > 0);
        if number.is_some() && number == self.last {
            return Ok(());
        }
        self.last = number.or(self.last);
        let kind = head.kind.as_deref().unwrap_or(name);
        match kind {
            "response.output_text.delta"
            | "response.refusal.delta"
            | "response.output_text.done"
            | "response.refusal.done" => self.part(kind, parse(data)?, pieces),
            "response.output_item.added" | "response.output_item.done" => {
                let event: WithItem<'_> = parse(data)?;
                let item: Item = parse(event.item.get().as_bytes())?;
                self.item(event.output_index, item, kind == "response.output_item.done", pieces);
            }
            "response.completed" | "response.incomplete" | "response.failed" | "response.cancelled" => {
                let event: WithResponse<'_> = parse(data)?;
                self.response(event.response.get().as_bytes(), kind.trim_start_matches("response."), pieces)?;
            }
            "response.created" | "response.in_progress" | "response.queued" => {}
            kind if kind.starts_with("response.reasoning") => pieces.push(Piece::Thinking),
            "error" => pieces.push(Piece::Error(error_in(data))),
            // A server that refuses in the shape of an error, without a type.
            "" => {
                pieces.extend(serde_json::from_slice(data).ok().as_ref().and_then(Stated::in_value).map(Piece::Error))
            }
            _ => {}
        }
        Ok(())
    }

    fn whole(&mut self, body: &[u8], pieces: &mut Vec<Piece>) -> Result<(), Malformed> {
        let value: Value = parse(body)?;
        if value.get("output").is_none()
            && let Some(stated) = Stated::in_value(&value)
        {
            pieces.push(Piece::Error(stated));
            return Ok(());
        }
        self.response(body, "completed", pieces)
    }
}

impl Responses {
    fn part(&mut self, kind: &str, part: Part<'_>, pieces: &mut Vec<Piece>) {
        let place = (part.output_index, part.content_index);
        let whole = kind.ends_with(".done");
        if whole && self.told.contains(&place) {
            return;
        }
        if kind.starts_with("response.refusal") {
            let words = if whole { part.refusal } else { part.delta };
            self.told.insert(place);
            pieces.extend(words.filter(|words| !words.is_empty()).map(|words| Piece::Refusal(words.into_owned())));
        } else {
            let text = if whole { part.text } else { part.delta };
            self.text(place, text.map(Cow::into_owned).unwrap_or_default(), pieces);
        }
    }

    fn text(&mut self, place: (u64, u64), text: String, pieces: &mut Vec<Piece>) {
        if text.is_empty() {
            pieces.push(Piece::Begun);
            return;
        }
        self.told.insert(place);
        // Two messages in one answer are two paragraphs.
        if self.item.replace(place.0).is_some_and(|item| item != place.0) {
            pieces.push(Piece::Text("\n\n".to_owned()));
        }
        pieces.push(Piece::Text(text));
    }

    /// An item of the output, begun or done.
    fn item(&mut self, index: u64, item: Item, done: bool, pieces: &mut Vec<Piece>) {
        match item.kind.as_str() {
            "message" if done => self.contents(index, item.content.unwrap_or_default(), pieces),
            "message" => pieces.push(Piece::Begun),
            // The response at the end holds again what came before the answer.
            "reasoning" if self.told.is_empty() => pieces.push(Piece::Thinking),
            kind if kind.ends_with("_call") => pieces.push(Piece::tool_call()),
            _ => {}
        }
    }

    fn contents(&mut self, index: u64, contents: Vec<Content>, pieces: &mut Vec<Piece>) {
        for (content, number) in contents.into_iter().zip(0..) {
            if self.told.contains(&(index, number)) {
                continue;
            }
            match (content.kind.as_str(), content.text, content.refusal) {
                ("output_text", Some(text), _) if !text.is_empty() => self.text((index, number), text, pieces),
                ("refusal", _, Some(words)) if !words.is_empty() => {
                    self.told.insert((index, number));
                    pieces.push(Piece::Refusal(words));
                }
                _ => {}
            }
        }
    }

    /// The whole response, at its end. Its own status counts; `event` is what the event says it is.
    fn response(&mut self, json: &[u8], event: &str, pieces: &mut Vec<Piece>) -> Result<(), Malformed> {
        let response: Response = parse(json)?;
        let status = response.status.as_deref().unwrap_or(event);
        if let Some(usage) = response.usage {
            pieces.push(Piece::Usage(Usage {
                input_tokens: usage.input_tokens,
                cached_input_tokens: usage.input_tokens_details.and_then(|details| details.cached_tokens),
                output_tokens: usage.output_tokens,
                reasoning_tokens: usage.output_tokens_details.and_then(|details| details.reasoning_tokens),
            }));
        }
        let error = response.error.filter(|error| !error.is_null());
        if status == "failed" || error.is_some() {
            let stated = error.as_ref().map(Stated::of_error);
            pieces.push(Piece::Error(stated.unwrap_or_else(|| Stated::plain("the response failed without a reason"))));
            return Ok(());
        }
        for (item, index) in response.output.unwrap_or_default().into_iter().zip(0..) {
            self.item(index, item, true, pieces);
        }
        match (status, response.incomplete_details.and_then(|details| details.reason).as_deref()) {
            ("completed", _) => pieces.extend([Piece::Stop(StopReason::Done), Piece::End]),
            ("incomplete", Some("max_output_tokens" | "max_tokens")) => {
                pieces.extend([Piece::Stop(StopReason::Length), Piece::End]);
            }
            ("incomplete", Some("content_filter")) => {
                pieces.extend([Piece::Stop(StopReason::Refused), Piece::End]);
            }
            (status, why) => pieces.push(Piece::unknown_stop(why.unwrap_or(status))),
        }
        Ok(())
    }
}

/// `{"type": "error", "code": .., "message": ..}`, or the same inside of `error`.
fn error_in(data: &[u8]) -> Stated {
    let Ok(mut value) = serde_json::from_slice::<Value>(data) else { return Stated::plain(readable(data)) };
    if let Value::Object(map) = &mut value
        && map.get("error").is_none_or(Value::is_null)
    {
        // That it is an error says nothing about which.
        map.shift_remove("type");
        return Stated::of_error(&value);
    }
    Stated::in_value(&value).unwrap_or_else(|| Stated::plain(readable(data)))
}

fn parse<'a, T: Deserialize<'a>>(data: &'a [u8]) -> Result<T, Malformed> {
    serde_json::from_slice(data).map_err(|error| Malformed::of(&error, data))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(events: &[Value]) -> Vec<Piece> {
        let mut decoder = Responses::default();
        let mut pieces = Vec::new();
        for event in events {
            decoder.event("", event.to_string().as_bytes(), &mut pieces).unwrap();
        }
        pieces.retain(|piece| *piece != Piece::Begun);
        pieces
    }

    fn text(text: &str) -> Piece {
        Piece::Text(text.to_owned())
    }

    fn delta(number: u64, item: u64, text: &str) -> Value {
        json!({"type": "response.output_text.delta", "sequence_number": number, "item_id": "i", "output_index": item,
            "content_index": 0, "delta": text})
    }

    fn completed(output: &Value) -> Value {
        json!({"type": "response.completed", "response": {"status": "completed", "error": null, "output": output,
            "incomplete_details": null, "usage": {"input_tokens": 9, "input_tokens_details": {"cached_tokens": 4},
            "output_tokens": 7, "output_tokens_details": {"reasoning_tokens": 5}, "total_tokens": 16}}})
    }

    fn message(text: &str) -> Value {
        json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text, "annotations": []}]})
    }

    const END: [Piece; 3] = [
        Piece::Usage(Usage {
            input_tokens: Some(9),
            cached_input_tokens: Some(4),
            output_tokens: Some(7),
            reasoning_tokens: Some(5),
        }),
        Piece::Stop(StopReason::Done),
        Piece::End,
    ];

    #[test]
    fn text_that_is_told_again_whole_is_not_doubled() {
        let said = pieces(&[
            json!({"type": "response.created", "response": {"status": "in_progress"}}),
            json!({"type": "response.output_item.added", "output_index": 1, "item": {"type": "message", "content": []}}),
            delta(4, 1, "Grü"),
            delta(5, 1, "ße"),
            delta(5, 1, "ße"),
            json!({"type": "response.output_text.done", "output_index": 1, "content_index": 0, "text": "Grüße"}),
            json!({"type": "response.content_part.done", "output_index": 1, "part": {"type": "output_text", "text": "Grüße"}}),
            json!({"type": "response.output_item.done", "output_index": 1, "item": message("Grüße")}),
            json!({"type": "response.something.new", "delta": {"shape": "unknown"}}),
            completed(&json!([{"type": "reasoning", "summary": []}, message("Grüße")])),
        ]);
        assert_eq!(said, [&[text("Grü"), text("ße")], &END[..]].concat());
    }

    #[test]
    fn text_that_comes_only_whole_is_taken_once_wherever_it_stands() {
        let done = json!({"type": "response.output_text.done", "output_index": 0, "content_index": 0, "text": "yes"});
        let item = json!({"type": "response.output_item.done", "output_index": 0, "item": message("yes")});
        let end = completed(&json!([message("yes")]));
        for events in [vec![done, item.clone(), end.clone()], vec![item, end.clone()], vec![end]] {
            let said = pieces(&events);
            assert_eq!(said.iter().filter(|piece| **piece == text("yes")).count(), 1, "{said:?}");
        }
        let mut whole = Vec::new();
        let body = completed(&json!([message("yes")]))["response"].to_string();
        Responses::default().whole(body.as_bytes(), &mut whole).unwrap();
        assert_eq!(whole[1..], [text("yes"), END[1].clone(), END[2].clone()]);
    }

    #[test]
    fn copies_that_number_every_event_0_lose_nothing_and_messages_are_paragraphs() {
        let said = pieces(&[delta(0, 0, "a"), delta(0, 0, "a"), delta(0, 1, "b")]);
        assert_eq!(said, [text("a"), text("a"), text("\n\n"), text("b")]);
    }

    #[test]
    fn reasoning_is_kept_out_and_a_refusal_keeps_its_words() {
        let said = pieces(&[
            json!({"type": "response.output_item.added", "output_index": 0, "item": {"type": "reasoning", "summary": []}}),
            json!({"type": "response.reasoning_summary_text.delta", "delta": "hm"}),
            json!({"type": "response.refusal.delta", "output_index": 1, "content_index": 0, "delta": "I can"}),
            json!({"type": "response.refusal.delta", "output_index": 1, "content_index": 0, "delta": "not."}),
            json!({"type": "response.refusal.done", "output_index": 1, "content_index": 0, "refusal": "I cannot."}),
        ]);
        let refused = ["I can", "not."].map(|words| Piece::Refusal(words.to_owned()));
        assert_eq!(said, [vec![Piece::Thinking; 2], refused.to_vec()].concat());
    }

    #[test]
    fn each_end_has_its_meaning() {
        let end =
            |kind: &str, response: Value| pieces(&[json!({"type": format!("response.{kind}"), "response": response})]);
        let cut =
            |reason: &str| end("incomplete", json!({"status": "incomplete", "incomplete_details": {"reason": reason}}));
        assert_eq!(cut("max_output_tokens"), [Piece::Stop(StopReason::Length), Piece::End]);
        assert_eq!(cut("content_filter"), [Piece::Stop(StopReason::Refused), Piece::End]);
        assert!(matches!(cut("steered")[..], [Piece::Broken(_)]));
        assert!(matches!(end("cancelled", json!({"status": "cancelled"}))[..], [Piece::Broken(_)]));
        let failed =
            end("failed", json!({"status": "failed", "error": {"code": "rate_limit_exceeded", "message": "slow"}}));
        let stated = Stated { kinds: vec!["rate_limit_exceeded".to_owned()], ..Stated::plain("slow") };
        assert_eq!(failed, [Piece::Error(stated)]);
        let tool = json!({"type": "response.output_item.added", "item": {"type": "function_call", "name": "x"}});
        assert_eq!(pieces(&[tool]), [Piece::tool_call()]);
    }

    #[test]
    fn an_error_event_is_one_in_both_shapes_and_nonsense_is_refused() {
        let flat =
            json!({"type": "error", "code": "server_error", "message": "m", "param": null, "sequence_number": 1});
        let deep = json!({"type": "error", "error": {"type": "server_error", "message": "m"}});
        let bare = json!({"error": {"code": "server_error", "message": "m"}});
        for event in [flat, deep, bare] {
            let stated = Stated { kinds: vec!["server_error".to_owned()], ..Stated::plain("m") };
            assert_eq!(pieces(&[event]), [Piece::Error(stated)]);
        }
        assert!(Responses::default().event("", b"{\"type\": ", &mut Vec::new()).is_err());
    }
}
