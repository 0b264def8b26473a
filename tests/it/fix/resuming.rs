//! A fix that was killed goes on, and nobody who was done is asked again.

use nix::sys::signal::Signal;

use super::world::{MENDED, MENDS, Repo, panel};
use crate::support::wait_until;

/// Where a fix is killed.
pub(crate) const PLACES: [&str; 23] = [
    "fix-tip-made",
    "fix-begun",
    "inner-recorded",
    "ledger-written",
    "ledger-written:2",
    "consolidated-written",
    "fix-reviewed",
    "inner-folder:2",
    "fix-folder",
    "slot-started:4",
    "fix-turn-over",
    "fix-attempted",
    "fix-advanced",
    "ledger-written:3",
    "fix-committed",
    "ledger-written:4",
    "fix-reviewed:2",
    "fix-stopped",
    "fix-branch-made",
    "fix-published",
    "verdict-json:2",
    "session-verdict",
    "close-recorded:3",
];

/// Kills a fix at `point`, and resumes it.
#[track_caller]
fn cut_off_at(point: &str) {
    let script = format!("echo x >> \"$HOME/asked\"; {MENDS}");
    let repo = Repo::with(&panel("auto-fix", &script));
    let before = repo.of_the_user();
    let command = ["fix", "--test", "grep -q copied src/sum.rs"];
    let output = repo.env.team(&command).env("TEAM_FAULT_POINT", point).output().unwrap();
    assert_eq!(output.status.code(), None, "it was not killed at {point}");
    let (_, told) = repo.team(&["resume", "latest"], 0);
    assert_eq!(repo.of_the_user(), before);
    let asked = std::fs::read_to_string(repo.env.home().join("asked")).unwrap();
    assert_eq!(asked.lines().count(), 1, "the fixer is asked once, killed at {point}\n{told}");
    let branches = repo.new_branches();
    assert_eq!(branches.len(), 1);
    assert_eq!(repo.git(&["show", &format!("{}:src/sum.rs", branches[0])]), MENDED.trim_end());
    assert_eq!(repo.git(&["rev-list", "--count", &format!("topic..{}", branches[0])]), "1");
    assert_eq!(repo.states(), [("F01".to_owned(), "verified".to_owned())].into());
}

#[test]
fn killed_before_the_vote_it_goes_on_to_the_same_end() {
    PLACES[0..6].iter().for_each(|point| cut_off_at(point));
}

#[test]
fn killed_while_it_is_mended_it_goes_on_to_the_same_end() {
    PLACES[6..12].iter().for_each(|point| cut_off_at(point));
}

#[test]
fn killed_between_the_repair_and_its_review_it_goes_on_to_the_same_end() {
    PLACES[12..18].iter().for_each(|point| cut_off_at(point));
}

#[test]
fn killed_at_its_end_it_goes_on_to_the_same_end() {
    PLACES[18..23].iter().for_each(|point| cut_off_at(point));
}

#[test]
fn what_a_killed_fixer_did_is_put_aside_and_the_round_begins_anew() {
    let once = "test -e \"$HOME/again\" || { echo half >> src/sum.rs; touch \"$HOME/again\"; sleep 60; }";
    let repo = Repo::with(&panel("auto-fix", &format!("{once}; {MENDS}")));
    let mut running = repo.env.start(&["fix"]);
    let begun = repo.env.home().join("again");
    wait_until("the fixer's first words", || begun.exists().then_some(()));
    running.signal(Signal::SIGKILL);
    running.wait();
    let session = repo.session();
    let (_, err) = repo.team(&["resume", "latest"], 0);
    assert!(err.contains("going on with"), "{err}");
    let left = session.text("fixes/1/left-1/src/sum.rs");
    assert!(left.ends_with("half\n"), "{left}");
    assert_eq!(repo.states()["F01"], "verified");
}
