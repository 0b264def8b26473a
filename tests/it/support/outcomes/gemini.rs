//! Gemini CLI, with the settings that it is given here. Its exit code is the status modulo 256.

use super::{End, PLAIN, Row, Table};

pub(crate) const GEMINI: Table = Table {
    program: "gemini",
    format: "stream-json",
    output: "gemini-json",
    rows: &[
        Row { situation: "plain", exit: 0, end: End::Answer(&[PLAIN]) },
        Row { situation: "tool", exit: 0, end: End::Answer(&["I will run a command.", "After the tool: done."]) },
        Row { situation: "401", exit: 145, end: End::Reason("FAILED", "auth", &["status 401"]) },
        Row { situation: "429", exit: 173, end: End::Reason("FAILED", "rate_limited", &["slow down"]) },
        Row { situation: "429long", exit: 173, end: End::Reason("FAILED", "quota_exhausted", &["quota exhausted"]) },
        Row { situation: "500", exit: 244, end: End::Reason("FAILED", "api_error", &["status 500"]) },
        // Half an answer is on standard output.
        Row { situation: "truncated", exit: 1, end: End::Reason("FAILED", "network", &["terminated"]) },
        // It tries four times.
        Row { situation: "empty", exit: 0, end: End::Reason("EMPTY", "empty_output", &["no text or thoughts"]) },
    ],
    recorded: &[],
};
