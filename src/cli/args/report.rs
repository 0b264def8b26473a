//! `team report`.

use std::path::PathBuf;

use clap::Args;

use super::SessionArgs;

/// Make a report of a session: one HTML file that needs nothing else, or text
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  team report                     `report.html` in the newest session; prints its path
  team report latest --open       and shows it in the browser
  team report latest --text       the same for the terminal
  team report latest -o ./for-the-others.html

The file asks nothing from the network and runs nothing of what models wrote. Before the verdict it names no model. The \
session's folder is checked first, as `team verify` does; what was changed is told, and not shown.

Exit codes:
  0  the report is made
  2  no such session, or no program to open it with
  6  the report is made, and says what in the folder is not as it was recorded")]
pub struct ReportArgs {
    /// Which one.
    #[command(flatten)]
    pub session: SessionArgs,
    /// Show it in the browser
    #[arg(long, conflicts_with = "text")]
    pub open: bool,
    /// Print it as text
    #[arg(long)]
    pub text: bool,
    /// Write it there instead of into the session's folder; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}
