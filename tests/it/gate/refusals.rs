//! A gate that cannot run says so loudly, and every output says it too.

use super::world::{Repo, panel};
use crate::support::{TeamToml, TestEnv};

/// The gate refuses with these words, before it asks anybody, and the JUnit file says so.
#[track_caller]
fn refuses(repo: &Repo, options: &[&str], words: &[&str]) {
    let (out, err) = repo.gate(&[options, &["--junit", "out/gate.xml", "--gitlab", "out/gate.json"]].concat(), 2);
    assert_eq!(out, "");
    for word in words {
        assert!(err.contains(word), "`{word}` in {err}");
    }
    assert!(err.contains("hint: "), "{err}");
    assert!(repo.env.sessions().is_empty());
    let junit = repo.read("out/gate.xml");
    assert!(junit.contains("errors=\"1\"") && junit.contains("the gate did not run"), "{junit}");
    assert!(repo.read("out/gate.json").contains("team-gate/failed"));
}

#[test]
fn without_a_panel() {
    let repo = Repo::changed(&TeamToml::new());
    refuses(&repo, &[], &["no models are named", "`[gate]`"]);
}

#[test]
fn where_only_the_branch_brings_settings() {
    let repo = Repo::of(TestEnv::new(), None);
    repo.write("team.toml", panel(&["APPROVE", "APPROVE"]).text());
    repo.commit("settings of the branch's own");
    refuses(&repo, &[], &["no models are named", "that of the branch counts when it is merged"]);
}

#[test]
fn without_a_key_or_a_program_of_any_member() {
    let config = panel(&["APPROVE", "APPROVE"]).panel(&["ma", "mb", "openai@gpt-x", "claude"]);
    refuses(
        &Repo::changed(&config),
        &[],
        &["openai@gpt-x: OPENAI_API_KEY is not set", "claude: `claude` is not installed"],
    );
}

#[test]
fn without_a_repository_or_a_commit() {
    let env = TestEnv::with(&panel(&["APPROVE", "APPROVE"]));
    let (_, err) = crate::support::finish(&env, &["gate"], 2);
    assert!(err.contains("not in a git work tree"), "{err}");
    let repo = Repo { env };
    repo.git(&["init", "-q"]);
    refuses(&repo, &[], &["no commit here yet"]);
}

#[test]
fn without_a_base() {
    let repo = Repo::changed(&panel(&["APPROVE", "APPROVE"]));
    refuses(&repo, &["--base", "origin/nope"], &["`--base`", "`origin/nope`"]);
    refuses(&repo, &["--base=--output=x"], &["`--output=x`"]);
    repo.git(&["branch", "-m", "main", "trunk"]);
    refuses(&repo, &[], &["no base was found", "team gate --base"]);
}

#[test]
fn where_histories_do_not_meet() {
    let repo = Repo::changed(&panel(&["APPROVE", "APPROVE"]));
    repo.git(&["checkout", "-q", "--orphan", "other"]);
    repo.commit("elsewhere");
    refuses(&repo, &["--base", "main"], &["do not meet"]);
}

#[test]
fn in_a_shallow_clone_and_says_how_to_deepen_it() {
    let origin = Repo::changed(&panel(&["APPROVE", "APPROVE"]));
    let url = format!("file://{}", origin.env.project().display());
    let ci = [("GITHUB_ACTIONS", "true"), ("GITHUB_BASE_REF", "main")];
    let env = ci.iter().fold(TestEnv::new(), |env, (name, value)| env.set(name, value));
    let clone = Repo { env };
    clone.git(&["clone", "-q", "--depth", "1", "--branch", "topic", &url, "."]);
    refuses(&clone, &[], &["`origin/main`", "fetch-depth: 0"]);
    clone.git(&["fetch", "-q", "--depth", "1", "origin", "main:refs/remotes/origin/main"]);
    refuses(&clone, &[], &["do not meet in this clone", "the clone is shallow", "fetch-depth: 0"]);
    clone.git(&["fetch", "-q", "--unshallow", "origin"]);
    clone.gate(&[], 0);
}

#[test]
fn with_wrong_settings_of_the_base() {
    let config = panel(&["APPROVE", "APPROVE"])
        .key("gate", super::world::gate_keys("treshold = \"majority\"\nignore = [\"[a\"]"));
    refuses(
        &Repo::changed(&config),
        &[],
        &["unknown key `treshold` in `[gate]`", "did you mean `threshold`?", "`gate.ignore` has the pattern `[a`"],
    );
    let outputs = super::world::gate_keys("[outputs]\njunit = \"-\"\nsarif = \"\"");
    refuses(
        &Repo::changed(&panel(&["APPROVE", "APPROVE"]).key("gate", outputs)),
        &[],
        &["`gate.outputs.junit` is `-`", "`gate.outputs.sarif` is empty", "on the command line"],
    );
}

#[test]
fn where_an_output_cannot_be_written_before_anything_else() {
    let repo = Repo::changed(&panel(&["APPROVE", "APPROVE"]));
    repo.write("out/file", "");
    for (path, word) in [("out/file/gate.xml", "cannot write"), ("src", "is a folder")] {
        let (_, err) = repo.gate(&["--sarif", path], 2);
        assert!(err.contains(word) && err.contains(path), "{err}");
    }
    let (_, err) = repo.gate(&["--sarif", "out/x", "--junit", "out/x"], 2);
    assert!(err.contains("two outputs"), "{err}");
    let (_, err) = repo.gate(&["--sarif", "-", "--junit", "-"], 2);
    assert!(err.contains("two outputs would be written to standard output"), "{err}");
    for other in ["--json", "--github"] {
        let (_, err) = repo.gate(&["--markdown", "-", other], 2);
        assert!(err.contains("would share standard output") && err.contains(other), "{err}");
    }
    assert!(repo.env.sessions().is_empty() && !repo.env.path("-").exists());
}

#[test]
fn where_a_link_of_the_branch_would_lead_an_output_elsewhere() {
    let repo = Repo::changed(&panel(&["APPROVE", "APPROVE"]));
    let outside = repo.env.home();
    std::os::unix::fs::symlink(&outside, repo.env.path("reports")).unwrap();
    repo.commit("a link");
    let (_, err) = repo.gate(&["--junit", "reports/deep/gate.xml"], 2);
    assert!(err.contains("through a link"), "{err}");
    assert!(!outside.join("deep").exists());
}
