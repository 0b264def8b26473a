//! The command line of `team vote`.

use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::Args;

use super::{AskArgs, LimitArgs, count};
use crate::config::{FileSettings, Repair, Threshold};

/// Let every model of a panel vote on a text itself
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  team vote -m claude,codex,ollama@qwen3 plan.md
  team vote --threshold unanimous \"Should the release be tagged today? The tests are green.\"
  git diff | team vote --threshold 75% --quorum 3 -i -

Every member of the panel judges the text by itself and approves, rejects or abstains. Valid votes are approvals and \
rejections; APPROVED when the approvals reach the bar, REJECTED when the rejections do, SPLIT when neither or both do, \
INCONCLUSIVE with fewer valid votes than the quorum. A member that failed, or whose reply has no vote, is missing: shown, \
and counted as nothing.

Exit codes:
  0  APPROVED
  1  REJECTED
  2  wrong usage or configuration
  3  SPLIT or INCONCLUSIVE
  4  nobody answered; with `--strict`, a member has no vote")]
pub struct VoteArgs {
    /// What to vote on, and who does.
    #[command(flatten)]
    pub ask: AskArgs,
    /// How it is decided.
    #[command(flatten)]
    pub voting: VotingArgs,
    /// Limits and demands.
    #[command(flatten)]
    pub limits: LimitArgs,
}

/// How it is decided.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Voting")]
pub struct VotingArgs {
    /// The bar: `majority` (more than half), `supermajority` (two thirds or more), `unanimous`, or `N%` of the valid
    /// votes [default: majority]
    #[arg(long, value_name = "BAR")]
    pub threshold: Option<Threshold>,
    /// The valid votes that it takes [default: two, and more than half of the panel]
    #[arg(long, value_name = "N", value_parser = count::<NonZeroU32>, allow_negative_numbers = true)]
    pub quorum: Option<NonZeroU32>,
    /// Do not ask a member once more whose reply has no vote that can be read
    #[arg(long)]
    pub no_repair: bool,
    /// Take the prompts from this folder instead of the built-in ones
    #[arg(long, value_name = "DIR")]
    pub prompts: Option<PathBuf>,
}

impl VotingArgs {
    /// Adds what these set.
    pub fn apply(&self, settings: &mut FileSettings) {
        settings.threshold = self.threshold.or(settings.threshold);
        if self.no_repair {
            settings.repair = Some(Repair::Never);
        }
    }
}
