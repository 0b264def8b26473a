//! What a wire format has to know, and the terms in which it speaks to the rest.

use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue, InvalidHeaderValue};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::anthropic_messages::AnthropicMessages;
use super::gemini_generate::GeminiGenerate;
use super::ollama_chat::OllamaChat;
use super::openai_chat::OpenaiChat;
use super::openai_responses::OpenaiResponses;
use crate::config::Wire;
use crate::money::Usd;
use crate::session::slot::{StopReason, Usage};
use crate::slots::http::Request;
use crate::slots::http::events::Framing;
use crate::slots::http::failure::{Stated, readable};

/// What a part of a stream means.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::slots::http) enum Piece {
    /// The model works on the answer; nothing of it is said yet.
    Begun,
    /// Text of the answer.
    Text(String),
    /// The model reasons; its words are not kept.
    Thinking,
    /// The model declines, in these words.
    Refusal(String),
    /// The model stopped writing.
    Stop(StopReason),
    /// The model stopped for something that leaves no complete answer.
    Broken(Stated),
    /// Tokens so far, replacing what was said before.
    Usage(Usage),
    /// Cost of the call.
    Cost(Usd),
    /// An error inside the stream.
    Error(Stated),
    /// The format's last event: nothing follows.
    End,
}

impl Piece {
    /// An answer that ended in a call of a tool, of which none was offered.
    pub(super) fn tool_call() -> Self {
        Self::Broken(Stated::plain("the model called a tool although none was offered, and did not finish its answer"))
    }

    /// An answer that stopped for `why`, which is none of the ends that are known: one that nobody calls done is not.
    pub(super) fn unknown_stop(why: &str) -> Self {
        Self::Broken(Stated::plain(format!("the model stopped with `{why}` before its answer was done")))
    }
}

/// An event that is not of the format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(in crate::slots::http) struct Malformed(pub(in crate::slots::http) String);

impl Malformed {
    /// `data` is not what the wire says it is. The wire is not named: it may give away who answers.
    pub(super) fn of(error: &serde_json::Error, data: &[u8]) -> Self {
        Self(format!("not an answer of the declared wire: {error}: {}", readable(data)))
    }
}

/// Understands one answer.
pub(in crate::slots::http) trait Decoder: Send {
    /// Reads one event of a streamed answer.
    fn event(&mut self, name: &str, data: &[u8], pieces: &mut Vec<Piece>) -> Result<(), Malformed>;

    /// Reads an answer that came whole although a stream was asked for.
    fn whole(&mut self, body: &[u8], pieces: &mut Vec<Piece>) -> Result<(), Malformed>;
}

/// A part of the body without which it can be sent too.
#[derive(Debug, Clone, Copy)]
pub(in crate::slots::http) struct Optional {
    /// How it is called when it was left out.
    pub(super) name: &'static str,
    /// Where it stands; the first place is what a refusal may blame.
    pub(super) paths: &'static [&'static [&'static str]],
    /// Other words by which servers name it, in lower case.
    pub(super) words: &'static [&'static str],
}

impl Optional {
    /// A field of this name at the top of the body.
    pub(super) const fn top(path: &'static [&'static [&'static str]; 1]) -> Self {
        Self { name: path[0][0], paths: path, words: &[] }
    }
}

/// Speaks one wire format.
pub(in crate::slots::http) trait Adapter: Sync {
    /// Where a request goes, below the base URL.
    fn path(&self, model: &str) -> String;

    /// What is added to the query of the URL.
    fn query(&self) -> Option<(&'static str, &'static str)> {
        None
    }

    /// The header that carries the key.
    fn key_header(&self, key: &str) -> Result<(HeaderName, HeaderValue), InvalidHeaderValue> {
        sensitive(AUTHORIZATION, &format!("Bearer {key}"))
    }

    /// Headers that every request needs; the user's own of the same name take their place.
    fn headers(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// How the events of a streamed answer are told apart.
    fn framing(&self) -> Framing {
        Framing::ServerSent
    }

    /// The request's body.
    fn body(&self, request: &Request<'_>) -> Map<String, Value>;

    /// Settings for which the format has no place.
    fn lacks(&self) -> &'static [&'static str] {
        &[]
    }

    /// The parts of the body without which it can be sent too.
    fn optional(&self) -> &'static [Optional];

    /// What is sent in the place of a refused part, where the refusal itself says what would be taken: a path and a value.
    fn instead(&self, name: &str, value: &Value, refusal: &Stated) -> Option<(&'static [&'static str], Value)> {
        let _ = (name, value, refusal);
        None
    }

    /// A decoder for one answer.
    fn decoder(&self) -> Box<dyn Decoder>;
}

/// A header whose value no log shows.
pub(super) fn sensitive(name: HeaderName, value: &str) -> Result<(HeaderName, HeaderValue), InvalidHeaderValue> {
    let mut value = HeaderValue::try_from(value)?;
    value.set_sensitive(true);
    Ok((name, value))
}

/// The object of those `fields` that have a value.
pub(super) fn object<const N: usize>(fields: [(&str, Option<Value>); N]) -> Map<String, Value> {
    fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// The same as a value, if any of them has one.
pub(super) fn nested<const N: usize>(fields: [(&str, Option<Value>); N]) -> Option<Value> {
    let map = object(fields);
    (!map.is_empty()).then_some(Value::Object(map))
}

/// What every event has, read first to know which one it is; `None` where the event is an error in plain words.
pub(super) fn head<'a, T: Deserialize<'a>>(
    name: &str,
    data: &'a [u8],
    pieces: &mut Vec<Piece>,
) -> Result<Option<T>, Malformed> {
    match serde_json::from_slice(data) {
        Ok(head) => Ok(Some(head)),
        Err(_) if name == "error" => {
            pieces.push(Piece::Error(Stated::plain(readable(data))));
            Ok(None)
        }
        Err(error) => Err(Malformed::of(&error, data)),
    }
}

/// The adapter of `wire`.
pub(in crate::slots::http) fn adapter(wire: Wire) -> &'static dyn Adapter {
    match wire {
        Wire::OpenaiChat => &OpenaiChat,
        Wire::OpenaiResponses => &OpenaiResponses,
        Wire::AnthropicMessages => &AnthropicMessages,
        Wire::GeminiGenerate => &GeminiGenerate,
        Wire::OllamaChat => &OllamaChat,
    }
}
