//! What of a change is sent: every file is looked at, or omitted with the reason.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;

use crate::support::finish;

use super::world::{Repo, file, gate_keys, panel};

const KEY: &str = "sk-ant-api03-AbCdEf0123456789-AbCdEf0123456789";

#[test]
fn a_file_that_was_not_looked_at_keeps_an_approved_change_from_passing_unless_the_base_says_otherwise() {
    let make = |gate: &str| {
        let repo = Repo::changed(&panel(&["APPROVE", "APPROVE"]).key("gate", gate_keys(gate)));
        repo.write("logo.png", b"\x89PNG\r\n\x1a\n\0\0\0");
        repo.commit("a picture");
        repo
    };
    let repo = make("");
    let report = repo.report(&[], 3);
    assert_eq!(report["outcome"], "no_decision");
    assert_eq!(report["ruling"]["decision"], "approved");
    assert!(report["summary"].as_str().unwrap().contains("a person must look: `logo.png`"), "{report:#}");
    assert_eq!(file(&report, "logo.png")["omitted"], "binary");
    assert!(file(&report, "src/lib.rs")["omitted"].is_null());
    let verdict = repo.env.session().text("verdict.md");
    assert!(verdict.contains("not looked at: `logo.png` (no text)"), "{verdict}");
    // Whoever reads the verdict or the report first reads what no vote is about.
    let must = "a person must look at what was not looked at";
    let place = |text: &str, what: &str| text.find(what).unwrap_or_else(|| panic!("no `{what}` in {text}"));
    assert!(place(&verdict, must) < place(&verdict, "## Votes"), "{verdict}");
    assert!(place(&verdict, "not looked at: `logo.png`") < place(&verdict, "- Bar:"), "{verdict}");
    let (text, _) = finish(&repo.env, &["report", "--text"], 0);
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(place(&flat, must) < place(&flat, "The panel's vote is APPROVED"), "{text}");
    finish(&repo.env, &["report", "-o", "r.html"], 0);
    let page = std::fs::read_to_string(repo.env.path("r.html")).unwrap();
    assert!(place(&page, must) < place(&page, "<h1 "), "{page}");
    assert!(page.contains("class=\"verdict undecided\""), "what the gate came to is not on record");
    finish(&repo.env, &["verify"], 0);
    assert!(repo.asked().contains("- logo.png: no text"));
    let ignoring = make("ignore = [\"*.png\"]").report(&[], 0);
    assert_eq!(file(&ignoring, "logo.png")["omitted"], "ignored");
    make("omitted = \"report\"").report(&[], 0);
    // A rejection needs nobody else.
    let rejected = Repo::changed(&panel(&["REJECT", "REJECT"]));
    rejected.write("logo.png", b"\0");
    rejected.commit("a picture");
    rejected.report(&[], 1);
}

#[test]
fn files_that_hold_keys_by_their_name_are_named_and_never_sent() {
    let repo = Repo::new(&panel(&["APPROVE", "APPROVE"]));
    repo.git(&["checkout", "-q", "main"]);
    repo.write("old/.env", "WHERE=hidden-in-a-name\n".repeat(20));
    repo.commit("a secret of before");
    repo.git(&["checkout", "-q", "-B", "topic"]);
    repo.git(&["mv", "old/.env", "notes.txt"]);
    repo.write("deploy/prod.pem", "hidden-pem\n");
    repo.write("id_rsa", "hidden-rsa\n");
    repo.write(".env.example", "WHERE=shown\n");
    repo.commit("moved");
    let report = repo.report(&[], 3);
    for path in ["notes.txt", "deploy/prod.pem", "id_rsa"] {
        assert_eq!(file(&report, path)["omitted"], "secret", "{path}");
        assert_eq!(file(&report, path)["sentBytes"], 0);
    }
    let session = repo.env.session();
    for name in session.files() {
        let text = String::from_utf8_lossy(&std::fs::read(session.path(&name)).unwrap()).into_owned();
        assert!(!text.contains("hidden-"), "{name}");
    }
    assert!(repo.asked().contains("WHERE=shown"));
}

#[test]
fn what_looks_like_a_key_is_replaced_in_what_is_sent_and_the_receipt_says_so() {
    let env = crate::support::TestEnv::new().set("DEPLOY_TOKEN", "plain-words-of-a-token");
    let repo = Repo::of(env, Some(&panel(&["APPROVE", "APPROVE"])));
    repo.write("conf.txt", format!("key {KEY}\nother plain-words-of-a-token\nrest\n"));
    repo.commit("a key");
    let report = repo.report(&[], 0);
    assert!(file(&report, "conf.txt")["note"].as_str().unwrap().contains("[redacted]"));
    let asked = repo.asked();
    assert!(
        asked.contains("+key [redacted]") && asked.contains("+other [redacted]") && asked.contains("+rest"),
        "{asked}"
    );
}

#[test]
fn a_branch_cannot_hide_a_file_by_its_attributes_or_by_programs_of_git() {
    let repo = Repo::changed(&panel(&["APPROVE", "APPROVE"]));
    repo.write(".gitattributes", "*.rs -diff binary diff=evil\n*.txt diff=evil\n");
    repo.git(&["config", "diff.evil.textconv", "echo nothing to see; touch out/ran; :"]);
    repo.git(&["config", "diff.evil.command", "touch out/ran; :"]);
    repo.git(&["config", "diff.external", "touch out/ran; :"]);
    repo.git(&["config", "diff.noprefix", "true"]);
    repo.git(&["config", "diff.renames", "false"]);
    repo.git(&["config", "color.ui", "always"]);
    repo.write("src/evil.rs", "fn hidden() {}\n");
    repo.write("x.txt", "text\n");
    repo.git(&["mv", "src/lib.rs", "src/moved.rs"]);
    repo.commit("hiding");
    let report = repo.report(&[], 0);
    let asked = repo.asked();
    assert!(asked.contains("+fn hidden() {}") && asked.contains("+++ b/x.txt"), "{asked}");
    assert!(!asked.contains('\u{241b}') && !repo.env.path("out/ran").exists(), "{asked}");
    let moved = file(&report, "src/moved.rs");
    assert_eq!((&moved["change"], &moved["oldPath"]), (&"renamed".into(), &"src/lib.rs".into()));
}

#[test]
fn every_kind_of_change_is_in_the_receipt_by_its_name() {
    let repo = Repo::new(&panel(&["APPROVE", "APPROVE"]));
    repo.git(&["checkout", "-q", "main"]);
    let long: String = (0..50).map(|n| format!("line {n}\n")).collect();
    repo.write("moved from.txt", &long);
    repo.write("gone.txt", "gone\n");
    repo.write("run.sh", "#!/bin/sh\n");
    repo.write("turns", "file\n");
    repo.write("crlf.txt", "one\r\ntwo\r\n");
    repo.commit("more");
    repo.git(&["checkout", "-q", "-B", "topic"]);
    repo.git(&["mv", "moved from.txt", "moved\tto.txt"]);
    repo.git(&["rm", "-q", "gone.txt"]);
    std::fs::set_permissions(repo.env.path("run.sh"), std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::remove_file(repo.env.path("turns")).unwrap();
    std::os::unix::fs::symlink("src/lib.rs", repo.env.path("turns")).unwrap();
    repo.write("crlf.txt", "one\r\nthree\r\n");
    let odd = repo.env.project().join(OsStr::from_bytes(b"b\xffd \"q\" '`.txt"));
    std::fs::write(odd, b"caf\xe9\n").unwrap();
    repo.write("-dash", "dash\n");
    repo.write(":(glob)x", "magic\n");
    let head = repo.head();
    repo.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{head},sub")]);
    repo.git(&["add", "-A", "--", ".", ":!sub"]);
    repo.git(&["commit", "-q", "-m", "all kinds"]);
    let report = repo.report(&[], 3);
    let change = |path: &str| file(&report, path)["change"].as_str().unwrap().to_owned();
    assert_eq!(change("moved\\x09to.txt"), "renamed");
    assert_eq!(file(&report, "moved\\x09to.txt")["oldPath"], "moved from.txt");
    assert_eq!(change("gone.txt"), "deleted");
    assert_eq!(change("run.sh"), "modified");
    assert_eq!(change("turns"), "type_changed");
    assert_eq!(change("-dash"), "added");
    assert_eq!(change(":(glob)x"), "added");
    assert!(file(&report, "b\\xffd \"q\" '`.txt")["note"].as_str().unwrap().contains("U+FFFD"));
    assert_eq!(file(&report, "sub")["omitted"], "submodule");
    assert_eq!(report["files"].as_array().unwrap().len(), 9);
    let asked = repo.asked();
    for text in
        ["rename from moved from.txt", "new mode 100755", "+src/lib.rs", "+caf\u{fffd}", "+dash", "+magic", "-gone"]
    {
        assert!(asked.contains(text), "`{text}` in {asked}");
    }
    assert!(asked.contains("+three"), "{asked}");
}

#[test]
fn what_does_not_fit_is_left_out_as_a_whole_and_the_rest_is_looked_at() {
    let repo = Repo::changed(&panel(&["APPROVE", "APPROVE"]));
    repo.write("a-large.txt", "0123456789\n".repeat(1000));
    repo.write("z-small.txt", "small\n");
    repo.commit("large and small");
    let report = repo.report(&["--max-bytes", "4000"], 3);
    assert_eq!(file(&report, "a-large.txt")["omitted"], "too_large");
    assert!(file(&report, "z-small.txt")["omitted"].is_null());
    let asked = repo.asked();
    assert!(asked.contains("+small") && !asked.contains("+0123456789"), "{asked}");
}

#[test]
fn where_nothing_can_be_looked_at_nobody_is_asked_and_a_person_must() {
    let repo = Repo::new(&panel(&["APPROVE", "APPROVE"]));
    repo.write(".env", "A=1\n");
    repo.commit("only a secret");
    let report = repo.report(&["--junit", "out/gate.xml"], 3);
    assert_eq!(report["outcome"], "no_decision");
    assert!(repo.read("out/gate.xml").contains("<error "));
    assert!(repo.env.sessions().is_empty());
    let ignored = Repo::new(&panel(&["REJECT", "REJECT"]).key("gate", gate_keys("ignore = [\"docs/**\"]")));
    ignored.write("docs/a.md", "a\n");
    ignored.commit("only docs");
    assert_eq!(ignored.report(&[], 0)["outcome"], "unchanged");
    assert!(ignored.env.sessions().is_empty());
}

#[test]
fn a_file_that_moves_out_of_what_is_ignored_is_looked_at() {
    let repo = Repo::new(&panel(&["APPROVE", "APPROVE"]).key("gate", gate_keys("ignore = [\"gen/**\"]")));
    repo.git(&["checkout", "-q", "main"]);
    repo.write("gen/a.rs", "fn generated() {}\n".repeat(20));
    repo.commit("generated");
    repo.git(&["checkout", "-q", "-B", "topic"]);
    std::fs::create_dir_all(repo.env.path("src")).unwrap();
    repo.git(&["mv", "gen/a.rs", "src/a.rs"]);
    repo.commit("moved");
    let report = repo.report(&[], 0);
    assert!(file(&report, "src/a.rs")["omitted"].is_null(), "{report:#}");
}
