//! What programs say on standard error about requests that failed and that they send again by themselves.
//!
//! Two programs say it nowhere else, and wait for minutes: `gemini` writes a warning for each retry, `opencode` (with
//! `--print-logs`) a log line for each failed request. So that their silence is explained, each such line is shown as a
//! retry; so that `--retries` bounds programs without a setting for it, they are counted.

use std::borrow::Cow;

use super::provider_words::typed_error;
use crate::config::OutputFormat;
use crate::session::slot::{Activity, Reason, TypedError};

/// The longest line that is looked at, in bytes.
const LONGEST: usize = 64 << 10;

/// A failed request that the program is going to repeat, or has just given up on.
#[derive(Debug, PartialEq, Eq)]
struct Notice {
    error: TypedError,
    /// Whether it is sure, or to be expected, that the program sends the request again.
    repeated: bool,
    /// Until the next one; 0 where it is not said.
    in_seconds: u64,
}

/// Reads the notices of one program.
#[derive(Debug)]
pub(super) struct Notices {
    format: OutputFormat,
    /// How many retries there may be; `None` leaves it to the program.
    limit: Option<u32>,
    line: Vec<u8>,
    /// The line at hand is too long to be one.
    skipping: bool,
    /// Requests that failed since something came out of the program.
    failed: u32,
    last: Option<TypedError>,
    over: bool,
}

impl Notices {
    pub(super) fn new(format: OutputFormat) -> Self {
        Self { format, limit: None, line: Vec::new(), skipping: false, failed: 0, last: None, over: false }
    }

    /// With at most `limit` retries.
    pub(super) fn with_limit(self, limit: Option<u32>) -> Self {
        Self { limit, ..self }
    }

    /// Takes the next bytes of standard error; what they announce, the last of it first.
    pub(super) fn push(&mut self, mut bytes: &[u8]) -> Option<Activity> {
        if !matches!(self.format, OutputFormat::GeminiJson | OutputFormat::OpencodeJson) {
            return None;
        }
        let mut announced = None;
        while let Some(newline) = memchr::memchr(b'\n', bytes) {
            self.collect(&bytes[..newline]);
            bytes = &bytes[newline + 1..];
            if !std::mem::take(&mut self.skipping) {
                let line = std::mem::take(&mut self.line);
                announced = self.take(&String::from_utf8_lossy(&line)).or(announced);
            }
            self.line.clear();
        }
        self.collect(bytes);
        announced
    }

    fn collect(&mut self, bytes: &[u8]) {
        self.skipping |= self.line.len() + bytes.len() > LONGEST;
        if self.skipping {
            self.line.clear();
        } else {
            self.line.extend_from_slice(bytes);
        }
    }

    fn take(&mut self, line: &str) -> Option<Activity> {
        let notice = match self.format {
            OutputFormat::GeminiJson => gemini(line),
            OutputFormat::OpencodeJson => opencode(line),
            _ => None,
        }?;
        self.failed += 1;
        // A spent quota comes back in hours.
        let spent = notice.error.reason == Reason::QuotaExhausted;
        self.over = self.limit.is_some_and(|limit| self.failed > limit || spent);
        let why = notice.error.detail.clone();
        self.last = Some(notice.error);
        let Notice { in_seconds, repeated, .. } = notice;
        let of = self.limit.unwrap_or(0);
        (repeated && !self.over).then_some(Activity::Retry { attempt: self.failed, of, in_seconds, why })
    }

    /// A request was answered.
    pub(super) fn answered(&mut self) {
        (self.failed, self.last, self.over) = (0, None, false);
    }

    /// Whether there were as many retries as there may be.
    pub(super) const fn over(&self) -> bool {
        self.over
    }

    /// The failure that stands, with how often the request was sent.
    pub(super) fn failure(self) -> Option<TypedError> {
        let mut error = self.last?;
        if self.failed > 1 {
            error.detail.push_str(&format!(" (asked {} times)", self.failed));
        }
        Some(error)
    }
}

/// `Attempt 2 failed with status 500. Retrying with backoff... _ApiError: {..}`, and
/// `Attempt 2 failed: WORDS. Retrying after 1234ms...`.
fn gemini(line: &str) -> Option<Notice> {
    let rest = line.trim_start().strip_prefix("Attempt ")?;
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit()).strip_prefix(" failed")?;
    let (failure, retry) = rest.split_once("Retrying ")?;
    let in_seconds = retry
        .strip_prefix("after ")
        .and_then(|after| after.split_once("ms"))
        .and_then(|(milliseconds, _)| milliseconds.parse::<u64>().ok())
        .map_or(0, |milliseconds| milliseconds.div_ceil(1000));
    let failure = failure.trim_start_matches([':', ' ']).trim_end().trim_end_matches('.');
    let status = failure.strip_prefix("with status ").and_then(|status| status.parse().ok());
    // The error follows, by its class and its words.
    let words = retry.split_once("... ").map_or(failure, |(_, error)| error);
    let words = words.split_once(": ").filter(|(class, _)| !class.contains(' ')).map_or(words, |(_, words)| words);
    Some(Notice { error: typed_error(status, "", words), repeated: true, in_seconds })
}

/// `timestamp=.. level=ERROR .. message="stream error" .. small=false agent=build mode=primary error.error="CLASS: WORDS"`.
///
/// The title of a conversation and sub-agents have requests of their own, which are not the answer's.
fn opencode(line: &str) -> Option<Notice> {
    if !line.contains(" message=\"stream error\" ") || line.contains(" small=true ") || line.contains(" mode=subagent ")
    {
        return None;
    }
    let quoted = line.split_once(" error.error=")?.1;
    let words = unquoted(quoted);
    let (class, words) = words.split_once(": ").filter(|(class, _)| !class.contains(' ')).unwrap_or(("", &words));
    let error = typed_error(None, class, words);
    let repeated = opencode_repeats(&error);
    Some(Notice { error, repeated, in_seconds: 0 })
}

/// What opencode 1.18 takes for a passing trouble, as far as the words tell; a refusal is final.
fn opencode_repeats(error: &TypedError) -> bool {
    const PASSING: [&str; 13] = [
        "500",
        "502",
        "503",
        "504",
        "524",
        "gateway",
        "overloaded",
        "unavailable",
        "internal error",
        "server error",
        "timeout",
        "timed out",
        "try again",
    ];
    let words = error.detail.to_lowercase();
    match error.reason {
        Reason::RateLimited | Reason::QuotaExhausted | Reason::Network => true,
        Reason::ApiError => PASSING.iter().any(|passing| words.contains(passing)),
        _ => false,
    }
}

/// A value of a log line: a JSON string, or what comes before the next space.
fn unquoted(value: &str) -> Cow<'_, str> {
    match serde_json::Deserializer::from_str(value).into_iter::<String>().next() {
        Some(Ok(text)) => text.into(),
        _ => value.split(' ').next().unwrap_or_default().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GEMINI: &str = "Ripgrep is not available.\n\
        Attempt 1 failed with status 429. Retrying with backoff... _ApiError: {\"error\":{\"code\":429,\"message\":\"slow down\",\"status\":\"RESOURCE_EXHAUSTED\"}}\n\
        \x20   at async retryWithBackoff (file:///x.js:1:2) {\n  status: 429\n}\n\
        Attempt 2 failed: Please wait. Retrying after 34074ms...\n\
        Attempt 3 failed. Retrying with backoff... TypeError: fetch failed\n\
        Attempt 4 failed with status 500. Max attempts reached\n";

    const OPENCODE: &str = "timestamp=T level=ERROR run=r message=\"stream error\" providerID=p modelID=m session.id=s small=false agent=build mode=primary error.error=\"AI_APICallError: \\\"internal server error\\\"\"\n\
        timestamp=T level=ERROR run=r message=\"stream error\" providerID=p modelID=m session.id=s small=true agent=title mode=primary error.error=\"AI_RetryError: no title\"\n\
        timestamp=T level=WARN run=r message=\"background dependency install failed\" dir=/d error=\"x\"\n\
        timestamp=T level=ERROR run=r message=\"stream error\" providerID=p modelID=m session.id=s small=false agent=build mode=primary error.error=\"AI_APICallError: Cannot connect to API: connection refused\"\n";

    fn shown(
        format: OutputFormat,
        limit: Option<u32>,
        text: &str,
        size: usize,
    ) -> (Vec<String>, bool, Option<TypedError>) {
        let mut notices = Notices::new(format).with_limit(limit);
        let mut shown = Vec::new();
        let mut over = false;
        for piece in text.as_bytes().chunks(size) {
            shown.extend(notices.push(piece).map(|activity| activity.to_string()));
            over |= notices.over();
        }
        (shown, over, notices.failure())
    }

    #[test]
    fn each_retry_is_read_whatever_the_chunks() {
        for size in [1, 7, 13] {
            let (lines, over, last) = shown(OutputFormat::GeminiJson, None, GEMINI, size);
            assert_eq!(
                lines,
                ["retry 1 (status 429: slow down)", "retry 2 in 35s (Please wait)", "retry 3 (fetch failed)"]
            );
            assert!(!over);
            assert_eq!(last, Some(TypedError::new(Reason::Network, "fetch failed (asked 3 times)")));
            let (lines, over, last) = shown(OutputFormat::OpencodeJson, Some(2), OPENCODE, size);
            assert_eq!(
                lines,
                ["retry 1/2 (\"internal server error\")", "retry 2/2 (Cannot connect to API: connection refused)"]
            );
            assert!(!over);
            assert_eq!(last.unwrap().reason, Reason::Network);
        }
    }

    #[test]
    fn more_failures_than_retries_are_the_end_unless_something_came_in_between() {
        let (lines, over, last) = shown(OutputFormat::OpencodeJson, Some(1), OPENCODE, 40);
        assert_eq!((lines.len(), over), (1, true));
        assert_eq!(last.unwrap().detail, "Cannot connect to API: connection refused (asked 2 times)");
        let mut notices = Notices::new(OutputFormat::OpencodeJson).with_limit(Some(1));
        let (first, second) = OPENCODE.split_at(OPENCODE.find("timestamp=T level=WARN").unwrap());
        notices.push(first.as_bytes());
        notices.answered();
        notices.push(second.as_bytes());
        assert!(!notices.over());
    }

    #[test]
    fn a_spent_quota_is_not_waited_for() {
        let line = "Attempt 1 failed with status 429. Retrying with backoff... _ApiError: {\"error\":{\"code\":429,\"message\":\"Quota exceeded for GenerateRequestsPerDayPerProject\"}}\n";
        assert!(shown(OutputFormat::GeminiJson, Some(5), line, 99).1);
        assert!(!shown(OutputFormat::GeminiJson, None, line, 99).1, "left to the program");
    }

    #[test]
    fn a_refusal_is_no_retry() {
        let refused = OPENCODE.replace("internal server error", "Incorrect API key provided");
        let (lines, over, _) =
            shown(OutputFormat::OpencodeJson, Some(2), refused.split_inclusive('\n').next().unwrap(), 99);
        assert_eq!((lines, over), (Vec::new(), false));
    }

    #[test]
    fn a_line_without_end_is_not_kept() {
        let mut notices = Notices::new(OutputFormat::OpencodeJson).with_limit(Some(0));
        for _ in 0..40 {
            notices.push(&[b'x'; 4096]);
        }
        assert!(notices.line.len() <= LONGEST);
        notices.push(b"\n");
        notices.push(OPENCODE.as_bytes());
        assert!(notices.over());
    }
}
