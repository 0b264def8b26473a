//! A repository of files, and programs that look at them.

use std::path::Path;
use std::process::Command;

use toml::Value;

use crate::support::{Session, TeamToml, TestEnv, finish};

/// Prints every name below the folder that it runs in, and what the files hold.
pub(super) const LIST: &str = r#"find . -mindepth 1 -printf '%P %y %#m %l\n' | sort; find . -type f -exec sh -c 'printf "%s: " "$1"; cat "$1"' sh {} \;; echo ."#;

/// A model that is a shell script.
pub(super) fn script(config: TeamToml, alias: &str, text: &str) -> TeamToml {
    config.model(alias, &[("command", Value::Array(["sh", "-c", text].map(Value::from).to_vec()))])
}

/// A world of one program that looks at what it is shown.
pub(super) fn looking() -> TestEnv {
    TestEnv::with(&script(TeamToml::new().panel(&["eye"]), "eye", LIST))
}

/// Runs git in a folder of the project.
#[track_caller]
pub(super) fn git(env: &TestEnv, folder: &str, arguments: &[&str]) {
    let dir = env.path(folder);
    std::fs::create_dir_all(&dir).unwrap();
    let mut command = Command::new("git");
    command.args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always"]).args(arguments);
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null").env("HOME", env.home());
    let output = command.current_dir(dir).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Makes `folder` a repository whose files are all committed.
pub(super) fn commit(env: &TestEnv, folder: &str) {
    git(env, folder, &["init", "-q"]);
    git(env, folder, &["add", "-A"]);
    git(env, folder, &["commit", "-q", "-m", "x"]);
}

/// Sets a file's permissions.
pub(super) fn chmod(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// What the only slot answered, and what was said on the side.
#[track_caller]
pub(super) fn seen(env: &TestEnv, arguments: &[&str]) -> (String, String, Session) {
    let (_, err) = finish(env, &[&["run"], arguments, &["what is there?"]].concat(), 0);
    let session = env.session();
    (session.text("response-01.md"), err, session)
}

/// Fails unless the session verifies.
#[track_caller]
pub(super) fn verifies(env: &TestEnv) {
    let (out, _) = finish(env, &["verify"], 0);
    assert!(out.contains("verified"), "{out}");
}
