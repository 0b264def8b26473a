//! Where a session is kept when it is not in the usual folder: in one of the caller's, or in a temporary one; on purpose or
//! because there is no other way.

mod elsewhere;
mod legacy;

use std::path::{Path, PathBuf};

use crate::support::{Session, TestEnv};

/// The system's temporary folder of a world.
fn temporary(env: &TestEnv) -> PathBuf {
    env.home().parent().unwrap().join("tmp")
}

/// The sessions in `folder`.
fn sessions_in(folder: &Path) -> Vec<Session> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.join("session-meta.json").exists()).map(Session::at).collect()
}

/// The sessions in temporary folders.
fn temporary_sessions(env: &TestEnv) -> Vec<Session> {
    let entries = std::fs::read_dir(temporary(env)).unwrap().map(|entry| entry.unwrap().path());
    let folders = entries.filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with("team-session-"));
    folders.flat_map(|folder| sessions_in(&folder)).collect()
}

#[track_caller]
fn only(mut sessions: Vec<Session>) -> Session {
    assert_eq!(sessions.len(), 1, "{sessions:?}");
    sessions.remove(0)
}
