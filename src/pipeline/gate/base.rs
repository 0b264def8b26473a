//! Which commits a gate compares.
//!
//! The base is named by `--base`, else by what GitHub Actions and GitLab say about the run, else it is the default branch of
//! `origin`. The change is that from the merge base to `HEAD`; settings are those of the base itself, so that nobody goes
//! back to an old commit for more lenient ones. Where a CI says that there is a base and it is not here, nothing else is
//! taken for it.

use std::fmt;
use std::path::Path;

use super::event::Event;
use crate::config::Environment;
use crate::error::{Error, Result};
use crate::git::{Ancestry, CommitId, Git, GitError};

/// Who says what the base is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BaseSource {
    /// The command line.
    Option,
    /// GitHub Actions.
    GitHub,
    /// GitLab CI.
    GitLab,
    /// Git itself.
    Git,
}

/// The commits that are compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revisions {
    /// How the base is called.
    pub base_name: String,
    /// The commit that settings are taken from.
    pub base: CommitId,
    /// Where the branch left it.
    pub merge_base: CommitId,
    /// What is looked at.
    pub head: CommitId,
    /// The last commit of the pull request, where `HEAD` is its merge.
    pub pull_request_head: Option<CommitId>,
    /// Whether the history here is cut off.
    pub shallow: bool,
}

/// A name that the base may have.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Candidate {
    revision: String,
    shown: String,
}

impl Candidate {
    fn new(revision: impl Into<String>, shown: impl Into<String>) -> Self {
        Self { revision: revision.into(), shown: shown.into() }
    }
}

/// Where the base may be, by whom.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Candidates {
    source: BaseSource,
    list: Vec<Candidate>,
    /// The commit that must be a part of what is looked at.
    must_hold: Option<String>,
}

impl Revisions {
    /// Finds them in the repository of `git`.
    pub async fn find(git: &Git, option: Option<&str>, environment: &Environment) -> Result<Self> {
        let head = git.commit("HEAD").await.map_err(ask_failed)?.ok_or_else(|| {
            Error::usage("there is no commit here yet, so nothing can be looked at").hint("commit the change first")
        })?;
        let shallow = git.is_shallow().await.map_err(ask_failed)?;
        let candidates = match option {
            Some(name) => Candidates {
                source: BaseSource::Option,
                list: vec![Candidate::new(name, format!("`{name}`"))],
                must_hold: None,
            },
            None => match from_ci(environment)? {
                Some(candidates) => candidates,
                None => from_git(git).await?,
            },
        };
        let mut found = None;
        for candidate in &candidates.list {
            if let Some(commit) = git.commit(&candidate.revision).await.map_err(ask_failed)? {
                found = Some((candidate, commit));
                break;
            }
        }
        let Some((candidate, base)) = found else { return Err(no_base(&candidates, shallow)) };
        let merge_base = match git.merge_base(&base, &head).await.map_err(ask_failed)? {
            Ancestry::Base(commit) => commit,
            Ancestry::None => return Err(no_merge_base(candidate, &base, shallow, candidates.source)),
        };
        let pull_request_head = match candidates.must_hold {
            Some(commit) => held(git, &commit, &head, shallow).await?,
            None => None,
        };
        let base_name = candidate.shown.trim_matches('`').to_owned();
        Ok(Self { base_name, base, merge_base, head, pull_request_head, shallow })
    }
}

/// The pull request's own last commit, which must be a part of `head`.
async fn held(git: &Git, commit: &str, head: &CommitId, shallow: bool) -> Result<Option<CommitId>> {
    let found = git.commit(commit).await.map_err(ask_failed)?;
    let inside = match &found {
        Some(found) => git.is_ancestor(found, head).await.map_err(ask_failed)?,
        None => false,
    };
    if inside {
        return Ok(found.filter(|found| found != head));
    }
    let short = commit.get(..12).unwrap_or(commit);
    let error = Error::usage(format!(
        "what is checked out ({}) is not the pull request: its last commit `{short}` is no part of it",
        head.short()
    ));
    Err(if shallow {
        error.hint(BaseSource::GitHub.deepen())
    } else {
        error
            .hint("`pull_request_target` checks out the base; use the event `pull_request`")
            .hint("or check out the pull request itself, and run nothing of what it holds")
    })
}

impl BaseSource {
    /// What gets the history that is missing.
    const fn deepen(self) -> &'static str {
        match self {
            Self::GitHub => "give `actions/checkout` the whole history: `with: fetch-depth: 0`",
            Self::GitLab => "give the job the whole history: `variables: GIT_DEPTH: 0`",
            Self::Option | Self::Git => {
                "fetch the whole history: `git fetch --unshallow` (GitHub Actions: `fetch-depth: 0`; GitLab: `GIT_DEPTH: 0`)"
            }
        }
    }
}

impl fmt::Display for BaseSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Option => "`--base`",
            Self::GitHub => "GitHub Actions",
            Self::GitLab => "GitLab CI",
            Self::Git => "git",
        })
    }
}

fn no_base(candidates: &Candidates, shallow: bool) -> Error {
    let tried: Vec<&str> = candidates.list.iter().map(|candidate| candidate.shown.as_str()).collect();
    let tried = tried.join(", ");
    match candidates.source {
        BaseSource::Option => {
            let error = Error::usage(format!("`--base`: {tried} names no commit here"))
                .hint("name a branch, a tag or a commit that this repository has, such as `origin/main`");
            if shallow { error.hint(BaseSource::Option.deepen()) } else { error }
        }
        BaseSource::Git => {
            let found = if tried.is_empty() { String::new() } else { format!(" (looked for {tried})") };
            Error::usage(format!("there is nothing to compare with: no base was found{found}"))
                .hint("name it: `team gate --base origin/main`")
                .hint("or tell git: `git remote set-head origin --auto`")
        }
        source => {
            if tried.is_empty() {
                return Error::usage(format!("{source} says of this run no base to compare with"))
                    .hint("run the gate for pull or merge requests, or name a base with `--base`");
            }
            let error = Error::usage(format!("the base that {source} names is not in this clone: {tried}"));
            let error = if shallow { error.hint(source.deepen()) } else { error };
            error.hint("or fetch it before, and name it with `--base`")
        }
    }
}

fn no_merge_base(candidate: &Candidate, base: &CommitId, shallow: bool, source: BaseSource) -> Error {
    let error = Error::usage(format!(
        "the histories of {} ({}) and of `HEAD` do not meet in this clone",
        candidate.shown,
        base.short()
    ));
    if shallow {
        error.hint(format!("the clone is shallow: {}", source.deepen()))
    } else {
        error.hint("name a base that the branch was made from with `--base`")
    }
}

/// What a CI says; `None` where none of those that are known runs this.
fn from_ci(environment: &Environment) -> Result<Option<Candidates>> {
    if environment.text("GITHUB_ACTIONS") == Some("true") {
        let event = match environment.text("GITHUB_EVENT_PATH") {
            Some(path) => Event::read(Path::new(path)).map_err(|why| {
                Error::usage(format!("the event of this run cannot be read: {why}"))
                    .hint("`GITHUB_EVENT_PATH` names it; name the base with `--base` instead")
            })?,
            None => Event::default(),
        };
        return Ok(Some(from_github(environment, &event)));
    }
    Ok((environment.text("GITLAB_CI") == Some("true")).then(|| from_gitlab(environment)))
}

fn from_github(environment: &Environment, event: &Event) -> Candidates {
    let mut list = Vec::new();
    let mut must_hold = None;
    if let Some(branch) = environment.text("GITHUB_BASE_REF") {
        list.push(remote(branch));
    }
    if let Some(pull_request) = &event.pull_request {
        list.extend(hash(&pull_request.base.sha));
        must_hold = Some(pull_request.head.sha.clone()).filter(|sha| !sha.is_empty());
    } else if let Some(group) = &event.merge_group {
        list.extend(hash(&group.base_sha));
    } else if list.is_empty() {
        list.extend(event.before.as_deref().and_then(hash));
        let default = event.repository.default_branch.as_str();
        if !default.is_empty() && environment.text("GITHUB_REF") != Some(&format!("refs/heads/{default}")) {
            list.push(remote(default));
        }
    }
    Candidates { source: BaseSource::GitHub, list, must_hold }
}

fn from_gitlab(environment: &Environment) -> Candidates {
    let mut list = Vec::new();
    let text = |name: &str| environment.text(name);
    if text("CI_MERGE_REQUEST_IID").is_some() || text("CI_MERGE_REQUEST_TARGET_BRANCH_NAME").is_some() {
        list.extend(text("CI_MERGE_REQUEST_TARGET_BRANCH_SHA").and_then(hash));
        list.extend(text("CI_MERGE_REQUEST_TARGET_BRANCH_NAME").map(remote));
        list.extend(text("CI_MERGE_REQUEST_DIFF_BASE_SHA").and_then(hash));
    } else {
        list.extend(text("CI_COMMIT_BEFORE_SHA").and_then(hash));
        let default = text("CI_DEFAULT_BRANCH").filter(|default| text("CI_COMMIT_BRANCH") != Some(default));
        list.extend(default.map(remote));
    }
    Candidates { source: BaseSource::GitLab, list, must_hold: None }
}

/// A branch of `origin`.
fn remote(branch: &str) -> Candidate {
    Candidate::new(format!("refs/remotes/origin/{branch}"), format!("`origin/{branch}`"))
}

/// A commit; one of zeros only stands for none.
fn hash(sha: &str) -> Option<Candidate> {
    let is_one = !sha.is_empty() && sha.bytes().all(|b| b.is_ascii_hexdigit()) && sha.bytes().any(|b| b != b'0');
    is_one.then(|| Candidate::new(sha, format!("`{sha}`")))
}

/// The default branch, as far as git knows it.
async fn from_git(git: &Git) -> Result<Candidates> {
    let mut list = Vec::new();
    if let Some(branch) = git.symbolic("refs/remotes/origin/HEAD").await.map_err(ask_failed)? {
        let shown = branch.strip_prefix("refs/remotes/").unwrap_or(&branch).to_owned();
        list.push(Candidate::new(branch, format!("`{shown}`")));
    }
    let current = git.symbolic("HEAD").await.map_err(ask_failed)?;
    list.extend(["main", "master"].map(remote));
    // A branch is no base of itself.
    let local = ["main", "master"].map(|branch| (format!("refs/heads/{branch}"), branch));
    let local = local.into_iter().filter(|(reference, _)| current.as_ref() != Some(reference));
    list.extend(local.map(|(reference, branch)| Candidate::new(reference, format!("`{branch}`"))));
    Ok(Candidates { source: BaseSource::Git, list, must_hold: None })
}

/// Git could not be asked, or did not answer.
#[must_use]
pub fn ask_failed(error: GitError) -> Error {
    let owner = error.to_string().contains("dubious ownership");
    let missing = matches!(error, GitError::Spawn(_));
    let error = Error::usage("cannot ask git").with_source(error);
    if owner {
        error.hint("the folder belongs to another user: `git config --global --add safe.directory \"$PWD\"` trusts it")
    } else if missing {
        error.hint("install git, and have it in PATH")
    } else {
        error.hint("the gate needs a git repository with its whole history")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(candidates: &Candidates) -> Vec<&str> {
        candidates.list.iter().map(|candidate| candidate.shown.as_str()).collect()
    }

    fn environment(pairs: &[(&str, &str)]) -> Environment {
        pairs.iter().copied().collect()
    }

    const ZEROS: &str = "0000000000000000000000000000000000000000";

    #[test]
    fn a_pull_requests_base_is_the_tip_of_its_target_and_else_the_commit_of_the_event() {
        let event: Event = serde_json::from_str(
            r#"{"pull_request": {"base": {"sha": "ab12", "ref": "main"}, "head": {"sha": "cd34"}}, "number": 1}"#,
        )
        .unwrap();
        let found = from_github(&environment(&[("GITHUB_BASE_REF", "release/1")]), &event);
        assert_eq!(shown(&found), ["`origin/release/1`", "`ab12`"]);
        assert_eq!(found.must_hold.as_deref(), Some("cd34"));
    }

    #[test]
    fn a_push_is_compared_with_what_was_there_before_and_a_new_branch_with_the_default_one() {
        let event = |before: &str| -> Event {
            serde_json::from_str(&format!(
                r#"{{"before": "{before}", "repository": {{"default_branch": "main"}}, "pull_request": null}}"#
            ))
            .unwrap()
        };
        let on = |branch: &str| environment(&[("GITHUB_REF", &format!("refs/heads/{branch}"))]);
        assert_eq!(shown(&from_github(&on("topic"), &event("ab12"))), ["`ab12`", "`origin/main`"]);
        assert_eq!(shown(&from_github(&on("topic"), &event(ZEROS))), ["`origin/main`"]);
        // The default branch is no base of itself: where its last state is not here, that is an error.
        assert_eq!(shown(&from_github(&on("main"), &event("ab12"))), ["`ab12`"]);
        let queue: Event = serde_json::from_str(r#"{"merge_group": {"base_sha": "ab"}}"#).unwrap();
        assert_eq!(shown(&from_github(&on("gh-readonly-queue/main"), &queue)), ["`ab`"]);
    }

    #[test]
    fn gitlab_names_the_target_of_a_merge_request_and_else_the_commit_before() {
        let merge_request = [
            ("CI_MERGE_REQUEST_IID", "7"),
            ("CI_MERGE_REQUEST_TARGET_BRANCH_SHA", ""),
            ("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main"),
            ("CI_MERGE_REQUEST_DIFF_BASE_SHA", "ab12"),
            ("CI_COMMIT_BEFORE_SHA", ZEROS),
        ];
        assert_eq!(shown(&from_gitlab(&environment(&merge_request))), ["`origin/main`", "`ab12`"]);
        let push = [("CI_COMMIT_BEFORE_SHA", ZEROS), ("CI_DEFAULT_BRANCH", "main"), ("CI_COMMIT_BRANCH", "topic")];
        assert_eq!(shown(&from_gitlab(&environment(&push))), ["`origin/main`"]);
        let on_main = [("CI_COMMIT_BEFORE_SHA", "ab"), ("CI_DEFAULT_BRANCH", "main"), ("CI_COMMIT_BRANCH", "main")];
        assert_eq!(shown(&from_gitlab(&environment(&on_main))), ["`ab`"]);
    }

    #[test]
    fn an_event_that_cannot_be_read_is_an_error_and_never_a_guess() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("event.json");
        crate::fs::replace(&path, b"{").unwrap();
        let path = path.display().to_string();
        let error = from_ci(&environment(&[("GITHUB_ACTIONS", "true"), ("GITHUB_EVENT_PATH", &path)])).unwrap_err();
        assert!(error.to_string().contains("cannot be read"), "{error}");
        assert_eq!(from_ci(&Environment::default()).unwrap(), None);
    }
}
