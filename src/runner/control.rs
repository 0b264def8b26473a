//! What can end a command from outside: signals, requests of other processes, the deadline. Lives as long as the
//! command and is shared by its panels, one after the other.

use std::io;
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio::time::MissedTickBehavior;

use super::limits::{StoppedTime, Stops};
use super::meter::Meter;
use super::signals::{Signals, Wish, stop_self};
use crate::session::requests::{self, Request};
use crate::session::{Layout, Round, Turn};

/// How often requests of other processes are looked for.
pub(super) const TICK: Duration = Duration::from_millis(100);

/// Why everything was stopped, in rising order of weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum StopAll {
    /// `--max-cost` was spent.
    Budget,
    /// `--deadline` passed.
    Deadline,
    /// `team cancel` from another terminal.
    Request,
    /// A signal.
    Signal(i32),
}

impl StopAll {
    /// The word for it in the record.
    #[must_use]
    pub const fn cause(self) -> &'static str {
        match self {
            Self::Budget => "budget",
            Self::Deadline => "deadline",
            Self::Request => "cancel",
            Self::Signal(2) => "interrupt",
            Self::Signal(1) => "hang_up",
            Self::Signal(_) => "terminate",
        }
    }
}

/// The outside of a command.
#[derive(Debug)]
pub struct Control {
    signals: Signals,
    stops: watch::Sender<Stops>,
    clock: StoppedTime,
    started: Instant,
    deadline: Option<Duration>,
    /// Whose requests are taken.
    requests: Option<Layout>,
    /// Requests for one slot that came while no panel ran.
    early: Vec<Request>,
    stop: Option<StopAll>,
    stop_signals: u32,
    /// What may be spent, over all panels of the command.
    pub(super) meter: Meter,
}

impl Control {
    /// Takes over the signals; must be called inside the runtime, before anything is started.
    pub fn listen(deadline: Option<Duration>) -> io::Result<Self> {
        let (stops, clock) = StoppedTime::new();
        Ok(Self {
            signals: Signals::listen()?,
            stops,
            clock,
            started: Instant::now(),
            deadline,
            requests: None,
            early: Vec::new(),
            stop: None,
            stop_signals: 0,
            meter: Meter::default(),
        })
    }

    /// From now on requests to the session at `layout` are taken.
    pub fn serve(&mut self, layout: &Layout) {
        self.requests = Some(layout.clone());
    }

    /// From now on calls are metered by this budget.
    pub const fn limit_cost(&mut self, meter: Meter) {
        self.meter = meter;
    }

    /// Why everything was stopped, if it was.
    #[must_use]
    pub const fn stop(&self) -> Option<StopAll> {
        self.stop
    }

    pub(crate) const fn clock(&self) -> &StoppedTime {
        &self.clock
    }

    /// Notes a stop of everything; a weightier one takes the place of a lighter one.
    pub(crate) fn note_stop(&mut self, stop: StopAll) {
        self.stop = self.stop.max(Some(stop));
    }

    /// How often a signal asked for a stop.
    pub(crate) const fn count_stop_signal(&mut self) -> u32 {
        self.stop_signals += 1;
        self.stop_signals
    }

    /// The next signal, or the deadline.
    pub(crate) async fn next(&mut self) -> Outside {
        let started = self.started;
        let deadline_is_news = self.stop.is_none();
        tokio::select! {
            wish = self.signals.next() => match wish {
                Wish::Stop(signal) => Outside::Signal(signal),
                Wish::Suspend => Outside::Suspend,
            },
            () = super::limits::at_limit(&self.clock, self.deadline, || started), if deadline_is_news => {
                Outside::Deadline
            }
        }
    }

    /// Requests of other processes that have come since the last look.
    pub(crate) fn take_requests(&mut self) -> Vec<Request> {
        let mut taken = std::mem::take(&mut self.early);
        taken.extend(self.requests.as_ref().map(requests::take).unwrap_or_default());
        taken
    }

    /// Whether a request for a slot of `round` (the session's own panel where `None`) is about the panel in `layout`;
    /// further turns are turns of that round, or panel.
    pub(crate) fn is_about(&self, round: Option<Round>, layout: &Layout) -> bool {
        self.requests.as_ref().is_some_and(|session| {
            // A pipeline's panels are inside of its session; one at a time is at work.
            let around = layout.pipeline_panel(session).unwrap_or_else(|| session.clone());
            match round {
                Some(round) => layout.root().starts_with(around.round(round).root()),
                None => {
                    around.root() == layout.root()
                        || Turn::ALL.iter().any(|turn| around.turn(*turn).root() == layout.root())
                }
            }
        })
    }

    /// The clock of every limit stands still from now on.
    pub(crate) fn begin_suspension(&self) {
        self.stops.send_modify(|stops| stops.begin(Instant::now()));
    }

    /// Stops this process until it is continued; every limit is longer by that time.
    pub(crate) fn stop_self(&self) -> io::Result<()> {
        self.begin_suspension();
        let result = stop_self();
        self.stops.send_modify(|stops| stops.end(Instant::now()));
        result
    }

    /// Runs `work` until it is done, or gives `None` when a stop is asked for before. Used outside a panel:
    /// while a model is provisioned, while the workspace is copied.
    pub async fn or_stop<T>(&mut self, work: impl Future<Output = T>) -> Option<T> {
        let mut work = std::pin::pin!(work);
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                done = &mut work => return Some(done),
                _ = tick.tick() => {
                    self.early = self.take_requests();
                    let is_for_all = |request: &Request| matches!(request, Request::Cancel { slot: None, .. });
                    if self.early.iter().any(is_for_all) {
                        self.early.retain(|request| !is_for_all(request));
                        self.note_stop(StopAll::Request);
                        return None;
                    }
                }
                outside = self.next() => match outside {
                    Outside::Signal(signal) => {
                        self.count_stop_signal();
                        self.note_stop(StopAll::Signal(signal));
                        return None;
                    }
                    Outside::Deadline => {
                        self.note_stop(StopAll::Deadline);
                        return None;
                    }
                    Outside::Suspend => {
                        if let Err(error) = self.stop_self() {
                            tracing::warn!("cannot stop for Ctrl-Z: {error}");
                        }
                    }
                },
            }
        }
    }
}

/// Something that came from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outside {
    /// A signal that asks for an end.
    Signal(i32),
    /// Ctrl-Z.
    Suspend,
    /// `--deadline` passed.
    Deadline,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_outweighs_a_request_and_a_request_a_deadline() {
        assert!(StopAll::Signal(2) > StopAll::Request);
        assert!(StopAll::Request > StopAll::Deadline && StopAll::Deadline > StopAll::Budget);
        assert_eq!(Some(StopAll::Deadline).max(None), Some(StopAll::Deadline));
    }
}
