//! Reading the folder: plain files only, each counted, nothing followed and nothing written.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use fs_err as fs;
use fs_err::os::unix::fs::OpenOptionsExt;
use rustix::fs::OFlags;
use sha2::{Digest, Sha256};

use super::report::{Checked, Mismatch};
use crate::ids::Sha256Hash;
use crate::session::{Layout, Turn};

/// Bytes per read: large enough that hashing is all that takes time.
const BUFFER: usize = 256 * 1024;

/// The folders that hold the panels of a pipeline.
pub(super) const PIPELINE: [&str; 2] = ["reviews", "fixes"];

/// Turns inside of turns: judges are asked for the rest in a second pass.
const DEEPEST: u32 = 2;

/// What is at a path, without following a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Entry {
    Missing,
    File,
    Folder,
    /// Anything that is neither, in words.
    Other(&'static str),
}

/// One walk through a folder, and what it found so far. Paths are relative to the session's folder, with `/`.
pub(super) struct Audit {
    root: PathBuf,
    pub(super) checked: Checked,
    pub(super) mismatches: Vec<Mismatch>,
    pub(super) notes: Vec<String>,
    /// The names in each folder, from before anything was read: what a living owner adds later is not in them, so each is
    /// known to the record, or about to be.
    listing: BTreeMap<String, Vec<String>>,
    /// The files that an event or another file accounts for, whether they are as they should be or not.
    known: BTreeSet<String>,
    /// Folders that are none, told once.
    told: BTreeSet<String>,
}

impl Audit {
    pub(super) fn new(root: &Path) -> Self {
        let mut audit = Self {
            root: root.to_owned(),
            checked: Checked::default(),
            mismatches: Vec::new(),
            notes: Vec::new(),
            listing: BTreeMap::new(),
            known: BTreeSet::new(),
            told: BTreeSet::new(),
        };
        audit.list("");
        for folder in audit.names("").to_vec() {
            // A scratch folder's contents are nobody's business, the workspace is checked as a whole, and a round has the
            // same folders as a session.
            audit.list(&folder);
            if !matches!(folder.as_str(), "work" | Layout::WORKSPACE) && audit.listing.contains_key(&folder) {
                audit.list_panel(&folder, DEEPEST);
            }
            if PIPELINE.contains(&folder.as_str()) {
                for panel in audit.names(&folder).to_vec() {
                    audit.list_inner(&format!("{folder}/{panel}"));
                }
            }
        }
        audit
    }

    /// Lists what the folder of a panel of a pipeline has inside, its rounds of votes included.
    fn list_inner(&mut self, folder: &str) {
        self.list(folder);
        if !self.listing.contains_key(folder) {
            return;
        }
        self.list_panel(folder, DEEPEST);
        for name in self.names(folder).to_vec() {
            if name == "judging" || name.starts_with("judging-") {
                let round = format!("{folder}/{name}");
                self.list(&round);
                if self.listing.contains_key(&round) {
                    self.list_panel(&round, DEEPEST);
                }
            }
        }
    }

    /// Lists what a round's folder, or that of a turn in it, has inside.
    fn list_panel(&mut self, folder: &str, deeper: u32) {
        ["errors", "work"].iter().for_each(|inner| self.list(&format!("{folder}/{inner}")));
        for turn in Turn::ALL.iter().filter(|_| deeper > 0) {
            let inside = format!("{folder}/{}", turn.folder());
            self.list(&inside);
            if self.listing.contains_key(&inside) {
                self.list_panel(&inside, deeper - 1);
            }
        }
    }

    pub(super) fn path(&self, file: &str) -> PathBuf {
        self.root.join(file)
    }

    pub(super) fn mismatch(&mut self, mismatch: Mismatch) {
        self.mismatches.push(mismatch);
    }

    pub(super) fn note(&mut self, note: impl Into<String>) {
        let note = note.into();
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Something accounts for `file`.
    pub(super) fn know(&mut self, file: &str) {
        self.known.insert(file.to_owned());
    }

    pub(super) fn knows(&self, file: &str) -> bool {
        self.known.contains(file)
    }

    /// What is at `file`.
    pub(super) fn entry(&self, file: &str) -> io::Result<Entry> {
        use std::os::unix::fs::FileTypeExt;
        let kind = match fs::symlink_metadata(self.path(file)) {
            Ok(found) => found.file_type(),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Ok(Entry::Missing);
            }
            Err(error) => return Err(error),
        };
        Ok(match kind {
            _ if kind.is_file() => Entry::File,
            _ if kind.is_dir() => Entry::Folder,
            _ if kind.is_symlink() => Entry::Other("a symbolic link"),
            _ if kind.is_fifo() => Entry::Other("a named pipe"),
            _ if kind.is_socket() => Entry::Other("a socket"),
            _ => Entry::Other("a device"),
        })
    }

    /// Whether `folder` is a folder; anything else in its place is told, an absent one is not.
    pub(super) fn is_folder(&mut self, folder: &str) -> bool {
        self.know(folder);
        let found = match self.entry(folder) {
            Ok(Entry::Folder) => return true,
            Ok(Entry::Missing) => return false,
            Ok(Entry::File) => "a file".to_owned(),
            Ok(Entry::Other(what)) => what.to_owned(),
            Err(error) => error.to_string(),
        };
        if self.told.insert(folder.to_owned()) {
            self.mismatch(Mismatch::new(folder, "is not the folder that belongs there").between("a folder", found));
        }
        false
    }

    /// Opens `file`, which must be there; what is in its place is told.
    fn open(&mut self, file: &str) -> Option<fs::File> {
        self.know(file);
        let parent = file.rsplit_once('/').map(|(parent, _)| parent);
        let found = match parent {
            Some(parent) if !self.is_folder(parent) => {
                // What stands in the folder's place is told already; what would be in it is missing.
                if self.told.contains(parent) {
                    return None;
                }
                Ok(Entry::Missing)
            }
            _ => self.entry(file),
        };
        let found = match found {
            Ok(Entry::File) => {
                let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
                let opened = fs::OpenOptions::new().read(true).custom_flags(flags.cast_signed()).open(self.path(file));
                match opened {
                    Ok(opened) => return Some(opened),
                    Err(error) => {
                        self.unreadable(file, &error);
                        return None;
                    }
                }
            }
            Ok(Entry::Missing) => {
                self.mismatch(Mismatch::new(file, "is missing"));
                return None;
            }
            Ok(Entry::Folder) => "a folder",
            Ok(Entry::Other(what)) => what,
            Err(error) => {
                self.unreadable(file, &error);
                return None;
            }
        };
        self.mismatch(Mismatch::new(file, "is not the file that belongs there").between("a file", found));
        None
    }

    fn unreadable(&mut self, file: &str, error: &io::Error) {
        self.mismatch(Mismatch::new(file, format!("cannot be read: {error}")));
    }

    /// The hash of `file`; its bytes also go to `also`, piece by piece.
    pub(super) fn hash_with(&mut self, file: &str, mut also: impl FnMut(&[u8])) -> Option<Sha256Hash> {
        let mut opened = self.open(file)?;
        let mut hash = Sha256::new();
        let mut buffer = vec![0; BUFFER];
        self.checked.files += 1;
        loop {
            match opened.read(&mut buffer) {
                Ok(0) => return Some(Sha256Hash::finish(hash)),
                Ok(count) => {
                    self.checked.bytes += count as u64;
                    hash.update(&buffer[..count]);
                    also(&buffer[..count]);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.unreadable(file, &error);
                    return None;
                }
            }
        }
    }

    /// Whether `file` has the hash that `recorded_by` says.
    pub(super) fn expect(&mut self, file: &str, expected: Sha256Hash, recorded_by: &str) -> bool {
        let found = self.hash_with(file, |_| ());
        self.same(file, expected, found, recorded_by)
    }

    /// Whether the hash `found` of `file` is the one that `recorded_by` says; a difference is told.
    pub(super) fn same(
        &mut self,
        file: &str,
        expected: Sha256Hash,
        found: Option<Sha256Hash>,
        recorded_by: &str,
    ) -> bool {
        let Some(found) = found else { return false };
        if found != expected {
            let what = format!("is not what {recorded_by} recorded");
            self.mismatch(Mismatch::new(file, what).between(expected, found));
        }
        found == expected
    }

    /// The whole of `file`, for those that are short or needed as a whole.
    pub(super) fn read(&mut self, file: &str) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        self.hash_with(file, |piece| bytes.extend_from_slice(piece)).map(|_| bytes)
    }

    /// The whole of `file`, if it has the hash that `recorded_by` says.
    pub(super) fn read_expected(&mut self, file: &str, expected: Sha256Hash, recorded_by: &str) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        let found = self.hash_with(file, |piece| bytes.extend_from_slice(piece));
        self.same(file, expected, found, recorded_by).then_some(bytes)
    }

    /// The whole of `file` if its hash is `expected`, for what was checked before: nothing is told of it again.
    pub(super) fn read_again(&self, file: &str, expected: Sha256Hash) -> Option<Vec<u8>> {
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
        let mut opened =
            fs::OpenOptions::new().read(true).custom_flags(flags.cast_signed()).open(self.path(file)).ok()?;
        if !opened.metadata().ok()?.is_file() {
            return None;
        }
        let mut bytes = Vec::new();
        opened.read_to_end(&mut bytes).ok()?;
        (Sha256Hash::of(&bytes) == expected).then_some(bytes)
    }

    /// The names in `folder` as they were at the beginning, sorted; none where there was no such folder.
    pub(super) fn names(&self, folder: &str) -> &[String] {
        self.listing.get(folder).map_or(&[], Vec::as_slice)
    }

    fn list(&mut self, folder: &str) {
        if !folder.is_empty() && !self.entry(folder).is_ok_and(|entry| entry == Entry::Folder) {
            return;
        }
        let list = || -> io::Result<Vec<String>> {
            fs::read_dir(self.path(folder))?
                .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
                .collect()
        };
        match list() {
            Ok(mut names) => {
                names.sort();
                self.listing.insert(folder.to_owned(), names);
            }
            // Gone since it was looked at.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => self.unreadable(if folder.is_empty() { "." } else { folder }, &error),
        }
    }
}
