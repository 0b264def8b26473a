//! The base that a CI names.

use super::world::{Repo, panel};
use crate::support::TestEnv;

/// A clone, as a CI makes it of a pull request: `HEAD` is its merge into `main`, which has moved on.
fn pull_request(environment: &[(&str, &str)], event: &str) -> (Repo, Repo, String) {
    let origin = Repo::changed(&panel(&["APPROVE", "APPROVE"]));
    let head = origin.head();
    origin.git(&["checkout", "-q", "main"]);
    origin.write("other.txt", "by somebody else\n");
    origin.commit("main moves on");
    origin.git(&["checkout", "-q", "-b", "merge"]);
    origin.git(&["merge", "-q", "--no-ff", "-m", "merge", "topic"]);
    let env = environment.iter().fold(TestEnv::new(), |env, (name, value)| env.set(name, value));
    let path = env.home().join("event.json");
    std::fs::write(&path, event.replace("HEAD_SHA", &head)).unwrap();
    let clone = Repo { env: env.set("GITHUB_EVENT_PATH", path.to_str().unwrap()) };
    clone.git(&["clone", "-q", "--branch", "merge", origin.env.project().to_str().unwrap(), "."]);
    clone.git(&["checkout", "-q", "--detach"]);
    (clone, origin, head)
}

const PULL_REQUEST: &str = r#"{"pull_request": {"base": {"sha": "1234567"}, "head": {"sha": "HEAD_SHA"}}}"#;

#[test]
fn a_pull_request_is_compared_with_its_target_and_its_own_commit_is_named() {
    let ci = [("GITHUB_ACTIONS", "true"), ("GITHUB_BASE_REF", "main"), ("GITHUB_EVENT_NAME", "pull_request")];
    let (clone, _origin, head) = pull_request(&ci, PULL_REQUEST);
    let report = clone.report(&[], 0);
    assert_eq!(report["subject"]["base"], "origin/main");
    assert_eq!(report["subject"]["head"], clone.head());
    assert_eq!(report["subject"]["pullRequestHead"], head);
    let files = report["files"].as_array().unwrap();
    assert_eq!((files.len(), &files[0]["path"]), (1, &"src/lib.rs".into()), "not what `main` changed");
    let verdict = clone.env.session().text("verdict.md");
    assert!(verdict.contains(&format!("the merge of `{head}` into its base")), "{verdict}");
}

#[test]
fn a_checkout_that_is_not_the_pull_request_is_refused_and_not_passed_as_unchanged() {
    let ci = [("GITHUB_ACTIONS", "true"), ("GITHUB_BASE_REF", "main"), ("GITHUB_EVENT_NAME", "pull_request_target")];
    let (clone, _origin, _) = pull_request(&ci, PULL_REQUEST);
    clone.git(&["checkout", "-q", "origin/main"]);
    let (_, err) = clone.gate(&[], 2);
    assert!(err.contains("is not the pull request") && err.contains("pull_request_target"), "{err}");
}

#[test]
fn a_push_to_the_default_branch_whose_last_state_is_not_here_is_refused() {
    let ci = [("GITHUB_ACTIONS", "true"), ("GITHUB_REF", "refs/heads/main")];
    let event = r#"{"before": "1234567890123456789012345678901234567890", "repository": {"default_branch": "main"}}"#;
    let (clone, _origin, _) = pull_request(&ci, event);
    clone.git(&["checkout", "-q", "origin/main"]);
    let (_, err) = clone.gate(&[], 2);
    assert!(err.contains("is not in this clone") && err.contains("`1234567890"), "{err}");
}

#[test]
fn a_merge_request_of_gitlab_is_compared_with_its_target_or_where_it_left_it() {
    let ci = [("GITLAB_CI", "true"), ("CI_MERGE_REQUEST_IID", "7"), ("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main")];
    let (clone, _origin, _) = pull_request(&ci, "{}");
    assert_eq!(clone.report(&[], 0)["subject"]["base"], "origin/main");
    let left = clone.git(&["merge-base", "origin/main", "origin/topic"]);
    clone.git(&["remote", "remove", "origin"]);
    let (_, err) = clone.gate(&[], 2);
    assert!(err.contains("the base that GitLab CI names is not in this clone"), "{err}");
    let clone = Repo { env: clone.env.set("CI_MERGE_REQUEST_DIFF_BASE_SHA", &left) };
    assert_eq!(clone.report(&[], 0)["subject"]["baseCommit"], left);
}

#[test]
fn without_a_ci_the_default_branch_of_origin_is_the_base() {
    let (clone, origin, _) = pull_request(&[], "{}");
    origin.git(&["branch", "-m", "main", "trunk"]);
    clone.git(&["fetch", "-q", "--prune", "origin"]);
    clone.git(&["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk"]);
    assert_eq!(clone.report(&[], 0)["subject"]["base"], "origin/trunk");
}
