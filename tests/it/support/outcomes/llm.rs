//! `llm` with its own models of chat completions, which have no tools.

use super::{End, PLAIN, Row, Table};

pub(crate) const LLM: Table = Table {
    program: "llm",
    format: "text",
    output: "text",
    rows: &[
        Row { situation: "plain", exit: 0, end: End::Answer(&[PLAIN]) },
        Row { situation: "tool", exit: 0, end: End::Answer(&[PLAIN]) },
        Row { situation: "401", exit: 1, end: End::Reason("FAILED", "auth", &["401"]) },
        Row { situation: "403", exit: 1, end: End::Reason("FAILED", "auth", &["403"]) },
        Row { situation: "429", exit: 1, end: End::Reason("FAILED", "rate_limited", &["429"]) },
        Row { situation: "429long", exit: 1, end: End::Reason("FAILED", "quota_exhausted", &["429"]) },
        Row { situation: "500", exit: 1, end: End::Reason("FAILED", "api_error", &["500"]) },
        Row { situation: "529", exit: 1, end: End::Reason("FAILED", "api_error", &["529"]) },
        Row { situation: "truncated", exit: 1, end: End::Reason("FAILED", "network", &["Connection error"]) },
        Row { situation: "truncall", exit: 1, end: End::Reason("FAILED", "network", &[]) },
        Row { situation: "empty", exit: 0, end: End::Reason("EMPTY", "empty_output", &[]) },
        Row { situation: "reset", exit: 1, end: End::Reason("FAILED", "network", &[]) },
    ],
    recorded: &[
        Row { situation: "nokey", exit: 1, end: End::Reason("FAILED", "auth", &["No key found"]) },
        Row { situation: "nomodel", exit: 1, end: End::Reason("FAILED", "unknown_model", &["nobody"]) },
    ],
};
