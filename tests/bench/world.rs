//! A project folder to measure in.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use toml::{Table, Value};

/// The scripted agent.
pub(crate) const AGENT: &str = env!("CARGO_BIN_EXE_fake-agent");

/// A home and a project with a `team.toml`.
pub(crate) struct World {
    dir: TempDir,
    /// How many folders of sessions were put aside.
    aside: Cell<u32>,
}

impl World {
    /// A project with this configuration and an `input.md`.
    pub(crate) fn new(config: &Table) -> Self {
        let dir = tempfile::Builder::new().prefix("team-bench-").tempdir().unwrap();
        std::fs::write(dir.path().join("team.toml"), toml::to_string(config).unwrap()).unwrap();
        std::fs::write(dir.path().join("input.md"), "What is the answer?\n").unwrap();
        Self { dir, aside: Cell::new(0) }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The program in this project, with nothing of the caller's settings.
    pub(crate) fn team(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_team"));
        command
            .args(arguments)
            .current_dir(self.dir.path())
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", self.dir.path())
            // The servers here know no list of models, and would stream an answer for it.
            .env("TEAM_OFFLINE", "true")
            .env("NO_PROXY", "127.0.0.1");
        command
    }

    /// Puts the sessions of earlier runs aside, so that each run meets the same folder.
    ///
    /// They are removed with the world only: for minutes after many files were removed some file systems (ext4 without
    /// a journal) search long for every new folder, and the next run would be measured by that.
    pub(crate) fn forget_sessions(&self) {
        let sessions = self.path("ai-docs");
        if sessions.exists() {
            self.aside.set(self.aside.get() + 1);
            std::fs::rename(sessions, self.path(&format!("aside-{}", self.aside.get()))).unwrap();
        }
    }

    /// Fails unless each of `count` slots left an answer of at least `bytes`: a run that did less is not measured.
    pub(crate) fn check_answers(&self, count: usize, bytes: u64) {
        let session = self.session();
        let answers = std::fs::read_dir(&session).unwrap().map(Result::unwrap).filter(|entry| {
            let name = entry.file_name();
            name.to_string_lossy().starts_with("response-") && entry.metadata().unwrap().len() >= bytes
        });
        assert_eq!(answers.count(), count, "answers in {}", session.display());
    }

    /// The only session.
    pub(crate) fn session(&self) -> PathBuf {
        let mut entries = std::fs::read_dir(self.path("ai-docs/sessions")).unwrap();
        entries.find_map(|entry| Some(entry.ok()?.path()).filter(|path| path.is_dir())).unwrap()
    }
}

/// `panel = [model; count]` with one `[models.ALIAS]` or `[providers.NAME]` table.
pub(crate) fn panel(model: &str, count: usize, kind: &str, name: &str, keys: &[(&str, Value)]) -> Table {
    let entry: Table = keys.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
    let tables = Table::from_iter([(name.to_owned(), Value::Table(entry))]);
    Table::from_iter([
        ("panel".to_owned(), Value::Array(vec![Value::from(model); count])),
        (kind.to_owned(), Value::Table(tables)),
    ])
}

/// A `command` of an alias.
pub(crate) fn command(words: &[&str]) -> Value {
    Value::Array(words.iter().copied().map(Value::from).collect())
}

/// A path as an argument.
pub(crate) fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}
