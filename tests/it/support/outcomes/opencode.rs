//! opencode.

use super::{End, PLAIN, Row, Table};

pub(crate) const OPENCODE: Table = Table {
    program: "opencode",
    format: "json",
    output: "opencode-json",
    rows: &[
        Row { situation: "plain", exit: 0, end: End::Answer(&[PLAIN]) },
        Row { situation: "tool", exit: 0, end: End::Answer(&["I will run a command.", "After the tool: done."]) },
        Row { situation: "401", exit: 1, end: End::Reason("FAILED", "auth", &["status 401"]) },
        Row { situation: "429", exit: 1, end: End::Reason("FAILED", "rate_limited", &["slow down"]) },
        Row { situation: "500", exit: 1, end: End::Reason("FAILED", "api_error", &["internal server error"]) },
        // It asks five times more, and only then says which error it was.
        Row { situation: "truncated", exit: 1, end: End::Reason("FAILED", "network", &[]) },
        Row { situation: "empty", exit: 0, end: End::Reason("EMPTY", "empty_output", &[]) },
    ],
    recorded: &[],
};
