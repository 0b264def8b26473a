//! What each wire makes of each fault.
//!
//! A row is a fault (its script is in `faults.rs`), how its slot ends on every wire, and the wires on which it ends
//! otherwise. `x3` is the number of requests that the server sees, `x1` where it is not said. Words in quotation marks
//! must be in the slot's error.

/// `team run`, with the two retries that are the default.
pub(super) const RUN: &str = r#"
whole                 | COMPLETED                      |
bytes-1               | COMPLETED                      |
bytes-7               | COMPLETED                      |
crlf                  | COMPLETED                      |
byte-order-mark       | COMPLETED                      |
until-close           | COMPLETED                      |
content-length        | COMPLETED                      |
gzip                  | COMPLETED                      |
json-body             | COMPLETED                      |
json-body-untyped     | COMPLETED                      |
stall-before          | COMPLETED                      |
stall-middle          | COMPLETED                      |
stall-after           | COMPLETED                      |
reset-after           | COMPLETED                      |
close-after           | COMPLETED                      |
event-10-mb           | COMPLETED                      |
repeated-events       | COMPLETED                      |
repeated-last         | COMPLETED                      |
last-without-newline  | COMPLETED                      |
stop-without-last     | FAILED truncated               | openai-chat: COMPLETED
length                | FAILED truncated               |
length-accepted       | COMPLETED                      |
length-json-body      | FAILED truncated               |
refusal               | EMPTY refused                  | ollama-chat: -
blocked-prompt        | EMPTY refused                  | ollama-chat: -
only-thoughts         | EMPTY empty_output             |
only-thoughts-length  | EMPTY empty_output             |
no-text               | EMPTY empty_output             |
cut-prompt            | FAILED context_too_long        |
too-long              | FAILED context_too_long        |
too-long-for-minute   | FAILED context_too_long        | anthropic-messages gemini-generate ollama-chat: -
refused               | FAILED network x0              | "refused" "tried again 2 times"
reset-before          | FAILED network x3              | "tried again 2 times"
close-before          | FAILED network x3              | "tried again 2 times"
reset-in-head         | FAILED network x3              |
reset-in-thoughts     | FAILED truncated               |
reset-middle          | FAILED truncated               | "connection broke"
close-middle          | FAILED truncated               |
stop-in-every-event   | FAILED truncated               | openai-chat openai-responses anthropic-messages ollama-chat: -
no-last               | FAILED truncated               | "without saying that the answer was done"
cut-character         | FAILED truncated               |
cut-json-body         | FAILED truncated               |
empty-200             | FAILED truncated               |
event-65-mib          | FAILED bad_output              | "64 MiB"
html-200              | FAILED bad_output              | "Sign in"
no-json-200           | FAILED bad_output              |
nothing-204           | FAILED bad_output              | "HTTP 204"
text-200              | FAILED bad_output              | "upstream is down"
broken-event          | FAILED bad_output              |
html-502              | FAILED api_error x3            | "502" "Bad Gateway"
error-in-200          | FAILED api_error x3            | ollama-chat: FAILED api_error
error-after-greeting  | FAILED api_error               | openai-responses: FAILED api_error x3
error-in-middle       | FAILED api_error               |
error-json-200        | FAILED auth                    | ollama-chat: FAILED api_error
status-400            | FAILED api_error               | "HTTP 400"
status-401            | FAILED auth                    | "HTTP 401"
status-402            | FAILED quota_exhausted         | "HTTP 402"
status-403            | FAILED auth                    | "HTTP 403"
status-404            | FAILED unknown_model           | "HTTP 404"
status-408            | FAILED api_error x3            | "HTTP 408"
status-413            | FAILED context_too_long        | "HTTP 413"
status-429            | FAILED rate_limited x3         | "HTTP 429"
status-500            | FAILED api_error x3            | "HTTP 500"
status-503            | FAILED api_error x3            | "HTTP 503"
status-529            | FAILED api_error x3            | "HTTP 529"
status-401-gzip       | FAILED auth                    | "HTTP 401"
status-500-silent     | FAILED api_error x3            | "Internal Server Error"
status-404-path       | FAILED api_error               | "HTTP 404"
refused-key           | FAILED auth                    |
retry-after-0         | FAILED rate_limited x3         |
retry-after-hour      | FAILED rate_limited            | "asks to wait 3600 s, until "
wait-in-body          | COMPLETED x2                   | openai-chat openai-responses anthropic-messages ollama-chat: -
spent-quota           | FAILED quota_exhausted         |
503-then-answer       | COMPLETED x2                   |
429-then-answer       | COMPLETED x2                   |
reset-then-answer     | COMPLETED x2                   |
redirect-elsewhere    | FAILED api_error               | "redirect" "not followed"
redirect-here         | COMPLETED x2                   |
refused-setting       | COMPLETED x2                   | gemini-generate: COMPLETED x3
"#;

/// `team run --retries 0`.
pub(super) const NO_RETRIES: &str = r#"
reset-before          | FAILED network                 |
close-before          | FAILED network                 |
status-429            | FAILED rate_limited            |
status-503            | FAILED api_error               |
html-502              | FAILED api_error               |
503-then-answer       | FAILED api_error               |
refused-setting       | COMPLETED x2                   | gemini-generate: COMPLETED x3
"#;

/// `team run --idle-timeout 1s`: what is silent ends, also behind pings that never come.
pub(super) const IDLE: &str = r#"
whole                 | COMPLETED                      |
hang-before           | TIMEOUT idle_timeout           |
hang-after-head       | TIMEOUT idle_timeout           |
hang-in-thoughts      | TIMEOUT idle_timeout           |
hang-middle           | TIMEOUT idle_timeout           |
hang-in-error         | TIMEOUT idle_timeout           |
"#;

/// `team cancel`, once every slot waits for the server.
pub(super) const CANCELLED: &str = r#"
whole                 | COMPLETED                      |
hang-before           | CANCELLED cancelled            |
hang-after-head       | CANCELLED cancelled            |
hang-in-thoughts      | CANCELLED cancelled            |
hang-middle           | CANCELLED cancelled            |
hang-in-error         | CANCELLED cancelled            |
retry-after-minute    | CANCELLED cancelled            |
"#;

/// How a slot ends, as it is written in the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Expected {
    pub(super) fault: &'static str,
    /// The state, and the reason where the state has one.
    pub(super) ending: String,
    pub(super) requests: usize,
    /// What the error must say.
    pub(super) words: Vec<&'static str>,
}

/// The column of `wire`, without the faults that cannot happen there.
pub(super) fn column(table: &'static str, wire: &str) -> Vec<Expected> {
    table.lines().filter(|line| !line.is_empty()).filter_map(|line| cell(line, wire)).collect()
}

fn cell(line: &'static str, wire: &str) -> Option<Expected> {
    let [fault, every, rest]: [&str; 3] = line.split('|').map(str::trim).collect::<Vec<_>>().try_into().unwrap();
    let (mut outcome, mut words) = (every, Vec::new());
    if rest.starts_with('"') {
        words = rest.split('"').map(str::trim).filter(|word| !word.is_empty()).collect();
    } else if let Some((wires, other)) = rest.split_once(':')
        && wires.split(' ').any(|name| name == wire)
    {
        outcome = other.trim();
    }
    let (ending, requests) = match outcome.rsplit_once(" x") {
        Some((ending, count)) => (ending, count.parse().unwrap()),
        None => (outcome, 1),
    };
    (ending != "-").then(|| Expected { fault, ending: ending.to_owned(), requests, words })
}
