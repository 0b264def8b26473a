//! Where the result of a review goes.

use serde_json::Value;

use super::world::{Repo, good_panel};
use crate::support::finish;

#[test]
fn each_sustained_finding_is_one_result_for_ci_with_the_same_fingerprint_in_every_run() {
    let repo = Repo::with(&good_panel());
    let files = ["--sarif", "out/r.sarif", "--junit", "out/r.xml", "--gitlab", "out/r.json", "--markdown", "out/r.md"];
    repo.review(&files, 1);
    let read = |name: &str| std::fs::read_to_string(repo.env.path(&format!("out/{name}"))).unwrap();
    let sarif: Value = serde_json::from_str(&read("r.sarif")).unwrap();
    let results = sarif["runs"][0]["results"].as_array().unwrap().clone();
    assert_eq!(results.len(), 1, "{results:#?}");
    let place = &results[0]["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "src/sum.rs");
    assert_eq!(place["region"]["startLine"], 3);
    assert!(read("r.xml").contains("never summed") && read("r.md").contains("never summed"));
    let issues: Value = serde_json::from_str(&read("r.json")).unwrap();
    assert_eq!(issues.as_array().unwrap().len(), 1);
    repo.review(&files, 1);
    let again: Value = serde_json::from_str(&read("r.sarif")).unwrap();
    assert_eq!(again["runs"][0]["results"][0]["partialFingerprints"], results[0]["partialFingerprints"]);
}

#[test]
fn json_is_one_object_and_outputs_are_written_when_no_review_can_be_held() {
    let repo = Repo::with(&good_panel());
    let (out, _) = repo.review(&["--json"], 1);
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&report["outcome"], &report["exitCode"]), (&Value::from("rejected"), &Value::from(1)));
    assert_eq!(report["findings"]["findings"].as_array().unwrap().len(), 2);
    repo.review(&["--diff", "nothing", "--junit", "out/r.xml"], 2);
    assert!(std::fs::read_to_string(repo.env.path("out/r.xml")).unwrap().contains("names no commit here"));
}

#[test]
fn an_estimate_asks_nobody_and_makes_no_session() {
    let repo = Repo::with(&good_panel());
    let (out, _) = repo.review(&["--estimate"], 0);
    assert!(out.contains("slot") && out.contains("judge"), "{out}");
    assert!(repo.env.sessions().is_empty());
}

#[test]
fn a_review_is_shown_listed_and_told_as_other_sessions_are_and_names_come_with_the_verdict() {
    let repo = Repo::with(&good_panel());
    let (_, err) = repo.review(&["--name", "my branch"], 1);
    let before = err.lines().take_while(|line| !line.starts_with("blocked")).collect::<Vec<_>>().join("\n");
    for name in ["ra ", "rb ", "rc "] {
        assert!(!before.contains(name), "{before}");
    }
    let session = repo.session();
    let (status, _) = finish(&repo.env, &["status"], 0);
    assert!(status.contains("reviews/impl-review  completed"), "{status}");
    assert!(status.contains("reviews/impl-review/judging  completed"), "{status}");
    let (list, _) = finish(&repo.env, &["list"], 0);
    assert!(list.contains("review-my-branch-"), "{list}");
    let (shown, _) = finish(&repo.env, &["show"], 0);
    assert!(shown.contains("never summed") && shown.contains("response-01.md"), "{shown}");
    let (revealed, _) = finish(&repo.env, &["show", "--reveal"], 0);
    assert!(["ra", "rb", "rc"].iter().all(|name| revealed.contains(&format!("  {name}\n"))), "{revealed}");
    let (slot, _) = finish(&repo.env, &["show", "latest", "01"], 0);
    assert!(slot.contains("I looked at all of it."), "{slot}");
    let meta = session.json("session-meta.json");
    assert_eq!(meta["phases_completed"], serde_json::json!(["init", "review", "vote", "report"]));
    assert_eq!(meta["models_used"], serde_json::json!(["ra", "rb", "rc"]));
    let report = session.text("report.md");
    assert!(report.contains("## Reviewers") && report.contains("| 01 |"), "{report}");
    let (_, err) = finish(&repo.env, &["judge"], 2);
    assert!(err.contains("is a review"), "{err}");
    finish(&repo.env, &["verify"], 0);
}
