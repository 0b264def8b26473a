//! What needs a caller of its own: one that is killed, looked at as a whole, or has fewer rights.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use fs_err as fs;
use nix::unistd::geteuid;
use team::isolation::{Mechanism, Preference, probe};
use team::runner::process::{ProcessSpec, run};

use super::place::*;

/// An ordinary user's id; not the overflow id, which a user namespace shows for everybody it does not know.
const ORDINARY: u32 = 23_571;
/// What [`driver`] is to do.
const SCENARIO_VARIABLE: &str = "TEAM_TEST_SCENARIO";

#[test]
fn killing_the_caller_leaves_nothing() {
    for mechanism in mechanisms() {
        let place = Place::new();
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
        let refusal = r#"{"mechanism":"pid_namespace","user":false,"refused":{"step":"unshare","errno":1}}"#;
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
    let output = Command::new(tests)
        .args(["containment::", "--test-threads=4"])
        .env(SUPERVISOR_VARIABLE, team)
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

/// This test binary, as a program that plays `team`.
fn driver_command(place: &Place, scenario: &str, mechanism: Mechanism) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "containment::callers::driver", "--ignored", "--nocapture"]);
    command.env(SCENARIO_VARIABLE, format!("{scenario} {mechanism} {}", place.path().display()));
    command.env(SUPERVISOR_VARIABLE, supervisor()).stdout(Stdio::null());
    command
}

/// Not a test: what [`driver_command`] runs, in a process that can be killed or looked at as a whole.
#[test]
#[ignore = "played by other tests"]
fn driver() {
    let Ok(task) = std::env::var(SCENARIO_VARIABLE) else { return };
    let (scenario, rest) = task.split_once(' ').unwrap();
    let mechanism =
        [Mechanism::PidNamespace { user: false }, Mechanism::PidNamespace { user: true }, Mechanism::TreeWalk]
            .into_iter()
            .find(|mechanism| rest.starts_with(&format!("{mechanism} /")))
            .unwrap();
    let folder = PathBuf::from(&rest[mechanism.to_string().len() + 1..]);
    let shell = |script: &str| {
        let argv = ["sh", "-c", script].map(OsString::from).to_vec();
        let mut spec = ProcessSpec::new(argv, folder.clone(), mechanism);
        spec.environment =
            vec![("PATH".into(), std::env::var_os("PATH").unwrap()), ("PLACE".into(), folder.clone().into())];
        spec.supervisor = Some(supervisor());
        spec
    };
    let runtime = runtime();
    let go = |spec: ProcessSpec| {
        // On a worker thread, as the runner does it.
        let task = runtime.spawn(async move { run(&spec, &mut Recorder::default(), never()).await });
        runtime.block_on(task).unwrap()
    };
    match scenario {
        "escapees" => {
            let _ = go(shell(&format!("trap '' TERM; {ESCAPEES} sleep 1000")));
        }
        "code" => fs::write(folder.join("code"), format!("{:?}", go(shell("exit 23")).outcome)).unwrap(),
        "probe" => {
            let found = probe(Preference::Strongest, Some(&supervisor()));
            fs::write(folder.join("probe"), serde_json::to_string(&found).unwrap()).unwrap();
        }
        "tidy" => {
            let descriptors = || fs::read_dir("/proc/self/fd").unwrap().count();
            // What the runtime itself opens on first use.
            let _ = go(shell("exit 0"));
            let before = descriptors();
            let spec = shell(": > started; until [ -e go ]; do sleep 0.01; done");
            let task = runtime.spawn(async move { run(&spec, &mut Recorder::default(), never()).await });
            wait_until("the agent", || folder.join("started").exists());
            let most = descriptors() - before;
            fs::write(folder.join("go"), "").unwrap();
            assert_eq!(runtime.block_on(task).unwrap().exit_code(), Some(0));
            for _ in 0..5 {
                let _ = go(shell("setsid sleep 1000 > /dev/null 2>&1 & exit 0"));
                let _ = go(shell("exec /nonexistent"));
            }
            let own = i32::try_from(std::process::id()).unwrap();
            let children = fs::read_dir("/proc")
                .unwrap()
                .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok())
                .filter(|pid| parent(*pid) == own)
                .count();
            let text = format!("children {children}, descriptors +{}, most +{most}", descriptors() - before);
            fs::write(folder.join("tidy"), text).unwrap();
        }
        other => panic!("unknown scenario `{other}`"),
    }
}
