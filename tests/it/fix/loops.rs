//! From a planted fault to a certified branch.

use super::world::{MENDED, MENDS, Repo, keys, panel, with_fixer};

#[test]
fn a_planted_fault_is_found_repaired_tested_committed_looked_at_again_and_certified_on_a_branch_of_its_own() {
    let config = panel("auto-fix", MENDS);
    let tested = "fixer = \"fixer\"\ntest = [\"sh\", \"-c\", \"grep -q iter src/sum.rs && ! test -e .git\"]";
    let repo = Repo::with(&config.key("fix", keys(tested)));
    let before = repo.of_the_user();
    let (out, err) = repo.fix(&[], 0);
    assert_eq!(repo.of_the_user(), before);
    let session = repo.session();
    let branch = format!("team/{}", session.dir().file_name().unwrap().to_str().unwrap());
    assert_eq!(repo.new_branches(), [branch.as_str()]);
    assert_eq!(repo.git(&["show", &format!("{branch}:src/sum.rs")]), MENDED.trim_end());
    let subject = repo.git(&["log", "-1", "--format=%an %s", &branch]);
    assert_eq!(subject, "team fix: The last item is never summed (F01)");
    assert_eq!(repo.git(&["rev-parse", &format!("{branch}~1")]), repo.git(&["rev-parse", "topic"]));
    assert_eq!(repo.states(), [("F01".to_owned(), "verified".to_owned())].into());
    for folder in ["reviews/impl-review", "reviews/impl-review-2", "reviews/impl-review-3", "fixes/1"] {
        assert!(session.dir().join(folder).is_dir(), "{folder}\n{err}");
    }
    assert!(!session.dir().join("worktree").exists() && !session.dir().join("checks").exists());
    let report = repo.report();
    assert!(out.contains(&report), "{out}");
    for told in [
        "Nothing that is sustained at or above the bar is open any more.".to_owned(),
        format!("git merge {branch}"),
        format!("git branch -D {branch}"),
        "| F01 | high | mended | src/sum.rs:3 | The last item is never summed |".to_owned(),
        "test (\\`sh -c grep".to_owned(),
    ] {
        assert!(report.contains(&told), "{told}\n{report}");
    }
    assert!(err.contains("1 findings mended"), "{err}");
    assert_eq!(session.json("session-meta.json")["status"], "completed");
    for command in ["status", "show"] {
        repo.team(&[command, "latest"], 0);
    }
    let (out, _) = repo.team(&["verify", "latest"], 0);
    assert!(!out.contains("not recorded yet") && !out.contains("another one before"), "{out}");
    let (out, _) = repo.team(&["report", "latest", "--text"], 0);
    assert!(out.starts_with("Passed"), "{out}");
    let (out, err) = repo.team(&["stats"], 0);
    assert!((out.clone() + &err).contains("reviews and fixes"), "{out}{err}");
}

#[test]
fn no_rounds_only_review() {
    let repo = Repo::with(&panel("auto-fix", "exit 7"));
    repo.fix(&["--max-rounds", "0"], 1);
    assert!(repo.new_branches().is_empty());
    assert!(!repo.session().dir().join("fixes").exists());
    assert!(repo.report().contains("The rounds that were allowed"), "{}", repo.report());
}

#[test]
fn a_fixer_that_changes_nothing_ends_the_fix_and_one_that_never_mends_is_not_asked_for_ever() {
    let repo = Repo::with(&panel("auto-fix", "cat > /dev/null; echo nothing to do"));
    repo.fix(&[], 1);
    assert!(repo.report().contains("The fixer changed nothing"), "{}", repo.report());
    assert_eq!(repo.states()["F01"], "sustained");

    let appends = "cat > /dev/null; echo '// a remark' >> src/sum.rs; echo done";
    let repo = Repo::with(&panel("auto-fix", appends));
    let (out, _) = repo.fix(&["--max-rounds", "9"], 5);
    assert!(out.contains("For two rounds the open findings did not become fewer"), "{out}");
    repo.team(&["respond", "latest", "--skip"], 1);
    assert_eq!(repo.new_branches().len(), 1);
    assert_eq!(repo.states()["F01"], "sustained");
}

#[test]
fn what_is_not_committed_is_repaired_on_the_branch_only_and_stays_uncommitted_in_the_work_tree() {
    let repo = Repo::with(&with_fixer(panel("auto-fix", MENDS), MENDS));
    repo.git(&["checkout", "-q", "main"]);
    repo.env.write("src/sum.rs", super::world::FAULTY);
    repo.env.write("src/new.rs", "pub fn new() {}\n");
    let before = repo.of_the_user();
    repo.fix(&["--worktree"], 0);
    assert_eq!(repo.of_the_user(), before);
    let branch = repo.new_branches().remove(0);
    assert_eq!(repo.git(&["show", &format!("{branch}:src/sum.rs")]), MENDED.trim_end());
    assert_eq!(repo.git(&["show", &format!("{branch}:src/new.rs")]), "pub fn new() {}");
    assert_eq!(repo.git(&["rev-parse", &format!("{branch}~2")]), repo.git(&["rev-parse", "main"]));
    assert!(repo.report().contains("holds what you had not committed"), "{}", repo.report());
}
