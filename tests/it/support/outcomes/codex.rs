//! Codex, whose retries are bounded by `team`; 401, 429 and 500 were recorded with its own defaults.

use super::{End, PLAIN, Row, Table};

pub(crate) const CODEX: Table = Table {
    program: "codex",
    format: "json",
    output: "codex-json",
    rows: &[
        Row { situation: "plain", exit: 0, end: End::Answer(&[PLAIN]) },
        Row { situation: "tool", exit: 0, end: End::Answer(&["I will run a command.", "After the tool: done."]) },
        Row { situation: "401", exit: 1, end: End::Reason("FAILED", "auth", &["401"]) },
        Row { situation: "403", exit: 1, end: End::Reason("FAILED", "auth", &["403"]) },
        Row { situation: "429", exit: 1, end: End::Reason("FAILED", "rate_limited", &["429"]) },
        // It keeps to itself what the provider says about it.
        Row { situation: "429long", exit: 1, end: End::Reason("FAILED", "rate_limited", &["429"]) },
        Row { situation: "500", exit: 1, end: End::Reason("FAILED", "api_error", &[]) },
        Row { situation: "529", exit: 1, end: End::Reason("FAILED", "api_error", &["529"]) },
        Row { situation: "truncated", exit: 1, end: End::Reason("FAILED", "network", &[]) },
        Row { situation: "truncall", exit: 1, end: End::Reason("FAILED", "network", &[]) },
        Row { situation: "empty", exit: 0, end: End::Reason("EMPTY", "empty_output", &["no text"]) },
        Row { situation: "reset", exit: 1, end: End::Reason("FAILED", "network", &[]) },
    ],
    recorded: &[Row {
        situation: "longprompt",
        exit: 1,
        end: End::Reason("FAILED", "context_too_long", &["1048576 characters"]),
    }],
};
