//! `findings.jsonl`: what became of each finding of a session. Append-only; each line carries the hash of the one before it,
//! as in `events.jsonl`. Owner: [`super`].

use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::Deserialize;

use super::{Findings, IllegalEntry, LedgerEntry, LedgerLine, Ruling, Standing};
use crate::error::{Error, ErrorKind as Kind};
use crate::fs::{self, AppendLog};
use crate::ids::{FormatVersion, Sha256Hash};
use crate::session::SessionError;

/// The name of the file in a session's folder.
pub const LEDGER_FILE: &str = "findings.jsonl";

/// The ledger cannot be used as asked.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// The file is missing, damaged, of a newer version, or the operating system refused.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// What was to be added cannot follow what is there.
    #[error("`{}`: {source}", path.display())]
    Illegal {
        /// The file.
        path: PathBuf,
        /// Why.
        source: IllegalEntry,
    },
    /// It belongs to another session.
    #[error("`{}` is the ledger of `{found}`, not of `{wanted}`", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// Whose it is.
        found: String,
        /// Whose it should be.
        wanted: String,
    },
}

impl From<std::io::Error> for LedgerError {
    fn from(source: std::io::Error) -> Self {
        Self::Session(source.into())
    }
}

impl From<LedgerError> for Error {
    fn from(error: LedgerError) -> Self {
        match error {
            LedgerError::Session(source) => source.into(),
            error @ LedgerError::Illegal { .. } => Self::internal(error.to_string()),
            error @ LedgerError::Foreign { .. } => Self::new(Kind::Integrity, error.to_string())
                .hint("do not rely on it; `team verify` says what else differs"),
        }
    }
}

/// A ledger as it lies on disk, whatever is wrong with it. Reads only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerRead {
    /// The session that it says it belongs to.
    pub session: Option<String>,
    /// The findings, as far as the lines can be followed.
    pub findings: Findings,
    /// How many whole lines there are.
    pub lines: u64,
    /// The hash of the last one.
    pub head: Option<Sha256Hash>,
    /// The bytes up to its end.
    pub length: u64,
    /// Whether an unfinished line follows: one that was never written as far as anybody depends on it.
    pub torn: bool,
    /// Where it does not hold, in order.
    pub breaks: Vec<LedgerBreak>,
    /// When the last line was written.
    last: Timestamp,
}

/// A line at which a ledger does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerBreak {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong.
    pub why: String,
}

impl fmt::Display for LedgerBreak {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.why)
    }
}

impl LedgerRead {
    /// Reads the file at `path`.
    ///
    /// # Errors
    /// It is missing, cannot be read, or is of a newer version; all else is told in [`Self::breaks`].
    pub fn read(path: &Path) -> Result<Self, LedgerError> {
        let bytes = fs_err::read(path).map_err(|source| match source.kind() {
            ErrorKind::NotFound => SessionError::Missing(path.to_owned()),
            _ => SessionError::Io(source),
        })?;
        Self::parse(path, &bytes)
    }

    /// Reads the bytes of the ledger at `path`.
    ///
    /// # Errors
    /// Only a newer version, which is refused by name.
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<Self, LedgerError> {
        let mut read = Self {
            session: None,
            findings: Findings::default(),
            lines: 0,
            head: None,
            length: 0,
            torn: false,
            breaks: Vec::new(),
            last: Timestamp::UNIX_EPOCH,
        };
        for (index, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
            let Some(line) = line.strip_suffix(b"\n") else {
                read.torn = true;
                break;
            };
            if index == 0 {
                check_version(path, line)?;
            }
            if let Err(why) = read.take(line) {
                read.breaks.push(LedgerBreak { line: index + 1, why });
            }
            read.lines += 1;
            read.head = Some(Sha256Hash::of(line));
            read.length += line.len() as u64 + 1;
        }
        if read.lines == 0 {
            read.breaks.push(LedgerBreak { line: 1, why: "the ledger is empty".to_owned() });
        }
        Ok(read)
    }

    /// Takes in one whole line; says what is wrong with it.
    fn take(&mut self, line: &[u8]) -> Result<(), String> {
        let line: LedgerLine = serde_json::from_slice(line).map_err(|error| error.to_string())?;
        let expected = self.lines + 1;
        if line.seq != expected {
            return Err(format!("`seq` is {}, expected {expected}", line.seq));
        }
        if line.prev != self.head {
            return Err("`prev` is not the hash of the line before".to_owned());
        }
        self.last = self.last.max(line.at);
        match (line.entry, self.lines) {
            (LedgerEntry::Opened { session, .. }, 0) => {
                self.session = Some(session);
                Ok(())
            }
            (_, 0) => Err("the first entry is not `opened`".to_owned()),
            (entry, _) => self.findings.apply(&entry).map_err(|error| error.to_string()),
        }
    }

    /// Itself, where it holds and belongs to `session`.
    fn sound(self, path: &Path, session: &str) -> Result<Self, LedgerError> {
        if let Some(LedgerBreak { line, why }) = self.breaks.into_iter().next() {
            return Err(SessionError::Chain { path: path.to_owned(), line, why }.into());
        }
        match self.session {
            Some(found) if found != session => {
                Err(LedgerError::Foreign { path: path.to_owned(), found, wanted: session.to_owned() })
            }
            session => Ok(Self { session, breaks: Vec::new(), ..self }),
        }
    }
}

/// Looks at the version before anything else: a newer format may have entries of other shapes.
fn check_version(path: &Path, line: &[u8]) -> Result<(), LedgerError> {
    #[derive(Deserialize)]
    struct Versioned {
        version: FormatVersion,
    }
    match serde_json::from_slice::<Versioned>(line) {
        Ok(Versioned { version }) if version > FormatVersion::CURRENT => {
            let (found, known) = (version.0, FormatVersion::CURRENT.0);
            Err(SessionError::Newer { path: path.to_owned(), found, known }.into())
        }
        _ => Ok(()),
    }
}

/// The ledger of a session that this process owns.
#[derive(Debug)]
pub struct Ledger {
    log: AppendLog,
    findings: Findings,
    lines: u64,
    head: Option<Sha256Hash>,
    last: Timestamp,
}

impl Ledger {
    /// Begins the ledger at `path`, of the session with this id.
    ///
    /// # Errors
    /// There is one already, or the operating system refuses.
    pub fn create(path: &Path, session: &str, now: Timestamp) -> Result<Self, LedgerError> {
        let log = AppendLog::create(path)?;
        let mut ledger = Self { log, findings: Findings::default(), lines: 0, head: None, last: now };
        ledger.begin(session, now)?;
        if let Some(folder) = path.parent() {
            fs::sync_dir(folder)?;
        }
        Ok(ledger)
    }

    fn begin(&mut self, session: &str, now: Timestamp) -> Result<(), LedgerError> {
        self.write(LedgerEntry::Opened { version: FormatVersion::CURRENT, session: session.to_owned() }, now)?;
        Ok(self.log.sync()?)
    }

    /// Goes on with the ledger at `path`; a torn last line is cut off.
    ///
    /// # Errors
    /// It is missing, damaged, of a newer version, or another session's.
    pub fn open(path: &Path, session: &str) -> Result<Self, LedgerError> {
        let read = LedgerRead::read(path)?.sound(path, session)?;
        let log = AppendLog::resume(path, read.length)?;
        Ok(Self { log, findings: read.findings, lines: read.lines, head: read.head, last: read.last })
    }

    /// Goes on with the ledger at `path`, or begins it where there is none or where the process that began it died before
    /// its first line was whole.
    ///
    /// # Errors
    /// As [`Self::open`] and [`Self::create`].
    pub fn take_up(path: &Path, session: &str, now: Timestamp) -> Result<Self, LedgerError> {
        match fs_err::read(path) {
            Ok(bytes) if bytes.contains(&b'\n') => Self::open(path, session),
            Ok(_) => {
                let log = AppendLog::resume(path, 0)?;
                let mut ledger = Self { log, findings: Findings::default(), lines: 0, head: None, last: now };
                ledger.begin(session, now)?;
                Ok(ledger)
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Self::create(path, session, now),
            Err(error) => Err(error.into()),
        }
    }

    /// Adds `entries` in order; they are durable when this returns. A clock that was set back does not reorder them.
    ///
    /// # Errors
    /// One of them cannot follow what is said already: then none is added. Or the operating system refuses: then those
    /// that are whole are there.
    pub fn append(
        &mut self,
        entries: impl IntoIterator<Item = LedgerEntry>,
        now: Timestamp,
    ) -> Result<(), LedgerError> {
        let entries: Vec<LedgerEntry> = entries.into_iter().collect();
        let mut after = self.findings.clone();
        for entry in &entries {
            after.apply(entry).map_err(|source| LedgerError::Illegal { path: self.log.path().to_owned(), source })?;
        }
        for entry in entries {
            self.write(entry, now)?;
        }
        Ok(self.log.sync()?)
    }

    fn write(&mut self, entry: LedgerEntry, now: Timestamp) -> Result<(), LedgerError> {
        let at = self.last.max(now);
        let line = LedgerLine { seq: self.lines + 1, prev: self.head, at, entry };
        let bytes = serde_json::to_vec(&line).map_err(std::io::Error::other)?;
        self.log.append(&bytes)?;
        self.lines += 1;
        self.head = Some(Sha256Hash::of(&bytes));
        self.last = at;
        if line.entry.finding().is_some() {
            let path = self.log.path();
            self.findings
                .apply(&line.entry)
                .map_err(|source| LedgerError::Illegal { path: path.to_owned(), source })?;
        }
        Ok(())
    }

    /// The findings as they stand.
    #[must_use]
    pub const fn findings(&self) -> &Findings {
        &self.findings
    }

    /// How many lines there are, and the hash of the last one: what the session's record seals.
    #[must_use]
    pub const fn seal(&self) -> (u64, Option<Sha256Hash>) {
        (self.lines, self.head)
    }
}

impl LedgerEntry {
    /// The entry for what votes come to.
    #[must_use]
    pub fn ruled(ruling: Ruling, standing: Standing) -> Self {
        match standing {
            Standing::Sustained => Self::Sustained(ruling),
            Standing::Rejected => Self::Rejected(ruling),
            Standing::NeedsPerson => Self::NeedsPerson(ruling),
        }
    }
}
