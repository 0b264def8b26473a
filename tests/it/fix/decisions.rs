//! What only a person can decide parks a fix, and goes on where it was.

use super::world::{MENDED, MENDS, Repo, WEIGH, finding, keys, looks, panel, with_fixer};
use crate::support::{TeamToml, wait_until};

#[test]
fn a_finding_that_asks_for_a_person_is_not_touched_before_that_person_says_so() {
    let noted = format!("grep -q 'keep the name' && {MENDS}");
    let repo = Repo::with(&panel("ask-user", &noted));
    let (out, err) = repo.fix(&[], 5);
    assert!(
        out.contains("# A decision is needed") && out.contains("## F01 (high, sustained) at src/sum.rs:3"),
        "{out}"
    );
    assert!(err.contains("waits for a decision"), "{err}");
    let session = repo.session();
    assert_eq!(session.json("session-meta.json")["status"], "awaiting_decision");
    let (status, _) = repo.team(&["status"], 0);
    assert!(status.contains(&format!("your turn: `team respond {}`", session.id())), "{status}");
    let (status, _) = repo.team(&["status", "--json"], 0);
    let status: serde_json::Value = serde_json::from_str(&status).unwrap();
    assert_eq!(status["turn"], serde_json::json!({ "actor": "person", "number": 1, "certifies": false }));
    assert!(!session.dir().join("fixes").exists());
    // Nobody is named before it is over.
    let told = session.text("reviews/impl-review/consolidated.md");
    let is_named = ["ra", "rb", "rc"]
        .iter()
        .any(|name| told.contains(&format!("| {name} |")) || told.contains(&format!("({name})")));
    assert!(!is_named && told.contains("| named at the end |") && told.contains(" sustains ("), "{told}");
    let other = repo.env.home().join("other").display().to_string();
    repo.git(&["init", "-q", &other]);
    // Asked again it shows the same, and does nothing; neither does a look at it without an answer.
    assert!(repo.team(&["resume", "latest"], 5).0.contains("## F01"));
    assert!(repo.team(&["respond", "latest"], 5).0.contains("## F01"));
    for (wrong, told) in [
        (&["--fix", "F09"][..], "there is no finding F09"),
        (&["--fix", "F01", "--decline", "F01"], "cannot be both"),
        (&["--note", "x"], "nothing is decided"),
        (&["--fix", "f1"], "is not the id of a finding"),
        (&["--reopen", "F01"], "F01 is sustained already"),
        (&["--decline", "F01", "--note", &"x".repeat(1001)], "a note of 1001 characters is too long"),
        (&["--add", "src/sum.rs:none: it leaks"], "`none` is no line of `src/sum.rs`"),
        (&["--add", "../sum.rs:1: it leaks"], "no path inside of the repository"),
        (&["--fix", "F01", "--repository", &other], "is not in the repository at"),
        (&["--fix", "F01", "--repository", "nowhere"], "is not the repository of the fix any more"),
    ] {
        let (_, err) = repo.team(&[&["respond", "latest"], wrong].concat(), 2);
        assert!(err.contains(told), "{told}: {err}");
        assert_eq!(session.json("session-meta.json")["status"], "awaiting_decision");
    }
    let (_, err) = repo.team(&["resume", "latest", "--failed"], 5);
    assert!(!err.contains("is not asked again"), "{err}");
    // Named twice it is one; the branch has moved on since, which is said.
    repo.git(&["commit", "-q", "--allow-empty", "-m", "moved on"]);
    let before = repo.of_the_user();
    let (_, err) = repo.team(&["respond", "latest", "--fix", "F01,F01", "--note", "keep the name"], 0);
    assert!(err.contains("now; the fix goes on from"), "{err}");
    assert_eq!(repo.of_the_user(), before);
    let branch = repo.new_branches().remove(0);
    assert_eq!(repo.git(&["show", &format!("{branch}:src/sum.rs")]), MENDED.trim_end());
    assert_eq!(repo.states()["F01"], "verified");
    assert!(repo.report().contains("repair F01: keep the name"), "{}", repo.report());
    assert!(repo.report().contains("## Who took part\n\n- review 1: reviewers 01 r"), "{}", repo.report());
    assert!(repo.report().contains("\n- fixer: fixer\n"), "{}", repo.report());
    let asked = session.text("reviews/impl-review-2/judging/prompt-01.md");
    assert!(asked.contains("The change that is shown is said to mend it"), "{asked}");
    assert_eq!(repo.session().json("session-meta.json")["status"], "completed");
    let (_, err) = repo.team(&["respond", "latest", "--skip"], 2);
    assert!(err.contains("has ended, and waits for no decision"), "{err}");
    let (_, err) = repo.team(&["respond", "latest"], 2);
    assert!(err.contains("nothing is decided, and"), "{err}");
}

#[test]
fn of_two_who_answer_at_once_one_goes_on_and_the_other_is_told_who_does() {
    let waits = "cat > /dev/null; touch \"$HOME/asked\"; while ! test -e \"$HOME/go\"; do sleep 0.05; done; exit 4";
    let repo = Repo::with(&panel("ask-user", waits));
    repo.fix(&[], 5);
    let mut first = repo.env.start(&["respond", "latest", "--fix", "F01"]);
    let asked = repo.env.home().join("asked");
    wait_until("the fixer", || asked.exists().then_some(()));
    let (status, _) = repo.team(&["status"], 0);
    assert!(status.contains("the fixer's turn, in round 1 of repairs"), "{status}");
    let (_, err) = repo.team(&["respond", "latest", "--decline", "F01"], 2);
    assert!(err.contains("process "), "{err}");
    std::fs::write(repo.env.home().join("go"), "").unwrap();
    first.wait();
    assert_eq!(repo.states()["F01"], "sustained");
    assert!(!repo.env.path("ai-docs/sessions/declines.jsonl").exists());
}

#[test]
fn a_fix_that_was_cut_off_waits_for_no_decision_and_a_run_never_does() {
    let repo = Repo::with(&panel("ask-user", MENDS));
    let output = repo.env.team(&["fix"]).env("TEAM_FAULT_POINT", "ledger-written").output().unwrap();
    assert_eq!(output.status.code(), None);
    let (_, err) = repo.team(&["respond", "latest", "--skip"], 2);
    assert!(err.contains("waits for no decision: it was cut off or stopped"), "{err}");
    repo.team(&["run", "-m", "rc", "hello"], 0);
    let (_, err) = repo.team(&["respond", "latest", "--skip"], 2);
    assert!(err.contains("is neither a fix nor a review"), "{err}");
}

#[test]
fn a_declined_finding_stays_declined_and_the_fix_ends_without_it() {
    let repo = Repo::with(&panel("ask-user", "exit 9"));
    repo.fix(&[], 5);
    repo.team(&["respond", "latest", "--decline", "F01", "--note", "the last one is a sentinel"], 0);
    assert_eq!(repo.states()["F01"], "declined");
    assert!(repo.new_branches().is_empty());
    assert!(repo.report().contains("the last one is a sentinel"), "{}", repo.report());
}

#[test]
fn approve_skip_and_abort_end_it_each_with_words_and_a_code_of_its_own() {
    for (option, code, told) in [
        ("--approve", 0, "took what there is"),
        ("--skip", 1, "left what was still to be decided"),
        ("--abort", 3, "wants nothing of it"),
    ] {
        let repo = Repo::with(&panel("ask-user", "exit 9"));
        repo.fix(&[], 5);
        repo.team(&["respond", "latest", option], code);
        assert!(repo.report().contains(told), "{option}: {}", repo.report());
        assert_eq!(repo.states()["F01"], "sustained", "{option}");
        assert!(repo.new_branches().is_empty());
    }
}

#[test]
fn a_finding_of_a_persons_own_is_repaired_like_one_that_was_voted_for() {
    let writes = "cat > /dev/null; echo '// sums' >> src/sum.rs; echo done";
    let repo = Repo::with(&panel("ask-user", writes));
    repo.fix(&[], 5);
    let add = ["respond", "latest", "--decline", "F01", "--add", "src/sum.rs:1: it says nothing about itself"];
    let (out, err) = repo.team(&add, 0);
    assert!(out.contains("| F02 | high | mended | `src/sum.rs:1` | it says nothing about itself |"), "{out}\n{err}");
    assert_eq!(repo.states(), [("F01", "declined"), ("F02", "verified")].map(|(a, b)| (a.into(), b.into())).into());
}

#[test]
fn yes_consents_to_one_round_and_no_more() {
    let appends = "cat > /dev/null; echo '// a remark' >> src/sum.rs; echo done";
    let repo = Repo::with(&panel("ask-user", appends));
    let (out, _) = repo.fix(&["--yes"], 5);
    assert!(out.contains("# A decision is needed"), "{out}");
    let rounds = std::fs::read_dir(repo.session().dir().join("fixes")).unwrap().count();
    assert_eq!(rounds, 1);
    let repo = Repo::with(&panel("ask-user", MENDS));
    repo.fix(&["--yes"], 0);
    assert_eq!(repo.states()["F01"], "verified");
}

#[test]
fn a_parked_fix_survives_the_move_of_its_folder_and_of_the_repository() {
    let repo = Repo::with(&panel("ask-user", MENDS));
    repo.fix(&[], 5);
    let moved = repo.env.home().join("clone");
    repo.git(&["clone", "-q", ".", moved.to_str().unwrap()]);
    let folder = repo.session().dir().to_owned();
    let elsewhere = repo.env.home().join(folder.file_name().unwrap());
    std::fs::rename(&folder, &elsewhere).unwrap();
    let session = elsewhere.to_str().unwrap();
    repo.team(&["respond", session, "--repository", moved.to_str().unwrap(), "--fix", "F01"], 0);
    assert!(repo.new_branches().is_empty());
    let branches = repo.git(&["-C", moved.to_str().unwrap(), "branch", "--format=%(refname:short)"]);
    assert!(branches.contains("team/fix-"), "{branches}");
}

#[test]
fn only_and_severity_choose_what_is_repaired_without_asking() {
    let found =
        [finding("high", "auto-fix", super::world::PLANTED), finding("low", "auto-fix", "A summed name is short")];
    let settings = TeamToml::new()
        .agent("ra", &[&looks(&found), WEIGH])
        .agent("rb", &[&looks(&found), WEIGH])
        .panel(&["ra", "rb"]);
    let counts = "grep -c '^### F0' >> ../../../../../asked; exit 4";
    let settings = with_fixer(settings, counts).key("fix", keys("fixer = \"fixer\"\nmax_rounds = 1"));
    let repo = Repo::with(&settings);
    let (out, _) = repo.fix(&["--severity", "high"], 5);
    assert!(out.contains("fixer ended with Failed"), "{out}");
    let prompt = repo.session().text("fixes/1/input.md");
    assert!(prompt.contains("### F01") && !prompt.contains("### F02"), "{prompt}");
    let (_, err) = repo.fix(&["--only", "a["], 2);
    assert!(err.contains("`--only`"), "{err}");
    let (out, _) = repo.fix(&["--only", "docs/**"], 5);
    assert!(out.contains("These findings are in the way"), "{out}");
}
