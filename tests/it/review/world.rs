//! A repository with a planted fault on its branch, and reviewers of known quality.

use std::ops::Deref;

use serde_json::{Value, json};

pub(crate) use crate::support::{FAULTY, SOUND, reply};
use crate::support::{Repository, TeamToml, TestEnv, finish, with_planted_fault};

/// What a good reviewer says of it.
pub(crate) fn planted() -> Value {
    finding("high", "src/sum.rs", 3, "The last item is never summed", "The loop ends one item early.")
}

/// What a reviewer makes up.
pub(crate) fn invented() -> Value {
    finding("critical", "src/sum.rs", 6, "SQL injection in the query", "The query is built from user input.")
}

/// A finding.
pub(crate) fn finding(severity: &str, file: &str, line: u32, title: &str, description: &str) -> Value {
    json!({
        "severity": severity, "action": "auto-fix", "file": file, "line": line, "title": title,
        "description": description, "evidence": "As the code shows.", "suggestion": "Mend it.",
    })
}

/// The step of a reviewer that finds these.
pub(crate) fn finds(findings: &[Value]) -> String {
    format!("answer {}", reply(findings))
}

/// A `team.toml` of reviewers `ra`, `rb` and so on with these steps; they are the panel.
pub(crate) fn reviewers(steps: &[&[&str]]) -> TeamToml {
    let names: Vec<String> = (b'a'..).take(steps.len()).map(|letter| format!("r{}", char::from(letter))).collect();
    let config = steps.iter().zip(&names).fold(TeamToml::new(), |config, (steps, name)| config.agent(name, steps));
    config.panel(&names.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Three reviewers of which two find the fault, one of these makes another up, and all vote by what the code shows.
pub(crate) fn good_panel() -> TeamToml {
    let weigh = "weigh word summed";
    reviewers(&[&[&finds(&[planted()]), weigh], &[&finds(&[planted(), invented()]), weigh], &[&finds(&[]), weigh]])
}

/// A repository whose `main` is sound, and whose branch `topic` plants the fault.
pub(crate) struct Repo(Repository);

impl Deref for Repo {
    type Target = Repository;

    fn deref(&self) -> &Repository {
        &self.0
    }
}

impl Repo {
    pub(crate) fn with(config: &TeamToml) -> Self {
        Self::of(TestEnv::new(), config)
    }

    /// The same in a world with variables.
    pub(crate) fn of(env: TestEnv, config: &TeamToml) -> Self {
        Self(with_planted_fault(env, config, &[]))
    }

    /// Runs `team review`; fails unless it exits with `code`. Gives stdout and stderr.
    #[track_caller]
    pub(crate) fn review(&self, options: &[&str], code: i32) -> (String, String) {
        finish(&self.env, &[&["review"], options].concat(), code)
    }
}
