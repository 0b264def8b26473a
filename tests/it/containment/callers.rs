//! What needs a caller of its own: one that is killed, looked at as a whole, or has fewer rights.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use fs_err as fs;
use nix::unistd::geteuid;
use team::isolation::Mechanism;

use super::place::*;

/// An ordinary user's id; not the overflow id, which a user namespace shows for everybody it does not know.
const ORDINARY: u32 = 23_571;
/// Names the caller where the built one is out of an ordinary user's reach.
const CALLER_VARIABLE: &str = "TEAM_TEST_CALLER";

#[test]
fn killing_the_caller_leaves_nothing() {
    for mechanism in mechanisms() {
        let place = Place::new();
        fs::write(place.file("escapees.sh"), ESCAPEES).unwrap();
        let mut caller = driver_command(&place, "escapees", mechanism).spawn().unwrap();
        wait_until("the escapees", || escapees_run(&place));
        assert!(place.processes().len() >= 4, "{mechanism}");
        caller.kill().unwrap();
        caller.wait().unwrap();
        wait_until("everybody to be gone", || place.processes().is_empty());
    }
}

#[test]
fn a_run_leaves_no_zombie_and_no_descriptor() {
    for mechanism in mechanisms() {
        let place = Place::new();
        let output = driver_command(&place, "tidy", mechanism).output().unwrap();
        assert!(output.status.success(), "{mechanism}: {}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(
            fs::read_to_string(place.file("tidy")).unwrap(),
            "children 0, descriptors +0, most +4",
            "{mechanism}"
        );
    }
}

#[test]
fn a_caller_that_was_told_to_ignore_ended_children_still_learns_how_they_ended() {
    for mechanism in mechanisms() {
        let place = Place::new();
        let driver = driver_command(&place, "code", mechanism);
        // A shell would not pass an ignored SIGCHLD on.
        let mut command = Command::new("perl");
        command
            .args(["-e", "$SIG{$_} = 'IGNORE' for qw(CHLD TERM HUP INT); exec @ARGV", "--"])
            .arg(driver.get_program())
            .args(driver.get_args());
        command.envs(driver.get_envs().filter_map(|(name, value)| Some((name, value?))));
        assert!(command.stdout(Stdio::null()).status().unwrap().success(), "{mechanism}");
        assert_eq!(fs::read_to_string(place.file("code")).unwrap(), "Exited(23)", "{mechanism}");
    }
}

#[test]
fn a_refused_mechanism_is_recorded_with_its_step_and_the_next_one_taken() {
    let place = Place::new();
    let driver = driver_command(&place, "probe", Mechanism::TreeWalk);
    // A process that may make no namespace: an ordinary user without user namespaces would look the same.
    let mut command = Command::new(if geteuid().is_root() { "setpriv" } else { "env" });
    if geteuid().is_root() {
        command.arg("--bounding-set=-sys_admin");
    }
    command.arg(driver.get_program()).args(driver.get_args());
    command.envs(driver.get_envs().filter_map(|(name, value)| Some((name, value?))));
    assert!(command.stdout(Stdio::null()).status().unwrap().success());
    let found = fs::read_to_string(place.file("probe")).unwrap();
    if geteuid().is_root() {
        let refusal = r#"{"mechanism":"namespaces","user":false,"refused":{"step":"unshare","errno":1},"facts":null}"#;
        assert!(found.contains(refusal), "{found}");
    } else {
        assert!(!found.contains(r#""user":false"#), "{found}");
    }
}

#[test]
fn the_whole_list_holds_for_an_ordinary_user() {
    if !geteuid().is_root() {
        // Then the other tests of this file have just been run as one.
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o755)).unwrap();
    // The build directory may be out of that user's reach.
    let lend = |from: &Path, name: &str| {
        let to = dir.path().join(name);
        if fs::hard_link(from, &to).is_err() {
            fs::copy(from, &to).unwrap();
        }
        to
    };
    let tests = lend(&std::env::current_exe().unwrap(), "tests");
    let team = lend(&supervisor(), "team");
    let caller = lend(&caller(), "caller");
    let output = Command::new(tests)
        .args(["containment::", "--test-threads=4"])
        .env(SUPERVISOR_VARIABLE, team)
        .env(CALLER_VARIABLE, caller)
        .env("HOME", "/nonexistent")
        .current_dir("/")
        .uid(ORDINARY)
        .gid(ORDINARY)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("killing_the_caller_leaves_nothing ... ok"), "{text}");
}

/// The program that plays `team`; its doc lists the scenarios.
fn driver_command(place: &Place, scenario: &str, mechanism: Mechanism) -> Command {
    let mut command = Command::new(caller());
    command.arg(scenario).arg(mechanism.to_string()).args([place.path(), &supervisor()]).stdout(Stdio::null());
    command
}

fn caller() -> PathBuf {
    std::env::var_os(CALLER_VARIABLE).map_or_else(|| env!("CARGO_BIN_EXE_caller").into(), PathBuf::from)
}
