//! The command line of `team gate`.

use std::num::{NonZeroU32, NonZeroU64};
use std::path::PathBuf;

use clap::Args;

use super::{PaceArgs, count, model_name};
use crate::config::{FailOn, FileSettings, GateKind, GateSubject, Threshold};

/// Let a panel vote on what a branch changes, or review it, in CI
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  team gate                                      what this branch changes, as its base has it voted on
  team gate --base origin/main -m claude,codex
  team gate --junit gate.xml --sarif gate.sarif --github
  team gate --plan docs/migration.md
  team gate --kind review --fail-on medium       have it reviewed: a vote on each finding

What is looked at are commits: the change from the merge base to HEAD. Settings ([gate], [review], panel, models) come from \
the base, never from the branch. The base is --base, else what GitHub Actions or GitLab say, else the default branch of \
origin, else a local main or master.

Exit codes:
  0  approved, or nothing changed
  1  rejected; of a review: a sustained finding stops the change
  2  the gate cannot run: no base, no panel, no key, wrong settings
  3  no decision: split, inconclusive, HEAD moved meanwhile, or a person must look
  4  nobody answered; with --strict, a member has no vote, or a reviewer cannot be read")]
pub struct GateArgs {
    /// The branch or commit that the change is to be merged into [default: found from the CI, or from git]
    #[arg(long, value_name = "REVISION")]
    pub base: Option<String>,
    /// Have the panel `vote` on the whole, or `review` it [default: `gate.kind` of the base, or vote]
    #[arg(long, value_name = "KIND")]
    pub kind: Option<GateKind>,
    /// Look at this file of the branch instead of the change
    #[arg(long, value_name = "FILE")]
    pub plan: Option<PathBuf>,
    /// The models that vote or review, separated by commas; may be repeated [default: `gate.panel`, for a review
    /// `review.panel`, or `panel` of the base]
    #[arg(short, long, value_name = "NAMES", value_delimiter = ',', value_parser = model_name)]
    pub models: Vec<String>,
    /// The bar of a vote: `majority`, `supermajority`, `unanimous`, or `N%` of the valid votes [default: as configured,
    /// or majority]
    #[arg(long, value_name = "BAR")]
    pub threshold: Option<Threshold>,
    /// The valid votes that it takes, or the reviewers that can be read [default: as configured, or two, and more than
    /// half of the panel]
    #[arg(long, value_name = "N", value_parser = count::<NonZeroU32>, allow_negative_numbers = true)]
    pub quorum: Option<NonZeroU32>,
    /// The most bytes of the change that are sent [default: as configured, or 262144]
    #[arg(long, value_name = "BYTES", value_parser = count::<NonZeroU64>, allow_negative_numbers = true)]
    pub max_bytes: Option<NonZeroU64>,
    /// Take the prompts from this folder instead of the built-in ones; in the work tree its files must be the base's
    #[arg(long, value_name = "DIR")]
    pub prompts: Option<PathBuf>,
    /// Exit with 4 when any member has no vote, or any reviewer cannot be read
    #[arg(long)]
    pub strict: bool,
    /// Refuse to run where blindness cannot be enforced
    #[arg(long)]
    pub require_blind: bool,
    /// Say what would be sent and what it would cost, and start nothing
    #[arg(long)]
    pub estimate: bool,
    /// What only a review has.
    #[command(flatten)]
    pub review: GateReviewArgs,
    /// Where the result goes.
    #[command(flatten)]
    pub outputs: OutputArgs,
    /// Limits of time and number.
    #[command(flatten)]
    pub pace: PaceArgs,
}

/// What only a review has.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
#[command(next_help_heading = "Reviewing")]
pub struct GateReviewArgs {
    /// The models that vote on the findings, separated by commas; may be repeated [default: `review.judges` of the base,
    /// or the reviewers]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = model_name)]
    pub judges: Vec<String>,
    /// What stops the change: from this severity on, agreed on as far as this [default: `review.fail_on` of the base, or
    /// high:majority]
    #[arg(long, value_name = "SEVERITY[:CONSENSUS]")]
    pub fail_on: Option<FailOn>,
    /// What the change is meant to do: a text, or a file that holds it
    #[arg(long, value_name = "TEXT|FILE")]
    pub intent: Option<String>,
    /// Take no snapshot of the commit: all that reviewers see is what is sent
    #[arg(long)]
    pub no_workspace: bool,
}

/// Where the result goes. Each is written however the gate ends; `-` is standard output, where it takes the verdict's place.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Outputs")]
pub struct OutputArgs {
    /// Write JUnit XML to this file, or to standard output with `-`
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Write SARIF 2.1.0 to this file, or to standard output with `-`
    #[arg(long, value_name = "FILE")]
    pub sarif: Option<PathBuf>,
    /// Write GitLab's code quality report to this file, or to standard output with `-`
    #[arg(long, value_name = "FILE")]
    pub gitlab: Option<PathBuf>,
    /// Write Markdown to this file, or to standard output with `-`
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
    /// Annotate the change and write the summary of the step, in GitHub Actions
    #[arg(long)]
    pub github: bool,
}

impl GateArgs {
    /// Adds what these set.
    pub fn apply(&self, settings: &mut FileSettings) {
        let review = &mut settings.review;
        if !self.review.judges.is_empty() {
            review.judges = Some(self.review.judges.clone());
        }
        review.fail_on = self.review.fail_on.or(review.fail_on);
        let gate = &mut settings.gate;
        gate.kind = self.kind.or(gate.kind);
        if let Some(plan) = &self.plan {
            gate.what = Some(GateSubject::Plan);
            gate.plan = Some(plan.clone());
        }
        if !self.models.is_empty() {
            gate.panel = Some(self.models.clone());
        }
        gate.threshold = self.threshold.or(gate.threshold);
        gate.quorum = self.quorum.or(gate.quorum);
        gate.max_bytes = self.max_bytes.or(gate.max_bytes);
        gate.deadline = self.pace.deadline.or(gate.deadline);
        gate.max_cost = self.pace.max_cost.or(gate.max_cost);
        settings.timeout = self.pace.timeout.or(settings.timeout);
        settings.idle_timeout = self.pace.idle_timeout.or(settings.idle_timeout);
        settings.jobs = self.pace.jobs.or(settings.jobs);
        settings.retries = self.pace.retries.or(settings.retries);
    }
}
