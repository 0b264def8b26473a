//! How a fix ends: its exit code, then and whenever it is asked again; a fixer that a person cancels; a record that
//! checks.

use super::world::{FAULTY, MENDED, MENDS, PLANTED, Repo, WEIGH, finding, looks, panel, with_fixer};
use crate::support::{TeamToml, wait_until};

/// Three reviewers of which the first so many answer in prose.
fn unreadable(count: usize) -> TeamToml {
    let found = looks(&[finding("high", "auto-fix", PLANTED)]);
    let settings = ["ra", "rb", "rc"].iter().enumerate().fold(TeamToml::new(), |settings, (index, name)| {
        let says = if index < count { "answer All is well." } else { found.as_str() };
        settings.agent(name, &[says, WEIGH])
    });
    with_fixer(settings.panel(&["ra", "rb", "rc"]), "touch \"$HOME/asked\"; cat > /dev/null")
}

#[test]
fn exit_codes_are_those_of_the_help_and_resume_repeats_them() {
    for (count, options, code) in
        [(3, &[][..], 4), (2, &[], 3), (1, &["--strict"], 4), (3, &["--strict"], 4), (0, &["--max-rounds", "0"], 1)]
    {
        let repo = Repo::with(&unreadable(count));
        let (out, told) = repo.fix(options, code);
        let (again, note) = repo.team(&["resume", "latest"], code);
        assert_eq!(out, again, "{told}");
        assert!(note.contains("nothing is left to do"), "{note}");
        assert!(!repo.env.home().join("asked").exists(), "{count} {options:?}: nothing can be repaired\n{told}");
        repo.team(&["verify"], 0);
    }
}

#[test]
fn a_fixer_that_changes_nothing_leaves_a_session_that_checks() {
    let repo = Repo::with(&panel("auto-fix", "cat > /dev/null; echo nothing to do"));
    repo.fix(&[], 1);
    let session = repo.session();
    assert_eq!(session.json("verdict.json")["panel"], "reviews/impl-review");
    let (told, _) = repo.team(&["verify"], 0);
    assert!(!told.contains("nothing usable"), "{told}");
    repo.team(&["report", "--text", "latest"], 0);
    let other = session.text("verdict.json").replace("reviews/impl-review", "fixes/1");
    std::fs::write(session.path("verdict.json"), other).unwrap();
    let (out, err) = repo.team(&["verify"], 6);
    assert!(format!("{out}{err}").contains("fixes/1"), "{out}{err}");
}

#[test]
fn a_fixer_that_a_person_cancels_is_not_asked_again_and_a_person_decides() {
    let waits = "echo half >> src/sum.rs; echo x >> \"$HOME/asked\"; cat > /dev/null; exec tail -f /dev/null";
    let repo = Repo::with(&panel("auto-fix", waits));
    let mut running = repo.env.start(&["fix"]);
    let asked = repo.env.home().join("asked");
    wait_until("the fixer at work", || asked.exists().then_some(()));
    let (_, told) = repo.team(&["cancel", "latest", "01"], 0);
    assert!(told.contains("slot 01") && told.contains("is CANCELLED"), "{told}");
    assert_eq!(running.wait().code(), Some(5), "{}", running.stderr());
    assert_eq!(std::fs::read_to_string(&asked).unwrap().lines().count(), 1);
    let session = repo.session();
    assert!(running.stdout().contains("the fixer was cancelled"), "{}", running.stdout());
    assert!(session.text("fixes/1/left-1/src/sum.rs").ends_with("half\n"));
    repo.team(&["verify"], 0);
    repo.team(&["respond", "latest", "--skip"], 1);
    repo.team(&["verify"], 0);
}

/// Runs a line of the report in the project, by a shell.
fn run(repo: &Repo, line: &str) -> std::process::Output {
    let identity = "export GIT_CONFIG_COUNT=2 GIT_CONFIG_KEY_0=user.name GIT_CONFIG_VALUE_0=U GIT_CONFIG_KEY_1=user.email \
                    GIT_CONFIG_VALUE_1=u@example.org;";
    let mut command = std::process::Command::new("sh");
    command.args(["-c", &format!("{identity} {line}")]).current_dir(repo.env.path("src"));
    command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("HOME", repo.env.home());
    command.output().unwrap()
}

/// The lines of the report for a shell, without what is said of them.
fn lines(repo: &Repo) -> Vec<String> {
    let report = repo.report();
    let (_, rest) = report.split_once("```sh\n").unwrap();
    let (block, _) = rest.split_once("```").unwrap();
    block.lines().map(str::to_owned).collect()
}

#[test]
fn the_commands_of_the_report_work_as_they_stand_beside_what_is_not_committed() {
    for taken in [0, 1] {
        let repo = Repo::with(&panel("auto-fix", MENDS));
        repo.git(&["checkout", "-q", "main"]);
        repo.env.write("src/sum.rs", FAULTY);
        repo.env.write("src/new.rs", "pub fn new() {}\n");
        repo.env.write("src/other.rs", "pub fn other() { /* staged */ }\n");
        repo.git(&["add", "src/other.rs"]);
        repo.git(&["config", "diff.noprefix", "true"]);
        repo.fix(&["--worktree"], 0);
        let lines = lines(&repo);
        let output = run(&repo, &lines[taken]);
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}\n{told}", lines[taken]);
        let text = |name: &str| std::fs::read_to_string(repo.env.path(name)).unwrap();
        assert_eq!(text("src/sum.rs"), MENDED);
        assert_eq!(text("src/new.rs"), "pub fn new() {}\n");
        assert!(text("src/other.rs").contains("staged"));
        let status = repo.git(&["status", "--porcelain"]);
        let ahead = repo.git(&["rev-list", "--count", "main"]);
        if taken == 0 {
            assert_eq!((status.as_str(), ahead.as_str()), ("", "3"), "what was not committed, and the repair");
        } else {
            assert!(status.contains("?? src/new.rs") && status.contains("M src/sum.rs"), "{status}");
            assert_eq!(ahead, "1");
        }
        let again = run(&repo, &lines[taken]);
        assert!(!again.status.success(), "nothing is done twice");
        let dropped = run(&repo, &lines[2]);
        assert!(dropped.status.success() && repo.new_branches().is_empty());
    }
}

#[test]
fn the_commands_of_the_report_work_as_they_stand_where_all_is_committed() {
    for taken in [0, 1] {
        let repo = Repo::with(&panel("auto-fix", MENDS));
        repo.fix(&[], 0);
        let lines = lines(&repo);
        for line in [&lines[taken], &lines[2]] {
            let output = run(&repo, line);
            assert!(output.status.success(), "{line}\n{}", String::from_utf8_lossy(&output.stderr));
        }
        assert_eq!(std::fs::read_to_string(repo.env.path("src/sum.rs")).unwrap(), MENDED);
    }
}

#[test]
fn what_nobody_looked_at_is_told_by_the_verdict_of_a_fix() {
    let repo = Repo::with(&panel("auto-fix", MENDS));
    repo.env.write("big.txt", "line of text\n".repeat(400));
    repo.env.write(".env", "A=1\n");
    repo.env.write("image.bin", b"a\0b");
    repo.commit("more than is sent");
    let settings = repo.env.path("team.toml");
    let text = std::fs::read_to_string(&settings).unwrap();
    repo.env.write("team.toml", format!("{text}\n[review]\nmax_bytes = 2000\n"));
    repo.git(&["checkout", "-q", "main"]);
    repo.commit("fewer bytes");
    repo.git(&["checkout", "-q", "topic"]);
    let (out, told) = repo.fix(&[], 0);
    assert!(told.contains("No reviewer was sent 3 of 4 files of the change"), "{told}");
    for text in [repo.report(), repo.session().text("verdict.md"), out] {
        assert!(text.contains("No reviewer was sent 3 of 4 files of the change"), "{text}");
        for name in ["big.txt", ".env", "image.bin"] {
            assert!(text.contains(&format!("- `{name}` (added): ")), "{name}\n{text}");
        }
    }
}
