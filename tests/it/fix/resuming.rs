//! A fix that was killed goes on, and nobody who was done is asked again.

use nix::sys::signal::Signal;
use rstest::rstest;

use super::world::{MENDED, MENDS, Repo, panel};
use crate::support::wait_until;

#[rstest]
#[case("fix-tip-made")]
#[case("fix-begun")]
#[case("inner-recorded")]
#[case("ledger-written")]
#[case("ledger-written:2")]
#[case("consolidated-written")]
#[case("fix-reviewed")]
#[case("inner-folder:2")]
#[case("fix-folder")]
#[case("slot-started:4")]
#[case("fix-turn-over")]
#[case("fix-attempted")]
#[case("fix-advanced")]
#[case("ledger-written:3")]
#[case("fix-committed")]
#[case("ledger-written:4")]
#[case("fix-reviewed:2")]
#[case("fix-stopped")]
#[case("fix-branch-made")]
#[case("fix-published")]
#[case("verdict-json:2")]
#[case("session-verdict")]
#[case("close-recorded:3")]
fn killed_at_any_step_of_a_round_it_goes_on_to_the_same_end(#[case] point: &str) {
    let script = format!("echo x >> \"$HOME/asked\"; {MENDS}");
    let repo = Repo::with(&panel("auto-fix", &script));
    let before = repo.of_the_user();
    let command = ["fix", "--test", "grep -q copied src/sum.rs"];
    let output = repo.env.team(&command).env("TEAM_FAULT_POINT", point).output().unwrap();
    assert_eq!(output.status.code(), None, "it was not killed there");
    let (_, told) = repo.team(&["resume", "latest"], 0);
    assert_eq!(repo.of_the_user(), before);
    let asked = std::fs::read_to_string(repo.env.home().join("asked")).unwrap();
    assert_eq!(asked.lines().count(), 1, "the fixer is asked once\n{told}");
    let branches = repo.new_branches();
    assert_eq!(branches.len(), 1);
    assert_eq!(repo.git(&["show", &format!("{}:src/sum.rs", branches[0])]), MENDED.trim_end());
    assert_eq!(repo.git(&["rev-list", "--count", &format!("topic..{}", branches[0])]), "1");
    assert_eq!(repo.states(), [("F01".to_owned(), "verified".to_owned())].into());
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
