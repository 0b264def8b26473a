//! What a command asks, whom, and where the session goes.

use std::path::PathBuf;

use clap::Args;

use super::{ChoiceArgs, model_name};
use crate::config::FileSettings;

/// What to ask, and whom.
#[derive(Debug, Clone, Default, Args)]
pub struct AskArgs {
    /// The models, separated by commas; may be repeated [default: the configuration's]
    #[arg(short, long, value_name = "NAMES", value_delimiter = ',', value_parser = model_name)]
    pub models: Vec<String>,
    /// Read the prompt from a file, or `-` for standard input
    #[arg(short, long, value_name = "FILE|-", conflicts_with = "words")]
    pub input: Option<PathBuf>,
    /// The prompt, or one existing file that holds it
    #[arg(value_name = "PROMPT|FILE")]
    pub words: Vec<String>,
    /// Which panel of the configuration.
    #[command(flatten)]
    pub choice: ChoiceArgs,
    /// A word for the session's name
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Put the session inside of this folder below the current one
    #[arg(long, value_name = "DIR")]
    pub session_path: Option<PathBuf>,
    /// Keep the session in a temporary folder, and copy the results to `ai-docs/` after the verdict
    #[arg(long)]
    pub legacy: bool,
}

impl AskArgs {
    /// Adds what these set.
    pub fn apply(&self, settings: &mut FileSettings) {
        if !self.models.is_empty() {
            settings.panel = Some(self.models.clone());
        }
        self.choice.apply(settings);
    }
}
