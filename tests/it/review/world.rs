//! A repository with a planted fault on its branch, and reviewers of known quality.

use std::ffi::OsStr;

use serde_json::{Value, json};

use crate::support::{Session, TeamToml, TestEnv, finish, git};

/// The fault that is planted: the last item is never summed.
pub(crate) const FAULTY: &str = "pub fn sum(items: &[u64]) -> u64 {
    let mut total = 0;
    for index in 0..items.len() - 1 {
        total += items[index];
    }
    total
}
";

/// What it was before.
pub(crate) const SOUND: &str = "pub fn sum(items: &[u64]) -> u64 {
    items.iter().sum()
}
";

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

/// A reply that ends in a `findings` block with these, as the text of a step.
pub(crate) fn reply(findings: &[Value]) -> String {
    let block = json!({ "findings": findings }).to_string().replace('\\', "\\\\");
    format!("I looked at all of it.\\n\\n```findings\\n{block}\\n```")
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
pub(crate) struct Repo {
    pub(crate) env: TestEnv,
}

impl Repo {
    pub(crate) fn with(config: &TeamToml) -> Self {
        Self::of(TestEnv::new(), config)
    }

    pub(crate) fn of(env: TestEnv, config: &TeamToml) -> Self {
        let repo = Self { env };
        repo.git(&["init", "-q", "-b", "main"]);
        repo.env.write("src/sum.rs", SOUND);
        repo.env.write(".gitignore", "/ai-docs/\n/out/\n");
        repo.env.write("team.toml", config.text());
        repo.commit("base");
        repo.git(&["checkout", "-q", "-b", "topic"]);
        repo.env.write("src/sum.rs", FAULTY);
        repo.commit("a loop of our own");
        repo
    }

    /// Commits all that there is, and gives the hash.
    pub(crate) fn commit(&self, message: &str) -> String {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
        self.git(&["rev-parse", "HEAD"])
    }

    /// Runs git in the project, and gives what it prints.
    #[track_caller]
    pub(crate) fn git<S: AsRef<OsStr>>(&self, arguments: &[S]) -> String {
        git(&self.env, arguments)
    }

    /// Runs `team review`; fails unless it exits with `code`. Gives stdout and stderr.
    #[track_caller]
    pub(crate) fn review(&self, options: &[&str], code: i32) -> (String, String) {
        finish(&self.env, &[&["review"], options].concat(), code)
    }

    pub(crate) fn session(&self) -> Session {
        self.env.session()
    }
}
