//! The text that is voted on.

use minijinja::context;

use super::coverage::Coverage;
use crate::error::{Error, Result};
use crate::prompts::{PromptName, Prompts};
use crate::report::ci::SubjectReport;

/// What is put to the vote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// What the branch changes.
    Diff(Coverage),
    /// A file of the branch.
    Plan {
        /// Its text.
        text: String,
    },
    /// What a command printed.
    Command {
        /// Its text.
        text: String,
        /// How it ended, in a sentence.
        ended: String,
    },
}

/// The text for the panel. It is data: the prompt of the vote puts it between fences.
pub fn task_text(prompts: &Prompts, told: &SubjectReport, subject: &Subject) -> Result<String> {
    let (head, merge_base, name) = (&told.head, &told.merge_base, told.name.as_deref().unwrap_or_default());
    let values = match subject {
        Subject::Diff(coverage) => {
            let omitted: Vec<String> = coverage
                .files
                .iter()
                .filter_map(|file| Some(format!("- {}: {}\n", file.path, file.omitted?.describe())))
                .collect();
            context! { what => "diff", head, merge_base, omitted => omitted.concat(), text => &coverage.text }
        }
        Subject::Plan { text } => context! { what => "plan", head, name, text },
        Subject::Command { text, ended } => context! { what => "command", head, name, ended, text },
    };
    prompts
        .render(PromptName::Gate, values)
        .map_err(|error| Error::internal("the text for the panel cannot be made").with_source(error))
}
