//! A fix that was stopped where work was done already, or whose result could not be handed over: nothing of it is lost,
//! nobody is asked again, and the record stays whole.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;

use nix::sys::signal::Signal;
use nix::sys::stat::Mode;

use super::world::{MENDED, MENDS, Repo, panel};
use crate::support::{Background, finish, wait_until};

/// A test of a result that says when it is at work, and waits at a gate unless that is open.
const HELD: &str =
    "test -e \"$HOME/open\" || { touch \"$HOME/testing\"; cat \"$HOME/gate\"; }; grep -q copied src/sum.rs";

/// A world with the gate closed, in which the fixer notes each time that it is asked.
fn held(fixer: &str) -> Repo {
    let repo = Repo::with(&panel("auto-fix", &format!("echo x >> \"$HOME/asked\"; {fixer}")));
    nix::unistd::mkfifo(&repo.env.home().join("gate"), Mode::S_IRWXU).unwrap();
    repo
}

/// A fix whose result is being tested.
fn tested(repo: &Repo) -> Background {
    let running = repo.env.start(&["fix", "--test", HELD]);
    let testing = repo.env.home().join("testing");
    wait_until("the test of the result", || testing.exists().then_some(()));
    running
}

fn asked(repo: &Repo) -> usize {
    std::fs::read_to_string(repo.env.home().join("asked")).unwrap().lines().count()
}

/// The attempts on record: round, number, end.
fn attempts(repo: &Repo) -> Vec<String> {
    let events = repo.session().events();
    let attempts = events.iter().filter(|event| event["step"] == "attempted");
    attempts.map(|step| format!("{} {} {}", step["round"], step["attempt"], step["end"].as_str().unwrap())).collect()
}

#[track_caller]
fn ends_well(repo: &Repo) {
    let (_, told) = repo.team(&["resume", "latest"], 0);
    let branches = repo.new_branches();
    assert_eq!(branches.len(), 1, "{told}");
    assert_eq!(repo.git(&["show", &format!("{}:src/sum.rs", branches[0])]), MENDED.trim_end());
    assert_eq!(repo.states(), [("F01".to_owned(), "verified".to_owned())].into());
    repo.team(&["verify"], 0);
}

#[track_caller]
fn stopped_while_it_is_tested(signal: Signal, code: Option<i32>) {
    let repo = held(MENDS);
    let mut running = tested(&repo);
    running.signal(signal);
    assert_eq!(running.wait().code(), code, "{}", running.stderr());
    repo.env.wait_for_no_processes();
    repo.team(&["verify"], 0);
    std::fs::write(repo.env.home().join("open"), "").unwrap();
    ends_well(&repo);
    assert_eq!(asked(&repo), 1, "the fixer had done its work");
    assert_eq!(attempts(&repo), ["1 1 sound"]);
    assert!(!repo.session().has("fixes/1/left-1"), "nothing was dropped");
}

#[test]
fn an_interrupt_while_the_result_is_tested_has_it_tested_again() {
    stopped_while_it_is_tested(Signal::SIGINT, Some(130));
}

#[test]
fn a_kill_while_the_result_is_tested_has_it_tested_again() {
    stopped_while_it_is_tested(Signal::SIGKILL, None);
}

#[test]
fn a_second_turn_after_an_interrupt_is_on_a_record_that_was_opened_again() {
    let bad_then_good = format!(
        "test -e \"$HOME/once\" || {{ touch \"$HOME/once\"; echo // >> src/sum.rs; echo done; exit 0; }}; {MENDS}"
    );
    let repo = held(&bad_then_good);
    let mut running = tested(&repo);
    running.signal(Signal::SIGTERM);
    assert_eq!(running.wait().code(), Some(143), "{}", running.stderr());
    std::fs::write(repo.env.home().join("open"), "").unwrap();
    ends_well(&repo);
    assert_eq!(asked(&repo), 2);
    assert_eq!(attempts(&repo), ["1 1 unsound", "1 2 sound"]);
    let session = repo.session();
    assert!(session.text("fixes/1/left-1/src/sum.rs").ends_with("//\n"), "what did not pass is kept");
    assert!(repo.report().contains("fixes/1/left-1 "), "{}", repo.report());
    let events = session.round("fixes/1").events();
    let names: Vec<&str> = events.iter().filter_map(|event| event["event"].as_str()).collect();
    let closed = names.iter().position(|name| *name == "closed").unwrap();
    assert_eq!(names[closed + 1], "reopened", "{names:?}");
}

#[test]
fn what_the_fixer_had_done_when_the_time_was_over_is_kept_and_named() {
    let repo = held(MENDS);
    let mut running = tested(&repo);
    running.signal(Signal::SIGINT);
    running.wait();
    repo.team(&["resume", "latest", "--deadline", "1s"], 1);
    let session = repo.session();
    assert_eq!(session.text("fixes/1/left-1/src/sum.rs"), MENDED);
    assert!(repo.report().contains("fixes/1/left-1 "), "{}", repo.report());
    repo.team(&["verify"], 0);
}

#[test]
fn a_branch_that_cannot_be_made_leaves_the_fix_unfinished_and_resume_makes_it() {
    let repo = held(MENDS);
    let output = repo.env.team(&["fix"]).env("TEAM_FAULT_POINT", "fix-stopped").output().unwrap();
    assert_eq!(output.status.signal(), Some(9));
    let id = repo.session().id();
    let lock = repo.env.path(&format!(".git/refs/heads/team/{id}.lock"));
    std::fs::create_dir_all(lock.parent().unwrap()).unwrap();
    std::fs::write(&lock, "").unwrap();
    for _ in 0..2 {
        let (_, told) = repo.team(&["resume", "latest"], 70);
        assert!(told.contains(&format!("cannot make the branch `team/{id}`")), "{told}");
        assert!(told.contains("team resume"), "{told}");
        assert_eq!(repo.session().json("session-meta.json")["status"], "failed");
        let (status, _) = repo.team(&["status", "latest"], 0);
        assert!(status.contains("failed"), "{status}");
        let (list, _) = repo.team(&["list"], 0);
        assert!(list.contains("failed"), "{list}");
        let (report, _) = repo.team(&["report", "--text", "latest"], 0);
        assert!(!report.contains("team judge"), "{report}");
        repo.team(&["verify"], 0);
    }
    assert!(!repo.session().has("report.md"));
    std::fs::remove_file(&lock).unwrap();
    ends_well(&repo);
    assert_eq!(asked(&repo), 1);
    assert_eq!(repo.session().json("session-meta.json")["status"], "completed");
    let (out, told) = repo.team(&["resume", "latest"], 0);
    assert!(told.contains("nothing is left to do") && out.contains("# Fix of"), "{told}\n{out}");
}

#[test]
fn a_branch_in_the_way_of_the_result_is_told_before_anybody_is_asked() {
    let repo = held(MENDS);
    repo.git(&["branch", "team"]);
    let (_, told) = repo.fix(&[], 2);
    assert!(told.contains("has a branch `team`") && told.contains("git branch -m team OTHER"), "{told}");
    assert!(repo.env.sessions().is_empty(), "{told}");
    repo.git(&["branch", "-m", "team", "other"]);
    let output = repo.env.team(&["fix"]).env("TEAM_FAULT_POINT", "fix-reviewed").output().unwrap();
    assert_eq!(output.status.signal(), Some(9));
    repo.git(&["branch", "team"]);
    let (_, told) = repo.team(&["resume", "latest"], 2);
    assert!(told.contains("has a branch `team`"), "{told}");
    assert!(!repo.env.home().join("asked").exists(), "{told}");
    repo.git(&["branch", "-D", "team"]);
    ends_well_beside(&repo);
}

/// The same where another branch was made meanwhile.
#[track_caller]
fn ends_well_beside(repo: &Repo) {
    repo.team(&["resume", "latest"], 0);
    assert!(repo.new_branches().iter().any(|name| name.starts_with("team/fix-")), "{:?}", repo.new_branches());
}

#[test]
fn a_repository_that_cannot_be_written_to_is_told_before_anybody_is_asked() {
    let repo = held(MENDS);
    let wrapper = repo.env.of_ordinary_user();
    let heads = repo.env.path(".git/refs/heads");
    set_mode(&heads, 0o555);
    let wrapper: Vec<&str> = wrapper.iter().map(String::as_str).collect();
    let output = repo.env.command_under(&wrapper, &["fix"]).output().unwrap();
    set_mode(&heads, 0o755);
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains(".git/refs/heads` cannot be written to"), "{told}");
    assert!(repo.env.sessions().is_empty() && !repo.env.home().join("asked").exists(), "{told}");
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_decision_is_not_used_up_where_the_repository_is_none() {
    let repo = Repo::with(&panel("ask-user", MENDS));
    repo.fix(&[], 5);
    let elsewhere = repo.env.path("../elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let named = elsewhere.display().to_string();
    let (_, told) = repo.team(&["respond", "latest", "--fix", "F01", "--repository", &named], 2);
    assert!(told.contains("elsewhere"), "{told}");
    assert_eq!(repo.session().json("session-meta.json")["status"], "awaiting_decision");
    finish(&repo.env, &["respond", "latest", "--fix", "F01"], 0);
    repo.team(&["verify"], 0);
}
