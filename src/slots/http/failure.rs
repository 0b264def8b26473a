//! What went wrong, out of the many shapes in which providers and gateways say it.

use std::error::Error as StdError;
use std::time::Duration;

use reqwest::StatusCode;
use serde_json::Value;

use super::retry::is_transient;
use crate::session::slot::{Reason, TypedError, diagnose};

/// How much of a message that is not JSON is kept.
const KEPT_CHARACTERS: usize = 300;

/// The types and codes of errors of which the providers say that they pass: a 5xx where they come with a status.
const PASSING_KINDS: [&str; 8] = [
    "overloaded_error",
    "server_is_overloaded",
    "api_error",
    "server_error",
    "internal_server_error",
    "timeout_error",
    "UNAVAILABLE",
    "INTERNAL",
];

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
    /// How long it asks to wait, where the words say it and not a header.
    pub(super) wait: Option<Duration>,
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
        let details = map.get("details").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        // Google says the same words of every quota; only its name tells a minute's from a day's.
        let quotas = quotas(details);
        if !quotas.is_empty() {
            message = format!("{message} (quota {})", quotas.join(", "));
        }
        Self {
            kinds,
            message,
            param: map.get("param").and_then(Value::as_str).map(str::to_owned),
            status: status.filter(|status| (100..600).contains(status)),
            wait: details.iter().find_map(|detail| wait_of(detail.get("retryDelay")?.as_str()?)),
        }
    }

    /// Its class.
    pub(super) fn reason(&self) -> Reason {
        // A code is more precise than a type, but only if the table knows it.
        let telling = |kind: &&String| diagnose(None, kind, "") != Reason::ApiError;
        let kind = self.kinds.iter().rev().find(telling).map_or("", String::as_str);
        diagnose(self.status, kind, &self.message)
    }

    /// Whether the same request may be answered the next time. Inside a 200 there is no status, only the kind that
    /// would have come with one.
    pub(super) fn may_pass(&self) -> bool {
        match (self.reason(), self.status) {
            (Reason::RateLimited, _) => true,
            (Reason::ApiError | Reason::Network, Some(status)) => is_transient(status),
            (Reason::ApiError, None) => self.kinds.iter().any(|kind| PASSING_KINDS.contains(&kind.as_str())),
            _ => false,
        }
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

/// The names of the quotas that a `google.rpc.QuotaFailure` blames.
fn quotas(details: &[Value]) -> Vec<&str> {
    let violations = details.iter().filter_map(|detail| detail.get("violations")?.as_array()).flatten();
    violations.filter_map(|violation| violation.get("quotaId")?.as_str()).collect()
}

/// A duration of `google.rpc.RetryInfo`: seconds, also with a fraction, and an `s`.
fn wait_of(delay: &str) -> Option<Duration> {
    Duration::try_from_secs_f64(delay.strip_suffix('s')?.parse().ok()?).ok()
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
    use serde_json::json;

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
            let stated = Stated { kinds, message: message.to_owned(), status: Some(status), ..Stated::default() };
            assert_eq!(stated.reason(), reason, "{stated:?}");
        }
    }

    #[test]
    fn a_quota_is_told_by_its_name_and_its_wait_is_read() {
        let failure = |quotas: &[&str]| {
            let violations: Vec<Value> = quotas.iter().map(|id| json!({"quotaMetric": "m", "quotaId": id})).collect();
            let body = json!({"error": {
                "code": 429, "message": "You exceeded your current quota.", "status": "RESOURCE_EXHAUSTED",
                "details": [
                    {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": violations},
                    {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "20.5s"},
                ],
            }});
            Stated::from_body(429, body.to_string().as_bytes())
        };
        let minute = failure(&["RequestsPerMinute-FreeTier"]);
        assert_eq!((minute.reason(), minute.wait), (Reason::RateLimited, Some(Duration::from_millis(20_500))));
        assert_eq!(minute.message, "You exceeded your current quota. (quota RequestsPerMinute-FreeTier)");
        assert_eq!(failure(&["RequestsPerMinute", "RequestsPerDay"]).reason(), Reason::QuotaExhausted);
        assert_eq!(failure(&[]).reason(), Reason::QuotaExhausted);
        for delay in ["20", "-1s", "s", "1e999s"] {
            assert_eq!(wait_of(delay), None, "{delay}");
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
