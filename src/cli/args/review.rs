//! The command line of `team review`.

use std::num::{NonZeroU32, NonZeroU64};
use std::path::PathBuf;

use clap::Args;

use super::{ChoiceArgs, OutputArgs, PaceArgs, count, model_name};
use crate::config::{FailOn, FileSettings, SelfVote, SessionReuse};

/// Let a panel review a plan, a change or files, and vote on what it finds
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  team review                                     what this branch changes, since it left its base
  team review --diff HEAD~1                       the last commit; also v1.2..HEAD, main...topic
  team review --worktree src                      what is not committed, below `src`
  team review --plan docs/migration.md --intent \"no downtime\"
  team review src/parser.rs                       files as they are, in git or not
  team review --fail-on medium:strong --sarif review.sarif

Each reviewer looks by itself, cold, with a read-only snapshot of the repository where it can read files. What they find \
is merged, and judges vote on each finding that they did not raise themselves: SUSTAIN, REJECT or ASK. Sustained are the \
findings with more SUSTAIN than REJECT, and those that more than half of the panel raised; a finding is rejected by two \
voters at least; everything else needs a person. A reviewer whose reply cannot be read is asked once more, then anew, \
then given up: that is never taken for \"nothing found\".

Exit codes:
  0  passed: no sustained finding meets `--fail-on`, and none that could is unsettled
  1  blocked: a sustained finding meets it
  2  wrong usage or configuration
  3  a person must decide, fewer reviewers than the quorum can be read, or nothing can be looked at
  4  no reviewer can be read; with `--strict`, any cannot")]
pub struct ReviewArgs {
    /// Only these files and folders; without a target below, as they are
    #[arg(value_name = "PATHS")]
    pub paths: Vec<PathBuf>,
    /// What is reviewed.
    #[command(flatten)]
    pub target: TargetArgs,
    /// Who reviews, and what they are told.
    #[command(flatten)]
    pub who: ReviewerArgs,
    /// How it is decided.
    #[command(flatten)]
    pub rules: ReviewRuleArgs,
    /// A word for the session's name
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Put the session below this folder of the current one, in `reviews/plan-review` or `reviews/impl-review`
    #[arg(long, value_name = "DIR")]
    pub session_path: Option<PathBuf>,
    /// Where the result goes.
    #[command(flatten)]
    pub outputs: OutputArgs,
    /// Limits of time and number.
    #[command(flatten)]
    pub pace: PaceArgs,
}

/// Who reviews, and what they are told.
#[derive(Debug, Clone, Default, Args)]
pub struct ReviewerArgs {
    /// What it is meant to do: a text, a file that holds it, or `-` for standard input
    #[arg(long, value_name = "TEXT|FILE")]
    pub intent: Option<String>,
    /// The reviewers, separated by commas; may be repeated [default: `review.panel`, else as for `run`]
    #[arg(short, long, value_name = "NAMES", value_delimiter = ',', value_parser = model_name)]
    pub models: Vec<String>,
    /// Which panel of the configuration.
    #[command(flatten)]
    pub choice: ChoiceArgs,
    /// Whether whoever is asked again is asked in the conversation that it had, or each time in a new one [default: on]
    #[arg(long, value_name = "WORD", value_enum)]
    pub session_reuse: Option<SessionReuse>,
}

/// What is reviewed.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Target")]
pub struct TargetArgs {
    /// Review this file as a plan that is to be carried out
    #[arg(long, value_name = "FILE", conflicts_with_all = ["diff", "staged", "worktree", "paths"])]
    pub plan: Option<PathBuf>,
    /// Review what commits change: `A..B`, `A...B` from where B left A, or `A` for `A...HEAD` [default: from where the
    /// branch left its base]
    #[arg(long, value_name = "RANGE", num_args = 0..=1, conflicts_with_all = ["staged", "worktree"])]
    pub diff: Option<Option<String>>,
    /// Review what is staged for the next commit
    #[arg(long, conflicts_with = "worktree")]
    pub staged: bool,
    /// Review what is not committed, new files included
    #[arg(long)]
    pub worktree: bool,
}

/// How it is decided.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Deciding")]
pub struct ReviewRuleArgs {
    /// The models that vote on the findings, separated by commas; may be repeated [default: the reviewers]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = model_name)]
    pub judges: Vec<String>,
    /// Keep from a judge the findings of its own model, or only those of its own seat [default: model]
    #[arg(long, value_name = "RULE", value_enum)]
    pub self_vote: Option<SelfVote>,
    /// What stops the change: from this severity on (critical, high, medium, low, info), agreed on as far as this
    /// (unanimous, strong, majority, divergent) [default: high:majority]
    #[arg(long, value_name = "SEVERITY[:CONSENSUS]")]
    pub fail_on: Option<FailOn>,
    /// The fewest reviewers whose findings can be read [default: two, and more than half of the panel]
    #[arg(long, value_name = "N", value_parser = count::<NonZeroU32>, allow_negative_numbers = true)]
    pub quorum: Option<NonZeroU32>,
    /// Exit with 4 when any reviewer cannot be read
    #[arg(long)]
    pub strict: bool,
    /// Refuse to run where blindness cannot be enforced
    #[arg(long)]
    pub require_blind: bool,
    /// The most bytes that are sent of what is reviewed [default: as configured, or 262144]
    #[arg(long, value_name = "BYTES", value_parser = count::<NonZeroU64>, allow_negative_numbers = true)]
    pub max_bytes: Option<NonZeroU64>,
    /// Take no snapshot of the repository: all that reviewers see is what is sent
    #[arg(long)]
    pub no_workspace: bool,
    /// Take the prompts from this folder instead of the built-in ones
    #[arg(long, value_name = "DIR")]
    pub prompts: Option<PathBuf>,
}

impl ReviewArgs {
    /// Adds what these set.
    pub fn apply(&self, settings: &mut FileSettings) {
        apply(&self.pace, &self.rules, &self.who, settings);
    }
}

/// Adds what the options of a review set, whatever command has them.
pub(super) fn apply(pace: &PaceArgs, rules: &ReviewRuleArgs, who: &ReviewerArgs, settings: &mut FileSettings) {
    let PaceArgs { timeout, idle_timeout, deadline, jobs, retries, max_cost } = *pace;
    settings.timeout = timeout.or(settings.timeout);
    settings.idle_timeout = idle_timeout.or(settings.idle_timeout);
    settings.deadline = deadline.or(settings.deadline);
    settings.jobs = jobs.or(settings.jobs);
    settings.retries = retries.or(settings.retries);
    settings.max_cost = max_cost.or(settings.max_cost);
    settings.self_vote = rules.self_vote.or(settings.self_vote);
    settings.pipeline.session_reuse = who.session_reuse.or(settings.pipeline.session_reuse);
    let review = &mut settings.review;
    if !who.models.is_empty() {
        review.panel = Some(who.models.clone());
    }
    if !rules.judges.is_empty() {
        review.judges = Some(rules.judges.clone());
    }
    review.fail_on = rules.fail_on.or(review.fail_on);
    review.quorum = rules.quorum.or(review.quorum);
    review.max_bytes = rules.max_bytes.or(review.max_bytes);
    who.choice.apply(settings);
}
