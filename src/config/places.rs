//! Where settings are looked for.

use std::path::{Path, PathBuf};

use super::Environment;

/// The name of the project's file.
pub const PROJECT_FILE: &str = "team.toml";
/// The preferences of an earlier program, below the project's folder.
pub const IMPORTED_FILE: &str = ".claude/multimodel-team.json";

/// What was found for one working directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Places {
    /// `config.toml` of the user, whether it exists or not.
    pub(super) user: Option<PathBuf>,
    /// The nearest `team.toml`.
    pub(super) project: Option<PathBuf>,
    /// The nearest preferences of the earlier program.
    pub(super) imported: Option<PathBuf>,
    /// Files that were passed over, with the reason.
    pub(super) warnings: Vec<String>,
}

/// Looks in `cwd` and upwards, to the root of the git work tree or, outside of one, of the file system.
pub(super) fn find(cwd: &Path, environment: &Environment) -> Places {
    let root = cwd.ancestors().find(|dir| dir.join(".git").exists());
    let searched: Vec<&Path> = match root {
        Some(root) => cwd.ancestors().take_while(|dir| dir.starts_with(root)).collect(),
        None => cwd.ancestors().collect(),
    };
    let mut warnings = Vec::new();
    let mut nearest = |name: &str| {
        searched.iter().find_map(|dir| {
            let file = dir.join(name);
            // A folder of this name is somebody's mistake, and would otherwise be passed over in silence.
            if !(file.is_file() || name == PROJECT_FILE && file.is_dir()) {
                return None;
            }
            // A file outside of any repository and above here may be anybody's (`/tmp/team.toml`), and it can name
            // programs to run.
            if root.is_none() && *dir != cwd && !is_trusted(&file) {
                warnings.push(format!("`{}` is not read: it belongs to another user", file.display()));
                return None;
            }
            Some(file)
        })
    };
    let (project, imported) = (nearest(PROJECT_FILE), nearest(IMPORTED_FILE));
    Places { user: user_file(environment), project, imported, warnings }
}

/// The user's file only, and that only outside of the work tree at `root`.
pub(super) fn outside(root: &Path, environment: &Environment) -> Places {
    let mut places = Places { user: user_file(environment), ..Places::default() };
    let inside = places.user.as_ref().is_some_and(|file| {
        let real = file.canonicalize().unwrap_or_else(|_| file.clone());
        real.starts_with(root) || file.starts_with(root)
    });
    if inside && let Some(file) = places.user.take() {
        places.warnings.push(format!("`{}` is not read: it is a part of the branch", file.display()));
    }
    places
}

/// `$XDG_CONFIG_HOME/team/config.toml`, else `~/.config/team/config.toml`.
fn user_file(environment: &Environment) -> Option<PathBuf> {
    // The XDG base directory specification: a relative path is to be ignored.
    let xdg = environment.get("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || environment.get("HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    Some(xdg.or_else(|| Some(home()?.join(".config")))?.join("team").join("config.toml"))
}

fn is_trusted(file: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let me = rustix::process::geteuid().as_raw();
    std::fs::metadata(file).is_ok_and(|meta| meta.uid() == me || meta.uid() == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touch(path: &Path) {
        crate::fs::create_dir_all(path.parent().unwrap()).unwrap();
        crate::fs::replace(path, b"").unwrap();
    }

    #[test]
    fn the_nearest_file_up_to_the_root_of_the_repository_is_taken() {
        let dir = tempfile::tempdir().unwrap();
        let repo = dir.path().join("repo");
        let deep = repo.join("a/b");
        crate::fs::create_dir_all(&deep).unwrap();
        touch(&dir.path().join("team.toml"));
        touch(&repo.join(".git/HEAD"));
        assert_eq!(find(&deep, &Environment::default()).project, None, "not above the repository");
        touch(&repo.join("team.toml"));
        touch(&repo.join(".claude/multimodel-team.json"));
        let places = find(&deep, &Environment::default());
        assert_eq!(places.project, Some(repo.join("team.toml")));
        assert_eq!(places.imported, Some(repo.join(".claude/multimodel-team.json")));
        touch(&repo.join("a/team.toml"));
        assert_eq!(find(&deep, &Environment::default()).project, Some(repo.join("a/team.toml")));
    }

    #[test]
    fn outside_of_a_repository_the_search_goes_on_upwards() {
        let dir = tempfile::tempdir().unwrap();
        let deep = dir.path().join("a/b");
        crate::fs::create_dir_all(&deep).unwrap();
        touch(&dir.path().join("team.toml"));
        assert_eq!(find(&deep, &Environment::default()).project, Some(dir.path().join("team.toml")));
    }

    #[test]
    fn the_users_file_honours_xdg() {
        let file = |pairs: &[(&str, &str)]| find(Path::new("/"), &pairs.iter().copied().collect()).user;
        assert_eq!(file(&[("HOME", "/h")]), Some("/h/.config/team/config.toml".into()));
        assert_eq!(file(&[("HOME", "/h"), ("XDG_CONFIG_HOME", "/x")]), Some("/x/team/config.toml".into()));
        assert_eq!(file(&[("HOME", "/h"), ("XDG_CONFIG_HOME", "x")]), Some("/h/.config/team/config.toml".into()));
        assert_eq!(file(&[]), None);
    }
}
