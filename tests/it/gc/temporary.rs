//! Temporary folders of processes and temporary sessions.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::{backdate, everything, gc, kept, panel, removed, temporary};
use crate::support::{TeamToml, TestEnv, finish, wait_until};

/// A folder that a process left behind, with a file, a link and a folder that may not be read.
fn left(env: &TestEnv, name: &str) -> PathBuf {
    let folder = temporary(env).join(name);
    std::fs::create_dir_all(folder.join("slot-0/tmp/locked/deep")).unwrap();
    std::fs::write(folder.join("slot-0/tmp/file"), "12345").unwrap();
    std::os::unix::fs::symlink(env.project(), folder.join("slot-0/tmp/link")).unwrap();
    std::fs::set_permissions(folder.join("slot-0/tmp/locked"), PermissionsExt::from_mode(0o000)).unwrap();
    folder
}

/// A run whose slot waits for the file `go`, at work.
fn at_work(env: &TestEnv, options: &[&str]) -> crate::support::Background {
    let team = env.start(&[&["run", "-m", "late", "why?"], options].concat());
    wait_until("the slot", || env.path("begun").exists().then_some(()));
    team
}

fn late() -> TestEnv {
    let env = TestEnv::new();
    let steps = ["touch", "wait-for"].map(|step| {
        let file = if step == "touch" { "begun" } else { "go" };
        format!("{step} {}", env.path(file).display())
    });
    let config = TeamToml::new().agent("late", &[&steps[0], &steps[1], "print late"]);
    env.write("team.toml", config.text());
    env
}

#[test]
fn folders_of_processes_that_are_gone_are_removed_and_what_links_lead_to_stays() {
    let env = panel();
    for name in ["team-slots-AbCdEf", "team-canary-AbCdEf", "team-doctor-AbCdEf"] {
        left(&env, name);
    }
    std::fs::create_dir(temporary(&env).join("somebody-elses")).unwrap();
    std::fs::create_dir(temporary(&env).join("team-other")).unwrap();
    let before = everything(&env.project());
    let report = gc(&env, &[]);
    let expected = ["team-canary-AbCdEf", "team-doctor-AbCdEf", "team-slots-AbCdEf"];
    assert_eq!(removed(&env, &report), expected.map(|name| format!("process_folder tmp/{name}")));
    assert!(report["removed"][0]["bytes"].as_u64() >= Some(5), "{report}");
    let mut names: Vec<_> =
        std::fs::read_dir(temporary(&env)).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["somebody-elses", "team-other"]);
    assert_eq!(everything(&env.project()), before, "a link was followed");
    assert_eq!(removed(&env, &gc(&env, &[])), [""; 0], "the second time there is nothing");
}

#[test]
fn what_a_run_leaves_when_the_machine_goes_down_is_removed() {
    let env = late();
    let mut team = at_work(&env, &[]);
    team.signal(Signal::SIGSTOP);
    // Whoever would tidy up goes first, as in a power cut.
    let others = || env.processes().into_iter().filter(|(pid, _)| *pid != team.pid()).collect::<Vec<_>>();
    wait_until("the others' end", || {
        for (pid, _) in others() {
            let _ = kill(Pid::from_raw(i32::try_from(pid).unwrap()), Signal::SIGKILL);
        }
        others().iter().all(|(pid, _)| crate::support::process_state(*pid) == Some('Z')).then_some(())
    });
    assert_eq!(kept(&env, &gc(&env, &[])).len(), 2, "as long as it lives, the folder and the session are its own");
    team.signal(Signal::SIGKILL);
    team.wait();
    let report = gc(&env, &[]);
    assert!(removed(&env, &report)[0].starts_with("process_folder tmp/team-slots-"), "{report:#}");
    assert_eq!(std::fs::read_dir(temporary(&env)).unwrap().count(), 0);
    env.write("go", "");
    finish(&env, &["resume"], 0);
    assert_eq!(env.session().text("response-01.md"), "late\n");
}

#[test]
fn a_run_that_goes_on_loses_nothing() {
    for options in [&[][..], &["--legacy"]] {
        let env = late();
        let mut team = at_work(&env, options);
        for gc_options in [&["--dry-run"][..], &[], &["--older-than", "0s"]] {
            let report = gc(&env, gc_options);
            assert_eq!(removed(&env, &report), [""; 0]);
            let kept = kept(&env, &report);
            assert!(kept.len() == 2 && kept.iter().all(|line| line.starts_with("owned ")), "{kept:?}");
            assert!(report["kept"][1]["detail"].as_str().unwrap().contains("owned by process"), "{report:#}");
        }
        env.write("go", "");
        assert_eq!(team.wait().code(), Some(0), "{}", team.stderr());
    }
}

#[test]
fn links_and_other_users_folders_are_left_alone() {
    let env = panel();
    let outside = env.write("outside/file", "kept");
    let outside = outside.parent().unwrap();
    for name in ["team-slots-link", "team-session-link"] {
        std::os::unix::fs::symlink(outside, temporary(&env).join(name)).unwrap();
    }
    let mut theirs = Vec::new();
    // Only root can give a folder away.
    if nix::unistd::geteuid().is_root() {
        for name in ["team-slots-theirs", "team-session-theirs"] {
            let folder = temporary(&env).join(name);
            std::fs::create_dir(&folder).unwrap();
            std::os::unix::fs::chown(&folder, Some(23_571), None).unwrap();
            backdate(&folder);
            theirs.push(folder);
        }
    }
    let report = gc(&env, &["--older-than", "0s"]);
    assert_eq!((removed(&env, &report).len(), kept(&env, &report).len()), (0, 0), "{report:#}");
    assert!(outside.join("file").exists() && theirs.iter().all(|folder| folder.exists()));
    assert!(temporary(&env).join("team-slots-link").is_symlink());
}

#[test]
fn two_at_once_remove_each_thing_once() {
    let env = panel();
    let folders: Vec<PathBuf> = (0..40).map(|number| left(&env, &format!("team-slots-{number:02}"))).collect();
    let mut both = [env.start(&["gc", "--json"]), env.start(&["gc", "--json"])];
    let mut gone = Vec::new();
    for team in &mut both {
        assert_eq!(team.wait().code(), Some(0), "{}", team.stderr());
        let report: serde_json::Value = serde_json::from_str(&team.stdout()).unwrap();
        assert_eq!(report["failed"], serde_json::json!([]), "{report:#}");
        gone.extend(removed(&env, &report));
    }
    gone.sort();
    let expected: Vec<String> = (0..40).map(|number| format!("process_folder tmp/team-slots-{number:02}")).collect();
    assert_eq!(gone, expected);
    assert!(!folders.iter().any(|folder| folder.exists()));
}

/// The only temporary session, and its folder's path below the world's.
fn temporary_session(env: &TestEnv) -> (PathBuf, String) {
    let mut entries = std::fs::read_dir(temporary(env)).unwrap().map(|entry| entry.unwrap().path());
    let folder = entries.find(|path| path.file_name().unwrap().to_str().unwrap().starts_with("team-session-")).unwrap();
    let session = std::fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    let below = folder.strip_prefix(env.project().parent().unwrap().canonicalize().unwrap()).unwrap();
    let below = below.display().to_string();
    (session, below)
}

#[test]
fn a_temporary_session_goes_as_a_whole_and_by_age_only() {
    let env = panel();
    finish(&env, &["run-and-judge", "--legacy", "Which one is it?"], 0);
    let (session, folder) = temporary_session(&env);
    let name = session.file_name().unwrap().to_str().unwrap().to_owned();
    assert_eq!(kept(&env, &gc(&env, &[])), [format!("by_age_only {folder}/{name}")]);
    assert_eq!(kept(&env, &gc(&env, &["--older-than", "1h"])), [format!("too_young {folder}/{name}")]);
    let before = everything(&temporary(&env));
    let report = gc(&env, &["--older-than", "0s", "--dry-run"]);
    assert_eq!(
        (removed(&env, &report), report["dryRun"].as_bool()),
        (vec![format!("temporary_session {folder}")], Some(true))
    );
    assert_eq!(everything(&temporary(&env)), before, "nothing is changed, nor any lock taken");
    assert_eq!(removed(&env, &gc(&env, &["--older-than", "0s"])), [format!("temporary_session {folder}")]);
    assert_eq!(std::fs::read_dir(temporary(&env)).unwrap().count(), 0);
    assert!(env.path("ai-docs/team-kiwi.md").exists(), "what was copied is the user's");
}

#[test]
fn a_temporary_session_that_can_be_finished_never_goes() {
    for (stop, reason) in [(Signal::SIGINT, "stopped"), (Signal::SIGKILL, "interrupted")] {
        let env = late();
        let mut team = at_work(&env, &["--legacy"]);
        team.signal(stop);
        team.wait();
        env.wait_for_no_processes();
        let (session, folder) = temporary_session(&env);
        let path = session.display().to_string();
        let report = gc(&env, &["--older-than", "0s"]);
        let name = session.file_name().unwrap().to_str().unwrap();
        assert!(kept(&env, &report).contains(&format!("{reason} {folder}/{name}")), "{report:#}");
        let told = report["kept"].as_array().unwrap().last().unwrap()["detail"].as_str().unwrap().to_owned();
        assert!(told.contains(&format!("`team resume {path}` finishes it")), "{told}");
        env.write("go", "");
        finish(&env, &["resume", &path], 0);
        assert_eq!(removed(&env, &gc(&env, &["--older-than", "0s"])), [format!("temporary_session {folder}")]);
    }
}

#[test]
fn a_temporary_folder_without_a_session_goes_when_nobody_can_be_making_one() {
    let env = panel();
    let empty = temporary(&env).join("team-session-AbCdEf");
    std::fs::create_dir(&empty).unwrap();
    assert_eq!(kept(&env, &gc(&env, &[])), ["too_young tmp/team-session-AbCdEf"]);
    backdate(&empty);
    assert_eq!(removed(&env, &gc(&env, &[])), ["unmade_session tmp/team-session-AbCdEf"]);
    // What somebody else put there is not ours to remove.
    let strange = temporary(&env).join("team-session-strange");
    std::fs::create_dir_all(strange.join("photos")).unwrap();
    backdate(&strange);
    assert_eq!(kept(&env, &gc(&env, &["--older-than", "0s"])), ["damaged tmp/team-session-strange"]);
    assert!(Path::new(&strange.join("photos")).is_dir());
}
