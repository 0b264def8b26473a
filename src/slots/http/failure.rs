//! What went wrong, out of the many shapes in which providers and gateways say it.

use std::error::Error as StdError;

use reqwest::StatusCode;
use serde_json::Value;

use crate::session::slot::{Reason, TypedError, diagnose};

/// How much of a message that is not JSON is kept.
const KEPT_CHARACTERS: usize = 300;

/// An error in the other side's words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Stated {
    /// Its type and code, where it has them, the broader one first.
    pub(super) kinds: Vec<String>,
    /// What it says.
    pub(super) message: String,
    /// The field of the request that it blames.
    pub(super) param: Option<String>,
    /// The HTTP status: the response's, or the one named inside a 200.
    pub(super) status: Option<u16>,
}

impl Stated {
    /// An error without type or code.
    pub(super) fn plain(message: impl Into<String>) -> Self {
        Self { message: message.into(), ..Self::default() }
    }

    /// The error in the body of an answer of this `status`.
    pub(super) fn from_body(status: u16, body: &[u8]) -> Self {
        let stated = serde_json::from_slice::<Value>(body).ok().and_then(|value| Self::in_value(&value));
        let mut stated = stated.unwrap_or_else(|| Self::plain(readable(body)));
        if stated.message.is_empty() {
            let phrase = StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason());
            stated.message = phrase.unwrap_or("no message").to_owned();
        }
        stated.status = Some(status);
        stated
    }

    /// The error that a JSON value states, if it is an error: `{"error": {..}}`, `{"error": ".."}`, a list of one
    /// such, `{"detail": ..}`, or a bare `{"message": ..}` (`{"error": null}` is none).
    pub(super) fn in_value(value: &Value) -> Option<Self> {
        match value {
            Value::Array(list) => list.first().and_then(Self::in_value),
            Value::Object(map) => {
                if let Some(error) = map.get("error").filter(|error| !error.is_null()) {
                    return Some(Self::of_error(error));
                }
                let detail = map.get("detail").or_else(|| map.get("errors")).filter(|detail| !detail.is_null());
                if let Some(detail) = detail {
                    return Some(Self::plain(text_of(detail)));
                }
                map.get("message").and_then(Value::as_str).map(|_| Self::of_error(value))
            }
            _ => None,
        }
    }

    /// The contents of an `error` field.
    pub(super) fn of_error(error: &Value) -> Self {
        let Value::Object(map) = error else { return Self::plain(text_of(error)) };
        let code = map.get("code");
        let status = code.and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
        let mut kinds: Vec<String> = Vec::new();
        for kind in [map.get("type"), map.get("status"), code].into_iter().flatten().filter_map(Value::as_str) {
            if !kinds.iter().any(|known| known == kind) {
                kinds.push(kind.to_owned());
            }
        }
        let mut message = map.get("message").map(text_of).unwrap_or_default();
        // A router puts the words of the provider behind it here; its own are only "Provider returned error".
        if let Some(raw) = map.get("metadata").and_then(|metadata| metadata.get("raw")) {
            message = format!("{message}: {}", shortened(&text_of(raw)));
        }
        if message.is_empty() && kinds.is_empty() {
            message = text_of(error);
        }
        Self {
            kinds,
            message,
            param: map.get("param").and_then(Value::as_str).map(str::to_owned),
            status: status.filter(|status| (100..600).contains(status)),
        }
    }

    /// Its class.
    pub(super) fn reason(&self) -> Reason {
        // A code is more precise than a type, but only if the table knows it.
        let telling = |kind: &&String| diagnose(None, kind, "") != Reason::ApiError;
        let kind = self.kinds.iter().rev().find(telling).map_or("", String::as_str);
        diagnose(self.status, kind, &self.message)
    }

    /// The error as a slot reports it.
    pub(super) fn typed(&self) -> TypedError {
        TypedError::new(self.reason(), self.detail())
    }

    /// `HTTP 429 (rate_limit_error): slow down`, with the parts that are known.
    pub(super) fn detail(&self) -> String {
        let mut detail = self.status.map(|status| format!("HTTP {status}")).unwrap_or_default();
        if !self.kinds.is_empty() {
            let kinds = self.kinds.join(" ");
            detail = if detail.is_empty() { kinds } else { format!("{detail} ({kinds})") };
        }
        match (detail.is_empty(), self.message.is_empty()) {
            (true, _) => self.message.clone(),
            (false, true) => detail,
            (false, false) => format!("{detail}: {}", self.message),
        }
    }
}

fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The words in a body that is not JSON: of a web page its title, else the beginning, on one line.
pub(super) fn readable(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let trimmed = text.trim_start_matches('\u{feff}').trim();
    if !trimmed.starts_with('<') {
        return shortened(trimmed);
    }
    let lower = trimmed.to_ascii_lowercase();
    let title = lower.find("<title").and_then(|at| {
        let start = at + lower[at..].find('>')? + 1;
        let end = start + lower[start..].find("</title")?;
        Some(shortened(&trimmed[start..end]))
    });
    match title.filter(|title| !title.is_empty()) {
        Some(title) => format!("a web page: {title}"),
        None => "a web page instead of an answer".to_owned(),
    }
}

fn shortened(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(KEPT_CHARACTERS) {
        Some((end, _)) => format!("{} ..", &line[..end]),
        None => line,
    }
}

/// What a failed connection says, with every cause; without the URL, which may hold a key.
pub(super) fn transport(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let line = error.to_string();
        if !text.contains(&line) {
            text = format!("{text}: {line}");
        }
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_of_an_error_is_read() {
        for (body, kind, message) in [
            (r#"{"error":{"message":"m","type":"t","code":"c","param":"p"}}"#, "t c", "m"),
            (r#"{"error":{"message":"m","type":"t","code":"t"}}"#, "t", "m"),
            (r#"{"error":{"code":400,"message":"m","status":"INVALID_ARGUMENT"}}"#, "INVALID_ARGUMENT", "m"),
            (r#"[{"error":{"code":400,"message":"m","status":"S"}}]"#, "S", "m"),
            (r#"{"error":"m"}"#, "", "m"),
            (r#"{"detail":"m"}"#, "", "m"),
            (r#"{"detail":[{"loc":["body","seed"]}]}"#, "", r#"[{"loc":["body","seed"]}]"#),
            (r#"{"object":"error","message":"m","type":"BadRequestError","code":400}"#, "BadRequestError", "m"),
            (
                r#"{"error":{"code":1,"message":"Provider returned error","metadata":{"raw":"why"}}}"#,
                "",
                "Provider returned error: why",
            ),
            ("upstream  is\ndown", "", "upstream is down"),
            ("<html><head><TITLE>502 Bad Gateway</TITLE>", "", "a web page: 502 Bad Gateway"),
            ("<p>", "", "a web page instead of an answer"),
            ("", "", "Bad Request"),
            ("{}", "", "{}"),
        ] {
            let stated = Stated::from_body(400, body.as_bytes());
            assert_eq!((stated.kinds.join(" ").as_str(), stated.message.as_str()), (kind, message), "{body}");
            assert_eq!(stated.status, Some(400));
        }
    }

    #[test]
    fn the_part_of_an_error_that_tells_most_names_its_class() {
        for (status, kinds, message, reason) in [
            (404, &["invalid_request_error", "model_not_found"][..], "no", Reason::UnknownModel),
            (400, &["exceed_context_size_error"], "no", Reason::ContextTooLong),
            (403, &["permission_error", "x"], "no", Reason::Auth),
            (429, &["insufficient_quota", "insufficient_quota"], "no", Reason::QuotaExhausted),
            (503, &["server_error"], "no", Reason::ApiError),
        ] {
            let kinds = kinds.iter().map(|kind| (*kind).to_owned()).collect();
            let stated = Stated { kinds, message: message.to_owned(), status: Some(status), param: None };
            assert_eq!(stated.reason(), reason, "{stated:?}");
        }
    }

    #[test]
    fn a_null_error_is_none() {
        assert_eq!(Stated::in_value(&serde_json::json!({"error": null, "choices": []})), None);
    }

    #[test]
    fn a_long_message_is_cut_between_characters() {
        let text = readable("日".repeat(1000).as_bytes());
        assert_eq!(text.chars().count(), KEPT_CHARACTERS + 3);
    }

    #[test]
    fn the_detail_names_status_and_kind() {
        let body = br#"{"error":{"message":"slow down","type":"rate_limit_error"}}"#;
        assert_eq!(Stated::from_body(429, body).detail(), "HTTP 429 (rate_limit_error): slow down");
        assert_eq!(Stated::plain("m").detail(), "m");
    }
}
