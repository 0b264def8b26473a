//! How a running process is told to stop, pause and go on.

use tokio::sync::watch;

/// How hard to stop; a later call can only be harder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stop {
    /// TERM and CONT to the whole tree, KILL after the grace.
    Term,
    /// KILL to the whole tree at once.
    Kill,
}

/// The side that decides. Dropped, it leaves the process running.
#[derive(Debug, Clone)]
pub struct Controller {
    stop: watch::Sender<Option<Stop>>,
    pause: watch::Sender<bool>,
}

/// The side that [`super::run`] listens to; one controller can serve many.
#[derive(Debug, Clone)]
pub struct Control {
    pub(super) stop: watch::Receiver<Option<Stop>>,
    pub(super) pause: watch::Receiver<bool>,
}

/// A controller and its first listener.
#[must_use]
pub fn control() -> (Controller, Control) {
    let (stop, stopped) = watch::channel(None);
    let (pause, paused) = watch::channel(false);
    (Controller { stop, pause }, Control { stop: stopped, pause: paused })
}

impl Controller {
    /// Asks for a stop; a softer one than before changes nothing.
    pub fn stop(&self, how: Stop) {
        self.stop.send_if_modified(|stop| {
            let harder = stop.is_none_or(|before| before < how);
            if harder {
                *stop = Some(how);
            }
            harder
        });
    }

    /// Stops or continues every process of the tree; deadlines wait meanwhile.
    pub fn pause(&self, paused: bool) {
        self.pause.send_if_modified(|now| std::mem::replace(now, paused) != paused);
    }

    /// One more listener.
    #[must_use]
    pub fn listener(&self) -> Control {
        Control { stop: self.stop.subscribe(), pause: self.pause.subscribe() }
    }
}

impl Control {
    /// From channels that somebody else owns.
    #[must_use]
    pub fn new(stop: watch::Receiver<Option<Stop>>, pause: watch::Receiver<bool>) -> Self {
        Self { stop, pause }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kill_is_never_softened_again() {
        let (controller, control) = control();
        controller.stop(Stop::Kill);
        controller.stop(Stop::Term);
        assert_eq!(*control.stop.borrow(), Some(Stop::Kill));
    }
}
