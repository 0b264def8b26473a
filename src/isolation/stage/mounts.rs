//! The init stage's mounts: everything the agent's view of the file system is made of.
//!
//! Done before privileges are dropped and before the working directory is entered by its path. An agent cannot undo any
//! of it: it has no privilege in the namespace that owns the mounts, and in a nested one the kernel locks them together.

use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, StatVfsMountFlags};
use rustix::mount::{MountFlags, mount, mount_bind, mount_bind_recursive, mount_remount};

use super::super::enclosure::{Absent, Access, Enclosure, Place, Shown};
use super::super::wire::Step;
use super::mountinfo::{self, Alias, Location};
use super::{AtStep, Failure};

/// An empty folder needs no more; it holds mount points only.
const EMPTY: &std::ffi::CStr = c"mode=0755,size=64k,nr_inodes=4k";

/// How deep device nodes are looked for below `/dev`.
const DEVICE_DEPTH: usize = 3;

/// The major number of SCSI's character devices, which read disks as well.
const SCSI_GENERIC: u32 = 21;

pub(super) fn arrange(enclosure: &Enclosure) -> Result<(), Failure> {
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount("proc", "/proc", "proc", flags, None).at(Step::MountProc)?;
    if enclosure.hidden.is_empty() {
        return Ok(());
    }
    // All are taken hold of before anything is covered.
    let before = mountinfo::read().at(Step::Hide)?;
    let hidden: Vec<Known> = enclosure.hidden.iter().map(|path| Known::find(path, &before)).collect();
    let protected: Vec<Known> = enclosure.protected.iter().map(|path| Known::find(path, &before)).collect();
    let shown: Vec<(&Shown, Held)> = enclosure
        .shown
        .iter()
        .map(|shown| Ok((shown, Held::open(&shown.path)?)))
        .collect::<rustix::io::Result<_>>()
        .at(Step::Show)?;
    mount_places(enclosure).at(Step::MountPrivate)?;
    protect_all(&protected, &before).at(Step::Protect)?;
    let covers = cover_all(&hidden, &before, enclosure).at(Step::Hide)?;
    for (shown, held) in shown {
        held.bind_at(&shown.path).at(Step::Show)?;
        if shown.access == Access::Read {
            make_read_only(&shown.path).at(Step::Show)?;
        }
    }
    for path in covers {
        make_read_only(&path).at(Step::Hide)?;
    }
    hide_devices(&before).at(Step::HideDevices)
}

/// Something that stays reachable after its path was covered.
struct Held {
    handle: OwnedFd,
    is_dir: bool,
}

impl Held {
    fn open(path: &Path) -> rustix::io::Result<Self> {
        let handle = rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
        let is_dir = rustix::fs::FileType::from_raw_mode(rustix::fs::fstat(&handle)?.st_mode).is_dir();
        Ok(Self { handle, is_dir })
    }

    /// Mounts it at `path`, which is made if need be. With everything mounted below it: what was mounted together may
    /// not be taken apart in a user namespace.
    fn bind_at(&self, path: &Path) -> std::io::Result<()> {
        if !path.exists() {
            if self.is_dir {
                crate::fs::create_dir_all(path)?;
            } else {
                path.parent().map_or(Ok(()), crate::fs::create_dir_all)?;
                crate::fs::create_exclusive(path)?;
            }
        }
        Ok(mount_bind_recursive(format!("/proc/self/fd/{}", self.handle.as_raw_fd()), path)?)
    }
}

/// A folder to hide or to protect, as it was before anything was covered.
struct Known<'a> {
    path: &'a Path,
    identity: Option<(u64, u64)>,
    location: Option<Location>,
}

impl<'a> Known<'a> {
    fn find(path: &'a Path, mounts: &[mountinfo::Mount]) -> Self {
        Self { path, identity: identity(path), location: mountinfo::locate(mounts, path) }
    }
}

fn identity(path: &Path) -> Option<(u64, u64)> {
    std::fs::metadata(path).ok().map(|data| (data.dev(), data.ino()))
}

/// Private folders over the shared ones, and what is kept of those put back.
fn mount_places(enclosure: &Enclosure) -> std::io::Result<()> {
    let mut places: Vec<(&Place, Held)> = Vec::new();
    for place in &enclosure.places {
        places.push((place, Held::open(&place.private)?));
    }
    // A link is made again; what it leads to is kept on its own, if it is.
    let kept: Vec<(&PathBuf, Kept)> =
        enclosure.kept.iter().filter_map(|path| Some((path, Kept::open(path)?))).collect();
    // The outer ones first, which would cover the inner ones.
    places.sort_by_key(|(place, _)| place.usual.components().count());
    for (place, held) in places {
        let missing = !place.usual.is_dir();
        if missing && (place.absent == Absent::Skip || crate::fs::create_dir_all(&place.usual).is_err()) {
            // Where it cannot be made the program cannot make it either.
            continue;
        }
        held.bind_at(&place.usual)?;
        for (path, kept) in kept.iter().filter(|(path, _)| path.starts_with(&place.usual) && **path != place.usual) {
            match kept {
                Kept::Link(target) => match rustix::fs::symlink(target, path.as_path()) {
                    Ok(()) | Err(rustix::io::Errno::EXIST) => {}
                    Err(error) => return Err(error.into()),
                },
                Kept::Held(held) => held.bind_at(path)?,
            }
        }
    }
    Ok(())
}

enum Kept {
    Link(PathBuf),
    Held(Held),
}

impl Kept {
    fn open(path: &Path) -> Option<Self> {
        if let Ok(target) = std::fs::read_link(path) {
            return Some(Self::Link(target));
        }
        Held::open(path).ok().map(Self::Held)
    }
}

/// Makes every path to every protected folder read-only, with what others have mounted below it; what this process was
/// given a place of its own for, or is shown later, is as it was made.
fn protect_all(protected: &[Known<'_>], before: &[mountinfo::Mount]) -> std::io::Result<()> {
    let now = mountinfo::read()?;
    let mut paths = Vec::new();
    for folder in protected {
        let Some((device, _)) = folder.identity else { continue };
        let aliases = |mounts| folder.location.iter().flat_map(move |location| mountinfo::aliases(mounts, location));
        paths.extend(aliases(&now).filter_map(|alias| match alias {
            Alias::Whole(path) => (identity(&path) == folder.identity).then_some(path),
            Alias::Part(_) => None,
        }));
        // As for hidden ones: the private folders may be parts of a protected one.
        paths.extend(aliases(before).filter_map(|alias| match alias {
            Alias::Part(path) => identity(&path).is_some_and(|(other, _)| other == device).then_some(path),
            Alias::Whole(_) => None,
        }));
    }
    paths.sort_unstable();
    paths.dedup();
    for path in &paths {
        mount_bind_recursive(path, path)?;
        make_read_only(path)?;
        let below = |mount: &&mountinfo::Mount| mount.point.starts_with(path) && mount.point != *path;
        // What cannot be entered cannot be changed either.
        for mount in before.iter().filter(below).filter(|mount| identity(&mount.point).is_some()) {
            if !now.iter().rfind(|other| other.point == mount.point).is_some_and(|other| other != mount) {
                make_read_only(&mount.point)?;
            }
        }
    }
    Ok(())
}

/// Covers every path to every hidden folder; gives the paths that are to become read-only.
fn cover_all(
    hidden: &[Known<'_>],
    before: &[mountinfo::Mount],
    enclosure: &Enclosure,
) -> std::io::Result<Vec<PathBuf>> {
    let now = mountinfo::read()?;
    let mut covers = Vec::new();
    for folder in hidden {
        let Some((device, inode)) = folder.identity else { continue };
        let aliases = |mounts| folder.location.iter().flat_map(move |location| mountinfo::aliases(mounts, location));
        // What was kept of a shared folder is one more way. A path that a later mount covers leads elsewhere by now.
        for alias in aliases(&now) {
            match alias {
                Alias::Whole(path) if identity(&path) == Some((device, inode)) => cover(path, &mut covers)?,
                Alias::Whole(_) | Alias::Part(_) => {}
            }
        }
        // Only what others have mounted: the private folders, just mounted, are parts of a hidden one as well.
        for alias in aliases(before) {
            match alias {
                Alias::Part(path) if identity(&path).is_some_and(|(other, _)| other == device) => {
                    cover(path, &mut covers)?;
                }
                Alias::Whole(_) | Alias::Part(_) => {}
            }
        }
    }
    for folder in hidden {
        let still_there = folder.identity.is_some() && identity(folder.path) == folder.identity;
        // Something is to be shown in it, but a private folder has taken its place.
        let needed = !covers.iter().any(|path| path == folder.path)
            && enclosure.shown.iter().any(|shown| shown.path.starts_with(folder.path));
        if needed && !folder.path.exists() {
            crate::fs::create_dir_all(folder.path)?;
        }
        if still_there || needed {
            cover(folder.path.to_owned(), &mut covers)?;
        }
    }
    // Processes of elsewhere, through whose entries every mount can be passed by.
    for mount in now.iter().filter(|mount| mount.kind == "proc" && !mount.point.starts_with("/proc")) {
        if mount.point.is_dir() {
            cover(mount.point.clone(), &mut covers)?;
        }
    }
    Ok(covers)
}

fn cover(path: PathBuf, covers: &mut Vec<PathBuf>) -> std::io::Result<()> {
    if path.is_dir() {
        let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
        mount("team", &path, "tmpfs", flags, EMPTY)?;
        covers.push(path);
    } else if path.exists() {
        mount_bind("/dev/null", &path)?;
    }
    Ok(())
}

/// Keeps the flags that are there: in a user namespace the kernel refuses to drop them.
fn make_read_only(path: &Path) -> rustix::io::Result<()> {
    let present = rustix::fs::statvfs(path)?.f_flag;
    let mut flags = MountFlags::BIND | MountFlags::RDONLY;
    for (is, keeps) in [
        (StatVfsMountFlags::NOSUID, MountFlags::NOSUID),
        (StatVfsMountFlags::NODEV, MountFlags::NODEV),
        (StatVfsMountFlags::NOEXEC, MountFlags::NOEXEC),
        (StatVfsMountFlags::NOATIME, MountFlags::NOATIME),
        (StatVfsMountFlags::NODIRATIME, MountFlags::NODIRATIME),
        (StatVfsMountFlags::RELATIME, MountFlags::RELATIME),
    ] {
        if present.contains(is) {
            flags |= keeps;
        }
    }
    mount_remount(path, flags, c"")
}

/// Puts nothing in the place of every disk that this user could read: a file system below can be read from it.
fn hide_devices(mounts: &[mountinfo::Mount]) -> std::io::Result<()> {
    let more = mounts.iter().filter(|mount| mount.kind == "devtmpfs").map(|mount| mount.point.as_path());
    let mut folders: Vec<&Path> = std::iter::once(Path::new("/dev")).chain(more).collect();
    folders.sort_unstable();
    folders.dedup();
    folders.into_iter().try_for_each(|folder| hide_devices_in(folder, DEVICE_DEPTH))
}

fn hide_devices_in(folder: &Path, depth: usize) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let Ok(kind) = entry.file_type() else { continue };
        let path = entry.path();
        if kind.is_dir() && depth > 1 {
            hide_devices_in(&path, depth - 1)?;
        } else if (kind.is_block_device() || (kind.is_char_device() && reads_a_disk(&entry))) && readable(&path) {
            mount_bind("/dev/null", &path)?;
        }
    }
    Ok(())
}

/// A character device that takes a disk's own commands.
fn reads_a_disk(entry: &std::fs::DirEntry) -> bool {
    let nvme = entry
        .file_name()
        .to_str()
        .and_then(|name| name.strip_prefix("ng"))
        .is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()) && rest.contains('n'));
    nvme || entry.metadata().is_ok_and(|data| rustix::fs::major(data.rdev()) == SCSI_GENERIC)
}

fn readable(path: &Path) -> bool {
    rustix::fs::accessat(CWD, path, rustix::fs::Access::READ_OK, AtFlags::EACCESS).is_ok()
}
