//! Finished sessions of every format version, kept as files: what was recorded once stays checkable.

use std::path::Path;

use super::{look, verified};
use crate::support::{Session, TestEnv};

/// Each of `fixtures/sessions/`.
fn fixtures() -> Vec<Session> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/sessions");
    let entries = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.is_dir()).map(Session::at).collect()
}

#[test]
fn every_kept_session_still_verifies() {
    let env = TestEnv::new();
    assert!(!fixtures().is_empty());
    for session in fixtures() {
        let found = look(session.dir());
        assert_eq!(
            found["mismatches"].as_array().unwrap().len(),
            0,
            "a session that an earlier program recorded must verify. If the text of `verdict.md` was changed on purpose, \
             `verdict::RENDERING` goes up by one; if votes or the count are read otherwise, the old way must be kept for \
             what was recorded in it: {found:#}"
        );
        assert_eq!(found["checked"]["rounds"], 2);
        assert_eq!(found["checked"]["verdicts"], 2);
        verified(&env, session.dir(), 0);
    }
}

#[test]
fn a_kept_session_that_is_changed_does_not() {
    let env = TestEnv::new();
    for (number, session) in fixtures().iter().enumerate() {
        let files = session.files();
        let answer = files.iter().find(|file| file.starts_with("response-")).unwrap();
        for file in [answer.as_str(), "judging/votes.json", "judging-2/verdict.md", "status.json"] {
            let copied = super::copy(session, &env.path(&format!("{number}-{}", file.replace('/', "-"))));
            let text = copied.text(file).replacen('e', "f", 1);
            std::fs::write(copied.path(file), text).unwrap();
            assert_eq!(super::first(&look(copied.dir())).0, file);
        }
    }
}
