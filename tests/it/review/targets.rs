//! What is reviewed, and what of it reviewers are sent.

use super::world::{Repo, finds, planted, reviewers};
use crate::support::{TestEnv, finish};

/// A panel that finds nothing.
fn content() -> crate::support::TeamToml {
    reviewers(&[&[&finds(&[])], &[&finds(&[])]])
}

fn input(env: &TestEnv, phase: &str) -> String {
    env.session().text(&format!("reviews/{phase}/input.md"))
}

#[test]
fn a_plan_is_reviewed_as_a_plan_in_git_and_outside_of_it() {
    let env = TestEnv::with(&content());
    env.write("docs/plan.md", "# Move the data\n\nStep one: delete the old table.\n");
    let (out, _) = finish(&env, &["review", "--plan", "docs/plan.md", "--intent", "no downtime at all"], 0);
    assert!(out.contains("passed"), "{out}");
    let session = env.session();
    let asked = input(&env, "plan-review");
    assert!(asked.contains("delete the old table") && asked.contains("no downtime at all"), "{asked}");
    assert_eq!(session.text("design.md"), "# Move the data\n\nStep one: delete the old table.\n");
    assert!(!session.has("workspace"), "outside of git there is no snapshot");
    assert!(session.text("session-meta.json").contains("\"type\": \"review\""));
    finish(&env, &["verify"], 0);
}

#[test]
fn files_are_reviewed_as_they_are_with_numbered_lines_and_keys_are_never_sent() {
    let env = TestEnv::with(&content());
    env.write("src/a.rs", "fn a() {}\nfn b() {}\n");
    env.write("src/id_rsa", "PRIVATE\n");
    env.write("src/blob", b"a\0b");
    finish(&env, &["review", "src"], 0);
    let asked = input(&env, "impl-review");
    assert!(asked.contains("==== src/a.rs") && asked.contains("    2  fn b() {}"), "{asked}");
    assert!(!asked.contains("PRIVATE"), "{asked}");
    let told = env.session().text("verdict.md");
    assert!(told.contains("1 of 3 files was looked at") && told.contains("src/id_rsa"), "{told}");
    let (_, err) = finish(&env, &["review", "nowhere.rs"], 2);
    assert!(err.contains("there is no file") && err.contains("nowhere.rs"), "{err}");
    let (_, err) = finish(&env, &["review"], 2);
    assert!(err.contains("is not in a git work tree") && err.contains("--plan FILE"), "{err}");
}

#[test]
fn what_is_staged_or_not_committed_is_reviewed_and_nothing_of_the_repository_changes() {
    let repo = Repo::with(&content());
    repo.env.write("src/staged.rs", "fn staged() {}\n");
    repo.git(&["add", "src/staged.rs"]);
    repo.env.write("src/staged.rs", "fn staged() {}\nfn not_staged() {}\n");
    repo.env.write("src/new.rs", "fn new() {}\n");
    let state = || (repo.git(&["status", "--porcelain"]), repo.git(&["count-objects"]), repo.git(&["ls-files", "-s"]));
    let before = state();
    repo.review(&["--staged"], 0);
    let asked = input(&repo.env, "impl-review");
    assert!(asked.contains("fn staged()") && !asked.contains("not_staged") && !asked.contains("fn new()"), "{asked}");
    let seen = repo.session().text("workspace/src/staged.rs");
    assert_eq!(seen, "fn staged() {}\n", "the snapshot is of what is staged");
    assert_eq!(state(), before);
    std::fs::remove_dir_all(repo.env.path("ai-docs")).unwrap();
    repo.review(&["--worktree"], 0);
    let asked = input(&repo.env, "impl-review");
    assert!(asked.contains("fn not_staged()") && asked.contains("fn new()"), "{asked}");
    assert_eq!(repo.session().text("workspace/src/new.rs"), "fn new() {}\n");
    assert_eq!(state(), before);
    std::fs::remove_dir_all(repo.env.path("ai-docs")).unwrap();
    repo.review(&["--worktree", "src/new.rs"], 0);
    let asked = input(&repo.env, "impl-review");
    assert!(asked.contains("fn new()") && !asked.contains("fn staged()"), "{asked}");
    finish(&repo.env, &["verify"], 0);
}

#[test]
fn a_range_is_compared_as_git_writes_it_and_what_names_no_commit_is_told() {
    let repo = Repo::with(&content());
    repo.env.write("src/more.rs", "fn more() {}\n");
    repo.commit("more");
    repo.review(&["--diff", "HEAD~1"], 0);
    let asked = input(&repo.env, "impl-review");
    assert!(asked.contains("fn more()") && !asked.contains("items.len() - 1"), "{asked}");
    std::fs::remove_dir_all(repo.env.path("ai-docs")).unwrap();
    repo.review(&["--diff", "main..HEAD~1"], 0);
    let asked = input(&repo.env, "impl-review");
    assert!(!asked.contains("fn more()") && asked.contains("items.len() - 1"), "{asked}");
    let (_, err) = repo.review(&["--diff", "nothing..HEAD"], 2);
    assert!(err.contains("`nothing` names no commit here"), "{err}");
    let (_, err) = repo.review(&["--diff", "HEAD..HEAD"], 3);
    assert!(err.contains("there is nothing to review"), "{err}");
    repo.git(&["checkout", "-q", "main"]);
    repo.git(&["branch", "-q", "-D", "topic"]);
    let (_, err) = repo.review(&[], 2);
    assert!(err.contains("--diff HEAD~1") && !err.contains("team gate"), "{err}");
}

#[test]
fn a_panel_and_a_bar_of_the_settings_hold_unless_the_command_line_says_otherwise() {
    let config = reviewers(&[
        &[&finds(&[planted()]), "weigh sustain"],
        &[&finds(&[planted()]), "weigh sustain"],
        &[&finds(&[])],
    ]);
    let review: toml::Table = toml::from_str("panel = [\"ra\", \"rb\"]\nfail_on = \"critical\"\n").unwrap();
    let repo = Repo::with(&config.key("review", toml::Value::Table(review)));
    repo.review(&[], 0);
    assert_eq!(repo.session().json("verdict.json")["seats"]["panel"], 2);
    repo.review(&["--fail-on", "high"], 1);
    repo.review(&["-m", "rc", "--quorum", "1"], 0);
    for (keys, told) in [
        ("fail_on = \"worst\"", "`review.fail_on`: `worst` is none of"),
        ("qourum = 2", "did you mean `quorum`?"),
        ("panel = []", "`review.panel` is empty"),
    ] {
        let bad: toml::Table = toml::from_str(keys).unwrap();
        repo.env.write("team.toml", reviewers(&[&["exit 1"]]).key("review", toml::Value::Table(bad)).text());
        let (_, err) = repo.review(&[], 2);
        assert!(err.contains(told), "{err}");
    }
}

#[test]
fn a_callers_folder_has_a_place_for_each_kind_of_review() {
    let env = TestEnv::with(&content());
    env.write("plan.md", "Do it.\n");
    finish(&env, &["review", "--plan", "plan.md", "--session-path", "ai-docs/mine"], 0);
    let inside: Vec<_> = std::fs::read_dir(env.path("ai-docs/mine/reviews/plan-review")).unwrap().collect();
    assert_eq!(inside.len(), 1);
    let (_, err) = finish(&env, &["review", "--plan", "plan.md", "--session-path", "../out"], 2);
    assert!(err.contains("not inside the current directory"), "{err}");
}

/// What the reviewers of the newest session below `folder` were asked, and its verdict.
fn newest(env: &TestEnv, folder: &str) -> (String, String) {
    let entries = std::fs::read_dir(env.path(folder)).unwrap();
    let newest = entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).max().unwrap();
    let text = |file: &str| std::fs::read_to_string(newest.join(file)).unwrap();
    (text("reviews/impl-review/input.md"), text("verdict.md"))
}

#[test]
fn sessions_and_what_git_ignores_are_not_sent_with_a_folder() {
    let repo = Repo::with(&content());
    repo.env.write("out/made.txt", "made by a build\n");
    repo.env.write("src/new.rs", "fn new() {}\n");
    repo.review(&[], 0);
    let session = repo.session();
    // Somebody keeps what comes of it at the root, beside what is reviewed.
    let asked = |options: &[&str]| {
        let folder = format!("kept/{}", options.join("-").replace(['/', '.'], "-"));
        let (_, err) = repo.review(&[options, &["--sessions-dir", &folder]].concat(), 0);
        (newest(&repo.env, &folder).0, err)
    };
    let (sent, err) = asked(&["."]);
    assert!(err.contains("ai-docs") && err.contains("sessions of `team` are never sent"), "{err}");
    assert!(err.contains("files that git ignores are left out"), "{err}");
    assert!(sent.contains("==== src/sum.rs") && sent.contains("==== src/new.rs"), "{sent}");
    assert!(!sent.contains("manifest.json") && !sent.contains("made by a build"), "{sent}");
    // Named by itself it is meant.
    for named in ["out/made.txt", "out"] {
        let (sent, err) = asked(&[named]);
        assert!(sent.contains("made by a build") && !err.contains("git ignores"), "{sent}{err}");
    }
    let inside = session.path("input.md");
    let (_, err) = repo.review(&[inside.to_str().unwrap()], 2);
    assert!(err.contains("where a session of `team` is"), "{err}");
}

#[test]
fn a_session_that_git_tracks_is_not_sent_with_a_change() {
    let repo = Repo::with(&content());
    repo.review(&[], 0);
    let session = repo.session();
    repo.git(&["add", "-f", session.dir().to_str().unwrap()]);
    repo.git(&["commit", "-q", "-m", "a session"]);
    repo.review(&["--sessions-dir", "elsewhere"], 0);
    let (asked, told) = newest(&repo.env, "elsewhere");
    assert!(asked.contains("+++ b/src/sum.rs") && !asked.contains("+++ b/ai-docs"), "{asked}");
    assert!(told.contains("manifest.json") && told.contains("in a session of `team`: never sent"), "{told}");
}
