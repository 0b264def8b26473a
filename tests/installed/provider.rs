//! The scripted provider while a test runs.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use tempfile::NamedTempFile;

/// A provider on a free loopback port; it ends with this value.
#[derive(Debug)]
pub(crate) struct ScriptedProvider {
    child: Child,
    url: String,
    log: NamedTempFile,
}

impl ScriptedProvider {
    pub(crate) fn start() -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/scripted_provider.py");
        // Its standard input stays open as long as this value lives; its end ends the server.
        let log = tempfile::NamedTempFile::new().unwrap();
        let mut child = Command::new("python3")
            .arg(script)
            .args(["0".as_ref(), log.path()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("`python3` cannot be started");
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("READY ").unwrap_or_else(|| panic!("not ready: `{line}`")).to_owned();
        Self { child, url, log }
    }

    /// The base URL of a scenario.
    pub(crate) fn scenario(&self, name: &str) -> String {
        format!("{}/s/{name}", self.url)
    }

    /// How many questions a scenario was asked so far.
    pub(crate) fn requests(&self, scenario: &str) -> usize {
        let log = std::fs::read_to_string(self.log.path()).unwrap();
        let kind = format!("\"kind\": \"{scenario}\"");
        log.lines().filter(|line| line.contains(&kind)).count()
    }

    /// The kinds of prompts that each request of a scenario held, in order, sorted and without repeats.
    pub(crate) fn prompts(&self, scenario: &str) -> std::collections::BTreeSet<Vec<String>> {
        let log = std::fs::read_to_string(self.log.path()).unwrap();
        let lines = log.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        let of = lines.filter(|line| line["kind"] == scenario && line["prompts"].is_array());
        of.map(|line| serde_json::from_value(line["prompts"].clone()).unwrap()).collect()
    }
}

impl Drop for ScriptedProvider {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
