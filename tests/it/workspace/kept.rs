//! The snapshot stays as it is, whatever a program tries; where that cannot be enforced, the change is found.

use std::path::Path;

use team::isolation::{Mechanism, Preference, probe};

use super::world::{commit, script, verifies};
use crate::support::{TeamToml, TestEnv, wait_until};

/// Tries each way to change something where it runs, and says which worked.
const MISCHIEF: &str = r#"
    try() { if (eval "$2") > /dev/null 2>&1; then echo "$1: done"; else echo "$1: refused"; fi; }
    try write 'echo x > a.txt'
    try append 'echo x >> src/b.txt'
    try create 'echo x > new.txt'
    try mkdir 'mkdir newer'
    try rename 'mv a.txt c.txt'
    try remove 'rm -f src/b.txt'
    try link 'ln -s a.txt d.txt'
    try chmod 'chmod 777 a.txt'
    try chmod-folder 'chmod 777 src'
    try temporary 'echo x > "${TMPDIR:-/tmp}/own" && grep -q x "${TMPDIR:-/tmp}/own"'
    exit 0
"#;

/// Reads when the other is done.
const READER: &str = r#"until [ -e "$GO" ]; do sleep 0.02; done; cat a.txt src/b.txt; ls"#;

/// As which user `team` runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum User {
    Caller,
    Ordinary,
}

/// What the mischief came to: its lines, or the words of the record's error.
fn do_mischief(isolation: &str, user: User) -> (Mechanism, Result<String, String>) {
    let env = TestEnv::new().set("TEAM_ISOLATION", isolation);
    let go = env.path("go");
    let config = script(TeamToml::new().panel(&["imp", "reader"]), "imp", MISCHIEF);
    let config = script(config, "reader", &READER.replace("$GO", &go.display().to_string()));
    env.write("team.toml", config.text());
    env.write("app/a.txt", "one\n");
    env.write("app/src/b.txt", "two\n");
    commit(&env, "app");
    let wrapper = if user == User::Ordinary { env.of_ordinary_user() } else { Vec::new() };
    let wrapper: Vec<&str> = wrapper.iter().map(String::as_str).collect();
    let mut team = env.start_under(&wrapper, &["run", "--workspace", "app", "--timeout", "50s", "what is there?"]);
    let session = env.session_with("manifest.json");
    wait_until("the status", || session.has("status.json").then_some(()));
    let imp = session.id_of("imp");
    wait_until("the mischief", || {
        let state = session.slot(&imp)["state"].clone();
        (state != "RUNNING" && state != "PENDING").then_some(())
    });
    std::fs::write(&go, "").unwrap();
    assert_eq!(team.wait().code(), Some(0), "{}", team.stderr());
    // Whatever one slot did, another finds everything as it was.
    let reader = session.text(&format!("response-{}.md", session.id_of("reader")));
    assert_eq!(reader, "one\ntwo\na.txt\nsrc\n");
    assert_eq!(std::fs::read_to_string(env.path("app/a.txt")).unwrap(), "one\n");
    assert_eq!(session.text("workspace/a.txt"), "one\n");
    let end = session.slot(&imp);
    let came = match end["state"].as_str().unwrap() {
        "COMPLETED" => Ok(session.text(&format!("response-{imp}.md"))),
        state => {
            assert_eq!((state, &end["error"]["reason"]), ("FAILED", &"workspace_changed".into()), "{end}");
            let log = session.text(&format!("errors/{imp}.log"));
            assert!(log.starts_with("workspace_changed: "), "{log}");
            let partial = session.text(&format!("errors/{imp}.partial.md"));
            assert!(partial.contains("temporary: done"), "{partial}");
            Err(format!("{}\n{partial}", end["error"]["detail"].as_str().unwrap()))
        }
    };
    if user == User::Caller {
        verifies(&env);
    }
    let left: Vec<_> = std::fs::read_dir(env.home().parent().unwrap().join("tmp")).unwrap().collect();
    assert!(left.is_empty(), "copies are gone with their slots: {left:?}");
    let preference = Preference::parse(Some(isolation.as_ref())).unwrap();
    (probe(preference, Some(Path::new(env!("CARGO_BIN_EXE_team")))).mechanism, came)
}

fn refused(text: &str, what: &str) -> bool {
    text.lines().any(|line| line == format!("{what}: refused"))
}

const WRITES: [&str; 7] = ["write", "append", "create", "mkdir", "rename", "remove", "link"];

#[track_caller]
fn holds(isolation: &str, user: User) {
    match do_mischief(isolation, user) {
        (Mechanism::Namespaces { .. }, came) => {
            let text = came.unwrap();
            for what in WRITES.iter().chain(&["chmod", "chmod-folder"]) {
                assert!(refused(&text, what), "{what}: {text}");
            }
            assert!(text.contains("temporary: done"), "{text}");
        }
        (Mechanism::Landlock, came) => {
            let text = came.unwrap_err();
            assert!(text.starts_with("the permissions of `a.txt` were changed, and 1 more"), "{text}");
            for what in WRITES {
                assert!(refused(&text, what), "{what}: {text}");
            }
        }
        (Mechanism::TreeWalk, came) => {
            let text = came.unwrap_err();
            let is_root = user == User::Caller && nix::unistd::geteuid().is_root();
            if is_root {
                assert!(text.contains("write: done") && text.contains("`a.txt` was removed"), "{text}");
            } else {
                assert!(refused(&text, "write") && refused(&text, "create"), "{text}");
                assert!(text.contains("the permissions of `a.txt` were changed"), "{text}");
            }
        }
    }
}

#[test]
fn nothing_can_be_changed_where_mounts_hold() {
    holds("", User::Caller);
}

#[test]
fn nothing_can_be_changed_where_mounts_hold_for_an_ordinary_user() {
    holds("", User::Ordinary);
}

#[test]
fn under_landlock_only_permissions_can_be_changed_and_that_is_found() {
    holds("landlock", User::Caller);
}

#[test]
fn under_landlock_only_permissions_can_be_changed_and_that_is_found_for_an_ordinary_user() {
    holds("landlock", User::Ordinary);
}

#[test]
fn by_convention_every_change_is_found_and_no_other_slot_sees_it() {
    holds("none", User::Caller);
}

#[test]
fn by_convention_every_change_is_found_and_no_other_slot_sees_it_for_an_ordinary_user() {
    holds("none", User::Ordinary);
}

#[test]
fn a_snapshot_that_is_changed_from_outside_fails_the_slots_that_worked_in_it() {
    let env = TestEnv::new();
    let (ready, go) = (env.path("ready"), env.path("go"));
    let wait = format!("echo hello; : > '{}'; until [ -e '{}' ]; do sleep 0.02; done", ready.display(), go.display());
    env.write("team.toml", script(TeamToml::new().panel(&["slow"]), "slow", &wait).text());
    env.write("app/a.txt", "one\n");
    let mut team = env.start(&["run", "--workspace", "app", "--timeout", "50s", "what?"]);
    wait_until("the slot", || ready.exists().then_some(()));
    let session = env.session();
    std::fs::write(session.path("workspace/a.txt"), "two\n").unwrap();
    std::fs::write(&go, "").unwrap();
    let code = team.wait().code();
    // Where every slot has a copy of its own, this one was none the wiser.
    if let Mechanism::Namespaces { .. } =
        probe(Preference::Strongest, Some(Path::new(env!("CARGO_BIN_EXE_team")))).mechanism
    {
        assert_eq!(code, Some(4), "{}", team.stderr());
        let error = &session.slot("01")["error"];
        assert_eq!((&error["reason"], &error["detail"]), (&"workspace_changed".into(), &"`a.txt` was changed".into()));
    }
    let (out, _) = crate::support::finish(&env, &["verify"], 6);
    assert!(out.contains("`workspace`: does not hold the files that line 2 of `events.jsonl` recorded"), "{out}");
}
