//! The set of templates in use.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use crate::ids::Sha256Hash;
use minijinja::{AutoEscape, Environment, UndefinedBehavior, Value};

/// Names the embedded templates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PromptName {
    /// What a judge receives; holds the task, the answers and one of the two ballot texts.
    Judge,
    /// What a judge receives whose ballot lacks something; holds the task, these answers, its reply and a ballot text.
    Repair,
    /// How to vote in fenced blocks.
    BallotFormat,
    /// How to vote in JSON, for judges that are held to a schema.
    BallotJson,
    /// What every member of a panel receives that votes on a task; holds the task.
    Vote,
    /// What such a member receives whose reply has no vote that can be read; holds the task and its reply.
    VoteRepair,
    /// The text that a gate puts to the vote; holds what is looked at.
    Gate,
    /// What every reviewer receives; holds what is reviewed, what was found before and how to say what is wrong.
    Review,
    /// What a reviewer receives that goes on with its conversation; holds what a repair changes, what was found before and
    /// how to say what is wrong.
    ReviewAgain,
    /// How to say what is wrong.
    FindingsFormat,
    /// What a reviewer receives whose reply cannot be read.
    FindingsRepair,
    /// What a judge of findings receives; holds what is reviewed and the findings.
    FindingsVote,
    /// What such a judge receives whose reply lacks votes; holds what is reviewed, these findings and its reply.
    FindingsVoteRepair,
    /// What the fixer receives; holds the findings.
    Fix,
}

impl PromptName {
    /// Every template.
    pub const ALL: [Self; 14] = [
        Self::Judge,
        Self::Repair,
        Self::BallotFormat,
        Self::BallotJson,
        Self::Vote,
        Self::VoteRepair,
        Self::Gate,
        Self::Review,
        Self::ReviewAgain,
        Self::FindingsFormat,
        Self::FindingsRepair,
        Self::FindingsVote,
        Self::FindingsVoteRepair,
        Self::Fix,
    ];

    /// What a round of votes on answers uses.
    pub const OF_JUDGES: [Self; 4] = [Self::Judge, Self::Repair, Self::BallotFormat, Self::BallotJson];

    /// What a vote on a task uses.
    pub const OF_VOTES: [Self; 2] = [Self::Vote, Self::VoteRepair];

    /// What a review uses, its vote included.
    pub const OF_REVIEWS: [Self; 5] =
        [Self::Review, Self::FindingsFormat, Self::FindingsRepair, Self::FindingsVote, Self::FindingsVoteRepair];

    /// The file that holds it, here and in a folder of the user's own.
    #[must_use]
    pub const fn file_name(self) -> &'static str {
        match self {
            Self::Judge => "judge.md",
            Self::Repair => "repair.md",
            Self::BallotFormat => "ballot-format.md",
            Self::BallotJson => "ballot-json.md",
            Self::Vote => "vote.md",
            Self::VoteRepair => "vote-repair.md",
            Self::Gate => "gate.md",
            Self::Review => "review.md",
            Self::ReviewAgain => "review-again.md",
            Self::FindingsFormat => "findings-format.md",
            Self::FindingsRepair => "findings-repair.md",
            Self::FindingsVote => "findings-vote.md",
            Self::FindingsVoteRepair => "findings-vote-repair.md",
            Self::Fix => "fix.md",
        }
    }

    const fn embedded(self) -> &'static str {
        match self {
            Self::Judge => include_str!("../../prompts/judge.md"),
            Self::Repair => include_str!("../../prompts/repair.md"),
            Self::BallotFormat => include_str!("../../prompts/ballot-format.md"),
            Self::BallotJson => include_str!("../../prompts/ballot-json.md"),
            Self::Vote => include_str!("../../prompts/vote.md"),
            Self::VoteRepair => include_str!("../../prompts/vote-repair.md"),
            Self::Gate => include_str!("../../prompts/gate.md"),
            Self::Review => include_str!("../../prompts/review.md"),
            Self::ReviewAgain => include_str!("../../prompts/review-again.md"),
            Self::FindingsFormat => include_str!("../../prompts/findings-format.md"),
            Self::FindingsRepair => include_str!("../../prompts/findings-repair.md"),
            Self::FindingsVote => include_str!("../../prompts/findings-vote.md"),
            Self::FindingsVoteRepair => include_str!("../../prompts/findings-vote-repair.md"),
            Self::Fix => include_str!("../../prompts/fix.md"),
        }
    }

    fn from_file_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.file_name() == name)
    }
}

/// A prompt text could not be used.
#[derive(Debug, thiserror::Error)]
pub enum PromptsError {
    /// The folder or a file of it cannot be read.
    #[error("cannot read prompts from `{}`: {}", path.display(), crate::error::reason(source))]
    Read {
        /// The folder or file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file of the folder overrides nothing, so it would be ignored in silence.
    #[error("`{}` is not a prompt of this program; the prompts are {}", path.display(), known())]
    Unknown {
        /// The file.
        path: PathBuf,
    },
    /// A text is not a valid template, or uses a name that it is not given.
    #[error("prompt `{file}` cannot be rendered")]
    Template {
        /// The template's file name.
        file: &'static str,
        /// What is wrong with it, and in which line.
        source: minijinja::Error,
    },
}

fn known() -> String {
    PromptName::ALL.map(|name| format!("`{}`", name.file_name())).join(", ")
}

/// The texts in use, parsed.
#[derive(Debug)]
pub struct Prompts {
    environment: Environment<'static>,
    hashes: BTreeMap<PromptName, Sha256Hash>,
    longest: usize,
}

impl Prompts {
    /// The texts of this build.
    ///
    /// # Errors
    /// Fails only when an embedded text is not a valid template.
    pub fn embedded() -> Result<Self, PromptsError> {
        Self::from_texts(|name| name.embedded().to_owned())
    }

    /// The texts of this build, each replaced by the file of the same name in `dir` where there is one.
    ///
    /// # Errors
    /// `dir` cannot be read, holds a Markdown file that overrides nothing (`README.md` may be there), or holds a
    /// text that is not a valid template.
    pub fn load(dir: Option<&Path>) -> Result<Self, PromptsError> {
        let Some(dir) = dir else { return Self::embedded() };
        let unreadable = |path: &Path| {
            let path = path.to_owned();
            move |source| PromptsError::Read { path, source }
        };
        let mut own = BTreeMap::new();
        for entry in std::fs::read_dir(dir).map_err(unreadable(dir))? {
            let path = entry.map_err(unreadable(dir))?.path();
            let file = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            match PromptName::from_file_name(file) {
                Some(name) => {
                    let text = std::fs::read_to_string(&path).map_err(unreadable(&path))?;
                    own.insert(name, text);
                }
                None if file.ends_with(".md") && file != "README.md" => return Err(PromptsError::Unknown { path }),
                None => {}
            }
        }
        Self::from_texts(|name| own.remove(&name).unwrap_or_else(|| name.embedded().to_owned()))
    }

    fn from_texts(mut text_of: impl FnMut(PromptName) -> String) -> Result<Self, PromptsError> {
        let mut environment = Environment::new();
        // What is rendered goes to a model as it is: nothing is HTML, and a misspelt name is an error, not a gap.
        environment.set_auto_escape_callback(|_| AutoEscape::None);
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        let mut hashes = BTreeMap::new();
        let mut longest = 0;
        for name in PromptName::ALL {
            let text = text_of(name);
            longest = longest.max(text.len());
            hashes.insert(name, Sha256Hash::of(text.as_bytes()));
            let file = name.file_name();
            environment.add_template_owned(file, text).map_err(|source| PromptsError::Template { file, source })?;
        }
        Ok(Self { environment, hashes, longest })
    }

    /// The bytes of the longest text, before anything is filled in.
    #[must_use]
    pub const fn longest(&self) -> usize {
        self.longest
    }

    /// The text `name` with `values` filled in.
    ///
    /// # Errors
    /// The text uses a name that `values` does not hold.
    pub fn render(&self, name: PromptName, values: Value) -> Result<String, PromptsError> {
        let file = name.file_name();
        self.environment
            .get_template(file)
            .and_then(|template| template.render(values))
            .map_err(|source| PromptsError::Template { file, source })
    }

    /// File name to hash of each text in use, before anything is filled in.
    #[must_use]
    pub fn hashes(&self) -> BTreeMap<&'static str, Sha256Hash> {
        self.hashes_of(&PromptName::ALL)
    }

    /// The same of some of them.
    #[must_use]
    pub fn hashes_of(&self, names: &[PromptName]) -> BTreeMap<&'static str, Sha256Hash> {
        let used = self.hashes.iter().filter(|(name, _)| names.contains(name));
        used.map(|(name, hash)| (name.file_name(), *hash)).collect()
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests lay out a folder of the user's own")]
mod tests {
    use minijinja::context;

    use super::*;

    fn ballot_values() -> Value {
        context! { count => 2, aliases => vec!["K7Q2PX", "M3N4RT"] }
    }

    #[test]
    fn a_folder_overrides_per_file_and_the_hash_follows() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("ballot-format.md"), "Vote on <{{ aliases[0] }}>.").unwrap();
        std::fs::write(dir.path().join("README.md"), "notes").unwrap();
        let own = Prompts::load(Some(dir.path())).unwrap();
        let embedded = Prompts::embedded().unwrap();
        // Not escaped as HTML.
        assert_eq!(own.render(PromptName::BallotFormat, ballot_values()).unwrap(), "Vote on <K7Q2PX>.");
        assert_eq!(own.hashes()["judge.md"], embedded.hashes()["judge.md"]);
        assert_ne!(own.hashes()["ballot-format.md"], embedded.hashes()["ballot-format.md"]);
        assert_eq!(
            own.hashes()["ballot-format.md"].to_string(),
            "798d05f44e37ce74800170fc0f051b3b943a8210b28fa01f5d55c2902b2b4724"
        );
    }

    #[test]
    fn a_misspelt_file_is_refused_by_name_and_the_known_ones_are_listed() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("jugde.md"), "x").unwrap();
        let message = Prompts::load(Some(dir.path())).unwrap_err().to_string();
        assert!(message.contains("jugde.md") && message.contains("`judge.md`"), "{message}");
    }

    #[test]
    fn a_name_that_is_not_given_is_an_error_not_a_gap() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("ballot-json.md"), "{{ alliases }}").unwrap();
        let own = Prompts::load(Some(dir.path())).unwrap();
        let error = own.render(PromptName::BallotJson, ballot_values()).unwrap_err();
        assert!(error.to_string().contains("ballot-json.md"));
    }

    #[test]
    fn a_broken_template_and_a_missing_folder_are_refused_when_loaded() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("judge.md"), "{% if %}").unwrap();
        assert!(matches!(Prompts::load(Some(dir.path())), Err(PromptsError::Template { .. })));
        assert!(matches!(Prompts::load(Some(&dir.path().join("none"))), Err(PromptsError::Read { .. })));
    }
}
