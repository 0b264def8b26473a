//! A session folder, read as any other program would.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// A session's folder, or one round of votes inside it.
#[derive(Debug, Clone)]
pub(crate) struct Session {
    dir: PathBuf,
}

impl Session {
    pub(crate) fn at(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into() }
    }

    /// The folder.
    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// The folder's name, which is the session's id.
    pub(crate) fn id(&self) -> String {
        self.dir.file_name().unwrap().to_string_lossy().into_owned()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    #[track_caller]
    pub(crate) fn text(&self, name: &str) -> String {
        let path = self.path(name);
        std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
    }

    #[track_caller]
    pub(crate) fn json(&self, name: &str) -> Value {
        let text = self.text(name);
        serde_json::from_str(&text).unwrap_or_else(|e| panic!("{name}: {e} in {text}"))
    }

    /// The parsed lines of `events.jsonl`; a torn last line is left out.
    pub(crate) fn events(&self) -> Vec<Value> {
        let text = self.text("events.jsonl");
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        whole.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e} in {line}"))).collect()
    }

    /// The state of one slot in `status.json`; null while there is none.
    pub(crate) fn slot(&self, id: &str) -> Value {
        match std::fs::read_to_string(self.path("status.json")) {
            Ok(text) => serde_json::from_str::<Value>(&text).unwrap()["models"][id].clone(),
            Err(_) => Value::Null,
        }
    }

    /// The ids of the slots, in the order of the file.
    pub(crate) fn slots(&self) -> Vec<String> {
        self.json("status.json")["models"].as_object().unwrap().keys().cloned().collect()
    }

    /// The id of the slot that `model` was given.
    #[track_caller]
    pub(crate) fn id_of(&self, model: &str) -> String {
        let manifest = self.json("manifest.json");
        let models = manifest["models"].as_object().unwrap();
        let found = models.iter().find(|(_, entry)| entry["model"] == model);
        found.unwrap_or_else(|| panic!("no slot of `{model}` in {manifest}")).0.clone()
    }

    /// A round of votes.
    pub(crate) fn round(&self, name: &str) -> Self {
        Self::at(self.path(name))
    }

    /// Every file below, as paths relative to the folder, sorted.
    pub(crate) fn files(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut todo = vec![self.dir.clone()];
        while let Some(dir) = todo.pop() {
            for entry in std::fs::read_dir(&dir).unwrap() {
                let entry = entry.unwrap();
                if entry.file_type().unwrap().is_dir() {
                    todo.push(entry.path());
                } else {
                    found.push(entry.path().strip_prefix(&self.dir).unwrap().to_string_lossy().into_owned());
                }
            }
        }
        found.sort();
        found
    }

    /// Fails when a file other than a manifest names one of `words`, case aside.
    #[track_caller]
    pub(crate) fn assert_names_nobody(&self, words: &[&str]) {
        for file in self.files().iter().filter(|file| !file.ends_with("manifest.json")) {
            let text = String::from_utf8_lossy(&std::fs::read(self.path(file)).unwrap()).to_lowercase();
            for word in words {
                assert!(!text.contains(&word.to_lowercase()), "`{file}` names `{word}`");
            }
        }
    }
}
