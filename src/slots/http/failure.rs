//! What went wrong, out of the many shapes in which providers and gateways say it.

use reqwest::StatusCode;
use serde_json::Value;

use super::retry::is_transient;
use crate::session::slot::{Reason, TypedError, diagnose};

/// How much of a message that is not JSON is kept.
const KEPT_CHARACTERS: usize = 300;

/// Types of errors that may pass, where no status says so: those of Anthropic, OpenAI and Google.
const PASSING: &[&str] = &[
    "overloaded_error",
    "server_is_overloaded",
    "api_error",
    "timeout_error",
    "server_error",
    "internal_server_error",
    "internal_error",
    "service_unavailable",
    "service_unavailable_error",
    "engine_overloaded",
    "engine_overloaded_error",
    "unavailable",
    "internal",
    "deadline_exceeded",
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
    /// When it says that another request may succeed, as written: a span or a moment.
    pub(super) reset: Option<String>,
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
                let is_error = map.get("object").and_then(Value::as_str) == Some("error");
                map.get("message").filter(|message| message.is_string() || is_error).map(|_| Self::of_error(value))
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
        let metadata = map.get("metadata");
        // A router puts the words of the provider behind it here; its own are only "Provider returned error".
        if let Some(raw) = metadata.and_then(|metadata| metadata.get("raw")) {
            message = format!("{message}: {}", shortened(&text_of(raw)));
        }
        let headers = metadata.and_then(|metadata| metadata.get("headers"));
        let mut reset = headers.and_then(|headers| headers.get("X-RateLimit-Reset")).map(text_of);
        let mut param = map.get("param").and_then(Value::as_str).map(str::to_owned);
        for detail in map.get("details").and_then(Value::as_array).into_iter().flatten() {
            let text = |key: &str| detail.get(key).and_then(Value::as_str).map(str::to_owned);
            kinds.extend(text("reason"));
            kinds.extend(of_each(detail, "violations", "quotaId"));
            reset = reset.or_else(|| text("retryDelay"));
            param = param.or_else(|| of_each(detail, "fieldViolations", "field").next());
        }
        if message.is_empty() && kinds.is_empty() {
            message = text_of(error);
        }
        Self { kinds, message, param, status: status.filter(|status| (100..600).contains(status)), reset }
    }

    /// Its class.
    pub(super) fn reason(&self) -> Reason {
        // A code is more precise than a type, but only if the table knows it.
        let telling = |kind: &&String| diagnose(None, kind, "") != Reason::ApiError;
        let kind = self.kinds.iter().rev().find(telling).map_or("", String::as_str);
        // The name of a quota (`GenerateRequestsPerDay..`) says more than the words beside it.
        let words = [self.message.as_str()].into_iter().chain(self.kinds.iter().map(String::as_str));
        diagnose(self.status, kind, &words.collect::<Vec<_>>().join(" "))
    }

    /// Whether the same request may succeed a little later.
    pub(super) fn passes(&self) -> bool {
        match self.reason() {
            Reason::RateLimited => true,
            Reason::ApiError | Reason::Network => match self.status {
                Some(status) => is_transient(status),
                // Inside of a 200 the type takes the place of the status.
                None => self.kinds.iter().any(|kind| PASSING.contains(&kind.to_ascii_lowercase().as_str())),
            },
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

/// The texts under `key` in the list `list` of a detail.
fn of_each<'a>(detail: &'a Value, list: &str, key: &'a str) -> impl Iterator<Item = String> + 'a {
    let entries = detail.get(list).and_then(Value::as_array).into_iter().flatten();
    entries.filter_map(move |entry| entry.get(key)).filter_map(Value::as_str).map(str::to_owned)
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
            let stated = Stated { kinds, message: message.to_owned(), status: Some(status), ..Stated::default() };
            assert_eq!(stated.reason(), reason, "{stated:?}");
        }
    }

    /// One row per provider and way to refuse: status, body, class, and whether it is tried again.
    #[test]
    fn what_each_provider_says_has_its_class() {
        let google = |quota: &str| {
            format!(
                r#"{{"error":{{"code":429,"message":"You exceeded your current quota, please check your plan.",
                "status":"RESOURCE_EXHAUSTED","details":[{{"@type":"type.googleapis.com/google.rpc.QuotaFailure",
                "violations":[{{"quotaMetric":"m","quotaId":"{quota}"}}]}},
                {{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"37s"}}]}}}}"#
            )
        };
        let (per_minute, per_day) = (
            google("GenerateRequestsPerMinutePerProjectPerModel-FreeTier"),
            google("GenerateRequestsPerDayPerProjectPerModel-FreeTier"),
        );
        for (status, body, reason, passes) in [
            // OpenAI
            (
                401,
                r#"{"error":{"message":"Incorrect API key provided: sk-x.","type":"invalid_request_error","code":"invalid_api_key"}}"#,
                Reason::Auth,
                false,
            ),
            (
                429,
                r#"{"error":{"message":"Rate limit reached for m on requests per min (RPM): Limit 3","type":"requests","code":"rate_limit_exceeded"}}"#,
                Reason::RateLimited,
                true,
            ),
            (
                429,
                r#"{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}"#,
                Reason::QuotaExhausted,
                false,
            ),
            (
                429,
                r#"{"error":{"message":"Your account is not active, please check your billing details","type":"billing_not_active","code":"billing_not_active"}}"#,
                Reason::QuotaExhausted,
                false,
            ),
            (
                429,
                r#"{"error":{"message":"Request too large for m on tokens per min (TPM): Limit 10000, Requested 16000.","type":"tokens","code":"rate_limit_exceeded"}}"#,
                Reason::ContextTooLong,
                false,
            ),
            (
                404,
                r#"{"error":{"message":"The model `m` does not exist","type":"invalid_request_error","code":"model_not_found"}}"#,
                Reason::UnknownModel,
                false,
            ),
            (
                400,
                r#"{"error":{"message":"Your input exceeds the context window of this model.","code":"context_length_exceeded"}}"#,
                Reason::ContextTooLong,
                false,
            ),
            (
                400,
                r#"{"error":{"message":"Invalid prompt: your prompt was flagged as potentially violating our usage policy.","code":"invalid_prompt"}}"#,
                Reason::Refused,
                false,
            ),
            (503, r#"{"error":{"message":"Slow down","type":"server_error"}}"#, Reason::ApiError, true),
            // Anthropic
            (
                401,
                r#"{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}"#,
                Reason::Auth,
                false,
            ),
            (
                402,
                r#"{"type":"error","error":{"type":"billing_error","message":"Check your payment details"}}"#,
                Reason::QuotaExhausted,
                false,
            ),
            (
                400,
                r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low"}}"#,
                Reason::QuotaExhausted,
                false,
            ),
            (
                400,
                r#"{"type":"error","error":{"type":"invalid_request_error","message":"input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000"}}"#,
                Reason::ContextTooLong,
                false,
            ),
            (
                413,
                r#"{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}"#,
                Reason::ContextTooLong,
                false,
            ),
            (
                404,
                r#"{"type":"error","error":{"type":"not_found_error","message":"model: opus-9"}}"#,
                Reason::UnknownModel,
                false,
            ),
            (
                429,
                r#"{"type":"error","error":{"type":"rate_limit_error","message":"Number of requests has exceeded your limit"}}"#,
                Reason::RateLimited,
                true,
            ),
            (
                529,
                r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
                Reason::ApiError,
                true,
            ),
            // Google
            (
                400,
                r#"{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}]}}"#,
                Reason::Auth,
                false,
            ),
            (
                403,
                r#"{"error":{"code":403,"message":"Generative Language API has not been used","status":"PERMISSION_DENIED","details":[{"reason":"SERVICE_DISABLED"}]}}"#,
                Reason::Auth,
                false,
            ),
            (
                400,
                r#"{"error":{"code":400,"message":"Invalid value at 'contents'","status":"INVALID_ARGUMENT"}}"#,
                Reason::ApiError,
                false,
            ),
            (
                404,
                r#"{"error":{"code":404,"message":"models/m is not found for API version v1beta","status":"NOT_FOUND"}}"#,
                Reason::UnknownModel,
                false,
            ),
            (429, &per_minute, Reason::RateLimited, true),
            (429, &per_day, Reason::QuotaExhausted, false),
            (
                503,
                r#"{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}"#,
                Reason::ApiError,
                true,
            ),
            // Ollama
            (404, r#"{"error":"model 'm' not found"}"#, Reason::UnknownModel, false),
            (
                400,
                r#"{"error":"the prompt is longer than the context length currently available to the model"}"#,
                Reason::ContextTooLong,
                false,
            ),
            (
                503,
                r#"{"error":"server busy, please try again. maximum pending requests exceeded"}"#,
                Reason::ApiError,
                true,
            ),
            // OpenRouter
            (402, r#"{"error":{"code":402,"message":"Insufficient credits"}}"#, Reason::QuotaExhausted, false),
            (
                403,
                r#"{"error":{"code":403,"message":"Key limit exceeded (total limit)."}}"#,
                Reason::QuotaExhausted,
                false,
            ),
            (
                403,
                r#"{"error":{"code":403,"message":"m requires moderation. Your input was flagged","metadata":{"reasons":["x"]}}}"#,
                Reason::Refused,
                false,
            ),
            (
                429,
                r#"{"error":{"code":429,"message":"Rate limit exceeded: free-models-per-day"}}"#,
                Reason::QuotaExhausted,
                false,
            ),
            (
                502,
                r#"{"error":{"code":502,"message":"Provider returned error","metadata":{"raw":"upstream"}}}"#,
                Reason::ApiError,
                true,
            ),
            // xAI
            (
                400,
                r#"{"code":"Client specified an invalid argument","error":"Incorrect API key provided: xa***."}"#,
                Reason::Auth,
                false,
            ),
            (
                403,
                r#"{"code":"The caller does not have permission","error":"Your newly created team doesn't have any credits yet."}"#,
                Reason::QuotaExhausted,
                false,
            ),
            (403, r#"{"code":"The caller does not have permission","error":"Access denied"}"#, Reason::Auth, false),
            (
                400,
                r#"{"error":"This model's maximum prompt length is 131072 but the request contains 200000 tokens."}"#,
                Reason::ContextTooLong,
                false,
            ),
            // Groq, Mistral, DeepSeek
            (
                413,
                r#"{"error":{"message":"Request too large for model `m`: tokens per minute (TPM): Limit 6000","type":"tokens","code":"rate_limit_exceeded"}}"#,
                Reason::ContextTooLong,
                false,
            ),
            (
                429,
                r#"{"object":"error","message":"Service tier capacity exceeded for this model.","type":"service_tier_capacity_exceeded","code":"3505"}"#,
                Reason::RateLimited,
                true,
            ),
            (
                402,
                r#"{"error":{"message":"Insufficient Balance","type":"unknown_error","code":"invalid_request_error"}}"#,
                Reason::QuotaExhausted,
                false,
            ),
            // Gateways
            (408, "", Reason::ApiError, true),
            (413, "<html><title>413 Request Entity Too Large</title>", Reason::ContextTooLong, false),
            (504, "upstream timed out", Reason::ApiError, true),
        ] {
            let stated = Stated::from_body(status, body.as_bytes());
            assert_eq!((stated.reason(), stated.passes()), (reason, passes), "{}", stated.detail());
        }
    }

    #[test]
    fn inside_of_a_200_the_type_says_whether_an_error_passes() {
        let stated = |kind: &str| Stated { kinds: vec![kind.to_owned()], ..Stated::plain("m") };
        for kind in ["overloaded_error", "server_error", "UNAVAILABLE", "rate_limit_exceeded"] {
            assert!(stated(kind).passes(), "{kind}");
        }
        for kind in ["invalid_request_error", "insufficient_quota", "authentication_error", ""] {
            assert!(!stated(kind).passes(), "{kind}");
        }
    }

    #[test]
    fn details_of_an_error_tell_the_reset_and_the_field() {
        let body = r#"{"error":{"code":400,"message":"m","status":"INVALID_ARGUMENT","details":[
            {"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"generation_config.seed"}]},
            {"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"1.5s"}]}}"#;
        let stated = Stated::from_body(400, body.as_bytes());
        assert_eq!((stated.param.as_deref(), stated.reset.as_deref()), (Some("generation_config.seed"), Some("1.5s")));
        let body =
            r#"{"error":{"code":429,"message":"m","metadata":{"headers":{"X-RateLimit-Reset":"1741305600000"}}}}"#;
        assert_eq!(Stated::from_body(429, body.as_bytes()).reset.as_deref(), Some("1741305600000"));
        let body =
            r#"{"object":"error","message":{"detail":[{"loc":["body","seed"]}]},"type":"invalid_request_error"}"#;
        assert!(Stated::from_body(422, body.as_bytes()).message.contains("seed"));
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
