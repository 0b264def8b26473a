//! Files and folders that are reviewed as they lie there.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::subject::{Subject, SubjectKind};
use super::target::{Look, refuse_nothing, repository, seen, shown, source_of, text_of};
use crate::engine::is_session;
use crate::error::{Error, Result};
use crate::git::{Git, Listed, RepoPath};
use crate::pipeline::gate::{SecretFiles, ask_failed};
use crate::report::ci::OmissionReason;
use crate::session::InnerKind;

pub(super) async fn files(look: &Look<'_>) -> Result<Subject> {
    let named = collect(look).await?;
    let (source, point) = source_of(look).await?;
    let mut subject = Subject {
        kind: SubjectKind::Files,
        phase: InnerKind::ImplReview,
        told: match look.paths {
            [one] => format!("`{}` as it is", one.display()),
            many => format!("{} files and folders as they are", many.len()),
        },
        base: None,
        from: None,
        head: None,
        text: String::new(),
        files: Vec::new(),
        warnings: left_out(look, &named),
        source,
        point,
    };
    let secret = SecretFiles::new();
    let ignored = crate::pipeline::gate::exact_set(look.ignore)
        .map_err(|error| Error::config(format!("`review.ignore`: {error}")))?;
    let mut room = look.max_bytes;
    for path in named.files {
        let shown = shown(look.cwd, &path);
        let mut entry = seen(&shown, 0);
        if let Some(pattern) = secret.matches(&RepoPath::new(shown.as_bytes())) {
            entry.omitted = Some(OmissionReason::Secret);
            entry.note = Some(format!("by its name, `{pattern}`"));
        } else if ignored.is_match(&shown) {
            entry.omitted = Some(OmissionReason::Ignored);
        } else {
            match text_of(look, &path, room)? {
                Ok(text) => {
                    let part = file_part(&shown, &text);
                    room = room.saturating_sub(part.len() as u64);
                    entry.sent_bytes = part.len() as u64;
                    subject.text.push_str(&part);
                }
                Err(reason) => entry.omitted = Some(reason),
            }
        }
        subject.files.push(entry);
    }
    refuse_nothing(&subject)?;
    Ok(subject)
}

/// What is told of files that are not even named.
fn left_out(look: &Look<'_>, named: &Named) -> Vec<String> {
    let session =
        |path: &PathBuf| format!("`{}` is left out: sessions of `team` are never sent", shown(look.cwd, path));
    let mut told: Vec<String> = named.sessions.iter().take(3).map(session).collect();
    if let Some(more) = named.sessions.len().checked_sub(told.len()).filter(|more| *more > 0) {
        told.push(format!("{more} more sessions are left out"));
    }
    if named.ignored {
        told.push("files that git ignores are left out; name such a file itself to have it reviewed".to_owned());
    }
    told
}

/// One file of several, under a line with its name. Lines are numbered: findings name them.
fn file_part(shown: &str, text: &str) -> String {
    let mut part = format!("==== {shown}\n");
    for (index, line) in text.lines().enumerate() {
        part.push_str(&format!("{:>5}  {line}\n", index + 1));
    }
    part
}

/// The files that are named, and those below the folders that are.
struct Named {
    files: BTreeSet<PathBuf>,
    /// Sessions of `team` that lie there.
    sessions: BTreeSet<PathBuf>,
    /// Whether something is left out because git ignores it.
    ignored: bool,
}

/// Whether files are in sessions, which are never looked at.
struct Sessions {
    /// The folders that hold them, real paths.
    folders: Vec<PathBuf>,
    /// The session that a folder is in, where it is in one.
    known: BTreeMap<PathBuf, Option<PathBuf>>,
}

impl Sessions {
    fn new(folders: &[PathBuf]) -> Self {
        Self { folders: folders.iter().filter_map(|path| path.canonicalize().ok()).collect(), known: BTreeMap::new() }
    }

    /// The session, or the folder of sessions, that `folder` is in.
    fn around(&mut self, folder: &Path) -> Option<PathBuf> {
        if let Some(known) = self.known.get(folder) {
            return known.clone();
        }
        let found = if is_session(folder) || self.folders.iter().any(|base| base == folder) {
            Some(folder.to_owned())
        } else {
            folder.parent().and_then(|parent| self.around(parent))
        };
        self.known.insert(folder.to_owned(), found.clone());
        found
    }
}

/// Everything that `paths` name. What git ignores is there only where it is named itself.
async fn collect(look: &Look<'_>) -> Result<Named> {
    let mut named = Named { files: BTreeSet::new(), sessions: BTreeSet::new(), ignored: false };
    let mut sessions = Sessions::new(look.sessions);
    for path in look.paths {
        let path = look.cwd.join(path);
        let metadata = fs_err::symlink_metadata(&path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Error::usage(format!("there is no file `{}`", path.display()))
                .hint("name files or folders; to compare commits: `team review --diff RANGE`"),
            _ => error.into(),
        })?;
        let real = path.canonicalize()?;
        let folder = if metadata.is_dir() { Some(real.as_path()) } else { real.parent() };
        if let Some(session) = folder.and_then(|folder| sessions.around(folder)) {
            return Err(Error::usage(format!(
                "`{}` is in `{}`, where a session of `team` is, and those are never sent",
                shown(look.cwd, &path),
                session.display()
            ))
            .hint("name other files; `team report` and `team show` read a session"));
        }
        if metadata.is_dir() {
            let all = below(&path)?;
            let listed = listed(&path).await?;
            for file in all {
                if let Some(session) = file
                    .parent()
                    .and_then(|folder| folder.canonicalize().ok())
                    .and_then(|folder| sessions.around(&folder))
                {
                    named.sessions.insert(session);
                } else if listed.as_ref().is_none_or(|listed| listed.contains(&file)) {
                    named.files.insert(file);
                } else {
                    named.ignored = true;
                }
            }
        } else if metadata.is_file() {
            named.files.insert(path);
        }
    }
    Ok(named)
}

/// The files below `folder` that git knows or does not ignore; `None` where git says nothing of it: there is no
/// repository, or the whole folder is ignored, and named all the same.
async fn listed(folder: &Path) -> Result<Option<BTreeSet<PathBuf>>> {
    let Some((git, root)) = repository(folder).await? else { return Ok(None) };
    let real = folder.canonicalize()?;
    if real != root && git.is_ignored(&real).await.map_err(ask_failed)? {
        return Ok(None);
    }
    let here = Git::new(folder, super::target::GIT_LIMIT);
    let known = here.tracked().await.map_err(ask_failed)?.into_iter();
    let all = known.chain(here.untracked().await.map_err(ask_failed)?);
    Ok(Some(
        all.filter_map(|entry| match entry {
            Listed::File(path) => Some(folder.join(path)),
            // Another repository has its own list.
            Listed::Repository(_) => None,
        })
        .collect(),
    ))
}

/// The files below `folder`, hidden ones left out; links are not followed.
fn below(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs_err::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            continue;
        }
        let kind = entry.file_type()?;
        if kind.is_dir() {
            found.append(&mut below(&entry.path())?);
        } else if kind.is_file() {
            found.push(entry.path());
        }
    }
    Ok(found)
}
