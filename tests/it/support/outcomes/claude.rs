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
        Row { situation: "429", exit: 1, end: End::Reason("FAILED", "rate_limited", &["429"]) },
        Row { situation: "500", exit: 1, end: End::Reason("FAILED", "api_error", &["500"]) },
        // It asks again without streaming.
        Row { situation: "truncated", exit: 0, end: End::Answer(&[PLAIN]) },
        Row { situation: "empty", exit: 0, end: End::Reason("EMPTY", "empty_output", &[]) },
    ],
};
