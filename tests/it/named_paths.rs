//! Every path that a user can name, when it leads to the wrong kind of place: what is wrong, with what, and what to do, and
//! nothing is made.

use crate::support::{TestEnv, finish, voters};

fn panel() -> TestEnv {
    let env = TestEnv::with(&voters(&[("kiwi", "one", "approve"), ("plum", "two", "approve")]));
    env.write("a-file", "text, and no ballot");
    std::fs::create_dir(env.path("a-folder")).unwrap();
    env
}

/// Fails unless the command is refused with exit code 2, names the path and says `why` and a next step.
#[track_caller]
fn refused(env: &TestEnv, arguments: &[&str], path: &str, why: &str) {
    let (out, err) = finish(env, arguments, 2);
    assert_eq!(out, "", "{arguments:?}");
    let error = err.lines().find(|line| line.starts_with("error: ")).unwrap_or_else(|| panic!("{arguments:?}: {err}"));
    assert!(error.contains(path) && error.contains(why), "{arguments:?}, no `{why}`: {err}");
    assert!(err.contains("  hint: "), "{arguments:?}: {err}");
}

#[test]
fn a_session_is_a_folder_that_says_that_it_is_one() {
    let env = panel();
    for command in ["verify", "status", "show", "resume", "judge", "cancel", "report"] {
        for (path, why) in [
            ("./a-file", "it is no folder"),
            ("./a-file/below", "there is no such folder"),
            ("./nothing", "there is no such folder"),
            ("./a-folder", "it has no `session-meta.json`"),
            ("/etc/passwd", "it is no folder"),
        ] {
            refused(&env, &[command, path], path, why);
        }
        refused(&env, &[command, "nothing"], "no session `nothing`", "");
    }
    assert!(!env.path("ai-docs").exists());
}

#[test]
fn a_folder_of_sessions_is_no_file() {
    let env = panel();
    for command in [&["list"][..], &["gc"], &["status"], &["resume"], &["verify", "latest"], &["stats"]] {
        for path in ["a-file", "a-file/below"] {
            refused(&env, &[command, &["--sessions-dir", path]].concat(), path, "folder");
        }
    }
    refused(&env, &["stats", "a-file"], "a-file", "not a folder");
    refused(&env, &["stats", "nothing"], "nothing", "there is no such");
    // One that is not there yet has no sessions.
    finish(&env, &["list", "--sessions-dir", "nothing"], 0);
    finish(&env, &["gc", "--sessions-dir", "nothing"], 0);
}

#[test]
fn what_a_run_reads_is_a_file_or_a_folder_as_it_should_be() {
    let env = panel();
    for (arguments, path, why) in [
        (&["run", "-i", "nothing"][..], "nothing", "does not exist"),
        (&["run", "-i", "a-file/below"], "a-file/below", "is a file, not a folder"),
        (&["run", "-i", "a-folder"], "a-folder", "is a folder"),
        (&["run", "-m", "replay:nothing", "why so?"], "nothing", "there is no recording"),
        (&["run", "-m", "replay:a-folder", "why so?"], "a-folder", "is a folder"),
        (&["run", "-m", "replay:", "why so?"], "replay:", "names no recording"),
        (&["run", "--workspace", "nothing", "why so?"], "nothing", "there is no folder"),
        (&["run", "--workspace", "a-file", "why so?"], "a-file", "is not a folder"),
        (&["run-and-judge", "--prompts", "nothing", "why so?"], "nothing", "there is no such"),
        (&["run-and-judge", "--prompts", "a-file", "why so?"], "a-file", "not a folder"),
        (&["vote", "--prompts", "a-file", "why so?"], "a-file", "not a folder"),
    ] {
        refused(&env, arguments, path, why);
    }
    assert!(!env.path("ai-docs").exists());
    assert_eq!(std::fs::read_dir(env.home().parent().unwrap().join("tmp")).unwrap().count(), 0);
}

#[test]
fn what_is_imported_is_a_file_and_a_session_without_answers_is_told_as_such() {
    let env = panel();
    finish(&env, &["run", "why so?"], 0);
    for (path, why) in [("nothing", "there is no such file"), ("a-folder", "is a folder"), ("a-file/x", "not a folder")]
    {
        refused(&env, &["judge", "--import", path], path, why);
    }
    let config = crate::support::TeamToml::new().agent("dud", &["exit 3"]).agent("dull", &["exit 3"]);
    env.write("team.toml", config.panel(&["dud", "dull"]).text());
    finish(&env, &["run", "--name", "empty", "why so?"], 4);
    let import = ["judge", "team-empty", "--import", "a-file", "--import-pattern", r"(?<answer>\w+) (?<verdict>\w+)"];
    let (_, err) = finish(&env, &import, 3);
    assert!(err.contains("no answer is complete; a vote needs two") && err.contains("`team status`"), "{err}");
}

#[test]
fn a_temporary_folder_that_is_not_there_is_told_before_anything_is_made() {
    for (place, why) in [("/nonexistent/tmp", "No such file"), ("/etc/passwd", "not a directory")] {
        let env = panel().set("TMPDIR", place);
        for command in
            [&["run", "why so?"][..], &["run-and-judge", "why so?"], &["run", "--legacy", "why so?"], &["gc"]]
        {
            refused(&env, command, place, why);
        }
        assert!(!env.path("ai-docs").exists());
        let (out, _) = finish(&env, &["doctor"], 2);
        assert!(out.contains("FAILED   temporary") && out.contains(place) && out.contains("set `TMPDIR`"), "{out}");
        // Who starts no program needs none.
        env.write("tape.txt", "an answer from a file\n");
        finish(&env, &["run", "-m", "replay:tape.txt", "why so?"], 0);
        let (_, err) = finish(&env, &["run", "--legacy", "-m", "replay:tape.txt", "why so?"], 2);
        assert!(err.contains("no temporary session can be made") && err.contains("set `TMPDIR`"), "{err}");
    }
}
