//! What the fixer is asked. It sees what was sustained and what people decided, and neither names nor what reviewers said
//! to each other.

use minijinja::context;

use super::contain::{harmless, told};
use super::prompt::{DeclinedFinding, Places, bounded};
use super::text;
use super::{Finding, FindingId};
use crate::judging::{Nonce, PromptError, fenced};
use crate::prompts::{PromptName, Prompts};

/// The most characters of a path.
const LONGEST_PATH: usize = 500;

/// A finding that is to be mended.
#[derive(Debug, Clone, Copy)]
pub struct ToFix<'a> {
    /// Its id.
    pub id: FindingId,
    /// What is wrong.
    pub finding: &'a Finding,
    /// What a person decided about it.
    pub decision: Option<&'a str>,
}

/// How the fixer changes files.
#[derive(Debug, Clone, Copy)]
pub enum FixForm<'a> {
    /// With tools of its own, in its current directory. These commands of the user's are run afterwards.
    Worktree(&'a [String]),
    /// By a patch in its reply: it sees these files, path and text.
    Patch(&'a [(String, String)]),
}

/// What the fixer is asked.
#[derive(Debug, Clone, Copy)]
pub struct FixPrompt<'a> {
    /// What is to be mended.
    pub findings: &'a [ToFix<'a>],
    /// What is wanted of the change, in somebody's words.
    pub intent: Option<&'a str>,
    /// What people decided to leave.
    pub declined: &'a [DeclinedFinding<'a>],
    /// The only files that may change; any where there are none.
    pub files: &'a [String],
    /// What went wrong with the attempt before: what a check printed.
    pub trouble: Option<&'a str>,
    /// How files are changed.
    pub form: FixForm<'a>,
}

/// The text that the fixer receives.
///
/// # Errors
/// A template is not usable, or does not hold what it is given exactly once.
pub fn fix_prompt(prompts: &Prompts, ask: &FixPrompt<'_>, nonce: &Nonce) -> Result<String, PromptError> {
    let mut places = Places::new(nonce);
    let findings = ask.findings.iter().map(|to_fix| {
        let mut text = told(to_fix.finding);
        if let Some(decision) = to_fix.decision.filter(|decision| !decision.trim().is_empty()) {
            text.push_str(&format!("\nA person decided:\n{decision}\n"));
        }
        format!("### {}\n{}", to_fix.id, fenced(nonce, &harmless(&text)))
    });
    places.add_made("findings", findings.collect::<Vec<_>>().join("\n\n"));
    places.add_intent(ask.intent);
    places.add_declined(ask.declined);
    if let Some(trouble) = ask.trouble {
        places.add("trouble", bounded(trouble));
    }
    let checks = match ask.form {
        FixForm::Worktree(checks) => checks.to_vec(),
        FixForm::Patch(contents) => {
            let files =
                contents.iter().map(|(path, text)| format!("{}\n{}", quoted(path), fenced(nonce, &harmless(text))));
            let files: Vec<String> = files.collect();
            if !files.is_empty() {
                places.add_made("contents", files.join("\n\n"));
            }
            Vec::new()
        }
    };
    let files: Vec<String> = ask.files.iter().map(|path| quoted(path)).collect();
    let values = context! {
        count => ask.findings.len(), worktree => matches!(ask.form, FixForm::Worktree(_)), checks, files, ..places.marks()
    };
    places.fill(prompts, PromptName::Fix, values)
}

/// A path on a line of ours: nothing in it ends the line or the mark around it.
fn quoted(path: &str) -> String {
    text::line(path, LONGEST_PATH).text.replace('`', "'")
}
