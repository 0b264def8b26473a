//! What a running slot shows of itself: written by its executor, read by the dispatcher, never waited for.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use crate::session::Live;
use crate::session::slot::{Activity, Spent};

/// The live side of one attempt.
#[derive(Debug)]
pub(crate) struct LiveCell {
    started: Instant,
    answer_bytes: AtomicU64,
    /// Milliseconds after `started` of the last byte of any kind.
    last_byte: AtomicU64,
    activity: Mutex<Since>,
    /// What its stream reported; money, so never shown.
    spent: Mutex<Spent>,
}

/// What a slot does, and since when: the wait before a retry is counted down from then.
#[derive(Debug)]
struct Since {
    activity: Activity,
    at: Instant,
}

impl Since {
    /// The activity as it is to be shown at `now`.
    fn shown(&self, now: Instant) -> String {
        match &self.activity {
            Activity::Retry { attempt, of, in_seconds, why } => {
                let passed = now.saturating_duration_since(self.at).as_secs();
                let in_seconds = in_seconds.saturating_sub(passed);
                Activity::Retry { attempt: *attempt, of: *of, in_seconds, why: why.clone() }.to_string()
            }
            other => other.to_string(),
        }
    }
}

impl LiveCell {
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            started: now,
            answer_bytes: AtomicU64::new(0),
            last_byte: AtomicU64::new(0),
            activity: Mutex::new(Since { activity: Activity::Waiting, at: now }),
            spent: Mutex::default(),
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

    /// The slot does this from `now()` on, which is asked only when it is something new: text comes in many pieces.
    pub(crate) fn set_activity(&self, activity: &Activity, now: impl FnOnce() -> Instant) {
        let mut present = self.activity.lock().unwrap_or_else(PoisonError::into_inner);
        if present.activity != *activity || matches!(activity, Activity::Retry { .. }) {
            *present = Since { activity: activity.clone(), at: now() };
        }
    }

    /// The stream reported this so far.
    pub(crate) fn set_spent(&self, spent: Spent) {
        *self.spent.lock().unwrap_or_else(PoisonError::into_inner) = spent;
    }

    /// What the stream reported so far, and the bytes of the answer.
    pub(crate) fn spending(&self) -> (Spent, u64) {
        let spent = *self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        (spent, self.answer_bytes.load(Ordering::Relaxed))
    }

    /// When the last byte came; the start when none has.
    pub(crate) fn last_byte(&self) -> Instant {
        self.started + std::time::Duration::from_millis(self.last_byte.load(Ordering::Relaxed))
    }

    pub(crate) fn read(&self, now: Instant) -> Live {
        Live {
            activity: self.activity.lock().unwrap_or_else(PoisonError::into_inner).shown(now),
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

    #[test]
    fn the_wait_before_a_retry_is_counted_down_and_each_retry_begins_anew() {
        let start = Instant::now();
        let after = |millis| start + Duration::from_millis(millis);
        let cell = LiveCell::new(start);
        let retry = |attempt| Activity::Retry { attempt, of: 2, in_seconds: 5, why: "HTTP 429".to_owned() };
        cell.set_activity(&retry(1), || start);
        let shown = [0, 900, 1000, 4999, 5000, 60_000].map(|millis| cell.read(after(millis)).activity);
        let counted = [" in 5s", " in 5s", " in 4s", " in 1s", "", ""];
        assert_eq!(shown, counted.map(|wait| format!("retry 1/2{wait} (HTTP 429)")));
        cell.set_activity(&retry(2), || after(60_000));
        assert_eq!(cell.read(after(61_000)).activity, "retry 2/2 in 4s (HTTP 429)");
        cell.set_activity(&retry(2), || after(62_000));
        assert_eq!(
            cell.read(after(62_000)).activity,
            "retry 2/2 in 5s (HTTP 429)",
            "the same news again is a new wait"
        );
        cell.set_activity(&Activity::Waiting, || after(67_000));
        assert_eq!(cell.read(after(67_000)).activity, "waiting");
    }
}
