//! What may be asked: every kind of prompt, where the session goes, and what is refused before anything is made.

use sha2::{Digest, Sha256};

use crate::support::{Session, TeamToml, TestEnv};

fn env() -> TestEnv {
    TestEnv::with(&TeamToml::new().agent("a", &["read-stdin"]))
}

/// The exit code and what was said.
fn team(env: &TestEnv, arguments: &[&str]) -> (Option<i32>, String) {
    let output = env.team(arguments).output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Fails when anything was made by a command that was refused.
#[track_caller]
fn assert_nothing_made(env: &TestEnv, what: &str) {
    assert!(!env.path("ai-docs").exists(), "{what} left a folder");
    let temporary = env.home().join("../tmp");
    assert_eq!(std::fs::read_dir(temporary).unwrap().count(), 0, "{what} left a temporary folder");
}

/// What the agent reports of a prompt that it got whole.
fn received(bytes: &[u8]) -> String {
    let hash: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("stdin bytes={} sha256={hash}\n", bytes.len())
}

#[track_caller]
fn assert_received(session: &Session, bytes: &[u8]) {
    assert!(std::fs::read(session.path("input.md")).unwrap() == bytes, "`input.md` differs");
    assert_eq!(session.text("response-01.md"), received(bytes));
}

#[test]
fn a_prompt_reaches_every_slot_byte_for_byte() {
    let large = "Ünd so on, line after line.\n".repeat(5_000_000 / 29);
    for text in [
        "one line without an end",
        "\u{feff}# A byte order mark\r\nand CRLF\r\n\r\n",
        "\r\n\r\n  leading blanks \n\n\n",
        "tabs\t, escapes \u{1b}[31m, \u{202e} and ``` fences\n",
        "SESSION_PATH is no directive without its colon\nLine\n",
        "Not at the top:\nSESSION_PATH: elsewhere\n",
        &large,
    ] {
        let env = env();
        env.write("in.md", text);
        let (code, said) = team(&env, &["run", "-m", "a", "-i", "in.md"]);
        assert_eq!(code, Some(0), "{said}");
        assert_received(&env.session(), text.as_bytes());
    }
}

#[test]
fn a_prompt_comes_from_a_file_a_pipe_or_words() {
    let env = env();
    env.write("question", "from the file\n");
    let cases: [(&[&str], &str, &str); 5] = [
        (&["-i", "question"], "", "from the file\n"),
        (&["question"], "", "from the file\n"),
        (&["-i", "-"], "from the pipe", "from the pipe"),
        (&["-"], "from the pipe", "from the pipe"),
        (&["is", "a/b", "right?"], "not read", "is a/b right?"),
    ];
    for (number, (arguments, stdin, expected)) in cases.into_iter().enumerate() {
        let name = format!("case-{number}");
        let arguments = [&["run", "-m", "a", "--name", &name], arguments].concat();
        let output = env.team(&arguments).write_stdin(stdin).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let session = env.sessions().into_iter().find(|session| session.id().contains(&name)).unwrap();
        assert_received(&session, expected.as_bytes());
    }
}

#[test]
fn a_prompt_that_cannot_be_sent_is_refused_with_its_place_before_anything_is_made() {
    for (bytes, expected) in [
        (&b""[..], "is empty"),
        (b" \r\n\t\n", "is empty"),
        ("\u{feff}\n".as_bytes(), "is empty"),
        (b"ab\0cd", "NUL byte at offset 2"),
        (b"abc\xff\xfe", "not valid UTF-8 at offset 3"),
        (b"\xc3", "not valid UTF-8 at offset 0"),
    ] {
        let env = env();
        env.write("in.md", bytes);
        let (code, said) = team(&env, &["run", "-m", "a", "in.md"]);
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains(expected) && said.contains("in.md"), "{said}");
        assert_nothing_made(&env, expected);
        let piped = env.team(&["run", "-m", "a", "-i", "-"]).write_stdin(bytes).output().unwrap();
        assert_eq!(piped.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&piped.stderr).contains(expected));
        assert_nothing_made(&env, expected);
    }
}

#[test]
fn every_usage_error_is_exit_2_and_makes_nothing() {
    let cases: [(&[&str], &[&str]); 33] = [
        (&["run", "-m", "a,nosuch", "two words"], &["unknown model `nosuch`", "known:"]),
        (&["run", "-m", "a,,a", "two words"], &["model"]),
        (&["run", "-m", "a,claude:", "two words"], &["claude:"]),
        (&["run", "-m", "replay:none.jsonl", "two words"], &["no recording"]),
        (&["run", "-m", "nowhere@model", "two words"], &["nowhere"]),
        (&["run", "two words"], &["panel"]),
        (&["run", "-m", "a"], &["no input"]),
        (&["run", "-m", "a", "missing.md"], &["`missing.md`", "does not exist"]),
        (&["run", "-m", "a", "no/such"], &["`no/such`", "does not exist"]),
        (&["run", "-m", "a", "-i", "missing"], &["`missing`"]),
        (&["run", "-m", "a", "-i", "in.md", "two words"], &["--input"]),
        (&["run", "-m", "a", "-i", "picture.png"], &["picture.png", "text"]),
        (&["run", "-m", "a", "--timeout", "10", "two words"], &["no unit", "`10s`", "`10m`"]),
        (&["run", "-m", "a", "--timeout", "0", "two words"], &["no time at all"]),
        (&["run", "-m", "a", "--idle-timeout", "soon", "two words"], &["soon", "90s"]),
        (&["run", "-m", "a", "--deadline=-5s", "two words"], &["-5s"]),
        (&["run", "-m", "a", "--jobs", "0", "two words"], &["--jobs", "1 or more"]),
        (&["run", "-m", "a", "--jobs", "-1", "two words"], &["--jobs", "1 or more"]),
        (&["run", "-m", "a", "--max-cost", "-1", "two words"], &["--max-cost", "-1"]),
        (&["vote", "-m", "a,a", "--quorum", "0", "two words"], &["--quorum", "1 or more"]),
        (&["run", "-m", "a", "--min-bytes", "many", "two words"], &["--min-bytes"]),
        (&["run", "-m", "a", "--require-pattern", "(", "two words"], &["--require-pattern", "unclosed group"]),
        (&["run", "-m", "a", "--require-blind", "two words"], &["--require-blind"]),
        (&["run", "-m", "a", "--session-path", "../outside", "two words"], &["--session-path", "../outside"]),
        (&["run", "-m", "a", "--session-path", "b", "SESSION_PATH: a\nwhich?"], &["--session-path b", "line 1 of the"]),
        (&["run", "-m", "a", "--session-path", "b", "--legacy", "two words"], &["--legacy", "--session-path"]),
        (&["run", "-m", "a", "LEGACY_MODE: maybe\nwhich?"], &["LEGACY_MODE: maybe", "line 1", "true"]),
        (&["run", "-m", "a", "--quiet", "--verbose", "two words"], &["--verbose"]),
        (&["run-and-judge", "-m", "a", "--judges", "nosuch", "two words"], &["nosuch"]),
        (&["run-and-judge", "-m", "a,a", "--prompts", "missing", "two words"], &["missing"]),
        (&["run-and-judge", "-m", "a,a", "--prompts", "own", "two words"], &["`repair.md`", "`{{ reply }}`", "not 0"]),
        (&["vote", "-m", "a,a", "--prompts", "voting", "two words"], &["`vote.md`", "`{{ task }}`", "not 2"]),
        (&["vote", "-m", "a,a", "--prompts", "again", "two words"], &["`vote-repair.md`", "`{{ reply }}`", "not 0"]),
    ];
    let env = env().set("TEAM_ISOLATION", "none");
    env.write("in.md", "a question\n");
    env.write("picture.png", "no text");
    // Texts that would fail only when they are needed.
    env.write("own/repair.md", "{{ task }} {{ answers }} {{ ballot_format }}\n");
    env.write("voting/vote.md", "{{ task }} {{ task }}\n");
    env.write("again/vote-repair.md", "{{ task }}\n");
    for (arguments, expected) in cases {
        let (code, said) = team(&env, arguments);
        assert_eq!(code, Some(2), "{arguments:?}: {said}");
        for words in expected {
            assert!(said.contains(words), "{arguments:?}: `{words}` is not in {said}");
        }
        assert_nothing_made(&env, &format!("{arguments:?}"));
    }
}

#[test]
fn a_variable_that_a_model_needs_and_is_not_set_makes_nothing() {
    let declared = toml::Value::Table([("KEY".to_owned(), "${NOT_SET_HERE}".into())].into_iter().collect());
    let config = TeamToml::new().agent_with("keyed", &["print never"], &[("env", declared)]).agent("a", &["print x"]);
    let env = TestEnv::with(&config);
    let (code, said) = team(&env, &["run", "-m", "a,keyed", "two words"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("`NOT_SET_HERE`") && said.contains("`keyed`"), "{said}");
    assert_nothing_made(&env, "the missing variable");
}

#[test]
fn a_configuration_that_cannot_be_read_makes_nothing() {
    let env = env();
    for (text, expected) in [("panel = [", "team.toml"), ("pannel = []\n", "panel"), ("timeout = 10\n", "timeout")] {
        env.write("team.toml", text);
        let (code, said) = team(&env, &["run", "-m", "claude", "two words"]);
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains(expected), "{said}");
        assert_nothing_made(&env, text);
    }
}

#[test]
fn a_session_goes_into_the_folder_that_the_caller_names() {
    let body = "What now?\r\n";
    for (arguments, input) in [
        (&["-i", "in.md"][..], format!("SESSION_PATH: theirs/here\n{body}")),
        (&["-i", "in.md", "--session-path", "theirs/here"], body.to_owned()),
        (&["-i", "in.md", "--session-path", "theirs/../theirs/here"], format!("SESSION_PATH: theirs/here\r\n{body}")),
    ] {
        let env = env();
        env.write("in.md", input);
        let (code, said) = team(&env, &[&["run", "-m", "a"], arguments].concat());
        assert_eq!(code, Some(0), "{said}");
        assert!(!env.path("ai-docs").exists());
        let inside: Vec<_> = std::fs::read_dir(env.path("theirs/here")).unwrap().collect();
        assert_eq!(inside.len(), 1);
        let session = Session::at(inside.into_iter().next().unwrap().unwrap().path());
        assert!(session.id().starts_with("team-what-now-"), "{}", session.id());
        assert_received(&session, body.as_bytes());
    }
}

#[test]
fn a_directive_that_leads_outside_is_refused() {
    let env = env();
    std::os::unix::fs::symlink(env.home(), env.path("link")).unwrap();
    std::os::unix::fs::symlink("nowhere", env.path("dangling")).unwrap();
    for path in ["../outside", "/tmp", "a/../../outside", "link/below", "dangling/below"] {
        env.write("in.md", format!("SESSION_PATH: {path}\nWhat now?\n"));
        let (code, said) = team(&env, &["run", "-m", "a", "in.md"]);
        assert_eq!(code, Some(2), "{path}: {said}");
        assert!(said.contains(&format!("line 1 of `in.md`: `SESSION_PATH` names `{path}`")), "{said}");
        assert!(said.contains("hint: name a folder below the current directory"), "{said}");
        assert_nothing_made(&env, path);
    }
    assert!(!env.home().join("below").exists());
}

#[test]
fn a_folder_that_cannot_be_made_gives_a_temporary_session_with_its_reason() {
    let env = env();
    env.write("occupied", "a file, not a folder");
    let output = env.team(&["run", "-m", "a", "--sessions-dir", "occupied/below", "two words"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    let folder = String::from_utf8(output.stdout).unwrap();
    let session = Session::at(folder.trim_end());
    assert!(session.dir().starts_with(env.home().parent().unwrap().join("tmp")), "{folder}");
    assert!(said.contains("temporary folder") && said.contains("occupied"), "the reason is said: {said}");
    assert!(said.contains(&format!("to keep it, move `{}`", session.dir().display())), "{said}");
    assert_received(&session, b"two words");
    use std::os::unix::fs::PermissionsExt;
    let mode = std::fs::metadata(session.dir().parent().unwrap()).unwrap().permissions().mode();
    assert_eq!(mode & 0o077, 0, "nobody else reads it");
}

#[test]
fn a_session_is_named_by_the_first_line_or_by_its_name() {
    for (arguments, slug) in [
        (&["--", "# Stats: Validation!"][..], "team-stats-validation-"),
        (&["--name", "Mine/../x", "two words"], "team-minex-"),
        (&["日本語 です"], "team-workflow-"),
    ] {
        let env = env();
        let (code, said) = team(&env, &[&["run", "-m", "a"], arguments].concat());
        assert_eq!(code, Some(0), "{said}");
        assert!(env.session().id().starts_with(slug), "{}", env.session().id());
    }
}
