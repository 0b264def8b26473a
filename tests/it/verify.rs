//! `team verify`: every change of a session's folder is found and named, and a folder that is as it was recorded passes,
//! wherever it lies and however the session ended.

mod changes;
mod fixture;
mod forged;
mod places;
mod roles;
mod states;
mod turns;
mod votes;

use std::path::Path;

use serde_json::Value;

use crate::support::{Session, TestEnv, finish, run_and_judge, voters};

/// Two answers and a slot that failed halfway, judged twice: by three named judges of which one failed, then by the panel
/// itself.
fn judged_twice() -> (TestEnv, Session) {
    let config = voters(&[("kiwi", "the RIGHT one", "approve"), ("plum", "the other one", "approve-word RIGHT")])
        .agent("dead", &["stderr no such luck", "write half an answer", "exit 3"])
        .agent("fair", &["vote approve-word RIGHT"])
        .agent("firm", &["vote approve"])
        .agent("mute", &["write half a ballot", "exit 4"])
        .panel(&["kiwi", "plum", "dead"]);
    let env = TestEnv::with(&config);
    run_and_judge(&env, &["--judges", "fair,firm,mute"], 0);
    finish(&env, &["judge", "--self-vote", "include"], 0);
    let session = env.session();
    (env, session)
}

/// The same as an earlier run left it: for what does not need a new one.
fn kept() -> Session {
    Session::at(Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/sessions/v1"))
}

/// What `team verify --json` says of `folder`.
#[track_caller]
fn verified(env: &TestEnv, folder: &Path, code: i32) -> Value {
    let (out, err) = finish(env, &["verify", folder.to_str().unwrap(), "--json"], code);
    serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e} in {out}\n{err}"))
}

/// The first mismatch: its file, its line, what is wrong.
#[track_caller]
fn first(found: &Value) -> (String, Option<u64>, String) {
    let first = &found["mismatches"][0];
    let text = |name: &str| first[name].as_str().unwrap_or_else(|| panic!("no mismatch in {found}")).to_owned();
    (text("file"), first["line"].as_u64(), text("what"))
}

/// What the library says of `folder`: for tables of many changes.
fn look(folder: &Path) -> Value {
    let found = team::engine::verify(&team::session::Layout::new(folder), None);
    serde_json::to_value(found.unwrap_or_else(|error| panic!("{}: {error}", folder.display()))).unwrap()
}

/// A copy of a session as an archive makes it: without the lock, without empty folders, without permissions.
fn copy(session: &Session, to: &Path) -> Session {
    for file in session.files().iter().filter(|file| *file != ".lock") {
        let to = to.join(file);
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::write(to, std::fs::read(session.path(file)).unwrap()).unwrap();
    }
    Session::at(to)
}

/// The files that the record accounts for.
fn recorded_files(session: &Session) -> Vec<String> {
    session.files().into_iter().filter(|file| file != ".lock").collect()
}
