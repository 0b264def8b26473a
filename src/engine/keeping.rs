//! Where a session is kept: in the folder of sessions, in one of the caller's, or in a temporary one.

use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use super::input::Input;
use crate::error::{Error, Result};

/// What is to be named.
const FOLDER: &str = "a folder";

/// Where a session is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Keeping {
    /// In this folder; where that cannot be, in a private temporary one.
    Folder(PathBuf),
    /// In a private temporary folder, and after a verdict the results are copied to flat names.
    Legacy,
}

impl Keeping {
    /// The folder that sessions are made in, where it is known beforehand.
    #[must_use]
    pub fn folder(&self) -> Option<&Path> {
        match self {
            Self::Folder(folder) => Some(folder),
            Self::Legacy => None,
        }
    }

    /// What `--session-path`, `--legacy` and the directives of `input` want together; `configured` where they want
    /// nothing. Two that contradict each other are an error.
    pub fn of(input: &Input, option: Option<&Path>, legacy: bool, cwd: &Path, configured: &Path) -> Result<Self> {
        let directives = &input.directives;
        let option = option.map(|path| contained(path, cwd, "`--session-path`", FOLDER).map(|real| (path, real)));
        let option = option.transpose()?;
        let line = directives.session_path.as_ref().map(|line| {
            let real = contained(Path::new(&line.value), cwd, &format!("{}: `SESSION_PATH`", line.place), FOLDER)?;
            Ok::<_, Error>((line, real))
        });
        let line = line.transpose()?;
        if let (Some((path, real)), Some((line, other))) = (&option, &line)
            && real != other
        {
            return Err(Error::usage(format!(
                "`--session-path {}`, and {} says `SESSION_PATH: {}`",
                path.display(),
                line.place,
                line.value
            ))
            .hint("name the folder in one of the two places, or the same one in both"));
        }
        let legacy_line = directives.legacy.as_ref();
        if let Some(line) = legacy_line.filter(|line| legacy && !line.value) {
            return Err(Error::usage(format!("`--legacy`, and {} says `LEGACY_MODE: false`", line.place))
                .hint("leave one of the two out"));
        }
        let legacy = match legacy_line {
            Some(line) if line.value => Some(format!("{} (`LEGACY_MODE: true`)", line.place)),
            _ => legacy.then(|| "`--legacy`".to_owned()),
        };
        let path = option.map(|(_, real)| ("`--session-path`".to_owned(), real));
        let path = path.or_else(|| line.map(|(line, real)| (format!("{} (`SESSION_PATH`)", line.place), real)));
        match (path, legacy) {
            (Some((path, _)), Some(legacy)) => {
                Err(Error::usage(format!("{legacy} keeps the session in a temporary folder, and {path} names another"))
                    .hint("leave one of the two out"))
            }
            (Some((_, real)), None) => Ok(Self::Folder(real)),
            (None, Some(_)) => Ok(Self::Legacy),
            (None, None) => Ok(Self::Folder(configured.to_owned())),
        }
    }
}

/// `path` without links, which must be inside `cwd`, wherever links lead; it need not exist. `origin` says who named it, and
/// `wanted` what it should be (`a folder`).
///
/// # Errors
/// It is empty, leads elsewhere, or through a link that cannot be followed.
pub fn contained(path: &Path, cwd: &Path, origin: &str, wanted: &str) -> Result<PathBuf> {
    if path.as_os_str().is_empty() {
        return Err(
            Error::usage(format!("{origin} names nothing")).hint(format!("name {wanted} below the current directory"))
        );
    }
    let root = fs_err::canonicalize(cwd)?;
    let refused = |what: String| {
        Error::usage(format!("{origin} names `{}`, {what}", path.display()))
            .hint(format!("name {wanted} below the current directory, `{}`", root.display()))
    };
    let mut real = root.clone();
    for part in path.components() {
        match part {
            Component::RootDir | Component::Prefix(_) => real = PathBuf::from("/"),
            Component::CurDir => {}
            Component::ParentDir => drop(real.pop()),
            Component::Normal(name) => {
                real.push(name);
                // What cannot be looked at, or is not there yet, leads nowhere else.
                if real.is_symlink() {
                    real = real.canonicalize().map_err(|error| match error.kind() {
                        ErrorKind::NotFound => refused(format!("where `{}` is a link to nothing", real.display())),
                        _ => refused(format!("where the link `{}` cannot be followed: {error}", real.display())),
                    })?;
                }
            }
        }
    }
    if real.starts_with(&root) {
        Ok(real)
    } else {
        Err(refused("which is not inside the current directory".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::super::directives::Directives;
    use super::*;

    #[test]
    fn a_folder_is_inside_wherever_links_and_dots_lead() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        crate::fs::create_dir_all(&root.join("real/deep")).unwrap();
        symlink(root.join("real"), root.join("within")).unwrap();
        symlink("/", root.join("out")).unwrap();
        symlink("nowhere", root.join("dangling")).unwrap();
        symlink("round", root.join("round")).unwrap();
        let inside = |path: &str| {
            contained(Path::new(path), &root, "x", FOLDER).map(|real| real.strip_prefix(&root).unwrap().to_owned())
        };
        for (path, expected) in [
            ("new/folder", "new/folder"),
            (".", ""),
            ("within/new", "real/new"),
            ("real/../new", "new"),
            ("within/deep/../..", ""),
            ("absent/../new", "new"),
        ] {
            assert_eq!(inside(path).unwrap(), Path::new(expected), "{path}");
        }
        let absolute = root.join("within/new");
        assert_eq!(contained(&absolute, &root, "x", FOLDER).unwrap(), root.join("real/new"));
        for path in ["..", "../x", "/etc", "a/../../x", "out/tmp", "real/../../x", "dangling/x", "round/x", ""] {
            let error = inside(path).unwrap_err();
            assert!(error.to_string().contains(path), "{error}");
            assert_eq!(error.kind().exit_code().code(), 2, "{path}");
        }
    }

    #[test]
    fn what_is_said_twice_must_be_the_same() {
        let dir = tempfile::tempdir().unwrap();
        let input = |top: &str| {
            let (directives, text) = super::super::directives::take_directives(format!("{top}Q"), "`in.md`").unwrap();
            Input { text, directives }
        };
        let of = |top: &str, option: Option<&str>, legacy: bool| {
            Keeping::of(&input(top), option.map(Path::new), legacy, dir.path(), Path::new("configured"))
        };
        let folder = |name: &str| Keeping::Folder(dir.path().canonicalize().unwrap().join(name));
        assert_eq!(of("", None, false).unwrap(), Keeping::Folder("configured".into()));
        assert_eq!(of("SESSION_PATH: a\n", Some("./a"), false).unwrap(), folder("a"));
        assert_eq!(of("LEGACY_MODE: true\n", None, true).unwrap(), Keeping::Legacy);
        assert_eq!(of("LEGACY_MODE: false\n", Some("b"), false).unwrap(), folder("b"));
        for (top, option, legacy, expected) in [
            ("SESSION_PATH: a\n", Some("b"), false, "`--session-path b`, and line 1 of `in.md` says `SESSION_PATH: a`"),
            ("LEGACY_MODE: false\n", None, true, "`--legacy`, and line 1 of `in.md` says `LEGACY_MODE: false`"),
            (
                "LEGACY_MODE: true\n",
                Some("b"),
                false,
                "line 1 of `in.md` (`LEGACY_MODE: true`) keeps the session in a temporary folder, and `--session-path` \
                 names another",
            ),
            (
                "SESSION_PATH: a\n",
                None,
                true,
                "`--legacy` keeps the session in a temporary folder, and line 1 of `in.md` (`SESSION_PATH`) names another",
            ),
        ] {
            assert_eq!(of(top, option, legacy).unwrap_err().to_string(), expected);
        }
        assert_eq!(Directives::default(), input("").directives);
    }
}
