//! Limits of time and number, and demands on the answers.

use std::num::NonZeroUsize;

use clap::Args;

use super::count;
use crate::config::{FileSettings, Limit};
use crate::money::Usd;

/// Limits of time and number.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Limits")]
pub struct PaceArgs {
    /// The longest a slot may take, such as 10m; `none` for no limit
    #[arg(long, value_name = "TIME")]
    pub timeout: Option<Limit>,
    /// The longest a slot may print nothing, such as 90s; `none` for no limit
    #[arg(long, value_name = "TIME")]
    pub idle_timeout: Option<Limit>,
    /// The longest the whole command may take; `none` for no limit
    #[arg(long, value_name = "TIME")]
    pub deadline: Option<Limit>,
    /// Slots at once [default: all]
    #[arg(long, value_name = "N", value_parser = count::<NonZeroUsize>, allow_negative_numbers = true)]
    pub jobs: Option<NonZeroUsize>,
    /// Retries of a request that failed before its first answer byte [default: 2]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub retries: Option<u32>,
    /// Stop when this many US dollars are spent, as far as it is known what models cost
    #[arg(long, value_name = "USD", allow_negative_numbers = true)]
    pub max_cost: Option<Usd>,
}

/// Limits and demands.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Limits")]
pub struct LimitArgs {
    /// Limits of time and number.
    #[command(flatten)]
    pub pace: PaceArgs,
    /// An answer of fewer bytes counts as empty
    #[arg(long, value_name = "BYTES")]
    pub min_bytes: Option<u64>,
    /// An answer without a match of this regular expression counts as empty
    #[arg(long, value_name = "REGEX")]
    pub require_pattern: Option<String>,
    /// Exit with 4 when any slot is missing
    #[arg(long)]
    pub strict: bool,
    /// Refuse to run where blindness cannot be enforced
    #[arg(long)]
    pub require_blind: bool,
    /// Ask nothing over the network but the models: their names are not looked up at their providers first
    #[arg(long)]
    pub offline: bool,
}

impl LimitArgs {
    /// Adds what these set.
    pub fn apply(&self, settings: &mut FileSettings) {
        let PaceArgs { timeout, idle_timeout, deadline, jobs, retries, max_cost } = self.pace;
        settings.timeout = timeout.or(settings.timeout);
        settings.idle_timeout = idle_timeout.or(settings.idle_timeout);
        settings.deadline = deadline.or(settings.deadline);
        settings.jobs = jobs.or(settings.jobs);
        settings.retries = retries.or(settings.retries);
        settings.max_cost = max_cost.or(settings.max_cost);
        settings.offline = self.offline.then_some(true).or(settings.offline);
    }
}
