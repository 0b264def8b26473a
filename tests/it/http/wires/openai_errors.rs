//! The error bodies of OpenAI's API, which both of its formats share, and of servers that copy them.

use serde_json::{Value, json};

use super::{KEY, MODEL};

/// The body for this status. Those that OpenAI itself never sends are those of servers that speak its format.
pub(super) fn error(status: u16) -> Value {
    let body = |message: String, kind: &str, code: Value| json!({"error": {"message": message, "type": kind, "param": null, "code": code}});
    let invalid = "invalid_request_error";
    match status {
        400 => body("We could not parse the JSON body of your request.".to_owned(), invalid, Value::Null),
        401 => body(
            format!("Incorrect API key provided: {KEY}. You can find your API key in your account's settings."),
            invalid,
            json!("invalid_api_key"),
        ),
        402 => body("Insufficient Balance".to_owned(), "unknown_error", json!(invalid)),
        403 => body(
            "Country, region, or territory not supported".to_owned(),
            "request_forbidden",
            json!("unsupported_country_region_territory"),
        ),
        404 => body(
            format!("The model `{MODEL}` does not exist or you do not have access to it."),
            invalid,
            json!("model_not_found"),
        ),
        408 => json!({"error": {"message": "Request timed out", "code": 408}}),
        413 => body("Request body too large".to_owned(), invalid, Value::Null),
        429 => body(
            format!(
                "Rate limit reached for {MODEL} in organization org-x on tokens per min (TPM): Limit 30000, Used 29000, \
                 Requested 2000. Please try again in 2s."
            ),
            "tokens",
            json!("rate_limit_exceeded"),
        ),
        500 => body(
            "The server had an error while processing your request. Sorry about that!".to_owned(),
            "server_error",
            Value::Null,
        ),
        503 => {
            body("The engine is currently overloaded, please try again later".to_owned(), "server_error", Value::Null)
        }
        _ => body("Overloaded".to_owned(), "overloaded_error", Value::Null),
    }
}

pub(super) fn spent_quota() -> (u16, Value) {
    let message = "You exceeded your current quota, please check your plan and billing details.";
    let error = json!({"message": message, "type": "insufficient_quota", "param": null, "code": "insufficient_quota"});
    (429, json!({"error": error}))
}

/// A prompt that is larger than what the account may send in a whole minute: waiting does not make it fit.
pub(crate) fn too_long_for_minute() -> (u16, Value) {
    let message = format!(
        "Request too large for {MODEL} in organization org-x on tokens per min (TPM): Limit 6000, Requested 9000. The \
         input or output tokens must be reduced in order to run successfully."
    );
    let error = json!({"message": message, "type": "tokens", "param": null, "code": "rate_limit_exceeded"});
    (429, json!({"error": error}))
}

/// As Azure says it, and OpenAI of some models.
pub(super) fn blocked_prompt() -> Option<(u16, String)> {
    let message = "The response was filtered due to the prompt triggering the content management policy. Please modify \
                   your prompt and retry.";
    let error = json!({"message": message, "type": null, "param": "prompt", "code": "content_filter", "status": 400});
    Some((400, json!({"error": error}).to_string()))
}
