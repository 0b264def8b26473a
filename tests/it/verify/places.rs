//! A folder that was moved, copied, packed, or belongs to somebody else.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::{copy, first, judged_twice, verified};
use crate::support::{Session, assert_consistent, finish};

/// Every file with its bytes and the time of its last change.
fn snapshot(session: &Session) -> BTreeMap<String, (Vec<u8>, std::time::SystemTime)> {
    let read = |file: &String| {
        let path = session.path(file);
        (std::fs::read(&path).unwrap(), path.metadata().unwrap().modified().unwrap())
    };
    session.files().iter().map(|file| (file.clone(), read(file))).collect()
}

#[test]
fn a_judged_session_verifies_says_what_it_read_and_is_not_written_to() {
    let (env, session) = judged_twice();
    let before = snapshot(&session);
    let (out, err) = finish(&env, &["verify"], 0);
    let head = session.json("session-meta.json")["events"]["head"].as_str().unwrap().to_owned();
    let last = out.lines().last().unwrap();
    assert_eq!(last, format!("verified: everything is as it was recorded, up to head {head}"), "{out}");
    assert!(out.contains(&format!("session  {}\n", session.id())) && out.contains("state    completed\n"), "{out}");
    let checked = "2 answers, 2 rounds; 4 replies read again for 8 votes, 2 verdicts counted again\n";
    assert!(out.contains(checked), "{out}");
    assert!(!out.contains("note ") && !out.contains("mismatch"), "{out}");
    assert_eq!(err, "");
    let found = verified(&env, session.dir(), 0);
    assert_eq!((&found["version"], &found["verified"], &found["owner"]), (&1.into(), &true.into(), &Value::Null));
    assert_eq!(found["records"].as_array().unwrap().len(), 3);
    assert_eq!(found["records"][0]["head"], head);
    assert_eq!(found["checked"]["files"], super::recorded_files(&session).len());
    assert_eq!(snapshot(&session), before, "nothing was written");
    finish(&env, &["show", "--reveal"], 0);
    assert_eq!(verified(&env, session.dir(), 0)["verified"], true, "a look at the names is on record too");
}

#[test]
fn a_head_of_any_earlier_moment_is_in_the_record_and_a_wrong_or_broken_one_is_not() {
    let (env, session) = judged_twice();
    let round = session.text("judging/verdict.md");
    let printed = round.split("ended with the hash `").nth(1).unwrap()[..64].to_owned();
    let (out, _) = finish(&env, &["verify", "latest", "--head", &printed.to_uppercase()], 0);
    assert!(out.contains("the head given is that of line ") && out.contains("in `judging/events.jsonl`"), "{out}");
    let now = session.json("session-meta.json")["events"]["head"].as_str().unwrap().to_owned();
    let (out, _) = finish(&env, &["verify", "--head", &now], 0);
    assert!(!out.contains("the head given"), "{out}");
    finish(&env, &["judge", "--judges", "fair,firm"], 0);
    let (out, _) = finish(&env, &["verify", "--head", &now], 0);
    assert!(out.contains("what comes after it is newer"), "{out}");
    let (out, _) = finish(&env, &["verify", "--head", &"0".repeat(64)], 6);
    assert!(out.lines().last().unwrap().contains("--head"), "{out}");
    let (_, err) = finish(&env, &["verify", "--head", "12ab"], 2);
    assert!(err.contains("64 hexadecimal digits"), "{err}");
}

#[test]
fn a_copy_under_another_name_verifies_and_is_judged_again_there() {
    let (env, session) = judged_twice();
    let copied = copy(&session, &env.path("elsewhere/renamed"));
    std::fs::remove_dir_all(session.dir()).unwrap();
    let found = verified(&env, copied.dir(), 0);
    assert_eq!(found["session"], session.id(), "the folder's name is not the session's");
    assert!(!copied.has(".lock"), "nothing was written");
    finish(&env, &["judge", "./elsewhere/renamed", "--judges", "fair,firm"], 0);
    assert_eq!(verified(&env, copied.dir(), 0)["checked"]["rounds"], 3);
    assert_consistent(&copied);
}

#[test]
fn an_archive_unpacked_by_another_user_elsewhere_verifies_read_only_and_is_judged_again() {
    let (env, session) = judged_twice();
    let archive = env.path("session.tar");
    let tar = |arguments: &[&str], dir: &Path| {
        assert!(Command::new("tar").args(arguments).current_dir(dir).status().unwrap().success());
    };
    tar(&["-cf", archive.to_str().unwrap(), &session.id()], session.dir().parent().unwrap());
    std::fs::remove_dir_all(session.dir()).unwrap();
    let other = env.path("other-machine");
    std::fs::create_dir(&other).unwrap();
    tar(&["-xf", archive.to_str().unwrap(), "--no-same-owner"], &other);
    let copied = Session::at(other.join(session.id()));
    let as_user = env.of_ordinary_user();
    let wrapper: Vec<&str> = as_user.iter().map(String::as_str).collect();
    let run = |arguments: &[&str]| env.command_under(&wrapper, arguments).output().unwrap();
    let folder = copied.dir().to_str().unwrap();
    // Neither folder nor files can be written by who checks them.
    let mode = |files: u32, folders: u32| {
        let mut all = vec![(copied.dir().to_owned(), folders)];
        while let Some((path, mode)) = all.pop() {
            if path.is_dir() {
                std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
                let entries = std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path());
                all.extend(entries.map(|path| (path.clone(), if path.is_dir() { folders } else { files })));
            }
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        }
    };
    mode(0o444, 0o555);
    let output = run(&["verify", folder]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    // A file that cannot be read is not a file that is right.
    std::fs::set_permissions(copied.path("input.md"), std::fs::Permissions::from_mode(0o000)).unwrap();
    let output = run(&["verify", folder, "--json"]);
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(6));
    let (file, _, what) = first(&found);
    assert!(file == "input.md" && what.starts_with("cannot be read"), "{found:#}");
    mode(0o644, 0o755);
    let output = run(&["judge", folder, "--judges", "fair,firm"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let output = run(&["verify", folder]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_consistent(&copied);
}
