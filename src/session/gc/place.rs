//! The leftovers inside of a session's folder: files that were being written, and scratch folders.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::super::layout::Layout;
use crate::fs::{EntryKind, Folder};

/// Folders whose files are not named by us.
const OTHERS: [&str; 3] = [Layout::WORKSPACE, Layout::WORKSPACE_PART, ".requests"];

/// Something in a session's folder.
pub(super) struct Inside {
    /// The folder that it is in.
    above: Folder,
    name: OsString,
    /// Where that is.
    pub(super) path: PathBuf,
    pub(super) bytes: u64,
}

impl Inside {
    /// Removes a file.
    pub(super) fn remove(&self) -> std::io::Result<()> {
        self.above.remove_file(&self.name)
    }

    /// Removes what is in the folders of a `work/` folder, and leaves the folders.
    pub(super) fn empty(&self) -> std::io::Result<()> {
        let work = self.above.inside(&self.name)?;
        let mut first = Ok(());
        for slot in folders(&work) {
            first = first.and(work.empty_tree(&slot));
        }
        first
    }
}

/// What a search is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// Files that nobody has written to since this time, in seconds since 1970.
    Unfinished { before: i64 },
    /// `work/` folders with something in them.
    Scratch,
}

/// What there is in the session's folder at `path`, in its rounds and in their turns.
pub(super) fn find(path: &Path, wanted: Wanted) -> std::io::Result<Vec<Inside>> {
    let mut found = Vec::new();
    search(&Folder::open(path)?, path, wanted, &mut found)?;
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

fn search(folder: &Folder, path: &Path, wanted: Wanted, found: &mut Vec<Inside>) -> std::io::Result<()> {
    for (name, kind) in folder.entries()? {
        let path = path.join(&name);
        match (kind, wanted) {
            (EntryKind::Folder, _) if name == "work" => {
                let work = folder.inside(&name)?;
                let filled = folders(&work).iter().any(|slot| !work.is_empty_folder(slot));
                if wanted == Wanted::Scratch && filled {
                    found.push(Inside { above: folder.again()?, bytes: work.bytes(), name, path });
                }
            }
            // Copies of the user's own files, and what is asked of an owner, which is the owner's to take away.
            (EntryKind::Folder, _) if OTHERS.iter().any(|others| name == *others) => {}
            (EntryKind::Folder, _) => search(&folder.inside(&name)?, &path, wanted, found)?,
            (EntryKind::File, Wanted::Unfinished { before })
                if is_unfinished(&name) && folder.written(&name).is_ok_and(|at| at <= before) =>
            {
                found.push(Inside { above: folder.again()?, bytes: folder.size(&name), name, path });
            }
            _ => {}
        }
    }
    Ok(())
}

fn folders(work: &Folder) -> Vec<OsString> {
    let entries = work.entries().unwrap_or_default().into_iter();
    entries.filter(|(_, kind)| *kind == EntryKind::Folder).map(|(name, _)| name).collect()
}

/// Whether this is a name under which a file is written before it gets its own.
fn is_unfinished(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    name.starts_with(".tmp-") || name.starts_with('.') && (name.ends_with(".part") || name.ends_with(".stderr.log"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_of_the_users_files_is_not_searched() {
        let dir = tempfile::tempdir().unwrap();
        for file in ["workspace/.tmp-theirs", "workspace/work/01/a", ".tmp-ours", "judging/.tmp-ours", "work/01/.tmp-x"]
        {
            let path = dir.path().join(file);
            crate::fs::create_dir_all(path.parent().unwrap()).unwrap();
            crate::fs::replace(&path, b"x").unwrap();
        }
        let found = |wanted| {
            let found = find(dir.path(), wanted).unwrap().into_iter();
            found.map(|inside| inside.path.strip_prefix(dir.path()).unwrap().to_owned()).collect::<Vec<_>>()
        };
        let all = Wanted::Unfinished { before: i64::MAX };
        assert_eq!(found(all), [Path::new(".tmp-ours"), Path::new("judging/.tmp-ours")]);
        assert_eq!(found(Wanted::Scratch), [Path::new("work")]);
        assert!(found(Wanted::Unfinished { before: 0 }).is_empty());
    }

    #[test]
    fn only_what_was_being_written_has_such_a_name() {
        for name in [".tmp-a1b2c3", ".response-01.md.part", ".01.stderr.part", ".01.stderr.log"] {
            assert!(is_unfinished(name.as_ref()), "{name}");
        }
        for name in ["response-01.md", "01.log", "01.partial.md", ".lock", "tmp-x", "a.part", ".DS_Store"] {
            assert!(!is_unfinished(name.as_ref()), "{name}");
        }
    }
}
