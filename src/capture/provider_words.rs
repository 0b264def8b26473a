//! What error sentences of agents hold: often a provider's JSON inside a sentence inside a frame.

use serde_json::Value;

use crate::session::slot::{Reason, TypedError, diagnose, status_in};

/// A detail is a sentence or two; longer ones are cut here (in bytes).
const DETAIL: usize = 4096;

/// Diagnoses an error of which the frame says `status`, `kind` and `message`.
///
/// A message that carries JSON (`[API Error: {"error":{"code":401,..}}]`) is opened: its status and type fill what the
/// frame left out, and its own message becomes the detail.
pub(super) fn typed_error(status: Option<u16>, kind: &str, message: &str) -> TypedError {
    let inner = nested(message);
    let found = inner.as_ref().and_then(|value| value.get("error")).filter(|e| !e.is_null()).or(inner.as_ref());
    let text = |key: &str| found.and_then(|e| e.get(key)).and_then(Value::as_str).filter(|s| !s.is_empty());
    let number = |key: &str| found.and_then(|e| e.get(key)).and_then(Value::as_u64).and_then(|n| u16::try_from(n).ok());
    // A program in between answers 400 for whatever it was answered itself: `API Error: 400 X error (HTTP 403): ..`.
    let inner_status = status.filter(|status| *status == 400).and(message.split_once("400")).map(|(_, rest)| rest);
    let status = inner_status.and_then(status_in).or(status);
    let status = status.or_else(|| number("code")).or_else(|| number("status")).or_else(|| number("statusCode"));
    let kinds = [Some(kind), text("code"), text("type"), text("status")];
    // The most telling of the types: a frame's own "unknown" says less than the provider's.
    let reason = kinds
        .into_iter()
        .flatten()
        .map(|kind| diagnose(status, kind, message))
        .max_by_key(|reason| u8::from(!matches!(reason, Reason::ApiError)))
        .unwrap_or_else(|| diagnose(status, "", message));
    let words = text("message")
        .or_else(|| text("detail"))
        .or_else(|| found.and_then(Value::as_str).filter(|s| !s.is_empty()))
        .unwrap_or(message)
        .trim();
    let mut detail = match status {
        Some(status) if !words.contains(&status.to_string()) => format!("status {status}: {words}"),
        _ => words.to_owned(),
    };
    if detail.len() > DETAIL {
        let end = (0..=DETAIL).rev().find(|at| detail.is_char_boundary(*at)).unwrap_or(0);
        detail.truncate(end);
        detail.push('…');
    }
    TypedError::new(reason, detail)
}

/// Why a request is made again, in a few words that name nobody: its status, or the class of its error.
pub(super) fn why(status: Option<u16>, kind: &str, message: &str) -> String {
    match status.or_else(|| status_in(message)) {
        Some(status) => format!("HTTP {status}"),
        None => diagnose(None, kind, message).as_str().to_owned(),
    }
}

/// The JSON object inside a message, when it holds one.
fn nested(message: &str) -> Option<Value> {
    let start = message.find('{')?;
    serde_json::Deserializer::from_str(&message[start..])
        .into_iter::<Value>()
        .next()
        .and_then(Result::ok)
        .filter(Value::is_object)
}

/// An agent's own sentence, on standard error, that it gave up on background tasks and flushed what it had.
///
/// `stderr` may be the tail of it. The exit code is 0 in this case.
#[must_use]
pub fn background_ceiling(stderr: &[u8]) -> Option<TypedError> {
    String::from_utf8_lossy(stderr)
        .lines()
        .find(|line| line.contains("Background tasks still running after") && line.contains("terminating"))
        .map(|line| TypedError::new(Reason::BackgroundTaskCeiling, line.trim()))
}

/// The line of a program's standard error that says why it failed: the first that calls itself an error, else the last.
///
/// `stderr` may be the tail of it.
#[must_use]
pub fn telling_line(stderr: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(stderr);
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let calls_itself_one = |line: &&str| line.get(..5).is_some_and(|word| word.eq_ignore_ascii_case("error"));
    lines.clone().find(calls_itself_one).or_else(|| lines.next_back()).map(str::to_owned)
}

/// The error that a program which prints no frames, or came to none, says on standard error.
///
/// Only what the sentence itself tells is taken from it; for all else its exit code is the reason.
#[must_use]
pub fn said_error(stderr: &[u8]) -> Option<TypedError> {
    let line = telling_line(stderr)?;
    let words = line.strip_prefix("Error: ").unwrap_or(&line);
    let error = typed_error(None, "", words);
    (error.reason != Reason::ApiError || status_in(words).is_some()).then_some(error)
}

/// What `opencode` wrote into its log about an error of which its frame only says that the log has it.
///
/// `stderr` may be the tail of it. The last such line counts, for it tells of the end.
#[must_use]
pub fn logged_error(frame: &TypedError, stderr: &[u8]) -> Option<TypedError> {
    if !frame.detail.contains("Check server logs") {
        return None;
    }
    let text = String::from_utf8_lossy(stderr);
    let said = text.lines().rev().filter(|line| line.contains(" level=ERROR ")).find_map(|line| {
        let (_, value) = line.split_once(" error=\"")?;
        Some(value.split_once('"').map_or(value, |(value, _)| value))
    })?;
    let (name, words) = said.split_once(": ").filter(|(name, _)| !name.contains(' ')).unwrap_or(("", said));
    Some(typed_error(None, name, words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_that_is_only_in_the_log_is_taken_from_there() {
        let frame = TypedError::new(Reason::ApiError, "Unexpected server error. Check server logs for details.");
        let line = "timestamp=2026-11-30T12:37:18.756Z level=ERROR run=b0 message=failed ref=err_4 error=";
        let log =
            |error: &str| format!("timestamp=x level=WARN error=\"Other: no\"\n{line}{error} cause=\"x\"\n\nmore\n");
        let said = log("\"ProviderModelNotFoundError: Model not found: foo/. Did you mean: frogbot?\"");
        let expected = TypedError::new(Reason::UnknownModel, "Model not found: foo/. Did you mean: frogbot?");
        assert_eq!(logged_error(&frame, said.as_bytes()), Some(expected));
        let said = log("\"went wrong at once: quite so\"");
        let expected = TypedError::new(Reason::ApiError, "went wrong at once: quite so");
        assert_eq!(logged_error(&frame, said.as_bytes()), Some(expected));
        assert_eq!(logged_error(&frame, b"level=WARN error=\"A: b\"\n"), None);
        let telling = TypedError::new(Reason::ApiError, "bad request");
        assert_eq!(logged_error(&telling, log("\"A: b\"").as_bytes()), None);
    }

    #[test]
    fn json_inside_a_sentence_is_opened() {
        let message = r#"[API Error: {"error":{"code":401,"message":"who are you","status":"UNAUTHENTICATED"}}]"#;
        let error = typed_error(None, "unknown", message);
        assert_eq!(error, TypedError::new(Reason::Auth, "status 401: who are you"));
        let error = typed_error(None, "", r#"{"detail":"The 'm' model is not supported here"}"#);
        assert_eq!(error, TypedError::new(Reason::UnknownModel, "The 'm' model is not supported here"));
        let error = typed_error(Some(400), "invalid_request_error", "API Error: 400 X error (HTTP 403): forbidden");
        assert_eq!(error, TypedError::new(Reason::Auth, "API Error: 400 X error (HTTP 403): forbidden"));
        let error = typed_error(Some(500), "", "broken {json");
        assert_eq!(error, TypedError::new(Reason::ApiError, "status 500: broken {json"));
    }

    #[test]
    fn a_long_detail_is_cut_at_a_character() {
        let error = typed_error(None, "", &"é".repeat(5000));
        assert!(error.detail.len() <= DETAIL + 3 && error.detail.ends_with('…'));
    }

    #[test]
    fn an_error_on_standard_error_has_its_class_and_anything_else_none() {
        for (stderr, expected) in [
            ("Error: Error code: 401 - invalid x-api-key\n", Some(Reason::Auth)),
            ("a warning\nError: Error code: 500 - internal server error\n", Some(Reason::ApiError)),
            ("Error: Connection error.\n", Some(Reason::Network)),
            ("Error: OpenAI API Key is required for model \"m\"\n\nSet it with:\n  export X\n", Some(Reason::Auth)),
            ("Error: Claude Code CLI not found\nInstall it\n", None),
            ("went wrong after 500 tokens\n", None),
            ("\n", None),
        ] {
            assert_eq!(said_error(stderr.as_bytes()).map(|error| error.reason), expected, "{stderr}");
        }
        assert_eq!(telling_line(b"x\nerror: first\nlast\n").as_deref(), Some("error: first"));
        assert_eq!(telling_line("é\nlast\n\n".as_bytes()).as_deref(), Some("last"));
    }

    #[test]
    fn the_ceiling_of_background_tasks_is_recognised() {
        let said = b"note\nBackground tasks still running after 600s; terminating.\nSet X=0\n";
        assert_eq!(background_ceiling(said).unwrap().reason, Reason::BackgroundTaskCeiling);
        assert_eq!(background_ceiling(b"Background tasks: 2"), None);
    }
}
