//! Claude Code, with one retry.

use super::{End, PLAIN, Row, Table};

pub(crate) const CLAUDE: Table = Table {
    program: "claude",
    format: "stream-json",
    output: "claude-stream-json",
    rows: &[
        Row { situation: "plain", exit: 0, end: End::Answer(&[PLAIN]) },
        Row { situation: "tool", exit: 0, end: End::Answer(&["I will run a command.", "After the tool: done."]) },
        Row { situation: "401", exit: 1, end: End::Reason("FAILED", "auth", &["status 401"]) },
        Row { situation: "403", exit: 1, end: End::Reason("FAILED", "auth", &["403"]) },
        Row { situation: "429", exit: 1, end: End::Reason("FAILED", "rate_limited", &["429"]) },
        Row { situation: "429long", exit: 1, end: End::Reason("FAILED", "quota_exhausted", &[]) },
        Row { situation: "500", exit: 1, end: End::Reason("FAILED", "api_error", &["500"]) },
        Row { situation: "529", exit: 1, end: End::Reason("FAILED", "api_error", &["529"]) },
        // It asks again, without streaming.
        Row { situation: "truncated", exit: 0, end: End::Answer(&[PLAIN]) },
        Row { situation: "truncall", exit: 1, end: End::Reason("FAILED", "network", &[]) },
        Row { situation: "empty", exit: 0, end: End::Reason("EMPTY", "empty_output", &["no text"]) },
        Row { situation: "reset", exit: 1, end: End::Reason("FAILED", "network", &[]) },
    ],
    recorded: &[],
};
