//! The user's own repository while programs of reviewers, judges and fixers run: read-only for them where something holds
//! processes, and where nothing does, compared before and after.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::engine::Services;
use crate::fs::Stamps;
use crate::git::Git;

/// How long one question to git may take.
const GIT_LIMIT: Duration = Duration::from_secs(60);

/// The most files that are named.
const NAMED: usize = 5;

/// From now on no program may change what is in the work tree at `root`, or in the repository that it is of; without a
/// root, in the folder that the command was started in.
pub(in crate::pipeline) async fn protect(root: Option<&Path>, services: &Services) {
    let Some(root) = root.or(services.current()) else { return };
    let git = Git::new(root, GIT_LIMIT);
    let mut folders = vec![root.to_owned()];
    // Outside of git there is no more. A linked work tree has its own files and the repository's in two places.
    for name in ["objects", "HEAD"] {
        let found = git.git_path(name).await.ok();
        folders.extend(found.and_then(|path| path.parent().map(Path::to_owned)));
    }
    services.protect(&folders);
}

/// What is protected as it was before somebody's program ran that nothing holds.
pub(in crate::pipeline) struct Watch {
    folders: Vec<PathBuf>,
    but: Vec<PathBuf>,
    before: Option<Stamps>,
}

impl Watch {
    /// `None` where every program is held, so that nothing needs to be compared.
    pub(in crate::pipeline) async fn begin(services: &Services) -> Option<Self> {
        if services.holds_all() || services.protected().is_empty() {
            return None;
        }
        let folders = services.protected().to_vec();
        // Sessions are ours, and objects say nothing before something refers to them.
        let objects = folders.iter().flat_map(|folder| [folder.join("objects"), folder.join(".git/objects")]);
        let objects = objects.filter(|objects| objects.with_file_name("HEAD").is_file());
        let sessions = services.sessions().iter().filter_map(|folder| folder.canonicalize().ok());
        let but: Vec<PathBuf> = objects.chain(sessions).collect();
        let before = take(&folders, &but).await;
        Some(Self { folders, but, before })
    }

    /// What changed since, in words that name `who` may have done it; `None` where nothing did.
    pub(in crate::pipeline) async fn end(self, who: &str) -> Option<String> {
        let after = take(&self.folders, &self.but).await;
        let (Some(before), Some(after)) = (self.before, after) else {
            return Some(format!(
                "nothing keeps {who} from your own files here, and they are too many to be compared before and after"
            ));
        };
        let changed = before.changed_until(&after);
        let shown = |path: &&Path| {
            let inside = self.folders.iter().find_map(|folder| path.strip_prefix(folder).ok());
            format!("`{}`", inside.unwrap_or(path).display())
        };
        let named: Vec<String> = changed.iter().take(NAMED).map(shown).collect();
        let more = match changed.len().saturating_sub(NAMED) {
            0 => String::new(),
            count => format!(" and {count} more"),
        };
        (!named.is_empty()).then(|| {
            format!(
                "nothing keeps {who} from your own files here, and these changed meanwhile: {}{more}; look whether that \
                 was you",
                named.join(", ")
            )
        })
    }
}

async fn take(folders: &[PathBuf], but: &[PathBuf]) -> Option<Stamps> {
    let (folders, but) = (folders.to_vec(), but.to_vec());
    tokio::task::spawn_blocking(move || Stamps::take(&folders, &but)).await.ok().flatten()
}
