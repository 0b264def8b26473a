//! A session that was cut off works on in the same snapshot.

use std::os::unix::process::ExitStatusExt;

use nix::sys::signal::Signal;

use super::world::{LIST, script, verifies};
use crate::support::{Session, TeamToml, TestEnv, finish, process_state, wait_until};

/// Runs until `point`, in a world whose workspace holds one file.
fn cut_off(point: &str) -> (TestEnv, Session) {
    let env = TestEnv::with(&script(TeamToml::new().panel(&["eye"]), "eye", LIST));
    env.write("app/a.txt", "before\n");
    let output = env.team(&["run", "--workspace", "app", "what?"]).env("TEAM_FAULT_POINT", point).output().unwrap();
    assert_eq!(output.status.signal(), Some(9), "{}", String::from_utf8_lossy(&output.stderr));
    env.wait_for_no_processes();
    let session = env.session();
    env.write("app/a.txt", "after\n");
    (env, session)
}

#[test]
fn what_was_taken_is_what_is_shown_however_the_folder_has_changed() {
    let (env, session) = cut_off("slot-started");
    std::fs::remove_dir_all(env.path("app")).unwrap();
    finish(&env, &["resume"], 0);
    assert!(session.text("response-01.md").contains("a.txt: before"));
    verifies(&env);
}

#[test]
fn what_was_not_taken_yet_is_taken_then() {
    for point in ["session-made", "workspace-copied", "workspace-named"] {
        let (env, session) = cut_off(point);
        let (out, _) = finish(&env, &["verify"], 0);
        let has_some = session.has("workspace") || session.has(".workspace.part");
        assert_eq!(out.contains("is not recorded, so nothing can be said of it"), has_some, "{point}: {out}");
        let (_, err) = finish(&env, &["resume"], 0);
        assert!(err.contains("app` was not finished, and nobody has worked in it: it is taken anew"), "{point}: {err}");
        assert!(session.text("response-01.md").contains("a.txt: after"), "{point}");
        assert!(!session.has(".workspace.part"));
        verifies(&env);
    }
}

#[test]
fn where_it_cannot_be_taken_the_session_stays_as_it_is_until_the_folder_is_back() {
    for point in ["session-made", "workspace-copied", "workspace-named"] {
        let (env, session) = cut_off(point);
        std::fs::rename(env.path("app"), env.path("away")).unwrap();
        let record = session.text("events.jsonl");
        let (_, err) = finish(&env, &["resume"], 2);
        assert!(err.contains("there is no folder") && err.contains("back as it was and resume"), "{point}: {err}");
        assert!(!err.contains("--workspace"), "{point}: {err}");
        assert_eq!(session.text("events.jsonl"), record, "{point}");
        assert!(finish(&env, &["list"], 0).0.contains("interrupted"), "{point}");
        finish(&env, &["verify"], 0);
        std::fs::rename(env.path("away"), env.path("app")).unwrap();
        finish(&env, &["resume"], 0);
        assert!(session.text("response-01.md").contains("a.txt: after"), "{point}");
        verifies(&env);
    }
}

#[test]
fn a_snapshot_that_was_changed_since_is_refused_until_that_is_accepted() {
    let (env, session) = cut_off("workspace-recorded");
    // The clock of files moves in steps: what is written within one of them looks as if it had been there.
    let now = std::time::SystemTime::now();
    let mark = env.write("mark", "");
    wait_until("the next step of the clock of files", || {
        std::fs::write(&mark, "").unwrap();
        (mark.metadata().unwrap().modified().unwrap() > now).then_some(())
    });
    std::fs::write(session.path("workspace/a.txt"), "forged\n").unwrap();
    let (_, err) = finish(&env, &["resume"], 2);
    assert!(err.contains("workspace` was changed: ") && err.contains("--accept-drift"), "{err}");
    assert!(err.contains("workspace/a.txt` was written since"), "{err}");
    let (out, _) = finish(&env, &["verify"], 6);
    assert!(out.contains("`workspace`: does not hold the files"), "{out}");
    assert!(out.contains("`workspace/a.txt` was written since"), "{out}");
    finish(&env, &["resume", "--accept-drift"], 0);
    assert!(session.text("response-01.md").contains("a.txt: forged"));
    let (out, _) = finish(&env, &["verify"], 0);
    assert!(out.contains("the workspace was another one before"), "{out}");
}

#[test]
fn a_snapshot_that_is_lost_is_named() {
    let (env, session) = cut_off("workspace-recorded");
    std::fs::remove_dir_all(session.path("workspace")).unwrap();
    let (_, err) = finish(&env, &["resume"], 6);
    assert!(err.contains("the snapshot that slots are to work in is lost") && err.contains("run again"), "{err}");
}

#[test]
fn verify_names_a_workspace_that_was_changed_lost_or_planted() {
    let env = TestEnv::with(&script(TeamToml::new().panel(&["eye"]), "eye", "echo hello"));
    env.write("app/a.txt", "x\n");
    finish(&env, &["run", "--workspace", "app", "what?"], 0);
    let session = env.session();
    std::fs::write(session.path("workspace/planted"), "").unwrap();
    let (out, _) = finish(&env, &["verify"], 6);
    assert!(out.contains("`workspace`: does not hold the files that line 2"), "{out}");
    std::fs::remove_dir_all(session.path("workspace")).unwrap();
    let (out, _) = finish(&env, &["verify"], 6);
    assert!(out.contains("`workspace`: is missing"), "{out}");

    let env = TestEnv::with(&script(TeamToml::new().panel(&["eye"]), "eye", "echo hello"));
    finish(&env, &["run", "what?"], 0);
    std::fs::create_dir(env.session().path("workspace")).unwrap();
    let (out, _) = finish(&env, &["verify"], 6);
    assert!(out.contains("`workspace`: is no part of the session"), "{out}");
}

#[test]
fn a_snapshot_that_could_not_be_taken_leaves_nothing_behind_and_resume_takes_it() {
    let env = TestEnv::with(&script(TeamToml::new().panel(&["eye"]), "eye", LIST));
    env.write("app/large.txt", vec![b'x'; 300_000]);
    let mut team =
        env.start_under(&["prlimit", "--fsize=200000", "--"], &["run", "--workspace", "app", "what is there?"]);
    assert_eq!(team.wait().code(), Some(70), "{}", team.stderr());
    let err = team.stderr();
    assert!(err.contains("cannot take the snapshot of the workspace") && err.contains("large.txt"), "{err}");
    assert!(err.contains("`team resume"), "{err}");
    let session = env.session();
    assert!(!session.has("workspace") && !session.has(".workspace.part"), "{:?}", session.files());
    assert_eq!(session.slot("01")["state"], "PENDING");
    verifies(&env);
    finish(&env, &["resume"], 0);
    assert!(session.text("response-01.md").contains("large.txt f"));
    verifies(&env);
}

#[test]
fn a_stop_while_the_snapshot_is_copied_acts_between_files_and_leaves_nothing_of_it() {
    const FILES: usize = 6000;
    let env = TestEnv::with(&script(TeamToml::new().panel(&["eye"]), "eye", "ls | wc -l; echo files"));
    std::fs::create_dir_all(env.path("app")).unwrap();
    for number in 0..FILES {
        std::fs::write(env.path(&format!("app/{number:05}.txt")), "x\n").unwrap();
    }
    let mut team = env.start(&["run", "--workspace", "app", "what?"]);
    let session = env.session_with(".workspace.part/00000.txt");
    // It stands still while it is looked at, so that it has not come to its end when the signal does.
    team.signal(Signal::SIGSTOP);
    wait_until("the stop", || (process_state(team.pid()) == Some('T')).then_some(()));
    let copied = std::fs::read_dir(session.path(".workspace.part")).unwrap().count();
    assert!(copied < FILES, "all was copied before it could be stopped");
    team.signal(Signal::SIGINT);
    team.signal(Signal::SIGCONT);
    assert_eq!(team.wait().code(), Some(130), "{}", team.stderr());
    assert!(!session.has("workspace") && !session.has(".workspace.part"));
    assert_eq!(session.slot("01")["state"], "CANCELLED");
    verifies(&env);
    finish(&env, &["resume"], 0);
    assert!(session.text("response-01.md").contains(&FILES.to_string()));
    verifies(&env);
}

#[test]
fn a_resume_that_ends_before_it_takes_a_snapshot_leaves_none_that_nobody_knows() {
    let (env, session) = cut_off("workspace-named");
    assert!(session.has("workspace"));
    let output = env.team(&["resume"]).env("TEAM_FAULT_POINT", "reopen-recorded").output().unwrap();
    assert_eq!(output.status.signal(), Some(9), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(!session.has("workspace"), "nobody has worked in it");
    verifies(&env);
    finish(&env, &["resume"], 0);
    verifies(&env);
}

#[test]
fn copies_go_with_their_slots_when_team_itself_is_killed() {
    for isolation in ["landlock", "none"] {
        let env = TestEnv::new().set("TEAM_ISOLATION", isolation);
        // Not directly in the folder on the way to the sessions, where Landlock lets nobody make a file.
        let ready = env.write("out/empty", "").with_file_name("ready");
        let hang = format!(": > '{}'; exec sleep 60", ready.display());
        env.write("team.toml", script(TeamToml::new().panel(&["slow"]), "slow", &hang).text());
        env.write("app/sub/a.txt", "x\n");
        let mut team = env.start(&["run", "--workspace", "app", "what?"]);
        wait_until("the slot", || ready.exists().then_some(()));
        team.signal(Signal::SIGKILL);
        team.wait();
        env.wait_for_no_processes();
        let tmp = env.home().parent().unwrap().join("tmp");
        // By supervisors that belong to no world: they may have outlived the last process of this one for a moment.
        wait_until("the end of the copies", || std::fs::read_dir(&tmp).unwrap().next().is_none().then_some(()));
    }
}
