//! What in a folder was touched after a moment, by the time that the system notes of each change and nobody can set.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use fs_err as fs;
use jiff::Timestamp;

/// Something that was touched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Touched {
    /// What is at this path was written, or its permissions changed.
    Entry(PathBuf),
    /// Something was added to this folder or taken out of it.
    Folder(PathBuf),
}

/// The first of what is below `folder`, or the folder itself, that was touched after `since`, paths relative to it.
///
/// `None` also where that cannot be told: `beside` is a file that was written before the folder and never again; where it
/// looks touched, all of it is a copy.
#[must_use]
pub fn touched_since(folder: &Path, since: Timestamp, beside: &Path) -> Option<Touched> {
    let changed = |path: &Path| {
        let found = fs::symlink_metadata(path).ok()?;
        let at = Timestamp::new(found.ctime(), i32::try_from(found.ctime_nsec()).ok()?).ok()?;
        Some((at, found.is_dir()))
    };
    // The clock of files lags behind by its step; what the folder was given its name by comes before that moment, too.
    let since = changed(folder).map_or(since, |(named, _)| named.min(since));
    let is_later = |path: &Path| changed(path).map(|(at, is_folder)| (at > since, is_folder));
    if is_later(beside).is_none_or(|(later, _)| later) {
        return None;
    }
    let (mut entries, mut folders) = (Vec::new(), Vec::new());
    let mut open = vec![PathBuf::new()];
    while let Some(inside) = open.pop() {
        let Some((later, true)) = is_later(&folder.join(&inside)) else { continue };
        for entry in fs::read_dir(folder.join(&inside)).into_iter().flatten().flatten() {
            let path = inside.join(entry.file_name());
            match is_later(&folder.join(&path)) {
                Some((_, true)) => open.push(path),
                Some((true, false)) => entries.push(path),
                _ => {}
            }
        }
        if later {
            folders.push(inside);
        }
    }
    let first = entries.into_iter().min().map(Touched::Entry);
    first.or_else(|| folders.into_iter().min().map(Touched::Folder))
}

impl Touched {
    /// In words; `root` is what the folder is called.
    #[must_use]
    pub fn told(&self, root: &Path) -> String {
        match self {
            Self::Entry(path) => format!("`{}` was written since", root.join(path).display()),
            Self::Folder(path) if path.as_os_str().is_empty() => {
                format!("something was added to `{}` or taken out of it since", root.display())
            }
            Self::Folder(path) => {
                format!("something was added to `{}` or taken out of it since", root.join(path).display())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fs::{create_dir_all, remove_if_exists, replace};

    /// A moment after everything that was made before, and before everything that is made later.
    fn moment(place: &Path) -> Timestamp {
        let mark = |name: &str| {
            let path = place.join(name);
            replace(&path, b"").unwrap();
            let found = fs::symlink_metadata(&path).unwrap();
            Timestamp::new(found.ctime(), i32::try_from(found.ctime_nsec()).unwrap()).unwrap()
        };
        // The system's clock for files moves in steps.
        let first = mark("mark");
        while mark("mark") == first {}
        first
    }

    #[test]
    fn the_first_that_was_written_is_named_and_of_what_is_gone_its_folder() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("root");
        let beside = place.path().join("beside");
        replace(&beside, b"x").unwrap();
        create_dir_all(&root.join("sub")).unwrap();
        for file in ["sub/a", "sub/b", "c"] {
            replace(&root.join(file), b"x").unwrap();
        }
        let then = moment(place.path());
        assert_eq!(touched_since(&root, then, &beside), None);
        remove_if_exists(&root.join("sub/a")).unwrap();
        let sub = Touched::Folder("sub".into());
        assert_eq!(touched_since(&root, then, &beside), Some(sub.clone()));
        assert_eq!(sub.told(Path::new("w")), "something was added to `w/sub` or taken out of it since");
        crate::fs::append(&root.join("c"), b"y").unwrap();
        let c = Touched::Entry("c".into());
        assert_eq!(touched_since(&root, then, &beside), Some(c.clone()));
        assert_eq!(c.told(Path::new("w")), "`w/c` was written since");
        crate::fs::append(&beside, b"y").unwrap();
        assert_eq!(touched_since(&root, then, &beside), None, "a copy: everything is new");
    }
}
