//! claudish in front of a provider of chat completions, with one retry.
//!
//! A cut stream is not in the table: what it makes of one is chance, down to passing half an answer off as a whole one.

use super::{End, PLAIN, Row, Table};

pub(crate) const CLAUDISH: Table = Table {
    program: "claudish",
    format: "stream-json",
    output: "claude-stream-json",
    rows: &[
        Row { situation: "plain", exit: 0, end: End::Answer(&[PLAIN]) },
        Row { situation: "tool", exit: 0, end: End::Answer(&["I will run a command.", "After the tool: done."]) },
        Row { situation: "401", exit: 1, end: End::Reason("FAILED", "auth", &["Invalid API key"]) },
        Row { situation: "403", exit: 1, end: End::Reason("FAILED", "auth", &[]) },
        Row { situation: "429", exit: 1, end: End::Reason("FAILED", "rate_limited", &["429"]) },
        Row { situation: "429long", exit: 1, end: End::Reason("FAILED", "quota_exhausted", &[]) },
        Row { situation: "500", exit: 1, end: End::Reason("FAILED", "api_error", &[]) },
        Row { situation: "529", exit: 1, end: End::Reason("FAILED", "api_error", &[]) },
        Row { situation: "empty", exit: 0, end: End::Reason("EMPTY", "empty_output", &["no text"]) },
        Row { situation: "reset", exit: 1, end: End::Reason("FAILED", "network", &[]) },
    ],
    recorded: &[
        Row { situation: "nokey", exit: 1, end: End::Reason("FAILED", "auth", &["API Key is required"]) },
        Row { situation: "unroutable", exit: 1, end: End::Reason("FAILED", "unknown_model", &["cannot be routed"]) },
    ],
};
