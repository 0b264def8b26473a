//! From a planted fault to a certified branch.

use super::world::{MENDED, MENDS, PLANTED, Repo, SIGN, finding, keys, panel, reply, with_fixer};
use crate::support::{TeamToml, TestEnv};

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
        "| F01 | high | mended | `src/sum.rs:3` | The last item is never summed |".to_owned(),
        "test (`sh -c grep".to_owned(),
    ] {
        assert!(report.contains(&told), "{told}\n{report}");
    }
    assert!(err.contains("1 finding mended"), "{err}");
    let meta = session.json("session-meta.json");
    assert_eq!(meta["status"], "completed");
    assert_eq!(meta["phases_completed"], serde_json::json!(["init", "review", "vote", "fix-1", "certify", "report"]));
    assert!(!session.has("work") && !session.has("errors"), "{:?}", session.files());
    for turn in [
        "review 1: the reviewers' turn, then the judges'",
        "reviewer 01 started",
        "judge 01 started",
        "round 1 of repairs: the fixer's turn",
        "fixer 01 started",
        "certification: reviewers who have seen no repair look at the result",
    ] {
        assert!(err.contains(turn), "{turn}\n{err}");
    }
    let (list, _) = repo.team(&["list"], 0);
    assert!(list.contains("completed  3/3, 0 of 1 open  topic"), "{list}");
    let (list, _) = repo.team(&["list", "--json"], 0);
    let list: serde_json::Value = serde_json::from_str(&list).unwrap();
    let findings = serde_json::json!({ "found": 1, "open": 0, "mended": 1, "declined": 0 });
    assert_eq!((&list[0]["seats"], &list[0]["completed"], &list[0]["findings"]), (&3.into(), &3.into(), &findings));
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

#[test]
fn what_a_repair_brings_is_found_told_as_its_own_and_mended_before_the_result_is_certified() {
    const KEY: &str = "Zq7-given.value/with+signs";
    let mut brought = finding("critical", "auto-fix", &format!("A debugging line prints {KEY}"));
    for (field, said) in [("description", "Whoever calls it sees it."), ("evidence", ""), ("suggestion", "Remove it.")]
    {
        brought[field] = said.into();
    }
    brought["line"] = 4.into();
    let planted = reply(&[finding("high", "auto-fix", PLANTED)]);
    let looks = format!("look src/sum.rs {SIGN} ;; {planted} ;; println ;; {} ;; {}", reply(&[brought]), reply(&[]));
    let weigh = format!("weigh added summed {SIGN} ;; debugging println");
    // Not in a command: those are in the manifest.
    let env = TestEnv::new().set("SOME_API_KEY", KEY);
    let script = format!("@{}", env.write("../script", looks).display());
    let mends = format!(
        "if grep -q println src/sum.rs; then cat > /dev/null; sed -i /println/d src/sum.rs; echo F02: removed; else {MENDS}; echo '// \
         println' >> src/sum.rs; fi"
    );
    let settings = TeamToml::new()
        .agent("ra", &[&script, &weigh])
        .agent("rc", &[&format!("answer {}", reply(&[])), &weigh])
        .agent("rb", &[&format!("answer {}", reply(&[])), &weigh])
        .panel(&["ra", "rb", "rc"]);
    let repo = Repo::of(env, &with_fixer(settings, &mends));
    repo.fix(&[], 0);
    let branch = repo.new_branches().remove(0);
    assert_eq!(repo.git(&["show", &format!("{branch}:src/sum.rs")]), MENDED.trim_end());
    assert_eq!(repo.states(), ["F01", "F02"].map(|id| (id.to_owned(), "verified".to_owned())).into());
    let report = repo.report();
    let first = repo.git(&["rev-parse", &format!("{branch}~1")]);
    let caused = report.split("## Caused by the repairs themselves").nth(1).unwrap();
    let row = caused.lines().find(|line| line.starts_with("| F02 |")).unwrap();
    assert!(row.contains(&first[..7]) && row.contains("mended") && row.contains("debugging line prints"), "{report}");
    assert!(!caused.contains("| F01 |"), "{report}");
    // Whoever certifies looks at all of it, and finds nothing.
    let last = repo.session().round("reviews/impl-review-4");
    assert!(last.text("consolidated.md").contains("o vote was held, for nothing was found"));
    // The fixer is told what to mend, and not the key that a reviewer repeats.
    let asked = repo.session().text("fixes/2/input.md");
    assert!(asked.contains("A debugging line prints [redacted]"), "{asked}");
    for file in repo.session().files() {
        let text = std::fs::read(repo.session().path(&file)).unwrap();
        let is_reply = ["/response-", "work/", "roles/reviewer-"].iter().any(|part| file.contains(part));
        assert!(is_reply || !String::from_utf8_lossy(&text).contains(KEY), "{file}");
    }
    repo.team(&["verify", "latest"], 0);
}
