//! The command line of `team gc`.

use std::time::Duration;

use clap::Args;

use crate::config::{DurationError, parse_duration};

/// Remove what is left over, and list what stays
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  team gc --dry-run            only say what would be removed, and why the rest stays
  team gc                      remove what nobody can need
  team gc --older-than 30d     also temporary sessions and scratch files that ended so long ago

Without an age it removes temporary folders of processes that are gone, files that were being written when their \
writer died, and folders of sessions that never began. It never removes an answer or a record in the sessions folder, \
nor anything of a session that somebody works on or that `team resume` can finish.

Exit codes:
  0   done, whatever stays
  70  something could not be removed")]
pub struct GcArgs {
    /// Remove nothing, only list
    #[arg(long)]
    pub dry_run: bool,
    /// Also remove temporary sessions, and what programs left in `work/`, of sessions that ended longer ago than this,
    /// such as 30d or 12h
    #[arg(long, value_name = "AGE", value_parser = age)]
    pub older_than: Option<Duration>,
}

/// An age of zero is everything that has ended.
fn age(text: &str) -> Result<Duration, DurationError> {
    match parse_duration(text) {
        Err(DurationError::Zero(_)) => Ok(Duration::ZERO),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_needs_its_unit_and_may_be_zero() {
        assert_eq!(age("30d"), Ok(Duration::from_secs(30 * 86_400)));
        assert_eq!(age("0s"), Ok(Duration::ZERO));
        assert!(age("30").is_err() && age("old").is_err());
    }
}
