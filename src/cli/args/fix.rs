//! The command lines of `team fix` and `team respond`.

use std::path::PathBuf;

use clap::Args;

use super::{OutputArgs, PaceArgs, ReviewRuleArgs, ReviewerArgs, SessionArgs, count, model_name};
use crate::config::{FileSettings, Severity};
use crate::findings::FindingId;

/// Review a change, and have what is found repaired on a branch of its own
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  team fix --fixer claude                        review this branch, repair what is found
  team fix --worktree --fixer codex              the same of what is not committed
  team fix --test 'cargo test -q' --max-rounds 2
  team fix --severity high --only 'src/**'
  team fix --sarif fix.sarif --junit fix.xml     what is open or was mended at the end, for CI

A round is: the panel reviews and votes, one fixer repairs the sustained findings in a folder of its own, the result is \
looked at and tested and committed there, and the panel looks at the repair. When nothing that meets `--fail-on` is open, \
a fresh panel looks at all of it once more. The result is a new branch `team/fix-..`; your work tree, index and other \
branches stay as they are, and nothing is pushed. `test` and `lint` of `[fix]` come from the base, never from the branch.

What only a person can decide parks the session: `team respond` answers.

Exit codes:
  0  nothing that meets `--fail-on` is open, or you took the result with `--approve`
  1  findings that meet it are open
  2  wrong usage or configuration
  3  findings are not settled, or fewer reviewers than the quorum can be read
  4  no reviewer can be read
  5  it waits for a decision of yours")]
pub struct FixArgs {
    /// The branch or commit that the change is to be merged into [default: found from the CI, or from git]
    #[arg(long, value_name = "REVISION", conflicts_with = "worktree")]
    pub base: Option<String>,
    /// Review and repair what is not committed, new files included; it is committed on the new branch only
    #[arg(long)]
    pub worktree: bool,
    /// Who reviews, and what they are told.
    #[command(flatten)]
    pub who: ReviewerArgs,
    /// How it is repaired.
    #[command(flatten)]
    pub repairs: RepairArgs,
    /// How it is decided.
    #[command(flatten)]
    pub rules: ReviewRuleArgs,
    /// A word for the session's name
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Where the result goes.
    #[command(flatten)]
    pub outputs: OutputArgs,
    /// Limits of time and number.
    #[command(flatten)]
    pub pace: PaceArgs,
}

/// How it is repaired.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Repairs")]
pub struct RepairArgs {
    /// Who repairs: a program that works on files, or a model that answers with a patch [default: `fix.fixer`]
    #[arg(long, value_name = "NAME", value_parser = model_name)]
    pub fixer: Option<String>,
    /// Repair only these findings: ids (F01), or patterns of files; separated by commas
    #[arg(long, value_name = "IDS|PATTERNS", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Repair only findings as bad as this: critical, high, medium, low, info
    #[arg(long, value_name = "SEVERITY")]
    pub severity: Option<Severity>,
    /// The most rounds of repairs; 0 only reviews [default: as configured, or 3]
    #[arg(long, value_name = "N", value_parser = count::<u32>, allow_negative_numbers = true)]
    pub max_rounds: Option<u32>,
    /// The command that tests a result, for `sh` [default: `fix.test` of the base]
    #[arg(long, value_name = "COMMAND")]
    pub test: Option<String>,
    /// The command that looks for bad style in it, for `sh` [default: `fix.lint` of the base]
    #[arg(long, value_name = "COMMAND")]
    pub lint: Option<String>,
    /// Consent to one round of repairs that you would be asked about, and no more
    #[arg(long)]
    pub yes: bool,
}

impl FixArgs {
    /// Adds what these set.
    pub fn apply(&self, settings: &mut FileSettings) {
        super::review::apply(&self.pace, &self.rules, &self.who, settings);
        let fix = &mut settings.fix;
        fix.fixer = self.repairs.fixer.clone().or(fix.fixer.take());
        fix.max_rounds = self.repairs.max_rounds.or(fix.max_rounds);
        let shell = |command: &String| vec!["sh".to_owned(), "-c".to_owned(), command.clone()];
        fix.test = self.repairs.test.as_ref().map(shell).or(fix.test.take());
        fix.lint = self.repairs.lint.as_ref().map(shell).or(fix.lint.take());
    }
}

/// Decide what a fix waits for, or what later runs leave
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  team respond latest                                        show what is to be decided
  team respond latest --fix F01 --note 'keep the old name'   have it repaired
  team respond latest --decline F02 --note 'by design'       leave it, for good
  team respond latest --approve                              take what there is
  team respond latest --reopen F02                           take a decline back

The session then goes on where it was; the exit codes are those of `team fix`. Of a review or a fix that has ended, \
`--decline` and `--reopen` can still be said: it stays as it ended, and later reviews and fixes of the branch are told. \
A decline holds on the branch, by its name or its history, for the same finding and none that is worse; it is kept in \
`declines.jsonl` in the folder of sessions, which must not be tracked by git.")]
pub struct RespondArgs {
    /// The session.
    #[command(flatten)]
    pub session: SessionArgs,
    /// Have these findings repaired, separated by commas
    #[arg(long, value_name = "IDS", value_delimiter = ',', num_args = 1..)]
    pub fix: Vec<FindingId>,
    /// Leave these findings as they are, for good
    #[arg(long, value_name = "IDS", value_delimiter = ',', num_args = 1..)]
    pub decline: Vec<FindingId>,
    /// Take back that these were declined, in this session or before it; `--fix` does that and has them repaired
    #[arg(long, value_name = "IDS", value_delimiter = ',', num_args = 1..)]
    pub reopen: Vec<FindingId>,
    /// Add a finding of your own, which is repaired; may be repeated
    #[arg(long, value_name = "[FILE[:LINE]: ]TEXT")]
    pub add: Vec<String>,
    /// Take what there is, and end here
    #[arg(long, conflicts_with_all = ["skip", "abort", "fix", "decline", "reopen", "add"])]
    pub approve: bool,
    /// End here, and leave what is still to be decided open
    #[arg(long, conflicts_with_all = ["abort", "fix", "decline", "reopen", "add"])]
    pub skip: bool,
    /// End here, and take nothing: no branch is made
    #[arg(long, conflicts_with_all = ["fix", "decline", "reopen", "add"])]
    pub abort: bool,
    /// What you say about it, up to 1000 characters; the fixer, and later rounds and runs are told
    #[arg(long, value_name = "TEXT")]
    pub note: Option<String>,
    /// The root of the repository, where it is not where it was
    #[arg(long, value_name = "DIR")]
    pub repository: Option<PathBuf>,
    /// Go on although something is not as it was
    #[arg(long)]
    pub accept_drift: bool,
    /// Limits of time and number.
    #[command(flatten)]
    pub pace: PaceArgs,
}
