//! A repository with a base and a branch, and panels that vote on what the branch changes.

use std::ffi::OsStr;

use serde_json::Value;
use toml::Table;

use crate::support::{Repository, TeamToml, TestEnv, git};

/// The step by which a member votes.
pub(super) fn vote(verdict: &str, summary: &str) -> String {
    format!("answer ```vote\\nVERDICT: {verdict}\\nCONFIDENCE: 8\\nSUMMARY: {summary}\\nKEY_ISSUES: None\\n```")
}

/// Settings whose panel votes like this, member by member: `a`, `b` and so on.
pub(super) fn panel(votes: &[&str]) -> TeamToml {
    let names: Vec<String> = (b'a'..).take(votes.len()).map(|letter| format!("m{}", char::from(letter))).collect();
    let config = votes
        .iter()
        .zip(&names)
        .fold(TeamToml::new(), |config, (verdict, name)| config.agent(name, &[&vote(verdict, "Because of it.")]));
    config.panel(&names.iter().map(String::as_str).collect::<Vec<_>>())
}

/// `[gate]` with these keys, as TOML.
pub(super) fn gate_keys(text: &str) -> toml::Value {
    toml::Value::Table(toml::from_str::<Table>(text).unwrap())
}

/// A repository whose `main` has these settings, and whose branch `topic` is checked out.
pub(super) struct Repo {
    pub(super) env: TestEnv,
}

impl Repo {
    pub(super) fn new(config: &TeamToml) -> Self {
        Self::of(TestEnv::new(), Some(config))
    }

    /// The same in a world with variables, and without settings where there are none.
    pub(super) fn of(env: TestEnv, config: Option<&TeamToml>) -> Self {
        Self::begun(env, config, &[])
    }

    /// A repository whose branch adds a function.
    pub(super) fn changed(config: &TeamToml) -> Self {
        Self::begun(TestEnv::new(), Some(config), &[("src/lib.rs", "fn one() {}\nfn two() {}\n")])
    }

    fn begun(env: TestEnv, config: Option<&TeamToml>, topic: &[(&str, &str)]) -> Self {
        let settings = config.map(|config| ("team.toml", config.text()));
        let settings = settings.iter().map(|(name, text)| (*name, text.as_str()));
        let base: Vec<(&str, &str)> = [("src/lib.rs", "fn one() {}\n")].into_iter().chain(settings).collect();
        let Repository { env } = Repository::new(env, &base, topic);
        Self { env }
    }

    pub(super) fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        self.env.write(path, text);
    }

    /// Commits all that there is, and gives the hash.
    pub(super) fn commit(&self, message: &str) -> String {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
        self.head()
    }

    pub(super) fn head(&self) -> String {
        self.git(&["rev-parse", "HEAD"])
    }

    /// Runs git in the project, and gives what it prints.
    #[track_caller]
    pub(super) fn git<S: AsRef<OsStr>>(&self, arguments: &[S]) -> String {
        git(&self.env, arguments)
    }

    /// Runs the gate; fails unless it exits with `code`. Gives stdout and stderr.
    #[track_caller]
    pub(super) fn gate(&self, options: &[&str], code: i32) -> (String, String) {
        crate::support::finish(&self.env, &[&["gate"], options].concat(), code)
    }

    /// The report that it prints with `--json`.
    #[track_caller]
    pub(super) fn report(&self, options: &[&str], code: i32) -> Value {
        let (out, err) = self.gate(&[&["--json"], options].concat(), code);
        serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}\n{err}"))
    }

    /// What the panel was asked.
    #[track_caller]
    pub(super) fn asked(&self) -> String {
        self.env.session().text("input.md")
    }

    pub(super) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.env.path(path)).unwrap()
    }
}

/// The entry of a file in a report.
#[track_caller]
pub(super) fn file<'a>(report: &'a Value, path: &str) -> &'a Value {
    let files = report["files"].as_array().unwrap();
    files.iter().find(|file| file["path"] == path).unwrap_or_else(|| panic!("no `{path}` in {report:#}"))
}
