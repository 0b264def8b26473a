//! The text that is voted on.

use minijinja::context;

use super::coverage::Coverage;
use crate::error::{Error, Result};
use crate::prompts::{PromptName, Prompts};
use crate::report::ci::SubjectReport;

/// The most files that are named which are not shown: there may be more of them than there is of the change.
const LISTED: usize = 100;

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
            let mut lines = coverage
                .files
                .iter()
                .filter_map(|file| Some(format!("- {}: {}\n", file.path, file.omitted?.describe())));
            let mut omitted: String = lines.by_ref().take(LISTED).collect();
            let more = lines.count();
            if more > 0 {
                omitted.push_str(&format!("- and {more} more\n"));
            }
            context! { what => "diff", head, merge_base, omitted, text => &coverage.text }
        }
        Subject::Plan { text } => context! { what => "plan", head, name, text },
        Subject::Command { text, ended } => context! { what => "command", head, name, ended, text },
    };
    prompts
        .render(PromptName::Gate, values)
        .map_err(|error| Error::internal("the text for the panel cannot be made").with_source(error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::GateSubject;
    use crate::report::ci::{ChangeWord, OmissionReason, SeenFile};

    #[test]
    fn of_many_files_that_are_not_shown_the_first_are_named_and_the_others_counted() {
        let file = |number: usize| SeenFile {
            path: format!("pictures/{number:04}.png"),
            old_path: None,
            change: ChangeWord::Added,
            sent_bytes: 0,
            omitted: Some(OmissionReason::Binary),
            note: None,
        };
        let told = SubjectReport {
            what: GateSubject::Diff,
            name: None,
            base: "main".to_owned(),
            base_commit: "b".repeat(40),
            merge_base: "b".repeat(40),
            head: "a".repeat(40),
            pull_request_head: None,
        };
        let text = |count| {
            let coverage = Coverage { files: (0..count).map(file).collect(), text: "+x\n".to_owned() };
            task_text(&Prompts::embedded().unwrap(), &told, &Subject::Diff(coverage)).unwrap()
        };
        let (all, many) = (text(LISTED), text(LISTED + 7));
        assert!(!all.contains("more\n"), "{all}");
        assert_eq!(many.matches(".png: no text").count(), LISTED);
        assert!(many.contains("- and 7 more\n"), "{many}");
    }
}
