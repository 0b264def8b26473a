//! What the command line names to be reviewed, and looking at it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::files::files;
use super::pending::{Pending, Uncommitted, inside};
use super::subject::{Source, Subject, SubjectKind};
use crate::config::Environment;
use crate::error::{Error, ErrorKind, Result};
use crate::git::{Ancestry, ChangedFile, CommitId, Git, RepoPath};
use crate::pipeline::declines::BranchPoint;
use crate::pipeline::gate::{Limits, Revisions, SecretFiles, ask_failed, look_at_diff};
use crate::report::ci::{ChangeWord, OmissionReason, SeenFile};
use crate::secrets::Redactor;
use crate::session::InnerKind;

/// How long one question to git may take.
pub(super) const GIT_LIMIT: Duration = Duration::from_secs(120);

/// What is to be reviewed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// This file, as it lies there.
    Plan(PathBuf),
    /// What commits change: of this range, else from where the branch left its base.
    Diff(Option<String>),
    /// What is staged for the next commit.
    Staged,
    /// What is not committed, new files included.
    Worktree,
    /// The files named, as they lie there.
    Files,
}

/// A target, where it is, and how much of it is sent.
#[derive(Debug)]
pub struct Look<'a> {
    /// What.
    pub target: &'a Target,
    /// Only these files and folders; for [`Target::Files`], which.
    pub paths: &'a [PathBuf],
    /// Where the command runs, absolute.
    pub cwd: &'a Path,
    /// The variables of the command.
    pub environment: &'a Environment,
    /// Takes keys out of what is sent.
    pub redactor: &'a Redactor,
    /// The most bytes that are sent.
    pub max_bytes: u64,
    /// Patterns of files that nobody needs to look at.
    pub ignore: &'a [String],
    /// The folders that hold sessions, which are never looked at.
    pub sessions: &'a [PathBuf],
}

/// Looks at the target.
///
/// # Errors
/// It does not exist, nothing of it changed, or none of it can be sent.
pub async fn look(look: &Look<'_>) -> Result<Subject> {
    match look.target {
        Target::Plan(file) => plan(look, file).await,
        Target::Files => files(look).await,
        Target::Diff(range) => diff(look, range.as_deref()).await,
        Target::Staged => uncommitted(look, Uncommitted::Staged).await,
        Target::Worktree => uncommitted(look, Uncommitted::All).await,
    }
}

/// The repository that `folder` is in, asked at its root, and the root as a real path.
pub(super) async fn repository(folder: &Path) -> Result<Option<(Git, PathBuf)>> {
    let root = match Git::new(folder, GIT_LIMIT).work_tree().await {
        Ok(root) => root,
        // Files can be reviewed without it.
        Err(crate::git::GitError::Spawn(_)) => None,
        Err(error) => return Err(ask_failed(error)),
    };
    let Some(root) = root else { return Ok(None) };
    let root = root.canonicalize()?;
    Ok(Some((Git::new(&root, GIT_LIMIT), root)))
}

async fn needed_repository(look: &Look<'_>) -> Result<(Git, PathBuf)> {
    repository(look.cwd).await?.ok_or_else(|| {
        Error::usage(format!("`{}` is not in a git work tree, so there is no change to review", look.cwd.display()))
            .hint("name files to review them as they are: `team review src/lib.rs`, or `--plan FILE`")
    })
}

async fn plan(look: &Look<'_>, file: &Path) -> Result<Subject> {
    let path = look.cwd.join(file);
    let (shown, text) = read_named(look, &path, look.max_bytes)?;
    if text.trim().is_empty() {
        return Err(Error::usage(format!("the plan `{shown}` is empty")).hint("name the file that holds it"));
    }
    let (source, point) = source_of(look).await?;
    let seen = seen(&shown, text.len());
    Ok(Subject {
        kind: SubjectKind::Plan,
        phase: InnerKind::PlanReview,
        told: format!("the plan `{shown}`"),
        base: None,
        from: None,
        head: None,
        text,
        files: vec![seen],
        warnings: Vec::new(),
        source,
        point,
    })
}

/// The snapshot that goes with files that are reviewed as they lie there: the whole work tree that they are in; and where
/// on a branch that is.
pub(super) async fn source_of(look: &Look<'_>) -> Result<(Source, Option<BranchPoint>)> {
    Ok(match repository(look.cwd).await? {
        Some((git, root)) => {
            let point = BranchPoint::of_head(&git, &root).await?;
            (Source::WorkTree { root }, point)
        }
        None => (Source::Nothing, None),
    })
}

pub(super) fn shown(cwd: &Path, path: &Path) -> String {
    RepoPath::new(path.strip_prefix(cwd).unwrap_or(path).as_os_str().as_encoded_bytes()).to_string()
}

pub(super) fn seen(path: &str, bytes: usize) -> SeenFile {
    SeenFile {
        path: path.to_owned(),
        old_path: None,
        change: ChangeWord::Unchanged,
        sent_bytes: bytes as u64,
        omitted: None,
        note: None,
    }
}

/// A file that the user named by itself: it is sent whole or refused.
fn read_named(look: &Look<'_>, path: &Path, room: u64) -> Result<(String, String)> {
    let shown = shown(look.cwd, path);
    if !path.is_file() {
        return Err(Error::usage(format!("there is no file `{shown}`")).hint("correct its path"));
    }
    if let Some(pattern) = SecretFiles::new().matches(&RepoPath::new(shown.as_bytes())) {
        return Err(Error::usage(format!(
            "`{shown}` is a file that holds keys, by its name (`{pattern}`), and such a file is never sent"
        ))
        .hint("the README lists these names under `Files that hold keys`"));
    }
    match text_of(look, path, room)? {
        Ok(text) => Ok((shown, text)),
        Err(reason) => Err(Error::usage(format!("`{shown}` cannot be reviewed: {}", reason.describe()))
            .hint("raise `max_bytes` of `[review]`, or name another file")),
    }
}

/// A file's text without keys, or why it is not sent.
pub(super) fn text_of(look: &Look<'_>, path: &Path, room: u64) -> Result<Result<String, OmissionReason>> {
    if fs_err::metadata(path)?.len() > room {
        return Ok(Err(OmissionReason::TooLarge));
    }
    let clean = look.redactor.bytes(&fs_err::read(path)?);
    Ok(match String::from_utf8(clean) {
        Ok(text) if text.contains('\0') => Err(OmissionReason::Binary),
        Ok(text) if text.len() as u64 > room => Err(OmissionReason::TooLarge),
        Ok(text) => Ok(text),
        Err(_) => Err(OmissionReason::Binary),
    })
}

/// The two commits of a change.
struct Compared {
    from: CommitId,
    to: CommitId,
    /// In words.
    told: String,
    base: String,
    /// How the second one is called.
    name: String,
    warnings: Vec<String>,
}

async fn diff(look: &Look<'_>, range: Option<&str>) -> Result<Subject> {
    let (git, root) = needed_repository(look).await?;
    let compared = match range {
        Some(range) => named_range(&git, range).await?,
        None => default_range(&git, look.environment).await?,
    };
    let mut subject = changed(look, &git, &root, &compared).await?;
    subject.source = Source::Commit { root: root.clone(), commit: compared.to.as_str().to_owned() };
    let Compared { from, to, name, .. } = &compared;
    subject.point = Some(BranchPoint::of(&git, &root, to, Some(from), Some(name)).await?);
    if git.commit("HEAD").await.map_err(ask_failed)?.as_ref() == Some(&compared.to)
        && git.has_changes().await.map_err(ask_failed)?
    {
        subject.warnings.push(
            "changes that are not committed were not looked at; `--worktree` or `--staged` reviews them".to_owned(),
        );
    }
    Ok(subject)
}

async fn default_range(git: &Git, environment: &Environment) -> Result<Compared> {
    let found = Revisions::find(git, None, environment).await.map_err(|error| {
        // Its ways out are those of another command.
        Error::new(error.kind(), error.to_string())
            .hint("name what to compare: `team review --diff origin/main`, or `--diff HEAD~1`")
            .hint("or review what is not committed: `--worktree`, `--staged`")
    })?;
    let mut warnings = Vec::new();
    if found.shallow {
        warnings.push("the clone is shallow: the change may be taken for larger than it is".to_owned());
    }
    Ok(Compared {
        told: format!(
            "the change from `{}` ({}) to `HEAD` ({})",
            found.base_name,
            found.merge_base.short(),
            found.head.short()
        ),
        base: found.base_name,
        name: "HEAD".to_owned(),
        from: found.merge_base,
        to: found.head,
        warnings,
    })
}

/// `A..B` compares the two, `A...B` compares `B` with where it left `A`, and `A` alone is `A...HEAD`.
async fn named_range(git: &Git, range: &str) -> Result<Compared> {
    let (from, to, from_merge_base) = if let Some((from, to)) = range.split_once("...") {
        (from, to, true)
    } else if let Some((from, to)) = range.split_once("..") {
        (from, to, false)
    } else {
        (range, "", true)
    };
    let or_head = |name: &str| if name.is_empty() { "HEAD".to_owned() } else { name.to_owned() };
    let (from_name, to_name) = (or_head(from), or_head(to));
    let from = commit(git, &from_name, range).await?;
    let to = commit(git, &to_name, range).await?;
    let from = if from_merge_base {
        match git.merge_base(&from, &to).await.map_err(ask_failed)? {
            Ancestry::Base(base) => base,
            Ancestry::None => {
                return Err(Error::usage(format!(
                    "`--diff {range}`: the histories of `{from_name}` and `{to_name}` do not meet in this clone"
                ))
                .hint(format!("to compare the two as they are: `--diff {from_name}..{to_name}`")));
            }
        }
    } else {
        from
    };
    let told = format!("the change from `{from_name}` ({}) to `{to_name}` ({})", from.short(), to.short());
    Ok(Compared { from, to, told, base: from_name, name: to_name, warnings: Vec::new() })
}

async fn commit(git: &Git, name: &str, range: &str) -> Result<CommitId> {
    git.commit(name).await.map_err(ask_failed)?.ok_or_else(|| {
        Error::usage(format!("`--diff {range}`: `{name}` names no commit here"))
            .hint("write it like `origin/main`, `HEAD~3` or `v1.2..HEAD`")
            .hint("files that the review is to be about go before it, or behind `--`")
    })
}

/// What of a change is sent.
async fn changed(look: &Look<'_>, git: &Git, root: &Path, compared: &Compared) -> Result<Subject> {
    let Compared { from, to, told, base, warnings, .. } = compared;
    let mut files = git.changed_files(from, to).await.map_err(ask_failed)?;
    if !look.paths.is_empty() {
        let wanted = wanted_paths(look, root)?;
        files.retain(|file| file.paths().any(|path| wanted.iter().any(|wanted| path.as_path().starts_with(wanted))));
    }
    if files.is_empty() {
        return Err(Error::new(ErrorKind::NoDecision, format!("there is nothing to review: {told} is empty"))
            .hint("`--worktree` reviews what is not committed, `--diff RANGE` another change"));
    }
    sent(look, git, compared, &files).await.map(|(text, seen)| Subject {
        kind: SubjectKind::Diff,
        phase: InnerKind::ImplReview,
        told: told.clone(),
        base: Some(base.clone()),
        from: Some(from.as_str().to_owned()),
        head: Some(to.as_str().to_owned()),
        text,
        files: seen,
        warnings: warnings.clone(),
        source: Source::Nothing,
        point: None,
    })
}

async fn sent(
    look: &Look<'_>,
    git: &Git,
    compared: &Compared,
    files: &[ChangedFile],
) -> Result<(String, Vec<SeenFile>)> {
    let limits = Limits {
        max_bytes: look.max_bytes,
        ignore: look.ignore,
        section: "review",
        sessions: &inside(git.folder(), look.sessions),
        redactor: look.redactor,
    };
    let coverage = look_at_diff(git, (&compared.from, &compared.to), files, &limits).await?;
    if coverage.text.is_empty() {
        return Err(none_of(&coverage.files));
    }
    Ok((coverage.text, coverage.files))
}

/// The paths on the command line, from the root of the repository.
fn wanted_paths(look: &Look<'_>, root: &Path) -> Result<Vec<PathBuf>> {
    let cwd = look.cwd.canonicalize()?;
    let inside = |path: &PathBuf| {
        let full = cwd.join(path);
        // What was deleted is not there any more; its folder may be.
        let real = full.canonicalize().unwrap_or(full);
        real.strip_prefix(root).map(Path::to_owned).map_err(|_| {
            Error::usage(format!("`{}` is not in the repository `{}`", path.display(), root.display()))
                .hint("name files or folders of the repository")
        })
    };
    look.paths.iter().map(inside).collect()
}

pub(super) fn refuse_nothing(subject: &Subject) -> Result<()> {
    if subject.text.is_empty() { Err(none_of(&subject.files)) } else { Ok(()) }
}

/// There is something, and nothing of it can be sent.
fn none_of(files: &[SeenFile]) -> Error {
    let error = Error::new(ErrorKind::NoDecision, "nothing of it can be looked at".to_owned());
    let named = files.iter().filter_map(|file| Some((file, file.omitted?))).take(5);
    let error =
        named.fold(error, |error, (file, reason)| error.hint(format!("`{}`: {}", file.path, reason.describe())));
    error.hint("a person must look, or raise `max_bytes` of `[review]`")
}

async fn uncommitted(look: &Look<'_>, which: Uncommitted) -> Result<Subject> {
    let (git, root) = needed_repository(look).await?;
    let pending = Pending::of(&git, which, &inside(&root, look.sessions)).await?;
    let (what, from) = match which {
        Uncommitted::Staged => ("what is staged", "HEAD"),
        Uncommitted::All => ("what is not committed", "HEAD"),
    };
    let told = format!("{what}, on top of `{from}` ({})", pending.head.short());
    let warnings =
        pending.nested.iter().map(|path| format!("`{path}` is a repository of its own, and was not looked at"));
    let compared = Compared {
        from: pending.head.clone(),
        to: pending.commit.clone(),
        told,
        base: from.to_owned(),
        name: "HEAD".to_owned(),
        warnings: warnings.collect(),
    };
    let mut subject = changed(look, &pending.git, &root, &compared).await?;
    // Nobody else knows that commit.
    subject.head = None;
    subject.point = Some(BranchPoint::of(&git, &root, &pending.head, None, None).await?);
    subject.source = Source::Uncommitted { root, which, commit: pending.commit.as_str().to_owned() };
    Ok(subject)
}
