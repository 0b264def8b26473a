//! The one place that waits: polling with a deadline.

use std::thread;
use std::time::{Duration, Instant};

/// How long anything may take before a test fails; generous, for a busy machine.
pub(crate) const DEADLINE: Duration = Duration::from_secs(30);

/// Polls until `ready` gives a value; fails naming `what` when the deadline passes.
#[track_caller]
pub(crate) fn wait_until<T>(what: &str, mut ready: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(value) = ready() {
            return value;
        }
        assert!(start.elapsed() < DEADLINE, "waited {DEADLINE:?} in vain for {what}");
        thread::sleep(Duration::from_millis(5));
    }
}
