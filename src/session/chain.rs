//! `events.jsonl` line by line, whatever is wrong with it: each line with its hash, and each place where the chain of
//! hashes does not hold. Reads only; [`super::History`] is the strict reading, which stops at the first such place.

use std::fmt;
use std::path::Path;

use serde::Deserialize;

use super::events::{Event, Record};
use super::{SessionError, read};
use crate::ids::{FormatVersion, Sha256Hash};

/// A record as it lies on disk.
#[derive(Debug, Clone)]
pub struct Chain {
    /// The whole lines.
    pub lines: Vec<ChainLine>,
    /// Where the chain does not hold, in order.
    pub breaks: Vec<Break>,
    /// The bytes up to the end of the last whole line.
    pub length: u64,
    /// Whether an unfinished line follows.
    pub torn: bool,
}

/// One whole line.
#[derive(Debug, Clone)]
pub struct ChainLine {
    /// The hash of its bytes without the newline.
    pub hash: Sha256Hash,
    /// What it says; `None` when it cannot be read.
    pub record: Option<Record>,
}

/// A line at which the chain does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Break {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong.
    pub kind: BreakKind,
}

/// What is wrong with a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BreakKind {
    /// It is no event of this format.
    Unreadable(String),
    /// Its number is not the next one.
    Number {
        /// The next one.
        expected: u64,
        /// The number it has.
        found: u64,
    },
    /// The hash that it holds is not that of the line before.
    Link {
        /// The hash of the line before.
        before: Option<Sha256Hash>,
        /// The hash that it holds.
        holds: Option<Sha256Hash>,
    },
    /// The first line does not say that the folder was made.
    NotCreated,
    /// An unfinished line follows the closing event.
    AfterClose,
    /// There is no line.
    Empty,
}

impl fmt::Display for Break {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            BreakKind::Unreadable(why) => f.write_str(why),
            BreakKind::Number { expected, found } => write!(f, "`seq` is {found}, expected {expected}"),
            BreakKind::Link { .. } => f.write_str("`prev` is not the hash of the line before"),
            BreakKind::NotCreated => f.write_str("the first event is not `created`"),
            BreakKind::AfterClose => f.write_str("an unfinished line follows the closing event"),
            BreakKind::Empty => f.write_str("the record is empty"),
        }
    }
}

impl Chain {
    /// Reads the bytes of the record at `path`.
    ///
    /// # Errors
    /// Only a newer format, which is refused by name: everything else is told in [`Self::breaks`].
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<Self, SessionError> {
        let mut chain = Self { lines: Vec::new(), breaks: Vec::new(), length: 0, torn: false };
        // What the next line must hold; unknown after a line that cannot be read, so that it is not told twice.
        let mut expected = Some((1_u64, None));
        for (index, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
            let number = index + 1;
            let Some(line) = line.strip_suffix(b"\n") else {
                chain.torn = true;
                if chain.is_closed() {
                    chain.breaks.push(Break { line: number, kind: BreakKind::AfterClose });
                }
                break;
            };
            if index == 0 {
                check_version(path, line)?;
            }
            let hash = Sha256Hash::of(line);
            let record: Option<Record> = match serde_json::from_slice(line) {
                Ok(record) => Some(record),
                Err(error) => {
                    chain.breaks.push(Break { line: number, kind: BreakKind::Unreadable(error.to_string()) });
                    None
                }
            };
            if let (Some(record), Some((seq, before))) = (&record, expected) {
                let kind = if record.seq != seq {
                    Some(BreakKind::Number { expected: seq, found: record.seq })
                } else if record.prev != before {
                    Some(BreakKind::Link { before, holds: record.prev })
                } else if index == 0 && !matches!(record.event, Event::Created { .. }) {
                    Some(BreakKind::NotCreated)
                } else {
                    None
                };
                chain.breaks.extend(kind.map(|kind| Break { line: number, kind }));
            }
            expected = record.as_ref().map(|record| (record.seq.saturating_add(1), Some(hash)));
            chain.length += line.len() as u64 + 1;
            chain.lines.push(ChainLine { hash, record });
        }
        if chain.lines.is_empty() {
            chain.breaks.insert(0, Break { line: 1, kind: BreakKind::Empty });
        }
        Ok(chain)
    }

    /// The hash of the last whole line.
    #[must_use]
    pub fn head(&self) -> Option<Sha256Hash> {
        self.lines.last().map(|line| line.hash)
    }

    /// Whether the last whole line is the closing event. That somebody looked at the names since opens nothing.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        let events = self.lines.iter().rev().map(|line| line.record.as_ref().map(|record| &record.event));
        let mut events = events.skip_while(|event| matches!(event, Some(Event::Revealed)));
        matches!(events.next(), Some(Some(Event::Closed { .. })))
    }
}

/// Looks at the version before anything else: a newer format may have events of other shapes.
fn check_version(path: &Path, line: &[u8]) -> Result<(), SessionError> {
    #[derive(Deserialize)]
    struct Versioned {
        version: FormatVersion,
    }
    match serde_json::from_slice::<Versioned>(line) {
        Ok(Versioned { version }) => read::check_version(path, Some(version)),
        Err(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::super::{EventLog, Phase, SessionState, Why};
    use super::*;

    /// A record of four lines; the first is not `created`, which the tests that need it say.
    fn lines(dir: &Path) -> Vec<String> {
        let path = dir.join("events.jsonl");
        let mut log = EventLog::create(&path).unwrap();
        for phase in [Phase::Init, Phase::Run, Phase::Judge] {
            log.append(Event::PhaseStarted { phase }, Timestamp::UNIX_EPOCH).unwrap();
        }
        log.append(Event::Closed { state: SessionState::Failed, meta: None }, Timestamp::UNIX_EPOCH).unwrap();
        fs_err::read_to_string(path).unwrap().lines().map(str::to_owned).collect()
    }

    fn breaks(lines: &[&str]) -> Vec<(usize, &'static str)> {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let chain = Chain::parse(Path::new("e"), text.as_bytes()).unwrap();
        let name = |kind: &BreakKind| match kind {
            BreakKind::Unreadable(_) => "unreadable",
            BreakKind::Number { .. } => "number",
            BreakKind::Link { .. } => "link",
            BreakKind::NotCreated => "not created",
            BreakKind::AfterClose => "after close",
            BreakKind::Empty => "empty",
        };
        chain.breaks.iter().map(|found| (found.line, name(&found.kind))).collect()
    }

    #[test]
    fn each_break_is_told_once_and_the_lines_after_it_are_still_read() {
        let dir = tempfile::tempdir().unwrap();
        let lines = lines(dir.path());
        let [one, two, three, four] = [0, 1, 2, 3].map(|at| lines[at].as_str());
        assert_eq!(breaks(&[one, two, three, four]), [(1, "not created")]);
        let changed = two.replace("run", "init");
        assert_eq!(breaks(&[one, &changed, three, four])[1..], [(3, "link")]);
        assert_eq!(breaks(&[one, three, four])[1..], [(2, "number")]);
        assert_eq!(breaks(&[one, three, two, four])[1..], [(2, "number"), (3, "number"), (4, "number")]);
        assert_eq!(breaks(&[one, "{}", three, four])[1..], [(2, "unreadable")]);
        assert_eq!(breaks(&[one, two, two, three, four])[1..], [(3, "number")]);
        assert_eq!(breaks(&[]), [(1, "empty")]);
    }

    #[test]
    fn an_unfinished_line_after_the_close_is_a_break_also_when_somebody_looked_at_the_names_since() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("events.jsonl");
        let mut log = EventLog::create(&path).unwrap();
        let mut torn = |event: Event| {
            log.append(event, Timestamp::UNIX_EPOCH).unwrap();
            let bytes = [&fs_err::read(&path).unwrap()[..], b"{\"seq\":"].concat();
            let chain = Chain::parse(&path, &bytes).unwrap();
            (chain.torn, chain.breaks.iter().any(|found| found.kind == BreakKind::AfterClose))
        };
        assert_eq!(torn(Event::PhaseStarted { phase: Phase::Init }), (true, false));
        assert_eq!(torn(Event::Closed { state: SessionState::Failed, meta: None }), (true, true));
        assert_eq!(torn(Event::Revealed), (true, true));
        let reopened = Event::Reopened {
            why: Why::Judge,
            slots: Vec::new(),
            failed: false,
            drift: Vec::new(),
            accepted: Default::default(),
            isolation: None,
        };
        assert_eq!(torn(reopened), (true, false));
    }
}
