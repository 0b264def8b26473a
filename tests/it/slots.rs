//! Slots by the real program: what is captured, how it is judged, and that nothing is left of it.

mod answers;
mod frames;
mod lingering;
mod panels;
mod private_folders;
mod processes;
mod reasons;

use std::process::Output;

use crate::support::{Session, TestEnv};

/// Runs a panel to its end; gives the exit code, both outputs, and the session.
#[track_caller]
fn run(env: &TestEnv, arguments: &[&str]) -> (Option<i32>, Output, Session) {
    let output = env.team(&[&["run"], arguments].concat()).output().unwrap();
    let session = env.session();
    (output.status.code(), output, session)
}

/// The reason of a slot that has no answer; its state is the reason's own.
fn reason(session: &Session, id: &str) -> String {
    let slot = session.slot(id);
    assert!(!session.has(&format!("response-{id}.md")), "{slot}");
    format!("{}/{}", slot["state"].as_str().unwrap(), slot["error"]["reason"].as_str().unwrap_or("none"))
}
