//! The user's limits, and clocks that stand still while the whole run is stopped by Ctrl-Z.

use std::time::{Duration, Instant};

use tokio::sync::watch;

/// Limits that the user set; nothing is limited otherwise.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Limits {
    /// The most time for one attempt of a slot.
    pub timeout: Option<Duration>,
    /// The most time without a byte from a slot.
    pub idle_timeout: Option<Duration>,
    /// How many slots run at once; all where `None`.
    pub jobs: Option<usize>,
    /// How often a request is tried again before the first byte of an answer.
    pub retries: u32,
}

/// How long the run has been stopped in all; every running limit is longer by it.
#[derive(Debug, Clone)]
pub(crate) struct StoppedTime {
    total: watch::Receiver<Duration>,
}

impl StoppedTime {
    /// The clock, and the end that the dispatcher moves it with.
    pub(crate) fn new() -> (watch::Sender<Duration>, Self) {
        let (sender, total) = watch::channel(Duration::ZERO);
        (sender, Self { total })
    }

    fn now(&self) -> Duration {
        *self.total.borrow()
    }

    /// Waits until `length` of unstopped time has passed since `since()`, which may move on meanwhile.
    pub(crate) async fn after(&self, length: Duration, since: impl Fn() -> Instant) {
        let stopped_before = self.now();
        loop {
            let end = since() + length + self.now().saturating_sub(stopped_before);
            if Instant::now() >= end {
                return;
            }
            tokio::time::sleep_until(end.into()).await;
        }
    }
}

/// Waits for ever where there is no limit.
pub(crate) async fn at_limit(clock: &StoppedTime, length: Option<Duration>, since: impl Fn() -> Instant) {
    match length {
        Some(length) => clock.after(length, since).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_limit_is_longer_by_the_time_the_run_was_stopped() {
        let (stopped, clock) = StoppedTime::new();
        let start = Instant::now();
        let length = Duration::from_millis(40);
        let waiting = tokio::spawn(async move {
            clock.after(length, move || start).await;
            start.elapsed()
        });
        tokio::task::yield_now().await;
        stopped.send_replace(Duration::from_millis(60));
        assert!(waiting.await.unwrap() >= Duration::from_millis(100));
    }
}
