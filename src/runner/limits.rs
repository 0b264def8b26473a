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

/// When the run was stopped; every running limit is longer by the part of it that fell into its time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Stops {
    over: Vec<(Instant, Instant)>,
    /// The stop that goes on.
    since: Option<Instant>,
}

impl Stops {
    /// The run stands still from `now` on.
    pub(crate) fn begin(&mut self, now: Instant) {
        self.since.get_or_insert(now);
    }

    /// It goes on.
    pub(crate) fn end(&mut self, now: Instant) {
        if let Some(since) = self.since.take() {
            self.over.push((since, now));
        }
    }

    /// How much of the time from `start` to `now` it stood still.
    fn within(&self, start: Instant, now: Instant) -> Duration {
        let going_on = self.since.map(|since| (since, now));
        let part = |(from, to): (Instant, Instant)| to.min(now).saturating_duration_since(from.max(start));
        self.over.iter().copied().chain(going_on).map(part).sum()
    }
}

/// A clock that stands still while the run does.
#[derive(Debug, Clone)]
pub(crate) struct StoppedTime {
    stops: watch::Receiver<Stops>,
}

impl StoppedTime {
    /// The clock, and the end that the dispatcher stops it with.
    pub(crate) fn new() -> (watch::Sender<Stops>, Self) {
        let (sender, stops) = watch::channel(Stops::default());
        (sender, Self { stops })
    }

    /// Waits until `length` of unstopped time has passed since `since()`, which may move on meanwhile.
    pub(crate) async fn after(&self, length: Duration, since: impl Fn() -> Instant) {
        loop {
            let (start, now) = (since(), Instant::now());
            // A stop that goes on counts up to now: whoever wakes first after it finds its limit moved.
            let end = start + length + self.stops.borrow().within(start, now);
            if now >= end {
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
        let (stops, clock) = StoppedTime::new();
        let start = Instant::now();
        let length = Duration::from_millis(40);
        let waiting = tokio::spawn(async move {
            clock.after(length, move || start).await;
            start.elapsed()
        });
        stops.send_modify(|stops| {
            stops.begin(start);
            stops.end(start + Duration::from_millis(60));
        });
        assert!(waiting.await.unwrap() >= Duration::from_millis(100));
    }

    #[tokio::test]
    async fn a_limit_does_not_pass_while_a_stop_goes_on() {
        let (stops, clock) = StoppedTime::new();
        let start = Instant::now();
        stops.send_modify(|stops| stops.begin(start));
        let passed = tokio::time::timeout(Duration::from_millis(60), clock.after(Duration::from_millis(5), || start));
        assert!(passed.await.is_err());
    }

    #[test]
    fn a_stop_before_the_start_of_a_limit_does_not_lengthen_it() {
        let zero = Instant::now();
        let at = |seconds| zero + Duration::from_secs(seconds);
        let mut stops = Stops::default();
        stops.begin(at(1));
        stops.end(at(11));
        stops.begin(at(20));
        assert_eq!(stops.within(at(12), at(15)), Duration::ZERO);
        assert_eq!(stops.within(at(6), at(15)), Duration::from_secs(5));
        assert_eq!(stops.within(at(0), at(23)), Duration::from_secs(13));
    }
}
