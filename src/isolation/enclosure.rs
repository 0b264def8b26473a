//! What a process may see of the file system, as a plan: paths only, nothing is looked at or made here.

use std::path::PathBuf;

/// Folders kept from a process, and its own ones put in the place of shared ones.
///
/// With namespaces all of it is done; Landlock, which can mount nothing, only keeps [`Self::hidden`] but for
/// [`Self::shown`], and [`Self::protected`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Enclosure {
    /// Folders of which nothing is to be seen; absolute, without symbolic links, none inside another.
    pub hidden: Vec<PathBuf>,
    /// What is to be seen all the same, at its own path below one of [`Self::hidden`].
    pub shown: Vec<Shown>,
    /// Folders in which everything can be read and nothing changed, but for what is shown to be changed below them;
    /// absolute, without symbolic links.
    pub protected: Vec<PathBuf>,
    /// Folders mounted over shared ones.
    pub places: Vec<Place>,
    /// What stays as it is below one of [`Self::places`].
    pub kept: Vec<PathBuf>,
    /// The folder that holds all private ones of this process: `FOLDER/SLOT`, with the folder nobody else's. Removed by
    /// the outer stage when `team` itself is gone and cannot.
    pub scratch: Option<PathBuf>,
}

/// A file or folder that stays in sight.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// Where it is.
    pub path: PathBuf,
    /// Whether it may be changed.
    pub access: Access,
}

/// How something is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// To be read.
    Read,
    /// To be read and changed.
    Write,
}

/// A shared folder, and the private one that a process finds there instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The usual path.
    pub usual: PathBuf,
    /// The private folder.
    pub private: PathBuf,
    /// What happens where there is no such folder yet.
    pub absent: Absent,
}

/// What happens to a [`Place`] where nobody has made the usual folder yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Absent {
    /// It is left out: nobody will look there.
    Skip,
    /// It is made, for the program itself would make it and write there.
    Make,
}
