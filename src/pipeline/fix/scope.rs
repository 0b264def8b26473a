//! Which files a fixer may change.

use std::collections::BTreeSet;

use globset::GlobSet;

use crate::config::{IMPORTED_FILE, PROJECT_FILE};
use crate::error::{Error, Result};
use crate::git::RepoPath;
use crate::pipeline::gate::exact_set;

/// Files that are tests by their names: new ones are welcome, existing ones are not the fixer's to weaken.
const TESTS: &[&str] = &[
    "**/tests/**",
    "**/test/**",
    "**/__tests__/**",
    "**/spec/**",
    "**/*_test.*",
    "**/*_tests.*",
    "**/*.test.*",
    "**/*.spec.*",
    "**/*_spec.*",
    "**/test_*",
    "**/*Test.*",
    "**/*Tests.*",
];

/// Files by which somebody would change who checks the result, and how.
const PROTECTED: &[&str] = &[
    ".github/**",
    ".gitlab-ci.yml",
    ".circleci/**",
    "**/.claude/**",
    "**/.codex/**",
    "**/.gemini/**",
    "**/.opencode/**",
    "**/opencode.json",
    "**/CLAUDE.md",
    "**/AGENTS.md",
    "**/GEMINI.md",
    "**/.gitattributes",
    "**/.gitmodules",
    "**/.mcp.json",
];

/// Why a file is not the fixer's to change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outside {
    /// It has nothing to do with what is fixed.
    Scope,
    /// It decides how the result is checked.
    Protected,
}

/// What may be changed.
#[derive(Debug)]
pub(crate) struct Scope {
    files: BTreeSet<RepoPath>,
    patterns: GlobSet,
    tests: GlobSet,
    protected: GlobSet,
}

impl Scope {
    /// The files that are reviewed or found fault with, and those that `patterns` of the configuration name.
    pub(crate) fn new(files: impl IntoIterator<Item = RepoPath>, patterns: &[String]) -> Result<Self> {
        let wrong = |error: globset::Error| {
            Error::config(format!("`fix.scope`: {error}")).hint("write it like `src/**` or `*.md`")
        };
        let constant = |_| Error::internal("a built-in pattern is not valid");
        let settings = [format!("**/{PROJECT_FILE}"), format!("**/{IMPORTED_FILE}")];
        let protected: Vec<&str> = PROTECTED.iter().copied().chain(settings.iter().map(String::as_str)).collect();
        Ok(Self {
            files: files.into_iter().collect(),
            patterns: exact_set(patterns).map_err(wrong)?,
            tests: exact_set(TESTS).map_err(constant)?,
            protected: exact_set(&protected).map_err(constant)?,
        })
    }

    /// Why `path` may not be changed, if so. `is_new` says that it was not there before.
    pub(crate) fn forbids(&self, path: &RepoPath, is_new: bool) -> Option<Outside> {
        let file = path.as_path();
        if self.protected.is_match(file) {
            return Some(Outside::Protected);
        }
        let is_new_test = is_new && self.tests.is_match(file);
        let inside = self.files.contains(path) || self.patterns.is_match(file) || is_new_test;
        (!inside).then_some(Outside::Scope)
    }

    /// What a fixer is told: the files one by one, as far as there is room for `most`, and how many more there are.
    pub(crate) fn listed(&self, most: usize) -> (Vec<String>, usize) {
        let listed = self.files.iter().take(most).map(ToString::to_string).collect();
        (listed, self.files.len().saturating_sub(most))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fixer_changes_what_is_reviewed_and_adds_tests_and_never_touches_what_checks_it() {
        let path = |text: &str| RepoPath::new(text);
        let scope = Scope::new([path("src/a.rs"), path("team.toml")], &["docs/**".to_owned()]).unwrap();
        for (file, is_new, expected) in [
            ("src/a.rs", false, None),
            ("docs/deep/page.md", true, None),
            ("src/b.rs", false, Some(Outside::Scope)),
            ("src/b.rs", true, Some(Outside::Scope)),
            ("tests/a.rs", true, None),
            ("pkg/a_test.go", true, None),
            ("web/a.test.ts", true, None),
            ("tests/a.rs", false, Some(Outside::Scope)),
            ("team.toml", false, Some(Outside::Protected)),
            ("sub/.claude/multimodel-team.json", true, Some(Outside::Protected)),
            (".github/workflows/ci.yml", true, Some(Outside::Protected)),
            ("tests/AGENTS.md", true, Some(Outside::Protected)),
        ] {
            assert_eq!(scope.forbids(&path(file), is_new), expected, "{file} new: {is_new}");
        }
        assert_eq!(scope.listed(1), (vec!["src/a.rs".to_owned()], 1));
        let error = Scope::new([], &["a[".to_owned()]).unwrap_err();
        assert!(error.to_string().contains("`fix.scope`"), "{error}");
    }
}
