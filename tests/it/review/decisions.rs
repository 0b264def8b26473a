//! What a review comes to.

use serde_json::Value;

use super::world::{Repo, finding, finds, good_panel, invented, planted, reply, reviewers};
use crate::support::finish;

/// Standing by title, as the ledger leaves it.
fn standings(session: &crate::support::Session) -> Vec<(String, String)> {
    let mut titles = std::collections::BTreeMap::new();
    let mut found = std::collections::BTreeMap::new();
    for line in session.text("findings.jsonl").lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let id = line["finding"].as_str().unwrap_or_default().to_owned();
        match line["entry"].as_str().unwrap() {
            "raised" => drop(titles.insert(id, line["content"]["title"].as_str().unwrap().to_owned())),
            "opened" => {}
            other => drop(found.insert(id, other.to_owned())),
        }
    }
    found.into_iter().map(|(id, state)| (titles[&id].clone(), state)).collect()
}

#[test]
fn a_planted_fault_survives_the_vote_and_an_invented_one_dies_in_it() {
    let repo = Repo::with(&good_panel());
    let (out, err) = repo.review(&["--intent", "sums all items"], 1);
    let session = repo.session();
    let mut standings = standings(&session);
    standings.sort();
    assert_eq!(
        standings,
        [
            ("SQL injection in the query".to_owned(), "rejected".to_owned()),
            ("The last item is never summed".to_owned(), "sustained".to_owned()),
        ]
    );
    let verdict = session.json("verdict.json");
    assert_eq!(verdict["decision"], "blocked");
    assert!(err.contains("blocked: 1 finding"), "{err}");
    assert!(out.contains("The last item is never summed"), "{out}");
    // What is reviewed is in every prompt, and nobody's findings are in that of whoever raised them.
    let panel = session.round("reviews/impl-review");
    let prompt = panel.text("input.md");
    for part in ["items.len() - 1", "sums all items", "findings"] {
        assert!(prompt.contains(part), "{part}\n{prompt}");
    }
    assert_eq!(session.text("diff.patch").matches("items.len() - 1").count(), 1);
    let (checked, _) = finish(&repo.env, &["verify"], 0);
    assert!(checked.contains("verified"), "{checked}");
}

#[test]
fn what_a_reviewer_sees_is_the_commit_that_is_reviewed_and_no_session() {
    let config = reviewers(&[
        &["print-file src/sum.rs", &finds(&[])],
        &["print-file src/sum.rs", &finds(&[])],
        &["print-file src/sum.rs", &finds(&[])],
    ]);
    let repo = Repo::with(&config);
    repo.env.write("src/sum.rs", "not committed\n");
    repo.env.write(".env", "KEY=1\n");
    let (_, err) = repo.review(&[], 0);
    assert!(err.contains("not committed were not looked at"), "{err}");
    let session = repo.session();
    for slot in ["01", "02", "03"] {
        let text = session.text(&format!("reviews/impl-review/response-{slot}.md"));
        assert!(text.contains("items.len() - 1"), "{text}");
    }
    assert!(!session.has("workspace/ai-docs") && !session.has("workspace/.env"));
    assert!(!session.has("reviews/impl-review/judging"), "there was nothing to vote on");
    assert_eq!(session.json("verdict.json")["decision"], "passed");
    finish(&repo.env, &["verify"], 0);
}

#[test]
fn a_reviewer_in_prose_is_asked_once_more_then_anew_and_then_given_up() {
    let good = finds(&[planted()]);
    let repo = Repo::with(&reviewers(&[&[&good, "weigh sustain"], &[&good, "weigh sustain"], &["print placeholder"]]));
    let marks = |name: &str| repo.env.path(&format!("../{name}")).display().to_string();
    let prose = "I found nothing at all, all is well.";
    let config = reviewers(&[
        &[&good, "weigh sustain"],
        // Readable when asked once more.
        &[&format!("nth {} {prose} ;; {}", marks("b"), reply(&[planted()])), "weigh sustain"],
        // Only when asked anew.
        &[&format!("nth {} {prose} ;; {prose} ;; {}", marks("c"), reply(&[])), "weigh sustain"],
        // Never.
        &[&format!("nth {} {prose}", marks("d")), "weigh sustain"],
    ]);
    repo.env.write("team.toml", config.text());
    repo.review(&[], 1);
    let session = repo.session();
    let verdict = session.json("verdict.json");
    assert_eq!((&verdict["seats"]["panel"], &verdict["seats"]["usable"]), (&Value::from(4), &Value::from(3)));
    let asked = |name: &str| std::fs::read(marks(name)).unwrap().len();
    assert_eq!([asked("b"), asked("c"), asked("d")], [2, 3, 3]);
    let panel = session.round("reviews/impl-review");
    let fresh = panel.round("fresh");
    assert_eq!(fresh.json("status.json")["models"].as_object().unwrap().len(), 2);
    let anew = fresh.json("status.json")["models"].as_object().unwrap().keys().next().unwrap().clone();
    assert_eq!(fresh.text(&format!("prompt-{anew}.md")), panel.text("input.md"));
    let told = session.text("verdict.md");
    assert!(told.contains("bad_output"), "{told}");
    finish(&repo.env, &["verify"], 0);
}

#[test]
fn no_reviewer_that_can_be_read_is_an_error_and_never_nothing_found() {
    let repo = Repo::with(&reviewers(&[&["answer All is well."], &["answer Fine."]]));
    let (_, err) = repo.review(&[], 4);
    assert!(err.contains("nothing usable: 0 of 2 reviewers"), "{err}");
    finish(&repo.env, &["verify"], 0);
}

#[test]
fn fewer_reviewers_than_the_quorum_decide_nothing_and_strict_wants_all() {
    let config = reviewers(&[&[&finds(&[])], &["exit 3"], &["exit 3"]]);
    let repo = Repo::with(&config);
    let (_, err) = repo.review(&[], 3);
    assert!(err.contains("inconclusive: 1 of 3 reviewers"), "{err}");
    repo.review(&["--quorum", "1"], 0);
    repo.review(&["--quorum", "1", "--strict"], 4);
    let (_, err) = repo.review(&["--quorum", "4"], 2);
    assert!(err.contains("the quorum is 4, and this panel has 3 reviewers"), "{err}");
}

#[test]
fn a_finding_that_nobody_votes_on_needs_a_person_and_is_not_cleared_by_silence() {
    let repo = Repo::with(&reviewers(&[
        &[&finds(&[planted()]), "weigh sustain"],
        &[&finds(&[]), "weigh garbage"],
        &[&finds(&[]), "weigh garbage"],
    ]));
    let (_, err) = repo.review(&[], 3);
    assert!(err.contains("a person must decide"), "{err}");
}

#[test]
fn the_bar_decides_what_stops_a_change() {
    let low = finding("low", "src/sum.rs", 2, "A name that says little", "`total` could be `sum`.");
    let config = reviewers(&[
        &[&finds(std::slice::from_ref(&low)), "weigh sustain"],
        &[&finds(&[low]), "weigh sustain"],
        &[&finds(&[]), "weigh reject"],
    ]);
    let repo = Repo::with(&config);
    repo.review(&[], 0);
    repo.review(&["--fail-on", "low"], 1);
    // Found by two, rejected by the third: two of three stand behind it.
    repo.review(&["--fail-on", "low:strong"], 1);
    repo.review(&["--fail-on", "low:unanimous"], 0);
    let (_, err) = repo.review(&["--fail-on", "worst"], 2);
    assert!(err.contains("`worst` is none of"), "{err}");
}

#[test]
fn a_panel_whose_findings_nobody_could_vote_on_is_refused_before_anybody_is_asked() {
    let config = reviewers(&[&[&finds(&[invented()])]]).panel(&["ra", "ra"]);
    let repo = Repo::with(&config);
    let (_, err) = repo.review(&[], 2);
    assert!(err.contains("--self-vote slot"), "{err}");
    assert!(repo.env.sessions().is_empty());
}
