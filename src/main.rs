//! The `team` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    team::runner::process::supervisor_entry().unwrap_or_else(|| team::cli::main(team::mcp::serve))
}
