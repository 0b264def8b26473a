//! The wire formats: what each one's request looks like and what its events mean.
//!
//! An adapter is stateless and makes a [`Decoder`] per answer; everything that is the same for all formats happens
//! outside of here, in terms of [`Piece`]s.

mod openai_chat;

use reqwest::header::{HeaderName, HeaderValue, InvalidHeaderValue};
use serde_json::{Map, Value};

use super::Request;
use super::failure::Stated;
use crate::config::Wire;
use crate::session::slot::{StopReason, Usage};

/// What a part of a stream means.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Piece {
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
    /// Cost of the call in US dollars.
    CostUsd(f64),
    /// An error inside the stream.
    Error(Stated),
    /// The format's last event: nothing follows.
    End,
}

/// An event that is not of the format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(super) struct Malformed(pub(super) String);

/// Understands one answer.
pub(super) trait Decoder: Send {
    /// Reads one event of a streamed answer.
    fn event(&mut self, name: &str, data: &[u8], pieces: &mut Vec<Piece>) -> Result<(), Malformed>;

    /// Reads an answer that came whole although a stream was asked for.
    fn whole(&mut self, body: &[u8], pieces: &mut Vec<Piece>) -> Result<(), Malformed>;
}

/// Speaks one wire format.
pub(super) trait Adapter: Sync {
    /// Where a request goes, below the base URL.
    fn path(&self, model: &str) -> String;

    /// The header that carries the key.
    fn key_header(&self, key: &str) -> Result<(HeaderName, HeaderValue), InvalidHeaderValue>;

    /// The request's body.
    fn body(&self, request: &Request<'_>) -> Map<String, Value>;

    /// The fields of the body without which it can be sent too, and other words by which servers name them.
    fn optional_fields(&self) -> &'static [(&'static str, &'static [&'static str])];

    /// The name that takes the place of a refused field, where the refusal itself asks for it.
    fn renamed(&self, field: &str, refusal: &Stated) -> Option<&'static str>;

    /// A decoder for one answer.
    fn decoder(&self) -> Box<dyn Decoder>;
}

/// The adapter of `wire`.
pub(super) fn adapter(wire: Wire) -> &'static dyn Adapter {
    match wire {
        Wire::OpenaiChat => &openai_chat::OpenaiChat,
    }
}

/// Takes the field that a refused request is blamed on out of `body`, and gives back its name.
///
/// Only a field that the server does not take is dropped; one whose *value* is out of range is a mistake of the
/// user's, who is told. A field that goes on under another name is not reported (`Some(None)`).
pub(super) fn without_refused_field(
    adapter: &dyn Adapter,
    body: &mut Map<String, Value>,
    refusal: &Stated,
) -> Option<Option<&'static str>> {
    if !matches!(refusal.status, Some(400 | 422)) || is_about_a_value(refusal) {
        return None;
    }
    let fields = adapter.optional_fields();
    let blamed = refusal.param.as_deref().map(|param| param.split(['.', '[']).next().unwrap_or(param));
    let named = |(field, aliases): &&(&'static str, &'static [&'static str])| {
        body.contains_key(*field)
            && (blamed == Some(field) || [field].into_iter().chain(aliases.iter()).any(|word| mentions(refusal, word)))
    };
    // The field that is blamed by name goes before one that is only spoken of.
    let exact = fields.iter().find(|(field, _)| blamed == Some(field) && body.contains_key(*field));
    let (field, _) = exact.or_else(|| fields.iter().find(named))?;
    let value = body.shift_remove(*field)?;
    match adapter.renamed(field, refusal) {
        Some(name) => {
            body.insert(name.to_owned(), value);
            Some(None)
        }
        None => Some(Some(field)),
    }
}

fn is_about_a_value(refusal: &Stated) -> bool {
    let kind = refusal.kinds.join(" ").to_ascii_lowercase();
    let message = refusal.message.to_ascii_lowercase();
    ["max_value", "min_value", "context_length", "exceed_context"].iter().any(|word| kind.contains(word))
        || [
            "must be between",
            "should be less than",
            "should be greater than",
            "less than or equal",
            "greater than or equal",
            "maximum value",
            "minimum value",
            "too large",
            "context length",
            "context window",
        ]
        .iter()
        .any(|words| message.contains(words))
}

/// Whether the message has `word` as a word of its own (`top_p` is not in `top_p2`).
fn mentions(refusal: &Stated, word: &str) -> bool {
    let message = refusal.message.to_ascii_lowercase();
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    message
        .match_indices(word)
        .any(|(at, _)| !message[..at].ends_with(is_part) && !message[at + word.len()..].starts_with(is_part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(message: &str, param: Option<&str>, kind: &str) -> (Option<Option<&'static str>>, Map<String, Value>) {
        let body =
            serde_json::json!({"model": "m", "temperature": 1, "top_p": 1, "max_tokens": 5, "response_format": {}});
        let Value::Object(mut body) = body else { panic!() };
        let stated = Stated {
            kinds: vec![kind.to_owned()],
            message: message.to_owned(),
            param: param.map(str::to_owned),
            status: Some(400),
        };
        let field = without_refused_field(adapter(Wire::OpenaiChat), &mut body, &stated);
        (field, body)
    }

    #[test]
    fn a_refused_setting_is_found_by_parameter_or_by_name() {
        for (message, param, field) in [
            ("Unsupported value: only the default (1) is supported", Some("temperature"), "temperature"),
            ("`temperature` is deprecated for this model", None, "temperature"),
            ("temperature is fine but see top_p", Some("top_p"), "top_p"),
            (r#"[{"type":"extra_forbidden","loc":["body","top_p"]}]"#, None, "top_p"),
            ("Invalid schema", Some("response_format.json_schema.schema"), "response_format"),
            ("This model does not support structured output", None, "response_format"),
            ("max_tokens is not supported here", None, "max_tokens"),
        ] {
            let (dropped, body) = refused(message, param, "");
            assert_eq!(dropped, Some(Some(field)), "{message}");
            assert!(!body.contains_key(field) && body.contains_key("model"));
        }
    }

    #[test]
    fn a_wrong_value_is_the_users_and_stays() {
        for (message, param, kind) in [
            ("temperature must be between 0 and 2", Some("temperature"), ""),
            ("Invalid 'temperature'", Some("temperature"), "decimal_above_max_value"),
            ("max_tokens is too large: 9", None, ""),
            ("something else", None, ""),
            ("stop is not supported", Some("stop"), ""),
            ("see subtop_p", None, ""),
        ] {
            assert_eq!(refused(message, param, kind).0, None, "{message}");
        }
    }

    #[test]
    fn the_older_name_of_the_length_limit_gives_way_to_the_newer() {
        let (dropped, body) = refused(
            "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
            Some("max_tokens"),
            "",
        );
        assert_eq!(dropped, Some(None), "nothing was left out");
        assert_eq!(body.get("max_completion_tokens"), Some(&Value::from(5)));
        assert!(!body.contains_key("max_tokens"));
    }
}
