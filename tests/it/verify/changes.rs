//! Files and lines that were changed, added, removed, put elsewhere or replaced by something else.

use std::os::unix::fs::symlink;
use std::path::Path;

use super::{copy, first, judged_twice, kept, look, recorded_files, verified};
use crate::support::{Session, TestEnv, finish};

/// What is done to a file.
#[derive(Debug, Clone, Copy)]
pub(super) enum Change {
    OneByte,
    Appended,
    Half,
    Emptied,
    Removed,
    Linked,
    Folder,
    Pipe,
}

const CHANGES: [Change; 8] = [
    Change::OneByte,
    Change::Appended,
    Change::Half,
    Change::Emptied,
    Change::Removed,
    Change::Linked,
    Change::Folder,
    Change::Pipe,
];

/// Does it; `outside` is a place for a file outside of the session.
fn change(path: &Path, how: Change, outside: &Path) {
    let mut bytes = std::fs::read(path).unwrap();
    match how {
        Change::OneByte => {
            let half = bytes.len() / 2;
            let at = (half..bytes.len()).find(|at| bytes[*at].is_ascii_alphanumeric()).unwrap_or(half);
            bytes[at] ^= 1;
            std::fs::write(path, bytes).unwrap();
        }
        Change::Appended => {
            bytes.extend_from_slice(b"planted\n");
            std::fs::write(path, bytes).unwrap();
        }
        Change::Half => {
            bytes.truncate(bytes.len() / 2);
            std::fs::write(path, bytes).unwrap();
        }
        Change::Emptied => std::fs::write(path, "").unwrap(),
        Change::Removed => std::fs::remove_file(path).unwrap(),
        Change::Linked => {
            // The same bytes, but not in the folder.
            std::fs::rename(path, outside).unwrap();
            symlink(outside, path).unwrap();
        }
        Change::Folder => {
            std::fs::remove_file(path).unwrap();
            std::fs::create_dir(path).unwrap();
        }
        Change::Pipe => {
            std::fs::remove_file(path).unwrap();
            nix::unistd::mkfifo(path, nix::sys::stat::Mode::S_IRWXU).unwrap();
        }
    }
}

fn restore(path: &Path, bytes: &[u8]) {
    match std::fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => std::fs::remove_dir(path).unwrap(),
        Ok(_) => std::fs::remove_file(path).unwrap(),
        Err(_) => {}
    }
    std::fs::write(path, bytes).unwrap();
}

/// Fails unless each of `changes` to each file of `copied` is found, and that file is named first.
#[track_caller]
pub(super) fn assert_changes_are_found(copied: &Session, changes: &[Change], outside: &Path) {
    assert_eq!(look(copied.dir())["verified"], true);
    for file in &recorded_files(copied) {
        let path = copied.path(file);
        let bytes = std::fs::read(&path).unwrap();
        for how in changes {
            change(&path, *how, outside);
            let found = look(copied.dir());
            let (named, ..) = first(&found);
            assert_eq!(&named, file, "{how:?}: {found:#}");
            assert_eq!(found["verified"], false);
            restore(&path, &bytes);
        }
    }
    assert_eq!(look(copied.dir())["verified"], true, "everything was put back");
}

#[test]
fn a_change_of_any_kind_to_any_file_is_found_and_that_file_is_named_first() {
    let (env, session) = judged_twice();
    let copied = copy(&session, &env.path("copied"));
    let files = recorded_files(&copied);
    for part in ["judging/votes.json", "judging-2/prompt-03.md", "errors/", ".partial.md", "judging/errors/"] {
        assert!(files.iter().any(|file| file.contains(part)), "{part} is not in {files:?}");
    }
    assert_changes_are_found(&copied, &CHANGES, &env.path("outside"));
    std::fs::write(copied.path(".lock"), "").unwrap();
    change(&copied.path(".lock"), Change::Pipe, &env.path("outside"));
    assert_eq!(first(&look(copied.dir())).0, ".lock");
}

/// Every way in which the lines of a record are tampered with, with the lines around which that shows.
fn tampered(lines: &[String]) -> Vec<(String, Vec<String>, usize)> {
    let mut all = Vec::new();
    for at in 0..lines.len() {
        let mut with = |what: &str, change: &dyn Fn(&mut Vec<String>)| {
            let mut lines = lines.to_vec();
            change(&mut lines);
            all.push((format!("{what} line {}", at + 1), lines, at + 1));
        };
        with("changed", &|lines| lines[at] = lines[at].replacen("\"at\":\"2", "\"at\":\"3", 1));
        with("broken", &|lines| lines[at].truncate(20));
        with("removed", &|lines| drop(lines.remove(at)));
        with("doubled", &|lines| lines.insert(at, lines[at].clone()));
        with("emptied", &|lines| lines[at].clear());
        with("blank before", &|lines| lines.insert(at, String::new()));
        with("ended after", &|lines| lines.truncate(at));
        if at + 1 < lines.len() {
            with("swapped", &|lines| lines.swap(at, at + 1));
        }
    }
    all
}

#[test]
fn a_line_that_is_changed_added_removed_moved_or_cut_is_found_in_every_record() {
    let (env, session) = (TestEnv::new(), kept());
    let copied = copy(&session, &env.path("copied"));
    for record in ["events.jsonl", "judging/events.jsonl", "judging-2/events.jsonl"] {
        let text = copied.text(record);
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        assert!(lines.len() > 8, "{record}");
        for (what, changed, line) in tampered(&lines) {
            let changed: String = changed.iter().map(|line| format!("{line}\n")).collect();
            std::fs::write(copied.path(record), changed).unwrap();
            let found = look(copied.dir());
            let (named, at, _) = first(&found);
            assert_eq!(named, record, "{what}: {found:#}");
            // The whole length is what differs when lines at the end are gone.
            let near = at.is_none_or(|at| (at as usize).abs_diff(line) <= 1 || at as usize >= lines.len());
            assert!(near, "{what}: {found:#}");
        }
        let torn = &text[..text.len() - 10];
        std::fs::write(copied.path(record), torn).unwrap();
        assert_eq!(first(&look(copied.dir())).0, record, "a torn last line of a closed record");
        let followed = format!("{text}{{\"seq\":");
        std::fs::write(copied.path(record), followed).unwrap();
        assert_eq!(first(&look(copied.dir())).2, "an unfinished line follows the closing event");
        std::fs::write(copied.path(record), text).unwrap();
    }
}

#[test]
fn a_file_that_no_event_knows_is_found_wherever_it_is_planted() {
    let (env, session) = (TestEnv::new(), kept());
    let copied = copy(&session, &env.path("copied"));
    let dead = session.id_of("dead");
    let kiwi = session.id_of("kiwi");
    let plants = [
        "response-99.md".to_owned(),
        format!("response-{dead}.md"),
        format!("errors/{kiwi}.log"),
        format!("errors/{kiwi}.partial.md"),
        "errors/77.log".to_owned(),
        "judging/response-09.md".to_owned(),
        "judging/verdict-old.md".to_owned(),
        "judging/input.md".to_owned(),
        "judging-2/errors/05.partial.md".to_owned(),
        "work/99/x".to_owned(),
        "task.md".to_owned(),
        "votes.json".to_owned(),
        ".response-44.md.part".to_owned(),
        "judging-3/events.jsonl".to_owned(),
        "judging-7/verdict.md".to_owned(),
        "manifest.json.bak".to_owned(),
    ];
    for plant in plants {
        let path = copied.path(&plant);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, "planted\n").unwrap();
        let (named, _, what) = first(&look(copied.dir()));
        assert!(plant.starts_with(&named), "{plant}: {named}");
        assert_eq!(what, "is no part of the session: no event knows it", "{plant}");
        std::fs::remove_file(&path).unwrap();
        if let Some(top) = ["work", "judging-3", "judging-7"].iter().find(|top| plant.starts_with(*top)) {
            std::fs::remove_dir_all(copied.path(top)).unwrap();
        }
    }
    let nameless = std::os::unix::ffi::OsStrExt::from_bytes(b"response-\xff.md");
    let nameless = copied.dir().join::<&std::ffi::OsStr>(nameless);
    std::fs::write(&nameless, "planted").unwrap();
    assert_eq!(first(&look(copied.dir())).0, "response-\u{fffd}.md");
    std::fs::remove_file(nameless).unwrap();
    // What a slot's own program leaves in its folder, and what file managers leave anywhere, is nobody's claim.
    std::fs::create_dir_all(copied.path("work/01/deep")).unwrap();
    std::fs::write(copied.path("work/01/deep/own.txt"), "mine").unwrap();
    std::fs::write(copied.path(".DS_Store"), "x").unwrap();
    let found = look(copied.dir());
    assert_eq!(found["verified"], true, "{found:#}");
    assert!(found["notes"].to_string().contains(".DS_Store"), "{found:#}");
}

#[test]
fn two_answers_in_each_others_place_are_both_named() {
    let (env, session) = (TestEnv::new(), kept());
    let copied = copy(&session, &env.path("copied"));
    let mut names = [session.id_of("kiwi"), session.id_of("plum")].map(|id| format!("response-{id}.md"));
    names.sort();
    let [one, two] = [0, 1].map(|at| copied.text(&names[at]));
    std::fs::write(copied.path(&names[0]), two).unwrap();
    std::fs::write(copied.path(&names[1]), one).unwrap();
    let found = verified(&env, copied.dir(), 6);
    let files: Vec<&str> =
        found["mismatches"].as_array().unwrap().iter().map(|m| m["file"].as_str().unwrap()).collect();
    assert_eq!(files, names);
    let status = copied.json("status.json");
    for (mismatch, name) in found["mismatches"].as_array().unwrap().iter().zip(&names) {
        let slot = name.trim_start_matches("response-").trim_end_matches(".md");
        assert_eq!(mismatch["expected"], status["models"][slot]["sha256"]);
        assert!(mismatch["found"].as_str().is_some_and(|hash| hash.len() == 64 && mismatch["expected"] != hash));
    }
}

#[test]
fn a_folder_that_is_a_link_to_elsewhere_is_not_followed() {
    let (env, session) = (TestEnv::new(), kept());
    let copied = copy(&session, &env.path("copied"));
    for folder in ["judging", "errors", "judging-2/errors", "work"] {
        let (path, elsewhere) = (copied.path(folder), env.path("elsewhere"));
        std::fs::create_dir_all(&path).unwrap();
        std::fs::rename(&path, &elsewhere).unwrap();
        symlink(&elsewhere, &path).unwrap();
        let found = look(copied.dir());
        let (named, _, what) = first(&found);
        assert_eq!((named.as_str(), what.as_str()), (folder, "is not the folder that belongs there"), "{found:#}");
        assert_eq!(found["mismatches"].as_array().unwrap().len(), 1, "told once: {found:#}");
        std::fs::remove_file(&path).unwrap();
        std::fs::rename(&elsewhere, &path).unwrap();
    }
}

#[test]
fn a_whole_round_that_is_gone_is_named_with_the_line_that_opened_it() {
    let (env, session) = (TestEnv::new(), kept());
    let copied = copy(&session, &env.path("copied"));
    std::fs::remove_dir_all(copied.path("judging")).unwrap();
    let (named, _, what) = first(&verified(&env, copied.dir(), 6));
    assert_eq!(named, "judging");
    assert!(what.starts_with("is missing; line ") && what.ends_with("opened this round"), "{what}");
}

#[test]
fn the_first_mismatch_is_the_last_line_and_no_planted_name_can_pass_for_one() {
    let (env, session) = judged_twice();
    std::fs::write(session.path("z\nverified: everything is as it was recorded\u{1b}[2J"), "").unwrap();
    let (out, _) = finish(&env, &["verify"], 6);
    let last = out.lines().last().unwrap();
    assert!(last.starts_with("NOT verified: 1 mismatch: `z\u{fffd}verified: everything"), "{out}");
    assert!(!out.lines().any(|line| line.starts_with("verified")) && !out.contains('\u{1b}'), "{out}");
    std::fs::write(session.path("response-01.md"), "better\n").unwrap();
    let (out, _) = finish(&env, &["verify"], 6);
    let last = out.lines().last().unwrap();
    assert!(last.contains("2 mismatches") || last.contains("3 mismatches"), "{out}");
}

#[test]
fn a_changed_verdict_is_not_shown_and_a_changed_folder_is_not_judged() {
    let (env, session) = judged_twice();
    let text = session.text("verdict.md");
    std::fs::write(session.path("verdict.md"), text.replace("wins", "loses")).unwrap();
    for arguments in [&["show"][..], &["show", "--reveal"]] {
        let (out, err) = finish(&env, arguments, 6);
        assert!(err.contains("verdict.md` is not as it was recorded") && err.contains("`team verify`"), "{err}");
        assert_eq!(out, "");
    }
    std::fs::write(session.path("verdict.md"), text).unwrap();
    let json = session.text("verdict.json");
    std::fs::write(session.path("verdict.json"), "{}").unwrap();
    finish(&env, &["show", "--json"], 6);
    std::fs::write(session.path("verdict.json"), json).unwrap();
    finish(&env, &["show"], 0);
    let answer = format!("response-{}.md", session.id_of("kiwi"));
    std::fs::write(session.path(&answer), "better\n").unwrap();
    finish(&env, &["judge", "--judges", "fair,firm"], 6);
    assert_eq!(first(&verified(&env, session.dir(), 6)).0, answer);
}

#[test]
fn a_newer_format_is_refused_by_name_and_is_no_mismatch() {
    let (env, session) = (TestEnv::new(), kept());
    let newer: fn(&Session, &str) = |session, file| {
        let text = session.text(file);
        let text = text.replacen("\"version\":1", "\"version\":9", 1).replacen("\"version\": 1", "\"version\": 9", 1);
        std::fs::write(session.path(file), text).unwrap();
    };
    for file in ["events.jsonl", "session-meta.json", "status.json", "judging/events.jsonl", "judging/status.json"] {
        let copied = copy(&session, &env.path(&format!("copied-{}", file.replace('/', "-"))));
        newer(&copied, file);
        let (out, err) = finish(&env, &["verify", copied.dir().to_str().unwrap()], 2);
        assert!(err.contains(file) && err.contains("version 9") && err.contains("newer `team`"), "{file}: {err}");
        assert_eq!(out, "");
    }
}

#[test]
fn no_session_is_exit_2_and_a_folder_without_its_meta_is_checked_all_the_same() {
    let env = TestEnv::new();
    let (_, err) = finish(&env, &["verify", "nope"], 2);
    assert!(err.contains("no session `nope`"), "{err}");
    let (env, session) = judged_twice();
    std::fs::remove_file(session.path("session-meta.json")).unwrap();
    let found = verified(&env, session.dir(), 6);
    assert_eq!(first(&found).0, "session-meta.json");
    assert_eq!(found["mismatches"].as_array().unwrap().len(), 1, "the rest is right: {found:#}");
    finish(&env, &["verify", &session.id()], 6);
}
