//! The read-only snapshot that reviewers' programs work in: of a commit, or of a work tree as it is.
//!
//! Files that hold keys by their name, those that programs obey where they start, and sessions are not in it. Owner of
//! `workspace/` in a pipeline session.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::pending::{Pending, inside};
use super::subject::Source;
use crate::config::Untracked;
use crate::engine::{
    MOST_BYTES, MOST_FILES, Selection, Services, WorkspaceRequest, is_obeyed, publish_snapshot, take_selection,
};
use crate::error::{Error, ErrorKind, Result};
use crate::fs::{self, FolderUse, ProcessFolder, Tree};
use crate::git::{CommitId, Content, EntryKind, Git, RepoPath};
use crate::ids::Sha256Hash;
use crate::pipeline::gate::{SecretFiles, ask_failed, sessions_among};
use crate::runner::{Control, Observer, Workspace};
use crate::session::{Event, Session};

/// How long one question to git may take.
const GIT_LIMIT: Duration = Duration::from_secs(120);

/// The snapshot that the record knows, as it lies there. `None` where none was taken.
///
/// # Errors
/// It is lost, or not as it was recorded.
pub(in crate::pipeline) fn taken(session: &Session) -> Result<Option<Arc<Workspace>>> {
    let recorded = session.panel().records().iter().rev().find_map(|record| match &record.event {
        Event::WorkspaceTaken { tree, .. } => Some(*tree),
        _ => None,
    });
    recorded.map(|recorded| as_recorded(session, recorded)).transpose()
}

fn as_recorded(session: &Session, recorded: Sha256Hash) -> Result<Arc<Workspace>> {
    let folder = session.layout().workspace();
    let shown = folder.display().to_string();
    let tree = Tree::read(&folder).map_err(|error| {
        Error::new(ErrorKind::Integrity, format!("the snapshot that reviewers are to work in is lost: {error}"))
            .hint(format!("put `{shown}` back, or review again"))
    })?;
    if tree.hash() != recorded {
        return Err(Error::new(ErrorKind::Integrity, format!("`{shown}` is not the snapshot that was recorded"))
            .hint("put it back as it was, or review again"));
    }
    Ok(Arc::new(Workspace::new(folder, tree)))
}

/// Takes the snapshot of `source`; one that was taken for an earlier round is replaced. `None` also where a stop was asked
/// for meanwhile, which `control` then says.
pub(in crate::pipeline) async fn take(
    session: &mut Session,
    source: &Source,
    services: &Services,
    control: &mut Control,
    observer: &mut dyn Observer,
) -> Result<Option<Arc<Workspace>>> {
    let tree = match source {
        Source::Nothing => return Ok(None),
        Source::WorkTree { root } => {
            let sessions = session_folders(session, services);
            let request = WorkspaceRequest { dir: root, untracked: Untracked::Include, sessions: &sessions };
            let selection = Selection::of(request).await.map_err(|error| said_of_review(&error, root))?;
            let secret = SecretFiles::new();
            let selection = selection.without(|path| secret.matches(&repo_path(path)).is_some());
            take_selection(session, &selection, control, observer).await?
        }
        Source::Commit { root, commit } => {
            let git = Git::new(root, GIT_LIMIT);
            let found = git.commit(commit).await.map_err(ask_failed)?.ok_or_else(|| {
                Error::usage(format!("commit `{commit}` is not in this repository any more"))
                    .hint("nobody was asked yet: review again")
            })?;
            write_commit(session, &git, &found, services).await?;
            Some(publish_snapshot(session, observer).await?)
        }
        Source::Uncommitted { root, which, commit } => {
            let sessions = session_folders(session, services);
            let pending = Pending::of(&Git::new(root, GIT_LIMIT), *which, &inside(root, &sessions)).await?;
            if pending.commit.as_str() != commit {
                let why = format!("the files of `{}` have changed since the review was begun", root.display());
                return Err(Error::new(ErrorKind::NoDecision, why).hint("nobody was asked yet: review again"));
            }
            write_commit(session, &pending.git, &pending.commit, services).await?;
            Some(publish_snapshot(session, observer).await?)
        }
    };
    let folder = session.layout().workspace();
    Ok(tree.map(|tree| Arc::new(Workspace::new(folder, tree))))
}

fn repo_path(path: &Path) -> RepoPath {
    RepoPath::new(path.as_os_str().as_encoded_bytes())
}

fn session_folders(session: &Session, services: &Services) -> Vec<PathBuf> {
    services.sessions().iter().cloned().chain(session.layout().root().parent().map(Path::to_owned)).collect()
}

fn said_of_review(error: &Error, root: &Path) -> Error {
    let why = error.to_string();
    let why = why.strip_prefix("`--workspace`: ").unwrap_or(&why);
    Error::new(error.kind(), format!("the snapshot for the reviewers cannot be taken: {why}"))
        .hint(format!("it is of `{}`; `--no-workspace` reviews without it", root.display()))
}

/// Writes what is to be seen of a commit under the hidden name of the snapshot.
async fn write_commit(session: &Session, git: &Git, commit: &CommitId, services: &Services) -> Result<()> {
    let contents = git.contents(commit).await.map_err(ask_failed)?;
    let root = git.folder().canonicalize()?;
    let sessions = inside(&root, &session_folders(session, services));
    let paths = shown_of(&contents, &sessions);
    check_limits(&contents, git.folder())?;
    let part = session.layout().workspace_part();
    fs::remove_dir_all(&part)?;
    fs::create_dir_all(&part)?;
    // Git's list of what it writes, which is nobody's after that.
    let scratch = ProcessFolder::make(FolderUse::Git).map_err(|error| Error::io("cannot make a folder", error))?;
    git.write_out(commit, &paths, &scratch.path().join("index"), &part).await.map_err(ask_failed)
}

/// The files of a commit that reviewers may see.
fn shown_of(contents: &[Content], sessions: &[PathBuf]) -> Vec<RepoPath> {
    let single = sessions_among(contents.iter().map(|content| &content.path));
    let secret = SecretFiles::new();
    let is_shown = |content: &&Content| {
        let path = content.path.as_path();
        content.kind != EntryKind::Submodule
            && secret.matches(&content.path).is_none()
            && !path.ancestors().any(|part| is_obeyed(part) || single.contains(part))
            && !sessions.iter().any(|folder| path.starts_with(folder))
    };
    contents.iter().filter(is_shown).map(|content| content.path.clone()).collect()
}

fn check_limits(contents: &[Content], root: &Path) -> Result<()> {
    let bytes: u64 = contents.iter().map(|content| content.bytes).sum();
    let what = if contents.len() as u64 > MOST_FILES {
        format!("more than {MOST_FILES} files")
    } else if bytes > MOST_BYTES {
        format!("more than {} MiB", MOST_BYTES >> 20)
    } else {
        return Ok(());
    };
    let why = format!("`{}` holds {what}, the most that a snapshot for reviewers may have", root.display());
    Err(Error::usage(why).hint("`--no-workspace` reviews without it: all there is to see is the change itself"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_sessions_submodules_and_what_programs_obey_are_not_shown() {
        let content = |path: &str, kind| Content { path: RepoPath::new(path), kind, bytes: 1 };
        let file = |path: &str| content(path, EntryKind::File);
        let contents = [
            file("src/lib.rs"),
            file(".env"),
            file(".gemini/settings.json"),
            file("deploy/id_rsa"),
            content("link", EntryKind::Link),
            content("sub", EntryKind::Submodule),
            file("ai-docs/sessions/x/manifest.json"),
            file("old/team-x/session-meta.json"),
            file("old/team-x/manifest.json"),
            file("old/notes.md"),
        ];
        let shown: Vec<String> =
            shown_of(&contents, &["ai-docs/sessions".into()]).iter().map(ToString::to_string).collect();
        assert_eq!(shown, ["src/lib.rs", "link", "old/notes.md"]);
    }
}
