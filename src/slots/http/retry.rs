//! When a request is sent again, and how long it waits first.

use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBuilder};

/// The longest wait that a server may ask for; one that asks for more fails the slot at once, with the time in its
/// words, because a person decides better than a timer whether to wait that long.
pub const LONGEST_WAIT: Duration = Duration::from_secs(120);

/// How retries are spaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// The wait before the first retry; it doubles with each further one.
    pub first: Duration,
    /// The longest wait that is chosen here (the random part may double it).
    pub ceiling: Duration,
    /// The longest wait that is accepted from a server.
    pub longest: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self { first: Duration::from_millis(500), ceiling: Duration::from_secs(8), longest: LONGEST_WAIT }
    }
}

impl RetryPolicy {
    /// The waits before the first, second, .. retry when the server names none: each doubles, plus up to as much
    /// again at random, so that slots which failed together do not come back together.
    pub(super) fn waits(&self, seed: u64) -> impl Iterator<Item = Duration> + use<> {
        ExponentialBuilder::new()
            .with_min_delay(self.first)
            .with_max_delay(self.ceiling)
            .with_factor(2.0)
            .without_max_times()
            .with_jitter_seed(seed)
            .with_jitter()
            .build()
    }
}

/// Whether an answer of this status may be different on the next try.
pub(super) const fn is_transient(status: u16) -> bool {
    // 501 and 505 state what the server is, not how it is.
    matches!(status, 408 | 429 | 500 | 502..=504 | 506..=599)
}

/// Whole seconds for people, rounded up.
pub(super) fn whole_seconds(wait: Duration) -> u64 {
    wait.as_secs() + u64::from(wait.subsec_nanos() > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_ceiling_with_at_most_as_much_again_at_random() {
        let policy = RetryPolicy::default();
        for seed in 0..50 {
            let waits: Vec<u64> = policy.waits(seed).take(7).map(|wait| wait.as_millis() as u64).collect();
            for (wait, least) in waits.iter().zip([500, 1000, 2000, 4000, 8000, 8000, 8000]) {
                assert!((least..=2 * least).contains(wait), "seed {seed}: {waits:?}");
            }
        }
        let of = |seed| policy.waits(seed).next();
        assert_ne!(of(1), of(2), "slots that failed together come back apart");
        assert_eq!(of(1), of(1));
    }

    #[test]
    fn only_what_may_pass_is_tried_again() {
        for status in [408, 429, 500, 502, 503, 504, 529] {
            assert!(is_transient(status), "{status}");
        }
        for status in [200, 301, 400, 401, 403, 404, 413, 501, 505] {
            assert!(!is_transient(status), "{status}");
        }
    }
}
