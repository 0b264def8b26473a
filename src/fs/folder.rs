//! A folder held by a descriptor: what is done in it is done there, whatever is put in the place of its path. Links are
//! never followed.

use std::ffi::{CString, OsStr, OsString};
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

use rustix::fs::{
    AtFlags, Dir, FileType, FlockOperation, Mode, OFlags, Stat, fchmod, flock, fstat, openat, statat, unlinkat,
};
use rustix::io::Errno;

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// A folder that is open.
#[derive(Debug)]
pub struct Folder(OwnedFd);

/// What an entry of a folder is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A folder.
    Folder,
    /// A plain file.
    File,
    /// A link, a pipe, a socket, a device.
    Other,
}

impl Folder {
    /// Opens the folder at `path`; its last part must not be a link.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self(rustix::fs::open(path, FOLDER, Mode::empty())?))
    }

    /// Opens the folder `name` in this one.
    pub fn inside(&self, name: impl AsRef<OsStr>) -> io::Result<Self> {
        Ok(Self(openat(&self.0, name.as_ref(), FOLDER, Mode::empty())?))
    }

    /// Its entries. Read to the end first: a folder that changes while it is read may be read in part.
    pub fn entries(&self) -> io::Result<Vec<(OsString, EntryKind)>> {
        let mut found = Vec::new();
        for entry in Dir::read_from(&self.0)? {
            let entry = entry?;
            let name = OsString::from_vec(CString::from(entry.file_name()).into_bytes());
            if name != "." && name != ".." {
                // Not every file system says what a folder's entries are.
                let kind = match entry.file_type() {
                    FileType::Unknown => self.stat(&name).map_or(EntryKind::Other, |stat| kind_of(&stat)),
                    kind => kind_from(kind),
                };
                found.push((name, kind));
            }
        }
        Ok(found)
    }

    /// What is known of the entry `name`.
    fn stat(&self, name: &OsStr) -> io::Result<Stat> {
        Ok(statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?)
    }

    /// The user that it belongs to.
    pub fn owner(&self) -> io::Result<u32> {
        Ok(fstat(&self.0)?.st_uid)
    }

    /// When something was last put into it or taken out of it, in seconds since 1970.
    pub fn changed(&self) -> io::Result<i64> {
        Ok(fstat(&self.0)?.st_mtime)
    }

    /// Whether this is the folder that is at `path` now.
    #[must_use]
    pub fn is_at(&self, path: &Path) -> bool {
        let (Ok(own), Ok(found)) = (fstat(&self.0), rustix::fs::lstat(path)) else { return false };
        (own.st_dev, own.st_ino) == (found.st_dev, found.st_ino)
    }

    /// Takes the folder's own kernel lock, which ends with this value and with this process. `false` where another has it.
    pub fn lock(&self) -> io::Result<bool> {
        match flock(&self.0, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(true),
            Err(Errno::WOULDBLOCK) => Ok(false),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Whether another process has the folder's lock.
    pub fn is_locked(&self) -> io::Result<bool> {
        match flock(&self.0, FlockOperation::NonBlockingLockShared) {
            Ok(()) => Ok(flock(&self.0, FlockOperation::Unlock).map(|()| false)?),
            Err(Errno::WOULDBLOCK) => Ok(true),
            Err(errno) => Err(errno.into()),
        }
    }

    /// The same folder once more.
    pub fn again(&self) -> io::Result<Self> {
        Ok(Self(self.0.try_clone()?))
    }

    /// When the file `name` was last written to, in seconds since 1970.
    pub fn written(&self, name: &OsStr) -> io::Result<i64> {
        Ok(self.stat(name)?.st_mtime)
    }

    /// Whether `name` is a plain file of this user that nobody has the lock of, and that was last written to before this
    /// time, in seconds since 1970.
    pub fn is_abandoned(&self, name: &OsStr, before: i64) -> io::Result<bool> {
        let flags = OFlags::RDONLY.union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);
        let file = match openat(&self.0, name, flags, Mode::empty()) {
            Ok(file) => file,
            Err(Errno::NOENT | Errno::LOOP) => return Ok(false),
            Err(errno) => return Err(errno.into()),
        };
        let stat = fstat(&file)?;
        let is_ours = kind_of(&stat) == EntryKind::File && stat.st_uid == rustix::process::geteuid().as_raw();
        Ok(is_ours
            && stat.st_mtime <= before
            && flock(&file, FlockOperation::NonBlockingLockExclusive) != Err(Errno::WOULDBLOCK))
    }

    /// Whether the folder `name` is one with nothing in it.
    #[must_use]
    pub fn is_empty_folder(&self, name: &OsStr) -> bool {
        self.inside(name).and_then(|folder| folder.entries()).is_ok_and(|entries| entries.is_empty())
    }

    /// The bytes of the plain file `name`.
    ///
    /// # Errors
    /// It is another kind of thing, cannot be read, or has more than `most` bytes.
    pub fn read(&self, name: &OsStr, most: u64) -> io::Result<Vec<u8>> {
        // Without waiting for whoever may be at the other end of a pipe.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let file = openat(&self.0, name, flags, Mode::empty())?;
        if kind_of(&fstat(&file)?) != EntryKind::File {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no plain file"));
        }
        let mut bytes = Vec::new();
        io::Read::take(std::fs::File::from(file), most.saturating_add(1)).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > most {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it has more than {most} bytes")));
        }
        Ok(bytes)
    }

    /// How many bytes the files in it have, those in its folders included.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let of = |(name, kind): (OsString, EntryKind)| match kind {
            EntryKind::Folder => self.inside(&name).map_or(0, |folder| folder.bytes()),
            EntryKind::File => self.size(&name),
            EntryKind::Other => 0,
        };
        self.entries().unwrap_or_default().into_iter().map(of).sum()
    }

    /// How many bytes the file `name` has.
    #[must_use]
    pub fn size(&self, name: &OsStr) -> u64 {
        self.stat(name).map_or(0, |stat| u64::try_from(stat.st_size).unwrap_or(0))
    }

    /// Removes the file `name`; an absent one is fine.
    pub fn remove_file(&self, name: &OsStr) -> io::Result<()> {
        absent_is_fine(unlinkat(&self.0, name, AtFlags::empty()))
    }

    /// Removes the folder `name`, which must be empty; an absent one is fine.
    pub fn remove_empty(&self, name: &OsStr) -> io::Result<()> {
        absent_is_fine(unlinkat(&self.0, name, AtFlags::REMOVEDIR))
    }

    /// Removes the folder `name` and all that is in it, as far as that goes; gives the first thing that went wrong. What is
    /// forbidden to its owner is allowed again first.
    pub fn remove_tree(&self, name: &OsStr) -> io::Result<()> {
        let emptied = match self.permitted(name) {
            Ok(folder) => folder.clear(),
            Err(error) => absent_is_fine(Errno::from_io_error(&error).map_or(Ok(()), Err)),
        };
        emptied.and(self.remove_empty(name))
    }

    /// Removes all that is in the folder `name`, and leaves it; what is forbidden to its owner is allowed again first.
    pub fn empty_tree(&self, name: &OsStr) -> io::Result<()> {
        self.permitted(name)?.clear()
    }

    /// Removes all that is in it, as far as that goes; gives the first thing that went wrong.
    pub fn clear(&self) -> io::Result<()> {
        fchmod(&self.0, Mode::RWXU).ok();
        let mut first = Ok(());
        for (name, kind) in self.entries()? {
            let removed = match kind {
                EntryKind::Folder => self.remove_tree(&name),
                EntryKind::File | EntryKind::Other => self.remove_file(&name),
            };
            first = first.and(removed);
        }
        first
    }

    /// Opens the folder `name` also where it may not be read.
    fn permitted(&self, name: &OsStr) -> io::Result<Self> {
        self.inside(name).or_else(|error| {
            // Of a link this would change what it leads to.
            if kind_of(&self.stat(name)?) != EntryKind::Folder {
                return Err(error);
            }
            rustix::fs::chmodat(&self.0, name, Mode::RWXU, AtFlags::empty())?;
            self.inside(name)
        })
    }
}

const fn kind_from(kind: FileType) -> EntryKind {
    match kind {
        FileType::Directory => EntryKind::Folder,
        FileType::RegularFile => EntryKind::File,
        _ => EntryKind::Other,
    }
}

fn kind_of(stat: &Stat) -> EntryKind {
    kind_from(FileType::from_raw_mode(stat.st_mode))
}

fn absent_is_fine(result: rustix::io::Result<()>) -> io::Result<()> {
    match result {
        Err(Errno::NOENT) => Ok(()),
        other => Ok(other?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_removed_and_what_a_link_leads_to_stays() {
        let place = tempfile::tempdir().unwrap();
        let kept = place.path().join("kept");
        crate::fs::create_dir_all(&kept).unwrap();
        crate::fs::create_exclusive(&kept.join("file")).unwrap();
        let locked = place.path().join("tree/locked");
        crate::fs::create_dir_all(&locked.join("deep")).unwrap();
        rustix::fs::symlink(&kept, place.path().join("tree/link")).unwrap();
        rustix::fs::symlink(&kept, place.path().join("link")).unwrap();
        rustix::fs::chmod(&locked, Mode::empty()).unwrap();
        let folder = Folder::open(place.path()).unwrap();
        folder.remove_tree("tree".as_ref()).unwrap();
        folder.remove_tree("absent".as_ref()).unwrap();
        assert!(folder.remove_tree("link".as_ref()).is_err());
        assert!(Folder::open(&place.path().join("link")).is_err() && folder.inside("link").is_err());
        let mut left = folder.entries().unwrap();
        left.sort_by(|(a, _), (b, _)| a.cmp(b));
        assert_eq!(left, [("kept".into(), EntryKind::Folder), ("link".into(), EntryKind::Other)]);
        assert!(kept.join("file").exists());
    }

    #[test]
    fn one_process_has_the_lock_and_it_is_told_who_stands_at_the_path() {
        let place = tempfile::tempdir().unwrap();
        let (first, second) = (Folder::open(place.path()).unwrap(), Folder::open(place.path()).unwrap());
        assert!(!second.is_locked().unwrap());
        assert!(first.lock().unwrap());
        assert!(second.is_locked().unwrap() && !second.lock().unwrap());
        assert!(second.is_at(place.path()) && !second.is_at(Path::new("/")));
        drop(first);
        assert!(second.lock().unwrap());
    }
}
