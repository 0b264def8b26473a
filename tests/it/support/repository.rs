//! Git in a test's project.

use std::ffi::OsStr;
use std::process::Command;

use super::TestEnv;

/// Runs git in the project, with an identity and nothing inherited, and gives what it prints.
#[track_caller]
pub(crate) fn git<S: AsRef<OsStr>>(env: &TestEnv, arguments: &[S]) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "protocol.file.allow=always"])
        .args(arguments)
        .current_dir(env.project())
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("HOME", env.home())
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}
