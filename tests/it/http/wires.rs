//! The server's side of the five wire formats, written from the public references of each API and not from the client.
//!
//! A [`Wire`] gives everything that a real server of its kind sends: the events of a stream each with its [`Role`], so
//! that a fault can cut, repeat or leave out by meaning; the same answer as one JSON body; and its own error bodies.

mod anthropic_messages;
mod gemini_generate;
mod ollama_chat;
mod openai_chat;
mod openai_errors;
mod openai_responses;

use serde_json::Value;

use crate::support::Answer;

pub(super) use anthropic_messages::AnthropicMessages;
pub(super) use gemini_generate::{GeminiGenerate, stopping_in_every_event};
pub(super) use ollama_chat::OllamaChat;
pub(super) use openai_chat::OpenaiChat;
pub(super) use openai_errors::too_long_for_minute;
pub(super) use openai_responses::OpenaiResponses;

/// The model's id at the provider: it names the slot, so it may stand in no file but the manifest.
pub(super) const MODEL: &str = "quokka-9";

/// The account's key. Some servers say it back.
pub(super) const KEY: &str = "sk-numbat-0123456789abcdefghijklmnop";

/// The words of the model's thoughts, which are no part of any answer.
pub(super) const THOUGHT: &str = "Hmm, let me weigh that first.";

/// What a server counts as the prompt, unless a fault says otherwise: more than the tests' longest prompt has words.
pub(super) const PROMPT_TOKENS: u64 = 2400;

/// What a part of a stream is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Before the answer's text: greetings, pings, thoughts.
    Start,
    /// A piece of the answer's text.
    Text,
    /// Says why the model stopped, where that is an event of its own.
    Stop,
    /// After the text, without saying that the answer is complete.
    Close,
    /// The last event.
    Last,
}

/// One part of a stream, as bytes on the wire.
#[derive(Debug, Clone)]
pub(super) struct Event {
    pub(super) role: Role,
    pub(super) bytes: String,
}

impl Event {
    fn new(role: Role, bytes: impl Into<String>) -> Self {
        Self { role, bytes: bytes.into() }
    }
}

/// How the model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// Its answer is complete.
    Done,
    /// The length limit cut it.
    Length,
    /// Its provider's filter, or the model itself, declined.
    Refused,
}

/// An answer to be put on the wire.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reply<'a> {
    /// The text, in the pieces in which it is sent.
    pub(super) pieces: &'a [&'a str],
    pub(super) stop: Stop,
    /// The tokens that the server counts in the prompt.
    pub(super) prompt_tokens: u64,
}

impl Reply<'_> {
    pub(super) fn text(&self) -> String {
        self.pieces.concat()
    }
}

/// A setting that the model does not take.
#[derive(Debug)]
pub(super) struct RefusedSetting {
    /// The key and value in `team.toml`.
    pub(super) key: &'static str,
    pub(super) value: toml::Value,
    /// Where it stands in a request.
    pub(super) pointer: &'static str,
    /// What the API says to it.
    pub(super) refusal: Value,
}

/// A wire format, seen from the server.
pub(super) trait Wire: std::fmt::Debug + Sync {
    /// Its name in `team.toml`.
    fn name(&self) -> &'static str;

    /// The path of a request below the base URL, and its query.
    fn path(&self) -> String;

    /// The header that carries the key, and its value.
    fn key_header(&self) -> (&'static str, String);

    /// Whether `body` is a request of this format that asks the model for a stream.
    fn takes(&self, body: &Value) -> bool;

    /// The prompt that `body` carries.
    fn prompt<'a>(&self, body: &'a Value) -> Option<&'a str>;

    /// Where a request carries a JSON schema, and what the API says where the model takes none.
    fn schema(&self) -> (&'static str, Value);

    /// The content type of a stream.
    fn content_type(&self) -> &'static str {
        "text/event-stream; charset=utf-8"
    }

    /// The events of a whole stream.
    fn stream(&self, reply: &Reply<'_>) -> Vec<Event>;

    /// The same answer as one body.
    fn whole(&self, reply: &Reply<'_>) -> Value;

    /// The event by which a stream says that the server is overloaded.
    fn error_event(&self) -> Event;

    /// The body of a refusal with this status.
    fn error(&self, status: u16) -> Value;

    /// The refusal of an account without quota or credit.
    fn spent_quota(&self) -> (u16, Value);

    /// The refusal of a key, where the API does not say it with a 401.
    fn refused_key(&self) -> (u16, Value) {
        (401, self.error(401))
    }

    /// How the API declines a prompt before the model sees it: a status and a body, of a 200 that of a stream.
    fn blocked_prompt(&self) -> Option<(u16, String)>;

    /// The refusal of a prompt that is too long for the model.
    fn too_long(&self) -> (u16, Value);

    /// A setting that a model refuses.
    fn refused_setting(&self) -> RefusedSetting;
}

/// All of them.
pub(super) const WIRES: [&dyn Wire; 5] =
    [&OpenaiChat, &OpenaiResponses, &AnthropicMessages, &GeminiGenerate, &OllamaChat];

/// A whole stream that says these pieces of text.
pub(super) fn said(wire: &dyn Wire, pieces: &[&str]) -> Answer {
    let events = wire.stream(&Reply { pieces, stop: Stop::Done, prompt_tokens: PROMPT_TOKENS });
    let head = Answer::chunked(200, &[&format!("content-type: {}", wire.content_type())]);
    events.iter().fold(head, |answer, event| answer.send(&event.bytes)).end()
}

/// One server-sent event.
fn sse(name: Option<&str>, data: &Value) -> String {
    let name = name.map(|name| format!("event: {name}\n")).unwrap_or_default();
    format!("{name}data: {data}\n\n")
}
