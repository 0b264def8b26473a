//! Leftovers in the folder of sessions.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;

use nix::sys::signal::Signal;

use super::{backdate, everything, gc, kept, panel, removed};
use crate::support::{Session, TeamToml, TestEnv, assert_consistent, finish, wait_until};

fn id_of(session: &Session) -> String {
    format!("project/ai-docs/sessions/{}", session.id())
}

#[test]
fn files_that_were_being_written_go_and_the_session_stays_as_it_was_recorded() {
    let env = panel();
    finish(&env, &["run-and-judge", "Which one is it?"], 0);
    let session = env.session();
    let files = session.files();
    let planted = [
        ".01.stderr.part",
        ".response-01.md.part",
        ".tmp-AbCdEf",
        "errors/.tmp-AbCdEf",
        "judging/.response-02.md.part",
        "judging/errors/.tmp-AbCdEf",
    ];
    for file in planted {
        std::fs::write(session.path(file), "half").unwrap();
        backdate(&session.path(file));
    }
    // One that somebody may be writing now, and one that is a program's.
    for file in ["judging/.tmp-young", "work/01/.tmp-mine"] {
        std::fs::write(session.path(file), "half").unwrap();
    }
    backdate(&session.path("work/01/.tmp-mine"));
    let report = gc(&env, &[]);
    let folder = id_of(&session);
    assert_eq!(removed(&env, &report), planted.map(|file| format!("unfinished_file {folder}/{file}")));
    assert_eq!(
        kept(&env, &report),
        [format!("by_age_only {folder}/work"), format!("holds_answers {folder}")],
        "{report:#}"
    );
    let mut expected = [files, vec!["judging/.tmp-young".to_owned(), "work/01/.tmp-mine".to_owned()]].concat();
    expected.sort();
    assert_eq!(session.files(), expected);
    assert_consistent(&session);
}

#[test]
fn files_beside_the_sessions_that_were_being_written_go_unless_somebody_is_at_it_or_they_are_anothers() {
    let env = panel();
    finish(&env, &["run", "Which one is it?"], 0);
    let plant = |name: &str| {
        let path = env.write(&format!("ai-docs/{name}"), "half");
        backdate(&path);
        path
    };
    for name in
        [".tmp-AbCdE1", "sessions/.tmp-AbCdE2", "sessions/.tmp-locked", ".tmp-mine", ".tmp-AbCdE1.md", "tmp-AbCdE1"]
    {
        plant(name);
    }
    env.write("ai-docs/.tmp-young1", "half");
    std::os::unix::fs::symlink(plant("theirs"), env.path("ai-docs/.tmp-linked")).unwrap();
    let locked = std::fs::File::open(env.path("ai-docs/sessions/.tmp-locked")).unwrap();
    locked.lock().unwrap();
    let expected =
        ["unfinished_file project/ai-docs/sessions/.tmp-AbCdE2", "unfinished_file project/ai-docs/.tmp-AbCdE1"];
    assert_eq!(removed(&env, &gc(&env, &["--dry-run"])), expected);
    assert_eq!(removed(&env, &gc(&env, &[])), expected);
    assert!(removed(&env, &gc(&env, &[])).is_empty());
    drop(locked);
    assert_eq!(removed(&env, &gc(&env, &[])), ["unfinished_file project/ai-docs/sessions/.tmp-locked"]);
    for name in [".tmp-mine", ".tmp-AbCdE1.md", "tmp-AbCdE1", ".tmp-young1", ".tmp-linked", "theirs"] {
        assert!(env.path(&format!("ai-docs/{name}")).symlink_metadata().is_ok(), "{name}");
    }
}

#[test]
fn what_programs_left_goes_by_age_and_the_session_can_be_judged_and_resumed_after() {
    let env = TestEnv::new();
    let cured = format!("need {}", env.path("cured").display());
    let left =
        "swallow; echo x > left; mkdir d; echo y > d/deep; chmod 0 d; echo fine".replace("swallow", "cat > /dev/null");
    let config = TeamToml::new()
        .model("messy", &[("command", ["sh", "-c", &left].map(toml::Value::from).to_vec().into())])
        .agent("shaky", &[&cured, "answer better", "vote approve"])
        .agent("kiwi", &["answer one", "vote approve"]);
    env.write("team.toml", config.text());
    finish(&env, &["run", "-m", "messy,shaky,kiwi", "Which one is it?"], 0);
    let session = env.session();
    let folder = id_of(&session);
    let scratch = format!("work/{}", session.id_of("messy"));
    assert_eq!(kept(&env, &gc(&env, &["--older-than", "30d"]))[0], format!("too_young {folder}/work"));
    assert!(session.has(&format!("{scratch}/left")));
    let report = gc(&env, &["--older-than", "0s"]);
    assert_eq!(removed(&env, &report), [format!("scratch {folder}/work")]);
    assert_eq!(kept(&env, &report), [format!("holds_answers {folder}")]);
    assert_eq!(std::fs::read_dir(session.path(&scratch)).unwrap().count(), 0, "the folder itself stays");
    assert_consistent(&session);
    env.write("cured", "");
    finish(&env, &["resume", "--failed"], 0);
    finish(&env, &["judge", "--judges", "kiwi,shaky", "--self-vote", "include"], 0);
    assert_consistent(&session);
}

#[test]
fn of_a_session_that_can_be_finished_nothing_is_touched() {
    for signal in [Signal::SIGKILL, Signal::SIGINT] {
        let env = TestEnv::new();
        let go = format!("wait-for {}", env.path("go").display());
        let config = TeamToml::new().agent("late", &["print la", &go, "print te"]).agent("quick", &["print x"]);
        env.write("team.toml", config.text());
        let mut team = env.start(&["run", "-m", "late,quick", "why?"]);
        let session = env.session_with("status.json");
        let late = session.id_of("late");
        wait_until("the beginning", || (session.slot(&late)["liveBytes"].as_u64() > Some(0)).then_some(()));
        team.signal(signal);
        team.wait();
        env.wait_for_no_processes();
        if signal == Signal::SIGKILL {
            assert!(session.has(&format!(".response-{late}.md.part")));
            backdate(&session.path(&format!(".response-{late}.md.part")));
        }
        let before = everything(session.dir());
        let report = gc(&env, &["--older-than", "0s"]);
        let reason = if signal == Signal::SIGKILL { "interrupted" } else { "stopped" };
        assert_eq!(kept(&env, &report).last(), Some(&format!("{reason} {}", id_of(&session))), "{report:#}");
        let detail = report["kept"].as_array().unwrap().last().unwrap()["detail"].to_string();
        assert!(detail.contains(&format!("`team resume {}` finishes it", session.id())), "{detail}");
        assert_eq!(everything(session.dir()), before);
        env.write("go", "");
        finish(&env, &["resume"], 0);
        assert_eq!(session.text(&format!("response-{late}.md")), "la\nte\n");
    }
}

#[test]
fn a_folder_that_never_was_a_session_goes_and_a_session_that_lost_a_file_stays() {
    let points = [
        "session-folder",
        "session-locked",
        "panel-input",
        "panel-manifest",
        "panel-record",
        "panel-recorded",
        "panel-filled",
    ];
    let env = panel();
    for point in points {
        let output = env.team(&["run", "Which one is it?"]).env("TEAM_FAULT_POINT", point).output().unwrap();
        assert_eq!(output.status.signal(), Some(9), "{point}");
        env.wait_for_no_processes();
        let left = env.session();
        assert!(!left.has("session-meta.json"));
        assert_eq!(kept(&env, &gc(&env, &[])).last(), Some(&format!("too_young {}", id_of(&left))), "{point}");
        backdate(left.dir());
        let before = everything(left.dir());
        let would = gc(&env, &["--dry-run"]);
        assert!(removed(&env, &would).contains(&format!("unmade_session {}", id_of(&left))), "{point}: {would:#}");
        assert_eq!(everything(left.dir()), before, "{point}");
        let report = gc(&env, &[]);
        assert!(removed(&env, &report).contains(&format!("unmade_session {}", id_of(&left))), "{point}: {report:#}");
        assert!(env.sessions().is_empty(), "{point}");
    }
    finish(&env, &["run", "Which one is it?"], 0);
    let session = env.session();
    std::fs::remove_file(session.path("session-meta.json")).unwrap();
    backdate(session.dir());
    let before = everything(session.dir());
    assert_eq!(kept(&env, &gc(&env, &["--older-than", "0s"])), [format!("damaged {}", id_of(&session))]);
    assert_eq!(everything(session.dir()), before);
}

#[test]
fn links_in_a_session_lead_to_nothing_that_is_removed() {
    let env = panel();
    let outside = env.write("outside/.tmp-precious", "mine");
    backdate(&outside);
    let outside = outside.parent().unwrap().to_owned();
    finish(&env, &["run", "Which one is it?"], 0);
    let session = env.session();
    let link = |at: &str| {
        let path = session.path(at);
        if path.exists() {
            std::fs::remove_dir_all(&path).unwrap();
        }
        std::os::unix::fs::symlink(&outside, path).unwrap();
    };
    link("errors");
    link("judging");
    link("work/01");
    std::os::unix::fs::symlink(&outside, env.path("ai-docs/sessions/team-x-20260209-143022-a3f2")).unwrap();
    let report = gc(&env, &["--older-than", "0s"]);
    assert_eq!(removed(&env, &report), [""; 0], "{report:#}");
    std::fs::remove_dir_all(session.path("work")).unwrap();
    std::os::unix::fs::symlink(&outside, session.path("work")).unwrap();
    assert_eq!(removed(&env, &gc(&env, &["--older-than", "0s"])), [""; 0]);
    assert_eq!(std::fs::read_to_string(outside.join(".tmp-precious")).unwrap(), "mine");
}

#[test]
fn other_folders_among_the_sessions_are_not_ours() {
    let env = panel();
    for path in ["notes/work/01/.tmp-mine", "team-photos/.tmp-mine", ".tmp-mine"] {
        backdate(&env.write(&format!("ai-docs/sessions/{path}"), "mine"));
    }
    let before = everything(&env.path("ai-docs"));
    let report = gc(&env, &["--older-than", "0s"]);
    assert_eq!((removed(&env, &report).len(), kept(&env, &report).len()), (0, 0), "{report:#}");
    assert_eq!(everything(&env.path("ai-docs")), before);
}

#[test]
fn what_cannot_be_removed_is_told_and_does_not_stop_the_rest() {
    let env = panel();
    for name in ["one", "two"] {
        finish(&env, &["run", "--name", name, "Which one is it?"], 0);
    }
    for session in env.sessions() {
        std::fs::write(session.path("errors/.tmp-AbCdEf"), "half").unwrap();
        backdate(&session.path("errors/.tmp-AbCdEf"));
    }
    let [one, two] = env.sessions().try_into().unwrap();
    let wrapper = env.of_ordinary_user();
    let wrapper: Vec<&str> = wrapper.iter().map(String::as_str).collect();
    let mode = |mode| std::fs::set_permissions(one.path("errors"), PermissionsExt::from_mode(mode)).unwrap();
    mode(0o555);
    let mut team = env.start_under(&wrapper, &["gc"]);
    let code = team.wait().code();
    mode(0o755);
    let (out, err) = (team.stdout(), team.stderr());
    assert_eq!(code, Some(70), "{out}{err}");
    assert!(err.contains("error: cannot remove") && err.contains(&one.id()), "{err}");
    assert!(one.has("errors/.tmp-AbCdEf") && !two.has("errors/.tmp-AbCdEf"), "{out}");
    assert!(out.contains("not removed") && out.contains("ermission denied"), "{out}");
}

#[test]
fn people_are_told_in_lines_and_usage_errors_are_exit_2() {
    let env = panel();
    let (out, err) = finish(&env, &["gc"], 0);
    assert_eq!((out.as_str(), err.as_str()), ("", "nothing to remove\n"));
    assert!(!env.path("ai-docs").exists(), "looking makes nothing");
    for name in ["one", "two"] {
        finish(&env, &["run", "--name", name, "Which one is it?"], 0);
    }
    let session = env.sessions().remove(0);
    std::fs::write(session.path(".tmp-AbCdEf"), "half").unwrap();
    backdate(&session.path(".tmp-AbCdEf"));
    let (out, err) = finish(&env, &["gc", "--dry-run"], 0);
    let path = format!("ai-docs/sessions/{}/.tmp-AbCdEf", session.id());
    let expected = format!(
        "would remove  4 B  {path}  was being written when its writer died\n\
         kept               {:width$}  2 sessions with answers and their record: remove by hand what nobody needs\n",
        "ai-docs/sessions",
        width = path.len()
    );
    assert_eq!(out, expected);
    assert_eq!(err, "would remove 1 (4 B); nothing was changed\n");
    for (age, expected) in [("30", "no unit"), ("old", "old")] {
        let (_, err) = finish(&env, &["gc", "--older-than", age], 2);
        assert!(err.contains(expected), "{err}");
    }
}
