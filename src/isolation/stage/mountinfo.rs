//! `/proc/self/mountinfo`: which file system is to be seen where.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// One mount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mount {
    /// `major:minor` of its file system.
    pub(super) device: String,
    /// The folder of the file system that is mounted.
    pub(super) root: PathBuf,
    /// Where.
    pub(super) point: PathBuf,
    /// The type of the file system.
    pub(super) kind: String,
}

/// A folder by its file system, whatever path leads to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Location {
    device: String,
    path: PathBuf,
}

/// A path that another mount gives to a folder, or to something inside of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Alias {
    /// The folder itself.
    Whole(PathBuf),
    /// A mount of a part of it.
    Part(PathBuf),
}

/// The mounts of this process, in the kernel's order.
pub(super) fn read() -> std::io::Result<Vec<Mount>> {
    Ok(parse(&std::fs::read("/proc/self/mountinfo")?))
}

fn parse(text: &[u8]) -> Vec<Mount> {
    text.split(|byte| *byte == b'\n').filter_map(mount).collect()
}

fn mount(line: &[u8]) -> Option<Mount> {
    let mut fields = line.split(|byte| *byte == b' ');
    let device = String::from_utf8(fields.nth(2)?.to_vec()).ok()?;
    let root = unescape(fields.next()?);
    let point = unescape(fields.next()?);
    // Optional fields end with a dash.
    let kind = String::from_utf8(fields.skip_while(|field| *field != b"-").nth(1)?.to_vec()).ok()?;
    Some(Mount { device, root, point, kind })
}

/// Space, tab, line end and backslash are written in octal.
fn unescape(field: &[u8]) -> PathBuf {
    let mut out = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((byte, after)) = rest.split_first() {
        let octal = after.get(..3).filter(|_| *byte == b'\\').and_then(|digits| std::str::from_utf8(digits).ok());
        match octal.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(meant) => {
                out.push(meant);
                rest = &after[3..];
            }
            None => {
                out.push(*byte);
                rest = after;
            }
        }
    }
    OsString::from_vec(out).into()
}

/// Where `path` is, by its file system; it has no symbolic links.
pub(super) fn locate(mounts: &[Mount], path: &Path) -> Option<Location> {
    let holds = mounts.iter().filter(|mount| path.starts_with(&mount.point));
    // Of several at one point the last is on top, which `max_by_key` prefers as well.
    let mount = holds.max_by_key(|mount| mount.point.components().count())?;
    let rest = path.strip_prefix(&mount.point).ok()?;
    Some(Location { device: mount.device.clone(), path: joined(&mount.root, rest) })
}

/// Every path that leads to `location` by some mount, the usual one included.
pub(super) fn aliases(mounts: &[Mount], location: &Location) -> Vec<Alias> {
    let same = mounts.iter().filter(|mount| mount.device == location.device);
    same.filter_map(|mount| {
        if let Ok(rest) = location.path.strip_prefix(&mount.root) {
            Some(Alias::Whole(joined(&mount.point, rest)))
        } else {
            mount.root.starts_with(&location.path).then(|| Alias::Part(mount.point.clone()))
        }
    })
    .collect()
}

/// Without the slash at the end that joining nothing leaves.
fn joined(base: &Path, rest: &Path) -> PathBuf {
    if rest.as_os_str().is_empty() { base.to_owned() } else { base.join(rest) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &[u8] = b"22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
23 22 0:5 / /proc rw - proc proc rw
24 22 8:2 / /home rw shared:2 master:3 - xfs /dev/sda2 rw
25 22 8:2 /me/project /mnt/second\\040view rw - xfs /dev/sda2 rw
26 22 8:2 /me/project/sessions/old /mnt/old rw - xfs /dev/sda2 rw
27 22 8:2 /other /mnt/other rw - xfs /dev/sda2 rw
torn";

    #[test]
    fn a_folder_is_found_by_every_mount_that_shows_it_or_a_part_of_it() {
        let mounts = parse(TABLE);
        assert_eq!(mounts.len(), 6);
        assert_eq!((mounts[3].point.as_path(), mounts[3].kind.as_str()), (Path::new("/mnt/second view"), "xfs"));
        let location = locate(&mounts, Path::new("/home/me/project/sessions")).unwrap();
        let expected = [
            Alias::Whole("/home/me/project/sessions".into()),
            Alias::Whole("/mnt/second view/sessions".into()),
            Alias::Part("/mnt/old".into()),
        ];
        assert_eq!(aliases(&mounts, &location), expected);
        // The same place again, by the other path.
        assert_eq!(locate(&mounts, Path::new("/mnt/second view/sessions")), Some(location));
    }

    #[test]
    fn a_mount_point_itself_is_located_at_the_root_of_its_file_system() {
        let mounts = parse(TABLE);
        let location = locate(&mounts, Path::new("/home")).unwrap();
        assert_eq!(location, Location { device: "8:2".to_owned(), path: "/".into() });
        assert_eq!(aliases(&mounts, &location)[0], Alias::Whole("/home".into()));
        // Everything else of that file system is inside of it.
        assert_eq!(aliases(&mounts, &location).len(), 4);
    }
}
