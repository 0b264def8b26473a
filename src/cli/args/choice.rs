//! Which panel of the configuration is asked.

use clap::Args;

use super::kind_of_task;
use crate::config::FileSettings;

/// Which panel of the configuration.
#[derive(Debug, Clone, Default, Args)]
pub struct ChoiceArgs {
    /// Take the panel of this kind of task, whatever the task's words: `[contexts.NAME]` of the configuration
    #[arg(long, value_name = "NAME", value_parser = kind_of_task)]
    pub context: Option<String>,
    /// Write the panel into `team.toml`, as that of `--context` where it is given, so that it is the choice from now on
    #[arg(long)]
    pub remember: bool,
    /// Say what would be sent and what it would cost, and start nothing
    #[arg(long, conflicts_with = "remember")]
    pub estimate: bool,
}

impl ChoiceArgs {
    /// Adds what these set: an estimate asks nobody.
    pub fn apply(&self, settings: &mut FileSettings) {
        if self.estimate {
            settings.offline = Some(true);
        }
    }
}
