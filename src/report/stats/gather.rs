//! From folders to the sessions that count.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use fs_err as fs;
use jiff::Timestamp;

use super::entry::{Entry, reason};
use super::model::{By, Skipped};
use crate::error::{Error, Result};
use crate::session::{Layout, Meta};

/// Which sessions are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Those that began then or later.
    pub since: Option<Timestamp>,
    /// Those that began before then.
    pub until: Option<Timestamp>,
    /// Those whose panel was chosen for this kind of task.
    pub context: Option<String>,
    /// What they are grouped by.
    pub by: Option<By>,
}

/// What was found.
#[derive(Debug, Default)]
pub struct Gathered {
    pub(super) entries: Vec<Entry>,
    pub(super) skipped: BTreeMap<Skipped, u32>,
}

/// Reads every session in `folders`: each is a session, or holds sessions.
///
/// # Errors
/// A folder does not exist or cannot be listed.
pub fn gather(folders: &[PathBuf], wanted: &Wanted) -> Result<Gathered> {
    let sessions = sessions(folders)?;
    let next = AtomicUsize::new(0);
    let found: Mutex<Vec<(usize, Read)>> = Mutex::new(Vec::with_capacity(sessions.len()));
    let threads = std::thread::available_parallelism().map_or(2, |count| count.get() * 2);
    std::thread::scope(|scope| {
        for _ in 0..threads.min(sessions.len()) {
            scope.spawn(|| {
                let mut own = Vec::new();
                while let Some(at) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|at| *at < sessions.len()) {
                    own.push((at, read(&sessions[at], wanted)));
                }
                found.lock().unwrap_or_else(std::sync::PoisonError::into_inner).extend(own);
            });
        }
    });
    let mut found = found.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    // The order of folders decides which one of two copies counts.
    found.sort_by_key(|(at, _)| *at);
    let mut gathered = Gathered::default();
    let mut known = BTreeSet::new();
    for (_, read) in found {
        let skipped = match read {
            Read::Counts(entry) if known.insert(entry.session.clone()) => {
                gathered.entries.push(*entry);
                continue;
            }
            Read::Counts(_) => Skipped::Copy,
            Read::Skipped(reason) => reason,
            Read::NotWanted => continue,
        };
        *gathered.skipped.entry(skipped).or_default() += 1;
    }
    Ok(gathered)
}

/// What came of one folder.
enum Read {
    Counts(Box<Entry>),
    Skipped(Skipped),
    /// It is not of the time or the kind that is asked for.
    NotWanted,
}

fn read(layout: &Layout, wanted: &Wanted) -> Read {
    let meta = match Meta::read(&layout.meta()) {
        Ok(meta) => meta,
        Err(error) => return Read::Skipped(reason(&error)),
    };
    let early = wanted.since.is_some_and(|since| meta.started_at < since);
    if early || wanted.until.is_some_and(|until| meta.started_at >= until) {
        return Read::NotWanted;
    }
    match Entry::read(layout, meta) {
        Ok(entry) if wanted.context.is_some() && entry.context != wanted.context => Read::NotWanted,
        Ok(entry) => Read::Counts(Box::new(entry)),
        Err(reason) => Read::Skipped(reason),
    }
}

/// The sessions in `folders`, also those that lost the file that says so; by name within each.
fn sessions(folders: &[PathBuf]) -> Result<Vec<Layout>> {
    let mut sessions = Vec::new();
    for folder in folders {
        if let Some(session) = session(folder.clone()) {
            sessions.push(session);
            continue;
        }
        let entries = fs::read_dir(folder).map_err(|error| {
            Error::usage(format!(
                "cannot look for sessions in `{}`: {}",
                folder.display(),
                crate::error::reason(&error)
            ))
            .hint("name a session's folder, or one that sessions are in")
        })?;
        let mut inside: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        inside.sort();
        sessions.extend(inside.into_iter().filter_map(session));
    }
    Ok(sessions)
}

fn session(path: PathBuf) -> Option<Layout> {
    let layout = Layout::new(path);
    [layout.meta(), layout.events(), layout.manifest()].iter().any(|file| file.is_file()).then_some(layout)
}
