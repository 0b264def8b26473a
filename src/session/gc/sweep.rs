//! One sweep over temporary folders and sessions.

use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::place::{Inside, Wanted, find};
use super::report::{GcReport, KeptReason, LeftOver};
use super::standing::{Standing, is_unmade, standing};
use crate::fs::{AbandonedFolder, EntryKind, Folder, OwnerLock, is_temporary_name};
use crate::session::catalogue::Catalogue;
use crate::session::layout::Layout;
use crate::session::owner::take_lock;
use crate::session::temporary::temporary_folders;
use crate::session::{Meta, SessionError};

/// What is being made or written is left alone this long, where no lock tells that it is.
const SETTLED: SignedDuration = SignedDuration::from_hours(1);

/// Whether anything is removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GcMode {
    /// What can be is removed.
    Remove,
    /// It is only told.
    DryRun,
}

/// What is swept, and how.
#[derive(Debug, Clone, Copy)]
pub struct GcOptions<'a> {
    /// The folder of sessions; it need not exist.
    pub sessions: &'a Path,
    /// The folder that results are copied to under flat names; it need not exist.
    pub flat: &'a Path,
    /// Whether anything is removed.
    pub mode: GcMode,
    /// What may still be of use is removed when it is older than this; never without.
    pub older_than: Option<Duration>,
}

/// Looks for leftovers, removes what can go, and tells the rest. What one thing is refused never stops the others.
pub fn sweep(options: GcOptions<'_>, now: Timestamp) -> Result<GcReport, SessionError> {
    let report = GcReport::new(options.mode == GcMode::DryRun);
    let mut sweep = Sweep { options, now, catalogue: Catalogue::new(options.sessions), report };
    for path in AbandonedFolder::candidates()? {
        sweep.process_folder(&path);
    }
    for path in temporary_folders() {
        sweep.temporary_folder(&path);
    }
    for path in folders_in(options.sessions)? {
        sweep.session(&path);
    }
    let mut places: Vec<PathBuf> =
        [options.sessions, options.flat].into_iter().filter_map(|place| place.canonicalize().ok()).collect();
    places.dedup();
    for place in places {
        sweep.unfinished_files(&place);
    }
    Ok(sweep.report)
}

/// The folders right in `base`, without links.
fn folders_in(base: &Path) -> Result<Vec<PathBuf>, SessionError> {
    let base = match fs_err::canonicalize(base) {
        Ok(found) if !found.is_dir() => return Err(SessionError::NotAFolder(base.to_owned())),
        Ok(found) => found,
        Err(error) => match error.kind() {
            std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            std::io::ErrorKind::NotADirectory => return Err(SessionError::NotAFolder(base.to_owned())),
            _ => return Err(error.into()),
        },
    };
    let entries = Folder::open(&base)?.entries()?.into_iter();
    let folders = entries.filter(|(_, kind)| *kind == EntryKind::Folder).map(|(name, _)| base.join(name));
    let mut folders: Vec<PathBuf> = folders.collect();
    folders.sort_unstable();
    Ok(folders)
}

struct Sweep<'a> {
    options: GcOptions<'a>,
    now: Timestamp,
    catalogue: Catalogue,
    report: GcReport,
}

impl Sweep<'_> {
    /// A folder that a process had for itself.
    fn process_folder(&mut self, path: &Path) {
        const WHAT: LeftOver = LeftOver::ProcessFolder;
        let owned = |report: &mut GcReport| report.keep(path, WHAT, KeptReason::Owned, "a living process works in it");
        match self.options.mode {
            GcMode::DryRun => match AbandonedFolder::is_in_use(path) {
                Ok(true) => owned(&mut self.report),
                Ok(false) => self.report.remove(path, WHAT, bytes_of(path), Ok(())),
                Err(error) => self.report.keep(path, WHAT, KeptReason::Unreadable, error.to_string()),
            },
            GcMode::Remove => match AbandonedFolder::claim(path) {
                Ok(Some(abandoned)) => {
                    let bytes = abandoned.bytes();
                    self.report.remove(path, WHAT, bytes, abandoned.remove());
                }
                Ok(None) if path.exists() => owned(&mut self.report),
                Ok(None) => {}
                Err(error) => self.report.keep(path, WHAT, KeptReason::Unreadable, error.to_string()),
            },
        }
    }

    /// A temporary folder that was made for one session.
    fn temporary_folder(&mut self, path: &Path) {
        const WHAT: LeftOver = LeftOver::TemporarySession;
        let entries = Folder::open(path).and_then(|folder| folder.entries());
        match entries.as_deref() {
            Ok([]) => self.unmade(path, None),
            Ok([(name, EntryKind::Folder)]) => {
                let session = path.join(name);
                match standing(&session) {
                    Standing::Closed(at) => self.temporary_session(path, &session, at),
                    Standing::Unmade => self.unmade(path, Some(&session)),
                    Standing::Foreign => self.keep_strange(path),
                    other => self.keep(&session, WHAT, other),
                }
            }
            Ok(_) => self.keep_strange(path),
            Err(error) => self.report.keep(path, WHAT, KeptReason::Unreadable, error.to_string()),
        }
    }

    fn keep_strange(&mut self, path: &Path) {
        let detail = "holds something else than one session: look at it, and remove it yourself";
        self.report.keep(path, LeftOver::TemporarySession, KeptReason::Damaged, detail);
    }

    /// A closed session in a temporary folder: it goes as a whole, by age.
    fn temporary_session(&mut self, folder: &Path, session: &Path, closed: Timestamp) {
        const WHAT: LeftOver = LeftOver::TemporarySession;
        match self.is_old_enough(closed) {
            Ok(()) => self.remove_whole(folder, session, WHAT, |layout| {
                Meta::read(&layout.meta()).is_ok_and(|meta| meta.events.is_some() && meta.completed_at == Some(closed))
            }),
            Err((reason, detail)) => self.report.keep(session, WHAT, reason, detail),
        }
    }

    /// A session in the folder of sessions.
    fn session(&mut self, path: &Path) {
        const WHAT: LeftOver = LeftOver::Session;
        match standing(path) {
            Standing::Foreign => {}
            Standing::Unmade => self.unmade(path, Some(path)),
            Standing::Closed(at) => self.closed_session(path, at),
            other => self.keep(path, WHAT, other),
        }
    }

    /// Removes the leftovers of a closed session, which stays.
    fn closed_session(&mut self, path: &Path, closed: Timestamp) {
        let before = (self.now - SETTLED).as_second();
        let found = find(path, Wanted::Unfinished { before }).and_then(|files| {
            let scratch = find(path, Wanted::Scratch)?;
            Ok((files, scratch))
        });
        let (files, scratch) = match found {
            Ok(found) => found,
            Err(error) => {
                self.report.keep(path, LeftOver::Session, KeptReason::Unreadable, error.to_string());
                return;
            }
        };
        let old = if scratch.is_empty() { Ok(()) } else { self.is_old_enough(closed) };
        let goes = !files.is_empty() || old.is_ok() && !scratch.is_empty();
        let lock = if goes { self.lock_closed(path) } else { Ok(None) };
        match lock {
            Ok(_lock) => {
                self.remove_each(&files, LeftOver::UnfinishedFile, Inside::remove);
                match old {
                    Ok(()) => self.remove_each(&scratch, LeftOver::Scratch, Inside::empty),
                    Err((reason, detail)) => {
                        for work in &scratch {
                            self.report.keep(&work.path, LeftOver::Scratch, reason, detail.clone());
                        }
                    }
                }
                let detail = "holds answers and their record: remove it yourself if nobody needs it";
                self.report.keep(path, LeftOver::Session, KeptReason::HoldsAnswers, detail);
            }
            Err(changed) => self.keep(path, LeftOver::Session, changed),
        }
    }

    fn remove_each(&mut self, found: &[Inside], what: LeftOver, remove: fn(&Inside) -> std::io::Result<()>) {
        for inside in found {
            let removed = match self.options.mode {
                GcMode::Remove => remove(inside),
                GcMode::DryRun => Ok(()),
            };
            self.report.remove(&inside.path, what, inside.bytes, removed);
        }
    }

    /// Files right in the folder at `place` whose writer died. It is not for us alone: only what is certain is touched.
    fn unfinished_files(&mut self, place: &Path) {
        const WHAT: LeftOver = LeftOver::UnfinishedFile;
        let before = (self.now - SETTLED).as_second();
        let Ok(folder) = Folder::open(place) else { return };
        let entries = folder.entries().unwrap_or_default().into_iter();
        let mut names: Vec<_> =
            entries.filter(|(name, kind)| *kind == EntryKind::File && is_temporary_name(name)).collect();
        names.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        for (name, _) in names {
            if folder.is_abandoned(&name, before).unwrap_or(false) {
                let bytes = folder.size(&name);
                let removed = match self.options.mode {
                    GcMode::Remove => folder.remove_file(&name),
                    GcMode::DryRun => Ok(()),
                };
                self.report.remove(&place.join(&name), WHAT, bytes, removed);
            }
        }
    }

    /// Takes the lock of a session that was closed a moment ago, or says how it stands now.
    fn lock_closed(&self, path: &Path) -> Result<Option<OwnerLock>, Standing> {
        if self.options.mode == GcMode::DryRun {
            return Ok(None);
        }
        let layout = Layout::new(path);
        let lock = lock(&layout)?;
        // Between the look and the lock somebody may have gone on with it.
        match Meta::read(&layout.meta()) {
            Ok(meta) if meta.events.is_some() => Ok(Some(lock)),
            _ => Err(Standing::Interrupted),
        }
    }

    /// What was to become a session at `session`, in the folder at `path`.
    fn unmade(&mut self, path: &Path, session: Option<&Path>) {
        const WHAT: LeftOver = LeftOver::UnmadeSession;
        let folders = [Some(path), session].into_iter().flatten();
        let changed = folders.filter_map(|folder| Folder::open(folder).and_then(|open| open.changed()).ok()).max();
        // Between its folder and its lock a session that is being made looks the same.
        if changed.is_none_or(|at| at > (self.now - SETTLED).as_second()) {
            self.report.keep(path, WHAT, KeptReason::TooYoung, "was begun less than an hour ago");
            return;
        }
        match session {
            Some(session) => self.remove_whole(path, session, WHAT, |layout| {
                let unmade = |folder| is_unmade(&folder, layout);
                layout.meta().symlink_metadata().is_err() && Folder::open(layout.root()).is_ok_and(unmade)
            }),
            None => {
                let removed = match self.options.mode {
                    GcMode::Remove => crate::fs::remove_empty_dir(path),
                    GcMode::DryRun => Ok(()),
                };
                self.report.remove(path, WHAT, 0, removed);
            }
        }
    }

    /// Removes the folder at `path`, which is or holds the session at `session`, under that session's lock and if it
    /// still stands as it did.
    fn remove_whole(&mut self, path: &Path, session: &Path, what: LeftOver, still: impl Fn(&Layout) -> bool) {
        let bytes = bytes_of(path);
        if self.options.mode == GcMode::DryRun {
            self.report.remove(path, what, bytes, Ok(()));
            return;
        }
        let layout = Layout::new(session);
        match lock(&layout) {
            Ok(_lock) if still(&layout) => {
                let (Some(above), Some(name)) = (path.parent(), path.file_name()) else { return };
                let removed = Folder::open(above).and_then(|above| above.remove_tree(name));
                self.report.remove(path, what, bytes, removed);
            }
            Ok(_) => self.report.keep(session, what, KeptReason::Owned, "somebody has just been at work on it"),
            // Another sweep was quicker.
            Err(_) if session.symlink_metadata().is_err() => {}
            Err(other) => self.keep(session, what, other),
        }
    }

    /// Whether what ended at `closed` may go by its age; if not, why.
    fn is_old_enough(&self, closed: Timestamp) -> Result<(), (KeptReason, String)> {
        let Some(age) = self.options.older_than else {
            let detail = "may still be of use: `--older-than 30d` removes it once it is that old";
            return Err((KeptReason::ByAgeOnly, detail.to_owned()));
        };
        let since = self.now.duration_since(closed);
        if Duration::try_from(since).is_ok_and(|since| since >= age) {
            return Ok(());
        }
        Err((KeptReason::TooYoung, format!("ended on {}, which is not that long ago", closed.strftime("%F %T UTC"))))
    }

    /// Tells why a session stays.
    fn keep(&mut self, path: &Path, what: LeftOver, stands: Standing) {
        let session = self.catalogue.reference(&Layout::new(path));
        let (reason, detail) = match stands {
            Standing::Owned(owner) => (KeptReason::Owned, format!("owned by {owner}")),
            Standing::Interrupted => {
                (KeptReason::Interrupted, format!("was cut off: `team resume {session}` finishes it"))
            }
            Standing::Stopped => (KeptReason::Stopped, format!("was stopped: `team resume {session}` finishes it")),
            Standing::AwaitsDecision => (KeptReason::AwaitsDecision, "waits for the decision of a person".to_owned()),
            Standing::OtherUser => (KeptReason::OtherUser, "belongs to another user".to_owned()),
            Standing::Unreadable(why) => (KeptReason::Unreadable, why),
            Standing::Damaged(why) => {
                (KeptReason::Damaged, format!("{why}; `team verify {session}` says what else is wrong"))
            }
            // It became something else between two looks; the next sweep tells.
            Standing::Foreign | Standing::Unmade | Standing::Closed(_) => {
                (KeptReason::Owned, "somebody has just been at work on it".to_owned())
            }
        };
        self.report.keep(path, what, reason, detail);
    }
}

fn lock(layout: &Layout) -> Result<OwnerLock, Standing> {
    take_lock(layout).map_err(|error| match error {
        SessionError::Owned { owner, .. } => Standing::Owned(owner),
        error => Standing::Unreadable(error.to_string()),
    })
}

fn bytes_of(path: &Path) -> u64 {
    Folder::open(path).map_or(0, |folder| folder.bytes())
}
