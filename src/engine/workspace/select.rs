//! Which files of a folder are in its snapshot. Everything is looked at, nothing is read or made.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fs_err as fs;
use rustix::fs::{Access, AtFlags, CWD, accessat};

use crate::config::Untracked;
use crate::error::{Error, Result};
use crate::git::{Git, GitError, Listed};
use crate::session::Layout;

/// The most files, links and folders of a snapshot.
pub(crate) const MOST_FILES: u64 = 100_000;

/// The most bytes of a snapshot.
pub(crate) const MOST_BYTES: u64 = 1 << 30;

/// How long one call of git may take.
const GIT_LIMIT: Duration = Duration::from_secs(60);

/// Whether `path` is one from which a program that runs beside it takes settings, whoever asks it: `gemini` its servers and
/// variables, everything that is built on Bun variables and scripts to run first. Where a key is sent, and what is
/// executed, is not for the folder to say.
pub(crate) fn is_obeyed(path: &Path) -> bool {
    let name = path.as_os_str().as_encoded_bytes();
    matches!(name, b".gemini" | b"bunfig.toml" | b".bunfig.toml") || name == b".env" || name.starts_with(b".env.")
}

/// What a snapshot is wanted of.
#[derive(Debug, Clone, Copy)]
pub struct WorkspaceRequest<'a> {
    /// The folder.
    pub dir: &'a Path,
    /// Whether it has what git does not track.
    pub untracked: Untracked,
    /// The folders that hold sessions, which are never in it; they need not exist.
    pub sessions: &'a [PathBuf],
}

/// How the files were found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// Git tracks them.
    Git,
    /// They lie in a folder that is in no repository, or that git ignores as a whole.
    Folder,
}

/// What is not in the snapshot although it lies in the folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// How many files git neither tracks nor ignores.
    pub untracked: u64,
    /// Folders of sessions, or single sessions.
    pub sessions: Vec<PathBuf>,
    /// Sockets, named pipes and devices.
    pub special: Vec<PathBuf>,
    /// Submodules that are not checked out.
    pub submodules: Vec<PathBuf>,
    /// Settings at its top that a program would obey where it runs.
    pub settings: Vec<PathBuf>,
}

/// The files of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    pub(super) root: PathBuf,
    pub(super) untracked: Untracked,
    /// Relative to the root; each folder before what is in it. No part but the last is a link.
    pub(super) paths: Vec<PathBuf>,
    files: u64,
    bytes: u64,
    origin: Origin,
    left_out: LeftOut,
}

impl LeftOut {
    fn sort(&mut self) {
        for paths in [&mut self.sessions, &mut self.special, &mut self.submodules, &mut self.settings] {
            paths.sort_unstable();
        }
    }
}

impl Selection {
    /// Looks at the folder.
    ///
    /// # Errors
    /// It cannot be used, a file of it cannot be read, or there is too much of it.
    pub async fn of(request: WorkspaceRequest<'_>) -> Result<Self> {
        let root = usable(request)?;
        let sessions = request.sessions.iter().filter_map(|path| path.canonicalize().ok()).collect();
        let mut search = Search {
            root: &root,
            untracked: request.untracked,
            sessions,
            folders: BTreeMap::new(),
            open: Vec::new(),
            paths: Vec::new(),
            files: 0,
            bytes: 0,
            left_out: LeftOut::default(),
        };
        let origin = search.origin().await?;
        search.open.push(match origin {
            Origin::Git => Place::Repository(PathBuf::new()),
            Origin::Folder => Place::Folder(PathBuf::new()),
        });
        while let Some(place) = search.open.pop() {
            match place {
                Place::Repository(path) => search.repository(&path).await?,
                Place::Nested(path) => search.nested(path).await?,
                Place::Folder(path) => search.folder(&path)?,
            }
        }
        let Search { mut paths, files, bytes, mut left_out, .. } = search;
        left_out.sort();
        paths.sort_unstable();
        paths.dedup();
        if files == 0 {
            let error =
                Error::usage(format!("`--workspace`: no file of `{}` would be in the snapshot", root.display()));
            return Err(match left_out.untracked {
                0 => error.hint("name a folder that holds files"),
                count => error.hint(format!("git tracks none of {count}; `--untracked include` takes them")),
            });
        }
        Ok(Self { untracked: request.untracked, paths, files, bytes, origin, left_out, root })
    }

    /// The same without the files that `is_hidden` names.
    #[must_use]
    pub(crate) fn without(mut self, is_hidden: impl Fn(&Path) -> bool) -> Self {
        self.paths.retain(|path| !is_hidden(path));
        self
    }

    /// The folder, absolute and without links.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Whether it has what git does not track.
    #[must_use]
    pub const fn untracked(&self) -> Untracked {
        self.untracked
    }

    /// How many files and links there are.
    #[must_use]
    pub const fn files(&self) -> u64 {
        self.files
    }

    /// Their size in bytes, as it was when they were looked at.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// How they were found.
    #[must_use]
    pub const fn origin(&self) -> Origin {
        self.origin
    }

    /// What is not among them.
    #[must_use]
    pub const fn left_out(&self) -> &LeftOut {
        &self.left_out
    }
}

/// The folder of the request, absolute and without links, if slots may see it.
fn usable(request: WorkspaceRequest<'_>) -> Result<PathBuf> {
    let dir = request.dir.display();
    let root = request.dir.canonicalize().map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => Error::usage(format!("`--workspace`: there is no folder `{dir}`"))
            .hint("name the folder that the models are to see, such as `--workspace .`"),
        kind => Error::usage(format!("`--workspace`: cannot use `{dir}`: {kind}")),
    })?;
    if !root.is_dir() {
        return Err(
            Error::usage(format!("`--workspace`: `{dir}` is not a folder")).hint("name the folder that the file is in")
        );
    }
    if root.components().any(|part| part.as_os_str() == ".git") {
        return Err(Error::usage(format!("`--workspace`: `{dir}` belongs to git itself"))
            .hint("name the folder of the work tree"));
    }
    let base = request.sessions.iter().filter_map(|path| path.canonicalize().ok());
    let within = base.into_iter().find(|base| root.starts_with(base));
    if let Some(within) = within.or_else(|| root.ancestors().find(|path| is_session(path)).map(Path::to_owned)) {
        let within = within.display();
        return Err(Error::usage(format!(
            "`--workspace`: `{dir}` is inside of `{within}`, where sessions are, and no slot may see those"
        ))
        .hint("name a folder outside of it, or keep the sessions elsewhere with `--sessions-dir`"));
    }
    Ok(root)
}

fn git_error(folder: &Path, why: &dyn std::fmt::Display) -> Error {
    Error::usage(format!("`--workspace`: git cannot say what `{}` holds: {why}", folder.display()))
        .hint("a copy of the folder without its `.git` needs no git")
}

/// Whether a session lies at `path`. A `manifest.json` alone is somebody else's.
pub(crate) fn is_session(path: &Path) -> bool {
    let layout = Layout::new(path);
    layout.meta().is_file() || layout.manifest().is_file() && layout.events().is_file()
}

/// A folder that is still to be looked at, relative to the root.
enum Place {
    /// By what git says of it.
    Repository(PathBuf),
    /// It has a `.git`: a repository if git says so, else a folder.
    Nested(PathBuf),
    /// By what is in it.
    Folder(PathBuf),
}

/// What a folder on the way to a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Open,
    /// No folder any more, or one that is not shown.
    Closed,
}

struct Search<'a> {
    root: &'a Path,
    untracked: Untracked,
    /// Folders that hold sessions, without links.
    sessions: Vec<PathBuf>,
    /// The folders that were looked at.
    folders: BTreeMap<PathBuf, Way>,
    open: Vec<Place>,
    paths: Vec<PathBuf>,
    files: u64,
    bytes: u64,
    left_out: LeftOut,
}

impl Search<'_> {
    async fn origin(&self) -> Result<Origin> {
        let git = Git::new(self.root, GIT_LIMIT);
        match git.work_tree().await {
            Ok(None) => Ok(Origin::Folder),
            Ok(Some(_)) => {
                let tracks = !git.tracked().await.map_err(|error| git_error(self.root, &error))?.is_empty();
                let ignored =
                    || async { git.is_ignored(self.root).await.map_err(|error| git_error(self.root, &error)) };
                Ok(if !tracks && ignored().await? { Origin::Folder } else { Origin::Git })
            }
            Err(GitError::Spawn(source))
                if source.kind() == io::ErrorKind::NotFound
                    && !self.root.ancestors().any(|path| path.join(".git").exists()) =>
            {
                Ok(Origin::Folder)
            }
            Err(error) => Err(git_error(self.root, &error)),
        }
    }

    /// Takes what git tracks in the repository at `place`, and what it does not track where that is wanted.
    async fn repository(&mut self, place: &Path) -> Result<()> {
        let full = self.root.join(place);
        let git = Git::new(&full, GIT_LIMIT);
        let tracked = git.tracked().await.map_err(|error| git_error(&full, &error))?;
        let untracked = git.untracked().await.map_err(|error| git_error(&full, &error))?;
        for listed in tracked {
            match listed {
                Listed::File(path) => self.file(place.join(path))?,
                Listed::Repository(path) => self.submodule(place.join(path)),
            }
        }
        for listed in untracked {
            match (self.untracked, listed) {
                (Untracked::Include, Listed::File(path)) => self.file(place.join(path))?,
                (Untracked::Include, Listed::Repository(path)) => self.submodule(place.join(path)),
                (Untracked::Exclude, Listed::File(path) | Listed::Repository(path)) => {
                    // Sessions are no matter of git.
                    let path = place.join(path);
                    if self.way_to(&path) == Way::Open && !self.is_hidden(&path) {
                        self.left_out.untracked += 1;
                    }
                }
            }
        }
        Ok(())
    }

    fn submodule(&mut self, path: PathBuf) {
        if self.way_to(&path) != Way::Open || self.is_hidden(&path) {
            return;
        }
        let full = self.root.join(&path);
        if full.symlink_metadata().is_ok_and(|found| found.is_dir()) && full.join(".git").exists() {
            self.open.push(Place::Repository(path));
        } else {
            self.left_out.submodules.push(path);
        }
    }

    /// Takes what is at `place`, whose `.git` may be an empty folder or lead nowhere.
    async fn nested(&mut self, place: PathBuf) -> Result<()> {
        let full = self.root.join(&place);
        let work_tree = Git::new(&full, GIT_LIMIT).work_tree().await;
        if work_tree.map_err(|error| git_error(&full, &error))?.is_some_and(|root| root == full) {
            return self.repository(&place).await;
        }
        // What is left of a repository: nobody knows any more which of its files were not to be shown.
        let own = full.join(".git");
        if own.is_dir() && fs::read_dir(&own).map_err(|error| unreadable(&error))?.next().is_some() {
            return Err(git_error(&full, &"its `.git` is no repository"));
        }
        self.plain(place)
    }

    fn plain(&mut self, place: PathBuf) -> Result<()> {
        self.paths.push(place.clone());
        self.within_limits()?;
        self.open.push(Place::Folder(place));
        Ok(())
    }

    /// Takes what lies in the folder at `place`.
    fn folder(&mut self, place: &Path) -> Result<()> {
        let full = self.root.join(place);
        let mut entries = Vec::new();
        for entry in fs::read_dir(&full).map_err(|error| unreadable(&error))? {
            entries.push(entry.map_err(|error| unreadable(&error))?);
        }
        for entry in entries {
            let path = place.join(entry.file_name());
            if entry.file_name() == ".git" {
                continue;
            }
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                self.file(path)?;
            } else if !self.is_hidden(&path) {
                if entry.path().join(".git").exists() {
                    self.open.push(Place::Nested(path));
                } else {
                    self.plain(path)?;
                }
            }
        }
        Ok(())
    }

    /// Takes the file or link at `path`, if there is one.
    fn file(&mut self, path: PathBuf) -> Result<()> {
        if self.way_to(&path) != Way::Open {
            return Ok(());
        }
        let full = self.root.join(&path);
        if is_obeyed(&path) && full.symlink_metadata().is_ok() {
            self.left_out.settings.push(path);
            return Ok(());
        }
        let found = match fs::symlink_metadata(&full) {
            Ok(found) => found,
            // Removed in the work tree, and still in git's index.
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Ok(());
            }
            Err(error) => return Err(unreadable(&error)),
        };
        let kind = found.file_type();
        if kind.is_dir() {
            // A folder stands where git knows a file.
            return Ok(());
        }
        if kind.is_fifo() || kind.is_socket() || kind.is_block_device() || kind.is_char_device() {
            self.left_out.special.push(path);
            return Ok(());
        }
        if kind.is_file() {
            accessat(CWD, &full, Access::READ_OK, AtFlags::EACCESS).map_err(|errno| {
                let why = io::Error::from(errno);
                unreadable(&io::Error::new(why.kind(), format!("`{}`: {why}", full.display())))
            })?;
            self.bytes += found.len();
        }
        self.files += 1;
        self.paths.push(path);
        self.within_limits()
    }

    fn within_limits(&self) -> Result<()> {
        let what = if self.paths.len() as u64 > MOST_FILES {
            format!("more than {MOST_FILES} files")
        } else if self.bytes > MOST_BYTES {
            format!("more than {} MiB", MOST_BYTES >> 20)
        } else {
            return Ok(());
        };
        let dir = self.root.display();
        Err(Error::usage(format!("`--workspace`: `{dir}` holds {what}, the most that a snapshot may have"))
            .hint("name a folder inside of it, with what the question is about")
            .hint("in a git repository, what is ignored is not counted"))
    }

    /// Whether the folder that `path` lies in is one of the tree's own, and not hidden.
    fn way_to(&mut self, path: &Path) -> Way {
        let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) else { return Way::Open };
        if let Some(known) = self.folders.get(parent) {
            return *known;
        }
        let is_open = self.way_to(parent) == Way::Open
            && !self.is_hidden(parent)
            && self.root.join(parent).symlink_metadata().is_ok_and(|found| found.is_dir());
        let way = if is_open { Way::Open } else { Way::Closed };
        self.folders.insert(parent.to_owned(), way);
        way
    }

    /// Whether the folder at `path` is kept from slots; noted the first time.
    fn is_hidden(&mut self, path: &Path) -> bool {
        let full = self.root.join(path);
        let list = if self.sessions.contains(&full) || is_session(&full) {
            &mut self.left_out.sessions
        } else if is_obeyed(path) {
            &mut self.left_out.settings
        } else {
            return false;
        };
        if !list.iter().any(|known| known == path) {
            list.push(path.to_owned());
        }
        true
    }
}

/// A part of the folder that cannot be read: named by the error, which has its path.
fn unreadable(error: &io::Error) -> Error {
    Error::usage(format!("`--workspace`: cannot read {error}"))
        .hint("nothing was started; make it readable, or name a folder without it")
}
