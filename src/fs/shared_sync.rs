//! One folder that many tasks put finished files into at once.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::{rename, sync_dir};

/// Makes renames inside one folder durable; those that wait at the same time share one sync.
///
/// On common file systems every sync waits for a commit of the journal, so that slots which end together would wait in
/// a row.
#[derive(Debug)]
pub struct SharedSync {
    folder: PathBuf,
    /// How many syncs were begun.
    begun: AtomicU64,
    /// The number of the last sync that was successful, from 1. Held while one runs, so that only one does.
    done: Mutex<u64>,
}

impl SharedSync {
    /// For files of `folder`.
    #[must_use]
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), begun: AtomicU64::new(0), done: Mutex::new(0) }
    }

    /// [`super::publish`] within the folder: durable before this returns.
    ///
    /// The caller has synced the contents of `temp`.
    pub fn publish(&self, temp: &Path, path: &Path) -> io::Result<()> {
        debug_assert_eq!(path.parent(), Some(self.folder.as_path()), "a file of another folder");
        rename(temp, path)?;
        self.sync_with(|| sync_dir(&self.folder))
    }

    /// Returns after a successful sync that began after this call, be it another caller's.
    fn sync_with(&self, sync: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        self.sync_after(self.begun.load(Ordering::SeqCst), sync)
    }

    /// The same for a caller that came when so many syncs had begun.
    fn sync_after(&self, before: u64, sync: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        if *done > before {
            return Ok(());
        }
        let number = self.begun.fetch_add(1, Ordering::SeqCst) + 1;
        sync()?;
        *done = number;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use super::*;

    #[test]
    fn a_sync_that_began_before_the_call_is_not_enough_and_one_that_began_after_it_is() {
        let shared = SharedSync::new(Path::new("folder"));
        let (running, is_running) = mpsc::channel();
        let (go_on, may_go_on) = mpsc::channel::<()>();
        let own = AtomicU64::new(0);
        thread::scope(|scope| {
            let (shared, own) = (&shared, &own);
            let first = move || {
                running.send(()).unwrap();
                may_go_on.recv().unwrap();
                Ok(())
            };
            scope.spawn(move || shared.sync_with(first).unwrap());
            is_running.recv().unwrap();
            let asking = AtomicU64::new(0);
            thread::scope(|scope| {
                for _ in 0..8 {
                    scope.spawn(|| {
                        let sync = || {
                            own.fetch_add(1, Ordering::SeqCst);
                            Ok(())
                        };
                        let before = shared.begun.load(Ordering::SeqCst);
                        asking.fetch_add(1, Ordering::SeqCst);
                        shared.sync_after(before, sync).unwrap();
                    });
                }
                while asking.load(Ordering::SeqCst) < 8 {
                    thread::yield_now();
                }
                go_on.send(()).unwrap();
            });
        });
        assert_eq!(own.into_inner(), 1, "all eight asked during the first sync, so they share the second");
    }

    #[test]
    fn a_failed_sync_counts_for_nobody_and_the_next_caller_tries_again() {
        let shared = SharedSync::new(Path::new("folder"));
        shared.sync_with(|| Err(io::Error::other("no"))).unwrap_err();
        shared.sync_with(|| Ok(())).unwrap();
        let mut tried = false;
        shared
            .sync_with(|| {
                tried = true;
                Ok(())
            })
            .unwrap();
        assert!(tried, "a sync that ended before the call proves nothing");
    }
}
