//! What a folder holds, as a list with one hash: names, kinds, contents, targets of links, executable bits. Nothing is
//! followed and nothing is written.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};

use fs_err as fs;
use fs_err::os::unix::fs::OpenOptionsExt;
use rustix::fs::OFlags;
use sha2::{Digest, Sha256};

use crate::error::NotPlain;
use crate::ids::Sha256Hash;

/// Bytes per read.
const BUFFER: usize = 256 * 1024;

/// What the hash of a tree begins with: another way of counting would get another one.
const FORMAT: &[u8] = b"team tree 1\n";

/// The permissions that a file has while nobody may change it; one that can be executed has [`FROZEN_FOLDER`].
pub(super) const FROZEN_FILE: u32 = 0o444;

/// The permissions that a folder has while nobody may change it.
pub(super) const FROZEN_FOLDER: u32 = 0o555;

/// Which permissions belong to a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Permissions {
    /// Whether a file can be executed, as in version control.
    Executable,
    /// Those of a copy that nobody may change, exactly.
    Frozen,
}

/// What a folder holds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tree {
    entries: BTreeMap<PathBuf, Node>,
}

/// One entry of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Node {
    kind: Kind,
    /// The permission bits.
    mode: u32,
}

/// What an entry is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    Folder,
    File {
        size: u64,
        sha256: Sha256Hash,
    },
    Link {
        target: OsString,
    },
    /// A socket, a named pipe, a device, or what cannot be read: never part of a tree that was made here.
    Other(&'static str),
}

impl Tree {
    /// Reads everything below `root`, which is a folder and no link.
    ///
    /// # Errors
    /// The folder itself cannot be listed. What cannot be read below it is an entry that no other equals.
    pub fn read(root: &Path) -> io::Result<Self> {
        if !fs::symlink_metadata(root)?.is_dir() {
            return Err(io::Error::new(io::ErrorKind::NotADirectory, format!("`{}` is not a folder", root.display())));
        }
        let mut entries = BTreeMap::new();
        let mut buffer = vec![0; BUFFER];
        let mut open = vec![PathBuf::new()];
        while let Some(folder) = open.pop() {
            let listed = match fs::read_dir(root.join(&folder)) {
                Ok(listed) => listed,
                Err(error) if folder.as_os_str().is_empty() => return Err(error),
                Err(_) => {
                    entries.entry(folder).and_modify(|node: &mut Node| node.kind = Kind::Other("cannot be read"));
                    continue;
                }
            };
            for entry in listed {
                let path = folder.join(entry?.file_name());
                let node = Node::read(&root.join(&path), &mut buffer);
                if node.kind == Kind::Folder {
                    open.push(path.clone());
                }
                entries.insert(path, node);
            }
        }
        Ok(Self { entries })
    }

    /// The hash of all of it. Paths come in the order of their parts.
    #[must_use]
    pub fn hash(&self) -> Sha256Hash {
        let mut hasher = Sha256::new();
        hasher.update(FORMAT);
        let text = |bytes: &[u8], hasher: &mut Sha256| {
            hasher.update((bytes.len() as u64).to_le_bytes());
            hasher.update(bytes);
        };
        for (path, node) in &self.entries {
            let tag: &[u8] = match &node.kind {
                Kind::Folder => b"d",
                Kind::File { .. } if node.mode & 0o100 != 0 => b"x",
                Kind::File { .. } => b"f",
                Kind::Link { .. } => b"l",
                Kind::Other(_) => b"?",
            };
            hasher.update(tag);
            text(path.as_os_str().as_bytes(), &mut hasher);
            match &node.kind {
                Kind::File { sha256, .. } => hasher.update(sha256.bytes()),
                Kind::Link { target } => text(target.as_bytes(), &mut hasher),
                Kind::Other(what) => text(what.as_bytes(), &mut hasher),
                Kind::Folder => {}
            }
        }
        Sha256Hash::finish(hasher)
    }

    /// How many files and links there are.
    #[must_use]
    pub fn files(&self) -> u64 {
        self.entries.values().filter(|node| node.kind != Kind::Folder).count() as u64
    }

    /// The bytes of all files.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let size = |node: &Node| if let Kind::File { size, .. } = node.kind { size } else { 0 };
        self.entries.values().map(size).sum()
    }

    /// Its folders, files and links, each folder before what is in it.
    pub(super) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.entries.keys().map(PathBuf::as_path)
    }

    /// What of the folder `root` is not as it is here, in words: the first difference, and how many more there are.
    ///
    /// # Errors
    /// The folder itself cannot be listed.
    pub fn changed_in(&self, root: &Path, permissions: Permissions) -> io::Result<Option<String>> {
        let now = Self::read(root)?;
        let mut changes = Vec::new();
        if permissions == Permissions::Frozen
            && fs::symlink_metadata(root)?.permissions().mode() & 0o7777 != FROZEN_FOLDER
        {
            changes.push("the permissions of the folder itself were changed".to_owned());
        }
        for (path, node) in &self.entries {
            let name = path.display();
            match now.entries.get(path) {
                None => changes.push(format!("`{name}` was removed")),
                Some(Node { kind: Kind::Other(what), .. }) => changes.push(format!("`{name}` {what}")),
                Some(found) if found.kind != node.kind => changes.push(format!("`{name}` was changed")),
                Some(found) if !node.allows(found.mode, permissions) => {
                    changes.push(format!("the permissions of `{name}` were changed"));
                }
                Some(_) => {}
            }
        }
        let added = now.entries.keys().filter(|path| !self.entries.contains_key(*path));
        changes.extend(added.map(|path| format!("`{}` was added", path.display())));
        let more = changes.len().saturating_sub(1);
        let mut changes = changes.into_iter();
        Ok(changes.next().map(|first| if more == 0 { first } else { format!("{first}, and {more} more") }))
    }
}

impl Node {
    fn read(path: &Path, buffer: &mut [u8]) -> Self {
        let broken = Self { kind: Kind::Other("cannot be read"), mode: 0 };
        let Ok(found) = fs::symlink_metadata(path) else { return broken };
        let mode = found.permissions().mode() & 0o7777;
        let kind = found.file_type();
        let kind = if kind.is_dir() {
            Kind::Folder
        } else if kind.is_symlink() {
            match fs::read_link(path) {
                Ok(target) => Kind::Link { target: target.into_os_string() },
                Err(_) => return broken,
            }
        } else if kind.is_file() {
            match contents(path, buffer) {
                Ok((size, sha256)) => Kind::File { size, sha256 },
                Err(_) => return broken,
            }
        } else {
            Kind::Other(special(kind))
        };
        Self { kind, mode }
    }

    fn allows(&self, mode: u32, permissions: Permissions) -> bool {
        let is_executable = self.mode & 0o100 != 0;
        match (&self.kind, permissions) {
            (Kind::Link { .. } | Kind::Other(_), _) | (Kind::Folder, Permissions::Executable) => true,
            (Kind::File { .. }, Permissions::Executable) => is_executable == (mode & 0o100 != 0),
            (Kind::Folder, Permissions::Frozen) => mode == FROZEN_FOLDER,
            (Kind::File { .. }, Permissions::Frozen) => mode == if is_executable { FROZEN_FOLDER } else { FROZEN_FILE },
        }
    }
}

/// What a file that is no file, folder or link is, in words.
pub(super) fn special(kind: std::fs::FileType) -> &'static str {
    if kind.is_fifo() {
        "is a named pipe"
    } else if kind.is_socket() {
        "is a socket"
    } else {
        "is a device"
    }
}

/// Opens a regular file, and nothing that took its place since it was looked at.
pub fn open_plain(path: &Path) -> io::Result<fs::File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file = fs::OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other(NotPlain(path.to_owned())));
    }
    Ok(file)
}

/// The bytes of a file that belongs to a record: neither through a link, nor waiting for whoever writes into a pipe.
///
/// # Errors
/// It is not there, or cannot be read; or it is no regular file, which is a [`NotPlain`].
pub fn read_plain(path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
    let path = path.as_ref();
    if !fs::symlink_metadata(path)?.is_file() {
        return Err(io::Error::other(NotPlain(path.to_owned())));
    }
    let mut bytes = Vec::new();
    open_plain(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The text of such a file.
///
/// # Errors
/// As for [`read_plain`]; or it is no UTF-8.
pub fn read_plain_text(path: impl AsRef<Path>) -> io::Result<String> {
    let path = path.as_ref();
    String::from_utf8(read_plain(path)?)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, format!("`{}` is no UTF-8", path.display())))
}

fn contents(path: &Path, buffer: &mut [u8]) -> io::Result<(u64, Sha256Hash)> {
    let mut file = open_plain(path)?;
    let mut hasher = Sha256::new();
    let mut size = 0;
    loop {
        match file.read(buffer) {
            Ok(0) => return Ok((size, Sha256Hash::finish(hasher))),
            Ok(count) => {
                size += count as u64;
                hasher.update(&buffer[..count]);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
