//! Where the server is, and which files and sessions may be named: those below its working directory.

use std::path::{Path, PathBuf};

use crate::config::{Config, Environment, FileSettings};
use crate::engine::contained;
use crate::error::{Error, Result};
use crate::session::{Catalogue, Layout, is_temporary};

/// Where the server is.
#[derive(Debug, Clone)]
pub(super) struct Place {
    /// The working directory, absolute.
    pub(super) cwd: PathBuf,
    /// The environment at the start.
    pub(super) environment: Environment,
    /// The folder of sessions, where the command line says.
    pub(super) sessions_dir: Option<PathBuf>,
}

impl Place {
    /// The sessions, as the configuration of this moment says where they are.
    pub(super) fn catalogue(&self) -> Result<Catalogue> {
        let flags = FileSettings { sessions_dir: self.sessions_dir.clone(), ..FileSettings::default() };
        let config = Config::load(&self.cwd, &self.environment, flags)?;
        Ok(Catalogue::new(self.cwd.join(&config.settings().sessions_dir)))
    }

    /// The session that `reference` names.
    pub(super) fn session(&self, reference: &str) -> Result<Layout> {
        self.admit(self.catalogue()?.find(reference)?, reference)
    }

    /// The same, also where it is damaged.
    pub(super) fn any_session(&self, reference: &str) -> Result<Layout> {
        self.admit(self.catalogue()?.find_any(reference)?, reference)
    }

    /// The session only if it is below the working directory, in the folder of sessions, or one of our temporary ones.
    fn admit(&self, layout: Layout, reference: &str) -> Result<Layout> {
        let root = layout.root();
        let below = |folder: &Path| fs_err::canonicalize(folder).is_ok_and(|folder| root.starts_with(folder));
        if below(&self.cwd) || below(self.catalogue()?.base()) || is_temporary(root) {
            return Ok(layout);
        }
        Err(Error::usage(format!(
            "`path` names `{reference}`, which is neither below the working directory nor among the sessions"
        ))
        .hint(format!("name a session below `{}`", self.cwd.display())))
    }

    /// The file that `name` is, without links; it must be below the working directory.
    pub(super) fn file(&self, name: &str, argument: &str) -> Result<PathBuf> {
        let path = contained(Path::new(name), &self.cwd, &format!("`{argument}`"), "a file")?;
        match fs_err::metadata(&path) {
            Ok(found) if found.is_file() => Ok(path),
            Ok(found) => {
                let what = if found.is_dir() { "a folder" } else { "no ordinary file" };
                Err(Error::usage(format!("`{argument}` names `{name}`, which is {what}")).hint("name one file"))
            }
            Err(error) => Err(Error::usage(format!("`{argument}` names `{name}`, which cannot be read"))
                .with_source(error)
                .hint("correct the path, or give the text as `input`")),
        }
    }

    /// The folder that `name` is, without links; it must be below the working directory, and need not exist.
    pub(super) fn folder(&self, name: &str, argument: &str) -> Result<PathBuf> {
        contained(Path::new(name), &self.cwd, &format!("`{argument}`"), "a folder")
    }

    /// What `name` is, without links: a file or a folder, below the working directory, which need not exist any more.
    pub(super) fn any(&self, name: &str, argument: &str) -> Result<PathBuf> {
        contained(Path::new(name), &self.cwd, &format!("`{argument}`"), "a file or a folder")
    }

    /// How a session is called in a further call: by its id, or where that does not lead to it, by its folder.
    pub(super) fn reference(&self, layout: &Layout) -> String {
        let by_id = self.catalogue().and_then(|catalogue| Ok(catalogue.exactly(&layout.name())?));
        match by_id {
            Ok(found) if found.root() == layout.root() => layout.name(),
            _ => layout.root().display().to_string(),
        }
    }
}
