//! `--legacy`: a temporary session on purpose, and its results under flat names once a verdict has told who wrote what.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::{only, temporary_sessions};
use crate::support::{Session, TestEnv, assert_consistent, finish, voters, wait_until};

fn panel() -> TestEnv {
    TestEnv::with(&voters(&[
        ("kiwi", "the best of all", "approve-word best"),
        ("plum", "a plain one", "approve-word best"),
        ("a/fig-1", "another", "approve-word best"),
    ]))
}

/// The files of `ai-docs/`, each with its text.
fn flat(env: &TestEnv) -> BTreeMap<String, String> {
    let entries = std::fs::read_dir(env.path("ai-docs")).into_iter().flatten().map(|entry| entry.unwrap());
    let read = |path: &Path| std::fs::read_to_string(path).unwrap();
    entries.map(|entry| (entry.file_name().into_string().unwrap(), read(&entry.path()))).collect()
}

fn path_of(session: &Session) -> String {
    session.dir().canonicalize().unwrap().display().to_string()
}

fn answer_of(session: &Session, model: &str) -> String {
    session.text(&format!("response-{}.md", session.id_of(model)))
}

#[track_caller]
fn assert_copied(env: &TestEnv, session: &Session) {
    let expected = [
        ("team-a-fig-1.md", answer_of(session, "a/fig-1")),
        ("team-consolidated.md", session.text("verdict.md")),
        ("team-kiwi.md", answer_of(session, "kiwi")),
        ("team-plum.md", answer_of(session, "plum")),
    ];
    assert_eq!(flat(env), expected.map(|(name, text)| (name.to_owned(), text)).into());
}

#[test]
fn after_the_verdict_the_results_are_in_files_named_by_their_models() {
    for (arguments, top) in [(&["--legacy"][..], ""), (&[], "LEGACY_MODE: true\n")] {
        let env = panel();
        env.write("in.md", format!("{top}Which one is it?\n"));
        let (out, err) = finish(&env, &[&["run-and-judge", "in.md"], arguments].concat(), 0);
        let session = only(temporary_sessions(&env));
        assert_eq!(session.text("input.md"), "Which one is it?\n");
        assert_eq!(out, session.text("verdict.md"));
        assert_copied(&env, &session);
        for name in flat(&env).keys() {
            assert!(err.contains(&format!("copied: ai-docs/{name}\n")), "{err}");
        }
        assert!(err.contains(&format!("to keep it, move `{}`", path_of(&session))), "{err}");
        assert!(!err.contains("warning"), "it was wanted: {err}");
        assert_consistent(&session);
    }
}

#[test]
fn a_run_without_votes_copies_nothing_until_they_are_held() {
    let env = panel();
    let (out, err) = finish(&env, &["run", "--legacy", "Which one is it?"], 0);
    let session = only(temporary_sessions(&env));
    let path = path_of(&session);
    assert_eq!(out.trim_end(), path);
    assert!(!env.path("ai-docs").exists());
    assert!(err.contains("nothing is copied to `ai-docs/`: the names there would tell who wrote what"), "{err}");
    assert!(err.contains(&format!("`team judge {path}` holds the votes, and copies the results then")), "{err}");
    let (_, err) = finish(&env, &["judge", &path], 0);
    assert_copied(&env, &session);
    assert!(!session.text("verdict.md").contains("may have read"), "{err}");

    // Of a second verdict a reader must know that the names were about.
    finish(&env, &["judge", &path], 0);
    let verdict = session.text("verdict.md");
    assert!(verdict.contains("the answers were copied to files named by their models"), "{verdict}");
    assert_eq!(flat(&env)["team-consolidated-2.md"], verdict);
    assert_eq!(flat(&env).len(), 5, "answers that are there already are not copied again");
    assert_consistent(&session);
}

#[test]
fn nothing_that_was_there_is_written_over() {
    let env = panel();
    let theirs = env.write("ai-docs/team-kiwi.md", "mine");
    env.write("ai-docs/team-kiwi-2.md", "mine too");
    std::os::unix::fs::symlink(&theirs, env.path("ai-docs/team-consolidated.md")).unwrap();
    std::fs::create_dir(env.path("ai-docs/team-plum.md")).unwrap();
    finish(&env, &["run-and-judge", "--legacy", "-m", "kiwi,kiwi,plum", "--self-vote", "slot", "Which one is it?"], 0);
    let session = only(temporary_sessions(&env));
    std::fs::remove_dir(env.path("ai-docs/team-plum.md")).unwrap();
    let best = "the best of all\n".to_owned();
    let expected = [
        ("team-consolidated-2.md", session.text("verdict.md")),
        ("team-consolidated.md", "mine".to_owned()),
        ("team-kiwi-2.md", "mine too".to_owned()),
        ("team-kiwi-3.md", best.clone()),
        ("team-kiwi-4.md", best),
        ("team-kiwi.md", "mine".to_owned()),
        ("team-plum-2.md", answer_of(&session, "plum")),
    ];
    assert_eq!(flat(&env), expected.map(|(name, text)| (name.to_owned(), text)).into());
}

#[test]
fn what_cannot_be_copied_is_told_with_the_session_and_copied_by_a_resume() {
    let env = panel();
    env.write("ai-docs", "a file in the way");
    let (out, err) = finish(&env, &["run-and-judge", "--legacy", "Which one is it?"], 70);
    let session = only(temporary_sessions(&env));
    let path = path_of(&session);
    assert_eq!(out, session.text("verdict.md"), "the verdict is there all the same");
    assert!(err.contains("4 of 4 results could not be copied to") && err.contains("`team-kiwi.md`: "), "{err}");
    assert!(err.contains(&format!("nothing is lost: the session is in `{path}`")), "{err}");
    assert!(err.contains(&format!("`team resume {path}` copies what is missing")), "{err}");
    std::fs::remove_file(env.path("ai-docs")).unwrap();
    finish(&env, &["resume", &path], 0);
    assert_copied(&env, &session);
}

#[test]
fn a_copy_that_fails_half_way_is_finished_without_a_second_one_of_what_is_there() {
    let env = panel();
    std::fs::create_dir(env.path("ai-docs")).unwrap();
    let wrapper = env.of_ordinary_user();
    let wrapper: Vec<&str> = wrapper.iter().map(String::as_str).collect();
    let run = |arguments: &[&str]| {
        let mut team = env.start_under(&wrapper, arguments);
        (team.wait().code(), team.stderr())
    };
    let mode = |mode| std::fs::set_permissions(env.path("ai-docs"), PermissionsExt::from_mode(mode)).unwrap();
    mode(0o555);
    let (code, err) = run(&["run-and-judge", "--legacy", "Which one is it?"]);
    mode(0o755);
    assert_eq!(code, Some(70), "{err}");
    let session = only(temporary_sessions(&env));
    // As if it had come as far as this one.
    std::fs::copy(session.path("verdict.md"), env.path("ai-docs/team-consolidated.md")).unwrap();
    let (code, err) = run(&["resume", &path_of(&session)]);
    assert_eq!(code, Some(0), "{err}");
    assert_copied(&env, &session);
}

#[test]
fn a_run_that_was_killed_is_finished_and_copied_by_a_resume() {
    for point in ["slot-end-recorded", "votes-written", "session-verdict", "session-closed"] {
        let env = panel();
        let output = env
            .team(&["run-and-judge", "--legacy", "Which one is it?"])
            .env("TEAM_FAULT_POINT", point)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), None, "{point}");
        env.wait_for_no_processes();
        let session = only(temporary_sessions(&env));
        assert!(!env.path("ai-docs").exists());
        finish(&env, &["resume", &path_of(&session)], 0);
        assert_copied(&env, &session);
    }
}

#[test]
fn a_run_that_is_killed_while_it_copies_is_finished_by_a_resume_and_what_it_left_goes_with_gc() {
    let env = panel();
    let output = env
        .team(&["run-and-judge", "--legacy", "Which one is it?"])
        .env("TEAM_FAULT_POINT", "copy-written:3")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), None);
    env.wait_for_no_processes();
    let session = only(temporary_sessions(&env));
    let left = flat(&env).into_keys().find(|name| name.starts_with(".tmp-")).unwrap();
    finish(&env, &["resume", &path_of(&session)], 0);
    finish(&env, &["gc"], 0);
    assert!(flat(&env).contains_key(&left), "somebody might have begun it a moment ago");
    let then = std::time::SystemTime::now() - std::time::Duration::from_secs(7200);
    std::fs::File::open(env.path("ai-docs").join(&left)).unwrap().set_modified(then).unwrap();
    let (out, _) = finish(&env, &["gc"], 0);
    assert!(out.contains(&left), "{out}");
    assert_copied(&env, &session);
}

#[test]
fn a_session_that_was_moved_to_be_kept_is_one_like_any_other() {
    let env = panel();
    finish(&env, &["run", "--legacy", "Which one is it?"], 0);
    let session = only(temporary_sessions(&env));
    std::fs::create_dir_all(env.path("ai-docs/sessions")).unwrap();
    std::fs::rename(session.dir(), env.path("ai-docs/sessions/mine")).unwrap();
    finish(&env, &["judge", "mine"], 0);
    assert_eq!(std::fs::read_dir(env.path("ai-docs")).unwrap().count(), 1, "nothing beside the sessions");
}

#[test]
fn a_run_that_is_stopped_copies_nothing_and_says_where_it_is() {
    let env = TestEnv::new();
    let go = format!("wait-for {}", env.path("go").display());
    let config = crate::support::TeamToml::new().agent("late", &[&go]).agent("quick", &["print x"]);
    env.write("team.toml", config.text());
    let mut team = env.start(&["run-and-judge", "--legacy", "-m", "late,quick", "Which one is it?"]);
    let session = wait_until("the session", || temporary_sessions(&env).pop());
    wait_until("the slot", || (session.slot(&session.id_of("late"))["state"] == "RUNNING").then_some(()));
    team.signal(nix::sys::signal::Signal::SIGINT);
    assert_eq!(team.wait().code(), Some(130));
    let err = team.stderr();
    assert!(err.contains(&format!("`team resume {}` goes on", path_of(&session))), "{err}");
    assert!(err.contains("nothing is copied") && !err.contains("team judge"), "{err}");
    assert!(!env.path("ai-docs").exists());
}

#[test]
fn a_vote_on_a_task_is_copied_too_and_goes_where_a_line_of_the_task_says() {
    let ballot = |verdict: &str| format!("print ```vote\\nVERDICT: {verdict}\\nCONFIDENCE: 7\\nSUMMARY: So.\\n```");
    let config = crate::support::TeamToml::new()
        .agent("kiwi", &["swallow", &ballot("REJECT")])
        .agent("plum", &["swallow", &ballot("REJECT")])
        .panel(&["kiwi", "plum"]);
    let env = TestEnv::with(&config);
    let (out, _) = finish(&env, &["vote", "--legacy", "Should it be merged?"], 1);
    let session = only(temporary_sessions(&env));
    let expected = [
        ("team-consolidated.md", out),
        ("team-kiwi.md", answer_of(&session, "kiwi")),
        ("team-plum.md", answer_of(&session, "plum")),
    ];
    assert_eq!(flat(&env), expected.map(|(name, text)| (name.to_owned(), text)).into());

    env.write("plan.md", "SESSION_PATH: theirs\nShould it be merged?\n");
    finish(&env, &["vote", "plan.md"], 1);
    let session = only(super::sessions_in(&env.path("theirs")));
    assert_eq!(session.text("task.md"), "Should it be merged?\n");
    assert!(!session.text("input.md").contains("SESSION_PATH"));
}
