//! What is said of a connection that could not be made, or broke.

use std::error::Error as StdError;

/// What the library says of every failure of a kind, before it comes to the cause.
const WRAPPINGS: &[&str] = &[
    "error sending request",
    "client error (Connect)",
    "client error (SendRequest)",
    "connection error",
    "request or response body error",
    "error decoding response body",
    "error reading a body from connection",
];

/// What the TLS library says of an answer that is none of TLS, such as that of a plain HTTP server.
const NO_TLS: &str = "InvalidContentType";

/// What a failed connection says: every cause that tells something; without the URL, which may hold a key.
pub(super) fn transport(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut causes = vec![error.to_string()];
    let mut source = error.source();
    while let Some(cause) = source {
        causes.push(cause.to_string());
        source = cause.source();
    }
    told(&causes)
}

/// Each of the `causes`, the outermost first, that says more than the one inside of it.
fn told(causes: &[String]) -> String {
    let mut lines: Vec<&str> = Vec::new();
    for cause in causes.iter().rev() {
        // Many repeat the words of their cause.
        let line = lines.last().and_then(|inner| cause.strip_suffix(inner)).unwrap_or(cause).trim_end_matches(": ");
        if !line.is_empty() && !WRAPPINGS.contains(&line) {
            lines.push(line);
        }
    }
    if lines.is_empty() {
        lines.extend(causes.first().map(String::as_str));
    }
    lines.reverse();
    let text = lines.join(": ");
    if lines.iter().any(|line| line.contains(NO_TLS)) {
        return format!("the server does not speak TLS at this port: try `http://` in `base_url` ({text})");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_broken_connection_the_causes_are_told_and_not_the_wrappings() {
        for (causes, text) in [
            (
                &[
                    "error sending request",
                    "client error (Connect)",
                    "tcp connect error",
                    "Connection refused (os error 111)",
                ][..],
                "tcp connect error: Connection refused (os error 111)",
            ),
            (
                &["error decoding response body", "error reading a body from connection", "Connection reset by peer"],
                "Connection reset by peer",
            ),
            (
                &["client error (Connect)", "received corrupt message of type InvalidContentType"],
                "the server does not speak TLS at this port: try `http://` in `base_url` (received corrupt message of \
                 type InvalidContentType)",
            ),
            (&["error sending request: no route", "no route"], "no route"),
            (&["error sending request", "client error (SendRequest)"], "error sending request"),
        ] {
            let causes: Vec<String> = causes.iter().map(|cause| (*cause).to_owned()).collect();
            assert_eq!(told(&causes), text);
        }
    }
}
