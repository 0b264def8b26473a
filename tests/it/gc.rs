//! `team gc`: what nobody can need goes, everything else stays and is told; never an answer, never what is at work.

mod sessions;
mod temporary;

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::support::{TestEnv, finish, voters};

/// A panel that answers and votes at once.
fn panel() -> TestEnv {
    TestEnv::with(&voters(&[("kiwi", "one", "approve"), ("plum", "two", "approve")]))
}

/// The system's temporary folder of a world.
fn temporary(env: &TestEnv) -> PathBuf {
    env.home().parent().unwrap().canonicalize().unwrap().join("tmp")
}

/// What `team gc --json` prints with these options, by the published schema.
#[track_caller]
fn gc(env: &TestEnv, options: &[&str]) -> Value {
    let (out, _) = finish(env, &[&["gc", "--json"], options].concat(), 0);
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/schemas/gc-output.json");
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(schema).unwrap()).unwrap();
    let report: Value = serde_json::from_str(&out).unwrap();
    let wrong: Vec<String> =
        jsonschema::draft202012::new(&schema).unwrap().iter_errors(&report).map(|error| error.to_string()).collect();
    assert!(wrong.is_empty(), "{wrong:?}\n{report:#}");
    report
}

/// `what path` of all that was removed, the world's own folder left out of the paths.
fn removed(env: &TestEnv, report: &Value) -> Vec<String> {
    entries(env, report, "removed", "what")
}

/// `reason path` of all that stays.
fn kept(env: &TestEnv, report: &Value) -> Vec<String> {
    entries(env, report, "kept", "reason")
}

fn entries(env: &TestEnv, report: &Value, list: &str, field: &str) -> Vec<String> {
    let root = env.project().parent().unwrap().canonicalize().unwrap().display().to_string() + "/";
    let line = |entry: &Value| {
        format!("{} {}", entry[field].as_str().unwrap(), entry["path"].as_str().unwrap().replacen(&root, "", 1))
    };
    report[list].as_array().unwrap().iter().map(line).collect()
}

/// Makes it look as if `path` had last been changed two hours ago.
fn backdate(path: &Path) {
    let then = SystemTime::now() - Duration::from_secs(7200);
    std::fs::File::open(path).unwrap().set_modified(then).unwrap();
}

/// Every path below `folder`, with what it holds and when it was written.
fn everything(folder: &Path) -> Vec<(PathBuf, Vec<u8>, Option<SystemTime>)> {
    let mut found = Vec::new();
    let mut todo = vec![folder.to_owned()];
    while let Some(path) = todo.pop() {
        let about = path.symlink_metadata().unwrap();
        if about.is_dir() {
            todo.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
        let bytes = if about.is_file() { std::fs::read(&path).unwrap() } else { Vec::new() };
        found.push((path, bytes, about.modified().ok()));
    }
    found.sort();
    found
}
