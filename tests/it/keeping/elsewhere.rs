//! Sessions in a caller's folder and in temporary ones: every command works on them, and slots see nothing of them.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use nix::sys::signal::Signal;
use serde_json::Value;
use team::isolation::{Level, Preference, probe};

use super::{only, sessions_in, temporary, temporary_sessions};
use crate::support::{Session, TeamToml, TestEnv, assert_consistent, finish, voters, wait_until};

/// Each way that hides files here, as the value of `TEAM_ISOLATION`.
fn ways() -> Vec<&'static str> {
    let supervisor = Path::new(env!("CARGO_BIN_EXE_team"));
    let works = |preference, level| probe(preference, Some(supervisor)).mechanism.files() == level;
    let namespaces = works(Preference::Strongest, Level::Enforced).then_some("");
    let rules = works(Preference::Landlock, Level::Partial).then_some("landlock");
    let ways: Vec<_> = namespaces.into_iter().chain(rules).collect();
    assert!(!ways.is_empty(), "neither namespaces nor Landlock work here: nothing of this can be tested");
    ways
}

/// Looks for the files of its own session and of others, wherever they are kept.
fn thief() -> TeamToml {
    let look = "cat > /dev/null; S=\"${PWD%/work/*}\"; cat ../../manifest.json \"$S\"/manifest.json \"$S\"/events.jsonl \
                \"$S\"/response-* \"$S\"/../*/manifest.json \"$S\"/../*/response-* \"$S\"/../../*/*/manifest.json \
                \"$S\"/../../*/*/response-* \"$S\"/../../*/*/events.jsonl 2> /dev/null; echo looked";
    TeamToml::new()
        .agent("quokka", &["swallow", "print QUOKKA-ANSWER"])
        .model("thief", &[("command", ["sh", "-c", look].map(toml::Value::from).to_vec().into())])
}

#[track_caller]
fn assert_found_nothing(session: &Session, way: &str) {
    assert_eq!(session.text(&format!("response-{}.md", session.id_of("thief"))), "looked\n", "`{way}`");
}

#[test]
fn slots_see_nothing_of_sessions_in_a_callers_folder() {
    for way in ways() {
        let env = TestEnv::with(&thief()).set("TEAM_ISOLATION", way);
        let inside = ["run", "--jobs", "1", "--session-path", "theirs/here", "-m", "quokka,thief"];
        finish(&env, &[&inside[..], &["--name", "one", "what is there?"]].concat(), 0);
        // The second time there is another session to be found, by a directive.
        env.write("in.md", "SESSION_PATH: theirs/here\nwhat is there?");
        finish(&env, &["run", "--jobs", "1", "-m", "quokka,thief", "--name", "two", "in.md"], 0);
        let sessions = sessions_in(&env.path("theirs/here"));
        assert_eq!(sessions.len(), 2);
        sessions.iter().for_each(|session| assert_found_nothing(session, way));
        // And from the usual folder none of those in the caller's, nor the other way round.
        assert!(!env.path("ai-docs").exists());
    }
}

#[test]
fn slots_see_nothing_of_temporary_sessions() {
    for way in ways() {
        let env = TestEnv::with(&thief()).set("TEAM_ISOLATION", way);
        env.write("ai-docs", "no folder");
        for name in ["one", "two"] {
            finish(&env, &["run", "--jobs", "1", "-m", "quokka,thief", "--name", name, "what is there?"], 0);
        }
        let sessions = temporary_sessions(&env);
        assert_eq!(sessions.len(), 2);
        sessions.iter().for_each(|session| assert_found_nothing(session, way));
    }
}

#[test]
fn every_command_works_on_a_session_in_a_callers_folder_by_its_path() {
    let env = TestEnv::with(&voters(&[("kiwi", "one", "approve"), ("plum", "two", "approve")]));
    let (out, err) = finish(&env, &["run", "--session-path", "their folder", "Which one is it?"], 0);
    let session = only(sessions_in(&env.path("their folder")));
    let path = session.dir().canonicalize().unwrap().display().to_string();
    assert_eq!(out.trim_end(), path);
    assert!(err.contains(&format!("session: {path}")), "{err}");
    // The way that a person writes it, and with or without a slash at its end.
    let written = format!("their folder/{}/", session.id());
    for reference in [path.as_str(), &written] {
        for command in ["status", "show", "verify", "resume"] {
            finish(&env, &[command, reference], 0);
        }
    }
    finish(&env, &["judge", &written], 0);
    assert_consistent(&session);
    let (listed, _) = finish(&env, &["list", "--sessions-dir", "their folder"], 0);
    assert!(listed.contains(&session.id()), "{listed}");
    finish(&env, &["show", "latest", "--sessions-dir", "their folder"], 0);
    finish(&env, &["show", "latest"], 2);
}

#[test]
fn next_steps_name_a_session_elsewhere_so_that_they_work() {
    let env = TestEnv::new();
    let go = format!("wait-for {}", env.path("go").display());
    let broken = TeamToml::new().agent("late", &[&go, "print late"]).agent("broken", &["exit 3"]);
    env.write("team.toml", broken.text());
    let (_, err) = finish(&env, &["run", "-m", "broken", "--session-path", "its own", "why?"], 4);
    let session = only(sessions_in(&env.path("its own")));
    let path = session.dir().canonicalize().unwrap().display().to_string();
    assert!(err.contains(&format!("`team status '{path}'`")), "{err}");

    let mut team = env.start(&["run", "-m", "late", "--session-path", "stopped", "why?"]);
    let session = wait_until("the session", || sessions_in(&env.path("stopped")).pop());
    wait_until("the slot", || (session.slot("01")["state"] == "RUNNING").then_some(()));
    team.signal(Signal::SIGINT);
    assert_eq!(team.wait().code(), Some(130));
    let path = session.dir().canonicalize().unwrap().display().to_string();
    assert!(team.stderr().contains(&format!("`team resume {path}` goes on")), "{}", team.stderr());
    env.write("go", "");
    finish(&env, &["resume", &path], 0);
    assert_eq!(session.text("response-01.md"), "late\n");
}

/// Runs as somebody whom a folder's mode binds.
fn as_ordinary_user(env: &TestEnv, arguments: &[&str]) -> (Option<i32>, String, String) {
    let wrapper = env.of_ordinary_user();
    let wrapper: Vec<&str> = wrapper.iter().map(String::as_str).collect();
    let mut team = env.start_under(&wrapper, arguments);
    let code = team.wait().code();
    (code, team.stdout(), team.stderr())
}

fn quick() -> TestEnv {
    TestEnv::with(&voters(&[("kiwi", "one", "approve"), ("plum", "two", "approve")]))
}

#[test]
fn a_folder_that_may_not_be_written_gives_a_temporary_session_that_is_told_in_one_line_however_little_is_wanted() {
    let env = quick();
    let base = env.path("ai-docs/sessions");
    std::fs::create_dir_all(&base).unwrap();
    std::fs::set_permissions(&base, PermissionsExt::from_mode(0o555)).unwrap();
    // Quiet: the verdict is all that is asked for, and where the session is must be said all the same.
    let (code, out, err) = as_ordinary_user(&env, &["run-and-judge", "-q", "Which one is it?"]);
    std::fs::set_permissions(&base, PermissionsExt::from_mode(0o755)).unwrap();
    assert_eq!(code, Some(0), "{err}");
    assert!(out.starts_with("# Verdict"), "{out}");
    let session = only(temporary_sessions(&env));
    let path = session.dir().canonicalize().unwrap().display().to_string();
    let told: Vec<&str> = err.lines().collect();
    let reason = format!(
        "warning: the session is kept in a temporary folder, for it cannot be made where it should be: failed to create \
         directory `{}/",
        base.display()
    );
    assert!(told[0].starts_with(&reason) && told[0].contains("ermission denied"), "{err}");
    let keep = format!("; to keep it, move `{path}` to a folder of your own");
    assert!(told[0].ends_with(&keep), "{err}");
    assert_eq!(told.len(), 1, "that and nothing else: {err}");
    let mode = session.dir().parent().unwrap().metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700, "nobody else reads it");
    assert_consistent(&session);
    assert_eq!(sessions_in(&base).len(), 0);
}

#[test]
fn the_events_of_a_temporary_session_say_where_it_is_and_moved_it_is_a_session_like_any_other() {
    let env = quick();
    env.write("ai-docs/sessions", "a file in the way");
    let (out, _) = finish(&env, &["run", "--json", "Which one is it?"], 0);
    let session = only(temporary_sessions(&env));
    for line in out.lines() {
        let event: Value = serde_json::from_str(line).unwrap();
        assert_eq!(event["path"], session.dir().canonicalize().unwrap().display().to_string(), "{line}");
    }
    // As the warning says.
    std::fs::remove_file(env.path("ai-docs/sessions")).unwrap();
    std::fs::create_dir(env.path("ai-docs/sessions")).unwrap();
    std::fs::rename(session.dir(), env.path("ai-docs/sessions").join(session.id())).unwrap();
    let (_, err) = finish(&env, &["judge", "latest"], 0);
    assert!(!err.contains("temporary"), "{err}");
    assert_consistent(&env.session());
}

#[test]
fn a_callers_folder_that_cannot_be_made_gives_a_temporary_session_too() {
    let env = quick();
    env.write("in the way", "a file");
    for path in ["in the way", "in the way/below"] {
        let (out, err) = finish(&env, &["run", "--session-path", path, "--name", "x", "Which one is it?"], 0);
        assert!(err.contains("temporary folder") && err.contains("in the way"), "{err}");
        let last = err.lines().last().unwrap();
        assert!(last.starts_with("warning: the session is in a temporary folder; to keep it, move"), "{err}");
        assert!(out.trim_end().starts_with(&temporary(&env).canonicalize().unwrap().display().to_string()), "{out}");
    }
    assert!(!env.path("ai-docs").exists());
}

#[test]
fn an_error_that_is_not_about_the_folder_makes_no_temporary_session() {
    let env = quick();
    env.write("in.md", "Which one is it?\n".repeat(1000));
    let limit = ["prlimit", "--fsize=8000", "--"];
    let mut team = env.start_under(&limit, &["run", "in.md"]);
    assert_eq!(team.wait().code(), Some(70), "{}", team.stderr());
    let err = team.stderr();
    assert!(err.contains("input.md") && !err.contains("temporary"), "{err}");
    assert_eq!(temporary_sessions(&env).len() + env.sessions().len(), 0, "no half of a session stays behind");
    assert_eq!(std::fs::read_dir(temporary(&env)).unwrap().count(), 0);
}

#[test]
fn where_no_temporary_folder_can_be_made_either_both_reasons_are_told() {
    let env = quick().set("TMPDIR", "/nonexistent/tmp");
    env.write("ai-docs", "a file in the way");
    let tape = env.write("tape.txt", "an answer from a file\n");
    let model = format!("replay:{}#text", tape.display());
    let (out, err) = finish(&env, &["run", "-m", &model, "Which one is it?"], 70);
    assert_eq!(out, "");
    assert!(err.contains("ai-docs") && err.contains("/nonexistent/tmp") && err.contains("--sessions-dir"), "{err}");
}

#[test]
fn an_empty_tmpdir_is_none() {
    let env = quick().set("TMPDIR", "");
    finish(&env, &["run", "which is it?"], 0);
    assert_eq!(env.session().json("session-meta.json")["status"], "completed");
}

#[test]
fn a_session_that_may_not_be_written_is_told_with_what_to_do_and_a_copy_of_it_is_gone_on_with() {
    let env = quick();
    finish(&env, &["run", "Which one is it?"], 0);
    let session = env.session();
    let copy = env.path("copy");
    assert!(std::process::Command::new("cp").arg("-r").args([session.dir(), &copy]).status().unwrap().success());
    let wrapper = env.of_ordinary_user();
    let wrapper: Vec<&str> = wrapper.iter().map(String::as_str).collect();
    let mode =
        |file: &str, mode| std::fs::set_permissions(session.path(file), PermissionsExt::from_mode(mode)).unwrap();
    mode(".lock", 0o444);
    mode("", 0o555);
    for command in ["resume", "judge"] {
        let mut team = env.start_under(&wrapper, &[command, &session.id()]);
        assert_eq!(team.wait().code(), Some(70), "{}", team.stderr());
        let told = team.stderr();
        assert!(told.contains("the session cannot be written to: ") && told.contains("ermission denied"), "{told}");
        assert!(told.contains("go on with a copy of it"), "{told}");
    }
    mode("", 0o755);
    let mut team = env.start_under(&wrapper, &["judge", "copy"]);
    assert_eq!(team.wait().code(), Some(0), "{}", team.stderr());
}
