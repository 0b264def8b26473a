//! What a slot has and keeps: its prompt, its own folder, HOME, private folders in place of shared ones; and what is hidden
//! in sessions that lie elsewhere.

use nix::sys::signal::Signal;
use nix::unistd::geteuid;
use team::isolation::Level;
use toml::Value;

use crate::support::{APPROVE, TeamToml, TestEnv, finish, level, wait_until, ways};

fn command(words: &[&str]) -> (&'static str, Value) {
    ("command", Value::Array(words.iter().copied().map(Value::from).collect()))
}

fn shell(script: &str) -> (&'static str, Value) {
    command(&["sh", "-c", script])
}

#[test]
fn a_prompt_given_as_a_file_is_read_and_cannot_be_changed() {
    for way in ways() {
        let script = r#"cat "$1"; echo changed > "$1"; cat "$1"; cat "${1%/*}/manifest.json"; ls -A "${1%/*}""#;
        let config = TeamToml::new()
            .model("kiwi", &[command(&["sh", "-c", script, "sh", "{prompt_file}"]), ("prompt", "file".into())]);
        let env = TestEnv::with(&config).set("TEAM_ISOLATION", way);
        finish(&env, &["run", "-m", "kiwi", "the question"], 0);
        let answer = env.session().text("response-01.md");
        assert_eq!(answer.matches("the question").count(), 2, "{way}: {answer}");
        assert!(!answer.contains("changed") && !answer.contains("kiwi"), "{way}: {answer}");
        assert_eq!(env.session().text("input.md").trim(), "the question", "{way}");
    }
}

#[test]
fn a_judge_sees_its_own_prompt_and_nothing_of_the_others() {
    for way in ways() {
        let look = "cat; cat ../../manifest.json ../../../manifest.json ../../prompt-* ../../../response-* \
                    ../../../input.md ../../../work/*/*; true";
        let config = TeamToml::new()
            .agent("quokka", &["swallow", "print the first answer"])
            .agent("wombat", &["swallow", "print the second answer"])
            .model("thief", &[shell(look)])
            .agent("numbat", &[APPROVE]);
        let env = TestEnv::with(&config).set("TEAM_ISOLATION", way);
        finish(&env, &["run", "-m", "quokka,wombat", "the question"], 0);
        let _ = env.team(&["judge", "latest", "--judges", "thief,numbat"]).output().unwrap();
        let round = env.session().round("judging");
        let thief = round.id_of("thief");
        let seen = round.text(&format!("response-{thief}.md"));
        // Its own prompt is there as a file as well.
        assert_eq!(seen, round.text(&format!("prompt-{thief}.md")).repeat(2), "{way}: its own prompt and no more");
    }
}

#[test]
fn a_session_that_was_moved_is_hidden_where_it_is_with_its_neighbours_there() {
    for way in ways() {
        let look = "cat; cat ../../../manifest.json \"$SESSIONS\"/*/manifest.json \"$SESSIONS\"/*/response-* \
                    ../../../../*/manifest.json ../../../../*/response-*; true";
        let config = TeamToml::new()
            .agent("quokka", &["swallow", "print one"])
            .agent("wombat", &["swallow", "print two"])
            .model(
                "thief",
                &[
                    shell(look),
                    ("env", Value::Table([("SESSIONS".to_owned(), "${SESSIONS}".into())].into_iter().collect())),
                ],
            );
        let env = TestEnv::with(&config).set("TEAM_ISOLATION", way);
        let sessions = env.path("ai-docs/sessions").display().to_string();
        let env = env.set("SESSIONS", &sessions);
        finish(&env, &["run", "-m", "quokka,wombat", "the question"], 0);
        finish(&env, &["run", "-m", "quokka,wombat", "--name", "other", "another question"], 0);
        finish(&env, &["run", "-m", "quokka,wombat", "--name", "neighbour", "a third question"], 0);
        let moved = env.path("elsewhere/moved here");
        std::fs::create_dir(env.path("elsewhere")).unwrap();
        for session in env.sessions().into_iter().filter(|session| !session.id().contains("other")) {
            let neighbour = session.id().contains("neighbour");
            let to = if neighbour { env.path("elsewhere/neighbour") } else { moved.clone() };
            std::fs::rename(session.dir(), to).unwrap();
        }
        let _ = env.team(&["judge", moved.to_str().unwrap(), "--judges", "thief"]).output().unwrap();
        let round = crate::support::Session::at(&moved).round("judging");
        assert_eq!(round.text("response-01.md"), round.text("prompt-01.md"), "{way}: its own prompt and no more");
    }
}

#[test]
fn a_second_mount_of_the_same_folder_shows_nothing_under_namespaces_and_makes_landlock_partial() {
    let look = "cat > /dev/null; around=\"${PWD%/ai-docs/*}\"; cat other/ai-docs/sessions/*/manifest.json \"$OLDPWD\"/x \
                \"$around\"/second/ai-docs/sessions/*/manifest.json \"$around\"/part/*/manifest.json; \
                find \"$around\" -name manifest.json -exec cat {} +; echo looked";
    // In a mount namespace of the test's own; an ordinary user needs a user namespace for it.
    let unshare = if geteuid().is_root() { "-m" } else { "-Urm" };
    for way in ways() {
        let config = TeamToml::new().model("thief", &[shell(look)]);
        let env = TestEnv::with(&config).set("TEAM_ISOLATION", way);
        for folder in ["second", "part", "ai-docs/sessions"] {
            std::fs::create_dir_all(env.path(folder)).unwrap();
        }
        let script = "mount --bind . second && mount --bind ai-docs/sessions part && exec \"$@\"";
        let wrapper = ["unshare", unshare, "sh", "-c", script, "sh"];
        let mut team = env.start_under(&wrapper, &["run", "-m", "thief", "question"]);
        let ended = team.wait();
        if env.sessions().is_empty() {
            // Nobody may mount here, so there is no second mount to be kept from anybody; and nothing is promised.
            assert_ne!(level(), Level::Enforced, "{way}: {}", team.stderr());
            finish(&env, &["run", "--require-blind", "-m", "thief", "question"], 2);
            continue;
        }
        assert_eq!(ended.code(), Some(0), "{way}: {}", team.stderr());
        let session = env.session();
        let answer = session.text("response-01.md");
        assert!(answer.contains("looked"), "{way}: {answer}");
        let held = if way == "landlock" { Level::Partial } else { Level::Enforced };
        let record = session.text("events.jsonl");
        assert!(record.contains(&format!("session files: {held}")), "{way}: {record}");
        // Landlock's rules hang on the paths that they were made for, as the README says.
        assert_eq!(answer.contains("thief"), held == Level::Partial, "{way}: {answer}");
    }
}

#[test]
fn transcripts_of_one_program_are_not_there_for_another_and_its_sign_in_is() {
    // Programs by the names of real ones have their habits. Each lists what it finds, and leaves its own.
    let script = r#"#!/bin/sh
        cat > /dev/null
        home="$HOME/.claude" temporary="$TMPDIR/claude-0"
        mkdir -p "$home/projects" "$temporary"
        echo "in HOME: $(ls "$home/projects")"; echo "in TMPDIR: $(ls "$temporary")"; cat "$home/credentials"
        echo prompt > "$home/projects/$1"; echo prompt > "$temporary/$1"; echo "refreshed-$1" >> "$home/log"
        cat "$home/projects/$1" "$temporary/$1"
    "#;
    for way in ways() {
        let env = TestEnv::new().program("claude", script).set("TEAM_ISOLATION", way);
        let program = env.path("bin/claude").display().to_string();
        let config = TeamToml::new()
            .model("first", &[command(&[&program, "transcript-of-first"])])
            .model("second", &[command(&[&program, "transcript-of-second"])]);
        env.write("team.toml", config.text());
        std::fs::create_dir_all(env.home().join(".claude/projects")).unwrap();
        std::fs::write(env.home().join(".claude/projects/transcript-of-yesterday"), "").unwrap();
        std::fs::write(env.home().join(".claude/credentials"), "signed in\n").unwrap();
        // One after the other, so that the second finds whatever the first left.
        finish(&env, &["run", "-m", "first,second", "--jobs", "1", "question"], 0);
        let session = env.session();
        // Landlock can put nothing in the place of a folder of HOME; what is left there stays, as the README says.
        let in_home = way == "landlock";
        for id in ["01", "02"] {
            let answer = session.text(&format!("response-{id}.md"));
            assert!(answer.contains("signed in\nprompt\nprompt\n"), "{way}: {answer}");
            assert!(answer.contains("in TMPDIR: \n"), "{way}: {answer}");
            assert_eq!(answer.contains("transcript-of-yesterday"), in_home, "{way}: {answer}");
        }
        let left = std::fs::read_dir(env.home().join(".claude/projects")).unwrap().count();
        assert_eq!(left, if in_home { 3 } else { 1 }, "{way}: what is added to the user's own");
        let log = std::fs::read_to_string(env.home().join(".claude/log")).unwrap();
        assert_eq!(log.lines().count(), 2, "{way}: what is no transcript stays: {log}");
        let record = session.text("events.jsonl");
        assert!(!in_home || record.contains("session files: partial"), "{way}: {record}");
    }
}

#[test]
fn private_folders_are_gone_after_the_run_and_after_a_kill() {
    for way in ways() {
        let script = "cat > /dev/null; echo x > \"${TMPDIR:-/tmp}/left\"; mkdir \"${TMPDIR:-/tmp}/d\"; chmod 0 \"${TMPDIR:-/tmp}/d\"; \
                      echo left; : > ready; until [ -e go ]; do sleep 0.02; done";
        let config = TeamToml::new().model("kiwi", &[shell(script)]);
        let env = TestEnv::with(&config).set("TEAM_ISOLATION", way);
        let temporary = env.project().parent().unwrap().join("tmp");
        let folders = || {
            let entries = std::fs::read_dir(&temporary).unwrap().map(|entry| entry.unwrap().file_name());
            entries.map(|name| name.into_string().unwrap()).collect::<Vec<_>>()
        };
        for kill in [false, true] {
            let mut team =
                env.start(&["run", "-m", "kiwi", "--name", if kill { "killed" } else { "ended" }, "question"]);
            let session = wait_until("the slot", || {
                let with = |name: &str| env.sessions().into_iter().find(|session| session.id().contains(name));
                with(if kill { "killed" } else { "ended" }).filter(|session| session.has("work/01/ready"))
            });
            let during = folders();
            assert!(during.len() == 1 && during[0].starts_with("team-slots-"), "{way}: {during:?}");
            if kill {
                team.signal(Signal::SIGKILL);
            } else {
                std::fs::write(session.path("work/01/go"), "").unwrap();
            }
            team.wait();
            env.wait_for_no_processes();
            wait_until("an empty temporary folder", || folders().is_empty().then_some(()));
        }
    }
}

#[test]
fn a_run_that_must_be_blind_starts_only_where_that_is_enforced() {
    let config = TeamToml::new()
        .agent("kiwi", &["swallow", "print fine"])
        .model("tape", &[("use", "replay:tape.txt#text".into())]);
    let env = TestEnv::with(&config);
    env.write("tape.txt", "an answer from a file\n");
    let expected = if level() == Level::Enforced { 0 } else { 2 };
    finish(&env, &["run", "--require-blind", "-m", "kiwi,kiwi", "question"], expected);
    let before = env.sessions().len();
    for (value, word) in [("none", "convention"), ("landlock", "partial")] {
        let env = TestEnv::with(&config).set("TEAM_ISOLATION", value);
        env.write("tape.txt", "an answer from a file\n");
        for command in ["run", "run-and-judge"] {
            let (_, stderr) = finish(&env, &[command, "--require-blind", "-m", "kiwi,tape", "question"], 2);
            assert!(stderr.contains("--require-blind") && stderr.contains(word), "{stderr}");
        }
        assert!(!env.path("ai-docs").exists(), "nothing was made");
        // What starts no program has nothing to look around with.
        let (_, stderr) = finish(&env, &["run", "--require-blind", "-m", "tape,tape", "question"], 0);
        assert!(!stderr.contains("blindness"), "{stderr}");
        let (_, stderr) = finish(&env, &["judge", "--require-blind", "--judges", "kiwi", "latest"], 2);
        assert!(stderr.contains("--require-blind"), "{stderr}");
        assert!(!env.session().has("judging"), "nothing was made");
    }
    assert_eq!(env.sessions().len(), before);
}
