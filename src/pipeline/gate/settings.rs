//! The gate's settings, as the base has them.

use std::path::{Path, PathBuf};

use super::base::ask_failed;
use crate::config::{Config, Environment, FileSettings, IMPORTED_FILE, PROJECT_FILE, ProjectFiles};
use crate::error::{Error, Result};
use crate::git::{ChangedFile, CommitId, EntryKind, Git, RepoPath};

/// The largest file of settings.
const MOST: u64 = 1024 * 1024;

/// What the base says.
#[derive(Debug, Clone, PartialEq)]
pub struct AtBase {
    /// Its settings, with those of the user, the environment and the command line.
    pub config: Config,
    /// Whether it has a `team.toml`.
    pub has_project_file: bool,
}

/// Loads the settings for `cwd`, with the project's files as `base` has them. `root` is the root of the work tree, a real
/// path; `git` is asked there.
pub async fn settings_at(
    git: &Git,
    root: &Path,
    cwd: &Path,
    base: &CommitId,
    environment: &Environment,
    flags: FileSettings,
) -> Result<AtBase> {
    let cwd = cwd.canonicalize()?;
    let files = ProjectFiles {
        root: root.to_owned(),
        project: nearest(git, root, &cwd, base, PROJECT_FILE).await?,
        imported: nearest(git, root, &cwd, base, IMPORTED_FILE).await?,
    };
    let has_project_file = files.project.is_some();
    let config = Config::load_at(&cwd, environment, flags, &files).map_err(|error| {
        let at_base =
            |place: &Path| [&files.project, &files.imported].into_iter().flatten().any(|(path, _)| path == place);
        // What variables and the user's file say is not for the base to correct.
        let is_of_base = error.problems.iter().any(|problem| at_base(&problem.place));
        let error = Error::from(error);
        if is_of_base { error.hint("settings are those of the base: correct them there") } else { error }
    })?;
    Ok(AtBase { config, has_project_file })
}

/// The nearest file of this name, from `cwd` up to `root`.
async fn nearest(git: &Git, root: &Path, cwd: &Path, base: &CommitId, name: &str) -> Result<Option<(PathBuf, String)>> {
    for folder in cwd.ancestors().take_while(|folder| folder.starts_with(root)) {
        let path = folder.join(name);
        let Some(inside) = repo_path(root, &path) else { continue };
        let Some(entry) = git.entry_at(base, &inside).await.map_err(ask_failed)? else { continue };
        if entry.kind != EntryKind::File {
            return Err(Error::config(format!("`{inside}` of the base is no file, so its settings are not read"))
                .hint("replace the link by the file that it leads to"));
        }
        let bytes = git
            .content(&entry, MOST)
            .await
            .map_err(|error| Error::config(format!("cannot read `{inside}` of the base")).with_source(error))?;
        let text = String::from_utf8(bytes)
            .map_err(|_| Error::config(format!("`{inside}` of the base is not valid UTF-8")))?;
        return Ok(Some((path, text)));
    }
    Ok(None)
}

/// `path` as git names it, where it is inside of the work tree at `root`.
pub(super) fn repo_path(root: &Path, path: &Path) -> Option<RepoPath> {
    use std::os::unix::ffi::OsStrExt;
    let inside = path.strip_prefix(root).ok()?;
    (!inside.as_os_str().is_empty()).then(|| RepoPath::new(inside.as_os_str().as_bytes()))
}

/// Files among `changed` by which the branch would change what the gate does, or how it is called.
#[must_use]
pub fn settings_among(changed: &[ChangedFile]) -> Vec<String> {
    let is_setting = |path: &RepoPath| {
        let bytes = path.as_bytes();
        let ends = |name: &str| {
            bytes.strip_suffix(name.as_bytes()).is_some_and(|folder| folder.is_empty() || folder.ends_with(b"/"))
        };
        ends(PROJECT_FILE)
            || ends(IMPORTED_FILE)
            || bytes == b".gitlab-ci.yml"
            || [&b".github/workflows/"[..], b".github/actions/"].iter().any(|folder| bytes.starts_with(folder))
    };
    let mut found: Vec<String> =
        changed.iter().flat_map(ChangedFile::paths).filter(|path| is_setting(path)).map(ToString::to_string).collect();
    found.sort();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::Change;

    #[test]
    fn files_that_change_the_gate_or_its_call_are_found_by_either_name() {
        let file = |path: &str, old: Option<&str>| ChangedFile {
            path: RepoPath::new(path),
            old_path: old.map(RepoPath::new),
            change: Change::Modified,
            old: None,
            new: None,
        };
        let changed = [
            file("team.toml", None),
            file("sub/team.toml", None),
            file("my-team.toml", None),
            file("x.json", Some(".claude/multimodel-team.json")),
            file(".github/workflows/ci.yml", None),
            file("docs/.gitlab-ci.yml", None),
        ];
        let expected = [".claude/multimodel-team.json", ".github/workflows/ci.yml", "sub/team.toml", "team.toml"];
        assert_eq!(settings_among(&changed), expected);
    }
}
