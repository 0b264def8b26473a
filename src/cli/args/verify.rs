//! `team verify`.

use clap::Args;

use super::SessionArgs;
use crate::ids::Sha256Hash;

/// Check that a session's folder still is what its record says
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  team verify latest
  team verify ./copied-session    a copy from elsewhere; nothing is written to it
  team verify latest --head 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08

It computes everything again: the chain of each record, the hash of each file, the ballots from the judges' replies, the \
count from the ballots, the text of the verdict. The folder agreeing with itself does not show who wrote it; a head that \
was noted elsewhere does, for all up to that head.

Exit codes:
  0  everything is as it was recorded
  2  no such session, or one of a newer format
  6  something is not: the last line says how much, and what comes first")]
pub struct VerifyArgs {
    /// Which one.
    #[command(flatten)]
    pub session: SessionArgs,
    /// A hash that the record must hold: the head of an earlier check, or one that a `verdict.md` prints
    #[arg(long, value_name = "HASH", value_parser = head)]
    pub head: Option<Sha256Hash>,
}

/// A hash is the same in capitals, which some programs print.
fn head(text: &str) -> Result<Sha256Hash, String> {
    text.trim().to_ascii_lowercase().parse().map_err(|_| "a SHA-256 is 64 hexadecimal digits".to_owned())
}
