//! What class an error of a provider or of an agent program belongs to.
//!
//! Every wire and every decoder comes here with what it has: an HTTP status, the provider's own error type, and the
//! words. One table, so that the same refusal has the same name whichever way it came. The words go first, since
//! providers put a spent quota under 429 and a prompt that is too long under 400; then the type; then the status.

use super::Reason;

/// Words of a message that say more than its status: every fragment of a row must occur, in any letter case.
///
/// The order matters: the first row that fits decides. Fragments are those of real messages (Anthropic, OpenAI,
/// Gemini, OpenRouter, xAI, Groq, Ollama, llama.cpp, and the agents' own sentences).
const WORDS: &[(&[&str], Reason)] = &[
    // Output limits, stated as errors.
    (&["output token maximum"], Reason::Truncated),
    (&["reason: max_output_tokens"], Reason::Truncated),
    (&["maximum session turns"], Reason::Truncated),
    (&["max session turns"], Reason::Truncated),
    (&["empty response"], Reason::EmptyOutput),
    // The prompt does not fit.
    (&["prompt is too long"], Reason::ContextTooLong),
    (&["input is too long"], Reason::ContextTooLong),
    (&["input exceeds the maximum length"], Reason::ContextTooLong),
    (&["context length"], Reason::ContextTooLong),
    (&["context_length"], Reason::ContextTooLong),
    (&["context window"], Reason::ContextTooLong),
    (&["context size"], Reason::ContextTooLong),
    (&["exceed_context"], Reason::ContextTooLong),
    (&["exceed context limit"], Reason::ContextTooLong),
    (&["maximum prompt length"], Reason::ContextTooLong),
    // One request alone is over the limit of a minute: waiting cannot help.
    (&["request too large"], Reason::ContextTooLong),
    (&["token count", "exceeds the maximum"], Reason::ContextTooLong),
    (&["reduce the length of"], Reason::ContextTooLong),
    // A quota of a day, or none at all for this model, whatever else is used up with it.
    (&["quota", "perday"], Reason::QuotaExhausted),
    (&["quota", "limit: 0,"], Reason::QuotaExhausted),
    // A limit that passes within a minute, though its message says "quota".
    (&["resource has been exhausted"], Reason::RateLimited),
    (&["quota", "perminute"], Reason::RateLimited),
    (&["quota", "per minute"], Reason::RateLimited),
    // A quota that waiting a little does not refill.
    (&["insufficient_quota"], Reason::QuotaExhausted),
    (&["exceeded your current quota"], Reason::QuotaExhausted),
    (&["quota exceeded"], Reason::QuotaExhausted),
    (&["quota", "exhausted"], Reason::QuotaExhausted),
    (&["credit balance"], Reason::QuotaExhausted),
    (&["insufficient credit"], Reason::QuotaExhausted),
    (&["insufficient balance"], Reason::QuotaExhausted),
    (&["more credits"], Reason::QuotaExhausted),
    (&["any credits"], Reason::QuotaExhausted),
    (&["available credits"], Reason::QuotaExhausted),
    (&["key limit exceeded"], Reason::QuotaExhausted),
    (&["account is not active"], Reason::QuotaExhausted),
    (&["usage limit"], Reason::QuotaExhausted),
    (&["plan limit reached"], Reason::QuotaExhausted),
    (&["hit your limit"], Reason::QuotaExhausted),
    (&["hit your session limit"], Reason::QuotaExhausted),
    (&["spending limit"], Reason::QuotaExhausted),
    (&["billing hard limit"], Reason::QuotaExhausted),
    (&["limit", "per day"], Reason::QuotaExhausted),
    (&["perday"], Reason::QuotaExhausted),
    (&["free-models-per-day"], Reason::QuotaExhausted),
    // The model's name.
    (&["model_not_found"], Reason::UnknownModel),
    (&["model not found"], Reason::UnknownModel),
    (&["modelnotfounderror"], Reason::UnknownModel),
    (&["unknown model"], Reason::UnknownModel),
    (&["invalid model"], Reason::UnknownModel),
    (&["no such model"], Reason::UnknownModel),
    (&["not a valid model"], Reason::UnknownModel),
    (&["cannot be routed by name"], Reason::UnknownModel),
    (&["no endpoints found for"], Reason::UnknownModel),
    (&["issue with the selected model"], Reason::UnknownModel),
    (&["model", "does not exist"], Reason::UnknownModel),
    (&["model", "not found, try pulling"], Reason::UnknownModel),
    (&["model '", "' not found"], Reason::UnknownModel),
    (&["models/", "is not found"], Reason::UnknownModel),
    (&["model is not supported"], Reason::UnknownModel),
    (&["model", "has been deprecated"], Reason::UnknownModel),
    // Refusals by policy.
    (&["usage policy"], Reason::Refused),
    (&["content policy"], Reason::Refused),
    (&["content_policy"], Reason::Refused),
    (&["content_filter"], Reason::Refused),
    (&["content filter"], Reason::Refused),
    (&["prohibited_content"], Reason::Refused),
    (&["blocked", "safety"], Reason::Refused),
    (&["flagged", "polic"], Reason::Refused),
    (&["requires moderation", "flagged"], Reason::Refused),
    // Keys and logins.
    (&["invalid api key"], Reason::Auth),
    (&["invalid x-api-key"], Reason::Auth),
    (&["invalid_api_key"], Reason::Auth),
    (&["incorrect api key"], Reason::Auth),
    (&["api key not valid"], Reason::Auth),
    (&["api key not found"], Reason::Auth),
    (&["api key is missing"], Reason::Auth),
    (&["missing api key"], Reason::Auth),
    (&["api key is required"], Reason::Auth),
    (&["no key found"], Reason::Auth),
    (&["no auth credentials"], Reason::Auth),
    (&["no cookie auth credentials"], Reason::Auth),
    (&["not logged in"], Reason::Auth),
    (&["please run /login"], Reason::Auth),
    (&["oauth token", "expired"], Reason::Auth),
    (&["token", "has been revoked"], Reason::Auth),
    // Too fast.
    (&["rate limit"], Reason::RateLimited),
    (&["rate_limit"], Reason::RateLimited),
    (&["too many requests"], Reason::RateLimited),
];

/// The providers' own error types and codes, compared without letter case, `_`, `-` and `.`.
const KINDS: &[(&str, Reason)] = &[
    ("authenticationerror", Reason::Auth),
    ("authenticationfailed", Reason::Auth),
    ("autherror", Reason::Auth),
    ("providerautherror", Reason::Auth),
    ("unauthenticated", Reason::Auth),
    ("unauthorized", Reason::Auth),
    ("permissionerror", Reason::Auth),
    ("permissiondenied", Reason::Auth),
    ("invalidapikey", Reason::Auth),
    ("apikeyinvalid", Reason::Auth),
    ("apikeyserviceblocked", Reason::Auth),
    ("servicedisabled", Reason::Auth),
    ("oauthorgnotallowed", Reason::Auth),
    ("modelnotfound", Reason::UnknownModel),
    ("modelnotfounderror", Reason::UnknownModel),
    ("providermodelnotfounderror", Reason::UnknownModel),
    ("invalidmodel", Reason::UnknownModel),
    ("insufficientquota", Reason::QuotaExhausted),
    ("billingerror", Reason::QuotaExhausted),
    ("billingnotactive", Reason::QuotaExhausted),
    ("billinghardlimitreached", Reason::QuotaExhausted),
    ("quotaexceeded", Reason::QuotaExhausted),
    ("usagelimitreached", Reason::QuotaExhausted),
    ("usagelimitexceeded", Reason::QuotaExhausted),
    ("usagenotincluded", Reason::QuotaExhausted),
    ("contextlengthexceeded", Reason::ContextTooLong),
    ("contextwindowexceeded", Reason::ContextTooLong),
    ("contextoverflowerror", Reason::ContextTooLong),
    ("exceedcontextsizeerror", Reason::ContextTooLong),
    ("requesttoolarge", Reason::ContextTooLong),
    ("ratelimit", Reason::RateLimited),
    ("ratelimited", Reason::RateLimited),
    ("ratelimiterror", Reason::RateLimited),
    ("ratelimitexceeded", Reason::RateLimited),
    ("toomanyrequests", Reason::RateLimited),
    ("resourceexhausted", Reason::RateLimited),
    ("contentfilter", Reason::Refused),
    ("contentpolicyviolation", Reason::Refused),
    ("refusal", Reason::Refused),
    ("maxoutputtokens", Reason::Truncated),
    ("messageoutputlengtherror", Reason::Truncated),
    ("connectionerror", Reason::Network),
    ("apiconnectionerror", Reason::Network),
    ("econnrefused", Reason::Network),
    ("econnreset", Reason::Network),
    ("enotfound", Reason::Network),
    ("etimedout", Reason::Network),
    ("eaiagain", Reason::Network),
];

/// Words of a broken or missing connection; they count only where no status says that a server answered.
const NETWORK_WORDS: &[&str] = &[
    "econnrefused",
    "econnreset",
    "enotfound",
    "etimedout",
    "eai_again",
    "connection refused",
    "connection reset",
    "connection error",
    "connection closed",
    "could not resolve",
    "dns error",
    "fetch failed",
    "network error",
    "socket hang up",
    "error sending request",
    "unable to connect",
    "cannot connect",
    "stream disconnected",
    "stream closed before",
    "timed out",
    "certificate",
];

/// The class of an error with this HTTP `status`, provider error type or code `kind` (may be empty) and `message`.
///
/// Where `status` is unknown, one that the message itself names (`unexpected status 401`, `"code":429`) is used.
#[must_use]
pub fn diagnose(status: Option<u16>, kind: &str, message: &str) -> Reason {
    let words = message.to_lowercase();
    let row = WORDS.iter().find(|(fragments, _)| fragments.iter().all(|fragment| words.contains(fragment)));
    if let Some((_, reason)) = row {
        return *reason;
    }
    let plain: String =
        kind.chars().filter(|c| !matches!(c, '_' | '-' | '.' | ' ')).map(|c| c.to_ascii_lowercase()).collect();
    if let Some((_, reason)) = KINDS.iter().find(|(name, _)| *name == plain) {
        return *reason;
    }
    match status.or_else(|| status_named_in(&words)) {
        Some(401 | 403 | 407) => Reason::Auth,
        Some(402) => Reason::QuotaExhausted,
        // A wrong path is a 404 too; only a message that speaks of the model blames the model.
        Some(404) if words.contains("model") => Reason::UnknownModel,
        Some(413) => Reason::ContextTooLong,
        Some(429) => Reason::RateLimited,
        Some(_) => Reason::ApiError,
        None if NETWORK_WORDS.iter().any(|fragment| words.contains(fragment)) => Reason::Network,
        None => Reason::ApiError,
    }
}

/// The HTTP status that a message names (`unexpected status 401`, `Error code: 429`).
#[must_use]
pub fn status_in(message: &str) -> Option<u16> {
    status_named_in(&message.to_lowercase())
}

/// A number from 400 to 599 that the (lower-case) message introduces as a status or code.
fn status_named_in(words: &str) -> Option<u16> {
    let bytes = words.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let digits = bytes[at..].iter().take_while(|b| b.is_ascii_digit()).count();
        if digits == 3 && matches!(bytes[at], b'4' | b'5') {
            let before = words[..at].trim_end_matches([' ', ':', '"', '=', '\\']);
            let introduced = ["status", "code", "api error", "http error", "http"].iter().any(|w| before.ends_with(w))
                || (bytes[at..].get(3) == Some(&b')') && before.ends_with('('));
            if introduced {
                return words[at..at + 3].parse().ok();
            }
        }
        at += digits.max(1);
        // The next character starts at a boundary: digits are ASCII, and a longer character is skipped whole.
        while !words.is_char_boundary(at) {
            at += 1;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn real_messages_have_their_class() {
        let cases: &[(Option<u16>, &str, &str, Reason)] = &[
            (Some(401), "authentication_error", "Invalid API key · Fix external API key", Reason::Auth),
            (
                None,
                "",
                "unexpected status 401 Unauthorized: who are you, url: http://127.0.0.1:1/s/500/v1",
                Reason::Auth,
            ),
            (Some(403), "", "Your organization has disabled access", Reason::Auth),
            (
                Some(429),
                "rate_limit_error",
                "API Error: Request rejected (429) · rate limited, slow down",
                Reason::RateLimited,
            ),
            (None, "", "exceeded retry limit, last status: 429 Too Many Requests", Reason::RateLimited),
            (None, "", "API Error: Request rejected (429) · slow down", Reason::RateLimited),
            (
                Some(429),
                "insufficient_quota",
                "You exceeded your current quota, please check your plan",
                Reason::QuotaExhausted,
            ),
            (
                Some(429),
                "RESOURCE_EXHAUSTED",
                "Quota exceeded for GenerateRequestsPerMinutePerProject",
                Reason::RateLimited,
            ),
            (
                Some(429),
                "RESOURCE_EXHAUSTED",
                "Quota exceeded for GenerateRequestsPerDayPerProject",
                Reason::QuotaExhausted,
            ),
            (Some(429), "RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota).", Reason::RateLimited),
            (
                Some(429),
                "requests",
                "Rate limit reached for m on requests per day (RPD): Limit 200",
                Reason::QuotaExhausted,
            ),
            (
                Some(400),
                "invalid_request_error",
                "Your credit balance is too low to access the API",
                Reason::QuotaExhausted,
            ),
            (None, "", "You've hit your usage limit. Upgrade to Plus", Reason::QuotaExhausted),
            (Some(402), "", "Payment required", Reason::QuotaExhausted),
            (
                Some(400),
                "invalid_request_error",
                "prompt is too long: 210000 tokens > 200000 maximum",
                Reason::ContextTooLong,
            ),
            (
                Some(400),
                "exceed_context_size_error",
                "the request exceeds the available context size",
                Reason::ContextTooLong,
            ),
            (
                Some(400),
                "INVALID_ARGUMENT",
                "The input token count (9) exceeds the maximum number of tokens",
                Reason::ContextTooLong,
            ),
            (Some(404), "not_found_error", "model: opus-9", Reason::UnknownModel),
            (Some(404), "", "no such page", Reason::ApiError),
            (Some(404), "", "model 'x' not found, try pulling it first", Reason::UnknownModel),
            (None, "ProviderModelNotFoundError", "", Reason::UnknownModel),
            (Some(500), "api_error", "internal server error", Reason::ApiError),
            (Some(529), "overloaded_error", "Overloaded", Reason::ApiError),
            (None, "", "We’re currently experiencing high demand", Reason::ApiError),
            (None, "", "stream disconnected before completion", Reason::Network),
            (None, "ECONNREFUSED", "", Reason::Network),
            (None, "", "Error code: 429 - slow down", Reason::RateLimited),
            (None, "", "'Unknown model: nope'", Reason::UnknownModel),
            (
                None,
                "",
                "No key found - add one using 'llm keys set x' or set the OPENAI_API_KEY environment variable",
                Reason::Auth,
            ),
            (None, "", "OpenAI API Key is required for model \"oai@m\"", Reason::Auth),
            (
                Some(400),
                "connection_error",
                "API Error: 400 Cannot reach OpenAI at http://127.0.0.1:1",
                Reason::Network,
            ),
            (
                Some(400),
                "invalid_request_error",
                "API Error: 400 [Route] No model catalog available, so \"a/b\" cannot be routed by name",
                Reason::UnknownModel,
            ),
            (Some(504), "", "upstream timed out", Reason::ApiError),
            (Some(400), "content_filter", "The response was filtered", Reason::Refused),
            (None, "", "API Error: Claude's response exceeded the 32000 output token maximum", Reason::Truncated),
            (None, "", "The model returned an empty response with no text or thoughts.", Reason::EmptyOutput),
            (None, "", "", Reason::ApiError),
        ];
        for (status, kind, message, reason) in cases {
            assert_eq!(diagnose(*status, kind, message), *reason, "{status:?} {kind} {message}");
        }
    }

    #[test]
    fn a_number_in_an_address_is_not_a_status() {
        assert_eq!(status_named_in("no answer from http://127.0.0.1:4010/s/401/v1"), None);
        assert_eq!(status_named_in("waited 429 ms, 500 tokens"), None);
        assert_eq!(status_named_in("{\"error\":{\"code\":401}}"), Some(401));
        assert_eq!(status_named_in("é status: 503"), Some(503));
    }
}
