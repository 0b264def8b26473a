//! The command line of `team resume`.

use clap::Args;

use super::{PaceArgs, SessionArgs};

/// Go on with a session that was cut off, stopped, or failed in part
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  team resume                              what was cut off by a crash, a reboot or Ctrl-C
  team resume latest --failed              also ask again where a slot ended with an error
  team resume latest --failed --timeout 1h

What is complete is never asked again. The limits are those that the session began with, unless others are given.")]
pub struct ResumeArgs {
    /// Which one.
    #[command(flatten)]
    pub session: SessionArgs,
    /// Also ask the slots and judges again that ended with an error of their own
    #[arg(long)]
    pub failed: bool,
    /// Go on although the input, the manifest, the workspace, a prompt or the version of `team` is not what it was
    #[arg(long)]
    pub accept_drift: bool,
    /// Other limits.
    #[command(flatten)]
    pub pace: PaceArgs,
}
