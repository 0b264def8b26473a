//! A fix that was killed goes on, and nobody who was done is asked again.

use super::world::{MENDED, MENDS, Repo, panel};

/// Runs a fix that is killed at `point`, the `time`-th time it comes there. `false` where it never does.
fn killed(repo: &Repo, point: &str) -> bool {
    let output =
        repo.env.team(&["fix", "--test", "grep -q copied src/sum.rs"]).env("TEAM_FAULT_POINT", point).output().unwrap();
    output.status.code().is_none()
}

/// How often the fixer was asked.
fn asked(repo: &Repo) -> usize {
    std::fs::read_to_string(repo.env.home().join("asked")).unwrap_or_default().lines().count()
}

#[test]
fn killed_at_any_step_of_a_round_it_goes_on_to_the_same_end() {
    for (point, times) in [
        ("fix-tip-made", 1),
        ("fix-begun", 1),
        ("inner-recorded", 1),
        ("ledger-written", 1),
        ("ledger-written:2", 1),
        ("consolidated-written", 1),
        ("fix-reviewed", 1),
        ("inner-folder:2", 1),
        ("fix-folder", 1),
        ("slot-started:4", 1),
        ("fix-turn-over", 1),
        ("fix-attempted", 1),
        ("fix-advanced", 1),
        ("ledger-written:3", 1),
        ("fix-committed", 1),
        ("ledger-written:4", 1),
        ("fix-reviewed:2", 1),
        ("fix-stopped", 1),
        ("fix-branch-made", 1),
        ("fix-published", 1),
        ("verdict-json:2", 1),
        ("session-verdict", 1),
        ("close-recorded:3", 1),
    ] {
        let script = format!("echo x >> \"$HOME/asked\"; {MENDS}");
        let repo = Repo::with(&panel("auto-fix", &script));
        let before = repo.of_the_user();
        if !killed(&repo, point) {
            panic!("`{point}` was not reached");
        }
        let output = repo.env.team(&["resume", "latest"]).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{point}: {told}");
        assert_eq!(repo.of_the_user(), before, "{point}");
        assert_eq!(asked(&repo), times, "{point}: {told}");
        let branches = repo.new_branches();
        assert_eq!(branches.len(), 1, "{point}");
        assert_eq!(repo.git(&["show", &format!("{}:src/sum.rs", branches[0])]), MENDED.trim_end(), "{point}");
        assert_eq!(repo.git(&["rev-list", "--count", &format!("topic..{}", branches[0])]), "1", "{point}");
        assert_eq!(repo.states(), [("F01".to_owned(), "verified".to_owned())].into(), "{point}");
    }
}

#[test]
fn what_a_killed_fixer_did_is_put_aside_and_the_round_begins_anew() {
    let script = format!(
        "test -e \"$HOME/again\" || {{ echo half >> src/sum.rs; touch \"$HOME/again\"; kill -9 $(cat \"$HOME/pid\"); sleep 60; }}; {MENDS}"
    );
    let repo = Repo::with(&panel("auto-fix", &script));
    let home = repo.env.home();
    // The process id of `team` reaches the fixer by a file; a shell that becomes `team` writes it.
    let write = format!("echo $$ > {0}/pid.part && mv {0}/pid.part {0}/pid && exec \"$@\"", home.display());
    let mut running = repo.env.start_under(&["sh", "-c", &write, "sh"], &["fix"]);
    running.wait();
    let session = repo.session();
    let (_, err) = repo.team(&["resume", "latest"], 0);
    assert!(err.contains("going on with"), "{err}");
    let left = session.text("fixes/1/left-1/src/sum.rs");
    assert!(left.ends_with("half\n"), "{left}");
    assert_eq!(repo.states()["F01"], "verified");
}
