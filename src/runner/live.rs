//! What a running slot shows of itself: written by its executor, read by the dispatcher, never waited for.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use crate::session::Live;
use crate::session::slot::Activity;

/// The live side of one attempt.
#[derive(Debug)]
pub(crate) struct LiveCell {
    started: Instant,
    answer_bytes: AtomicU64,
    /// Milliseconds after `started` of the last byte of any kind.
    last_byte: AtomicU64,
    activity: Mutex<Activity>,
}

impl LiveCell {
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            started: now,
            answer_bytes: AtomicU64::new(0),
            last_byte: AtomicU64::new(0),
            activity: Mutex::new(Activity::Waiting),
        }
    }

    /// Bytes of the answer were written.
    pub(crate) fn answered(&self, bytes: usize) {
        self.answer_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Bytes came in, whatever they mean.
    pub(crate) fn received(&self, now: Instant) {
        let millis = now.saturating_duration_since(self.started).as_millis();
        self.last_byte.fetch_max(u64::try_from(millis).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    pub(crate) const fn started(&self) -> Instant {
        self.started
    }

    pub(crate) fn set_activity(&self, activity: &Activity) {
        let mut present = self.activity.lock().unwrap_or_else(PoisonError::into_inner);
        if *present != *activity {
            *present = activity.clone();
        }
    }

    /// When the last byte came; the start when none has.
    pub(crate) fn last_byte(&self) -> Instant {
        self.started + std::time::Duration::from_millis(self.last_byte.load(Ordering::Relaxed))
    }

    pub(crate) fn read(&self, now: Instant) -> Live {
        Live {
            activity: self.activity.lock().unwrap_or_else(PoisonError::into_inner).to_string(),
            live_bytes: self.answer_bytes.load(Ordering::Relaxed),
            idle_seconds: now.saturating_duration_since(self.last_byte()).as_secs(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn idle_time_counts_from_the_last_byte_of_any_kind() {
        let start = Instant::now();
        let cell = LiveCell::new(start);
        assert_eq!(cell.read(start + Duration::from_secs(5)).idle_seconds, 5);
        cell.received(start + Duration::from_secs(4));
        cell.answered(3);
        let live = cell.read(start + Duration::from_secs(5));
        assert_eq!((live.idle_seconds, live.live_bytes), (1, 3));
    }
}
