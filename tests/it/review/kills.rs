//! A review is killed at every named place; resumed, it comes to the same, and nobody who was done is asked again.

use super::world::{Repo, finds, planted, reply, reviewers};
use crate::support::{TestEnv, finish};

/// Places in the order in which a review comes to them.
pub(crate) const PLACES: [&str; 34] = [
    "session-made",
    "workspace-copied",
    "workspace-named",
    "workspace-recorded",
    "inner-folder",
    "inner-recorded",
    "panel-input:2",
    "panel-manifest:2",
    "panel-recorded:2",
    "slot-started:2",
    "answer-named:2",
    "slot-end-recorded:3",
    "panel-done",
    "turn-folder",
    "turn-recorded",
    "prompt-written",
    "turn-closed",
    "turn-tied",
    "ledger-written",
    "ledger-recorded",
    "round-folder",
    "round-recorded",
    "ballot-recorded:5",
    "votes-written",
    "verdict-json",
    "round-closed",
    "round-tied",
    "ledger-written:2",
    "ledger-recorded:2",
    "consolidated-written",
    "consolidated-recorded",
    "inner-closed",
    "inner-tied",
    "session-verdict",
];

fn world() -> Repo {
    let repo = Repo::with(&reviewers(&[&["print placeholder"]]));
    let outside = |name: &str| repo.env.path(&format!("../{name}")).display().to_string();
    let noted = |name: &str| format!("note {}", outside(name));
    let good = finds(&[planted()]);
    let mended = format!("nth {} All is well. ;; {}", outside("turns"), reply(&[planted()]));
    let config = reviewers(&[
        &[&noted("a"), &good, "weigh sustain"],
        &[&noted("b"), &mended, "weigh sustain"],
        &[&noted("c"), &finds(&[]), "weigh sustain"],
    ]);
    repo.env.write("team.toml", config.text());
    repo
}

/// What each seat was asked, once for each time.
fn asked(env: &TestEnv) -> Vec<String> {
    let mut asked: Vec<String> = ["a", "b", "c"]
        .iter()
        .flat_map(|name| {
            let notes = std::fs::read_to_string(env.path(&format!("../{name}"))).unwrap_or_default();
            notes.lines().map(|line| format!("{name} {}", line.split(' ').next().unwrap())).collect::<Vec<_>>()
        })
        .collect();
    asked.sort();
    asked
}

#[track_caller]
fn cut_off_at(point: &str) {
    let repo = world();
    let env = &repo.env;
    let output = env.team(&["review"]).env("TEAM_FAULT_POINT", point).output().unwrap();
    assert_eq!(output.status.code(), None, "{point}: {}", String::from_utf8_lossy(&output.stderr));
    env.wait_for_no_processes();
    let (told, _) = finish(env, &["verify"], 0);
    assert!(told.contains("interrupted"), "{point}: {told}");
    let (status, _) = finish(env, &["status"], 0);
    assert!(status.contains("interrupted"), "{point}: {status}");
    let before = asked(env);
    finish(env, &["resume"], 1);
    let session = env.session();
    assert_eq!(session.json("verdict.json")["decision"], "blocked", "{point}");
    let ledger = session.text("findings.jsonl");
    assert_eq!(ledger.lines().count(), 3, "{point}: opened, raised, sustained\n{ledger}");
    // At most the one that was being asked when it was cut off is asked again.
    let after = asked(env);
    let whole = ["a answer", "b answer", "b answer", "c answer", "c weighing"];
    let again = after.len() - whole.len();
    assert!(again <= 3 && (again == 0 || before.len() < whole.len()), "{point}: {before:?} {after:?}");
    for one in whole {
        assert!(after.iter().any(|asked| asked == one), "{point}: {after:?}");
    }
    finish(env, &["verify"], 0);
    finish(env, &["resume"], 1);
    assert_eq!(asked(env), after, "{point}: nothing is left to ask");
}

#[test]
fn a_review_that_is_cut_off_while_a_judge_is_asked_once_more_goes_on() {
    for point in ["turn-folder", "turn-recorded", "prompt-written:3", "ballot-recorded:6", "turn-closed", "turn-tied"] {
        let repo = Repo::with(&reviewers(&[&["print placeholder"]]));
        let notes = ["a", "b", "c"].map(|name| repo.env.path(&format!("../{name}")));
        let [a, b, c] = notes.each_ref().map(|path| format!("note {}", path.display()));
        let config = reviewers(&[
            &[&a, &finds(&[planted()]), "weigh sustain"],
            &[&b, &finds(&[]), "weigh first garbage", "weigh again sustain"],
            &[&c, &finds(&[]), "weigh sustain"],
        ]);
        repo.env.write("team.toml", config.text());
        let output = repo.env.team(&["review"]).env("TEAM_FAULT_POINT", point).output().unwrap();
        assert_eq!(output.status.code(), None, "{point}: {}", String::from_utf8_lossy(&output.stderr));
        repo.env.wait_for_no_processes();
        finish(&repo.env, &["verify"], 0);
        finish(&repo.env, &["resume"], 1);
        assert_eq!(asked(&repo.env), ["a answer", "b answer", "b reweighing", "b weighing", "c answer", "c weighing"]);
        let (checked, _) = finish(&repo.env, &["verify"], 0);
        assert!(checked.contains("verified"), "{point}: {checked}");
        let told = repo.session().text("reviews/impl-review/consolidated.md");
        assert!(told.contains("once more for its votes on F01: 1 of 1 came"), "{point}: {told}");
    }
}

#[test]
fn a_review_that_is_cut_off_before_anybody_answered_goes_on() {
    PLACES[..10].iter().for_each(|point| cut_off_at(point));
}

#[test]
fn a_review_that_is_cut_off_while_reviewers_answer_goes_on() {
    PLACES[10..20].iter().for_each(|point| cut_off_at(point));
}

#[test]
fn a_review_that_is_cut_off_in_its_vote_goes_on() {
    PLACES[20..28].iter().for_each(|point| cut_off_at(point));
}

#[test]
fn a_review_that_is_cut_off_when_its_vote_is_over_goes_on() {
    PLACES[28..].iter().for_each(|point| cut_off_at(point));
}

#[test]
fn what_is_no_regular_file_in_the_place_of_a_prompt_is_not_read() {
    let repo = world();
    let env = &repo.env;
    env.team(&["review"]).env("TEAM_FAULT_POINT", "slot-started:2").output().unwrap();
    env.wait_for_no_processes();
    let prompt = env.session().path("reviews/impl-review/input.md");
    std::fs::remove_file(&prompt).unwrap();
    nix::unistd::mkfifo(&prompt, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let (_, err) = finish(env, &["resume"], 6);
    assert!(err.contains("input.md` is no regular file"), "{err}");
}
