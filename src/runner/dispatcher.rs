//! The dispatcher: the one task that owns a panel's folder, starts slots, hears signals and records what happens.
//!
//! Executors own their slot's state and report to it; it alone writes the record and the status. Ends that arrive
//! together are recorded together and made durable once.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use tokio::sync::{mpsc, watch};
use tokio::time::MissedTickBehavior;

use super::attempt::{Attempt, Report, StopCause, StopOrder};
use super::control::{Control, Outside, StopAll, TICK};
use super::executor;
use super::job::{Observer, Shared, SlotJob};
use super::live::LiveCell;
use super::meter::Gauge;
use crate::error::ExitCode;
use crate::fault::{self, Point};
use crate::fs::SharedSync;
use crate::ids::SlotId;
use crate::money::Usd;
use crate::session::requests::Request;
use crate::session::slot::{Reason, SealedCost, SealedUsage, Spent, Usage};
use crate::session::{Event, PanelFolder, SessionError, SlotEnd, SlotError};

/// How often `status.json` is written when only live fields change.
const LIVE_WRITE: Duration = Duration::from_millis(500);

/// How long slots get to stop their trees before this process stops itself for Ctrl-Z.
const SUSPEND_GRACE: Duration = Duration::from_millis(150);

struct Running {
    live: Arc<LiveCell>,
    gauge: Gauge,
    stop: watch::Sender<StopOrder>,
}

struct Dispatcher<'a> {
    folder: &'a mut PanelFolder,
    waiting: VecDeque<SlotJob>,
    running: BTreeMap<SlotId, Running>,
    shared: Arc<Shared>,
    answers: Arc<SharedSync>,
    reports: mpsc::UnboundedSender<Report>,
    pause: watch::Sender<bool>,
    observer: &'a mut dyn Observer,
    jobs: usize,
    /// The first thing that the folder refused; slots go on all the same.
    refused: Option<SessionError>,
}

/// Runs `jobs` (in the order of their ids) until each has exactly one end on record.
///
/// A folder that refuses writes does not stop the slots; the first refusal is given back at the end.
pub async fn run_panel(
    folder: &mut PanelFolder,
    jobs: Vec<SlotJob>,
    shared: Arc<Shared>,
    at_once: usize,
    control: &mut Control,
    observer: &mut dyn Observer,
) -> Result<(), SessionError> {
    let (reports, mut inbox) = mpsc::unbounded_channel();
    let (pause, _) = watch::channel(false);
    let jobs_at_once = shared.limits.jobs.unwrap_or(usize::MAX).min(at_once).max(1);
    let answers = Arc::new(SharedSync::new(folder.layout().root()));
    let mut dispatcher = Dispatcher {
        folder,
        answers,
        waiting: jobs.into(),
        running: BTreeMap::new(),
        shared,
        reports,
        pause,
        observer,
        jobs: jobs_at_once,
        refused: None,
    };
    if let Some(stop) = control.stop() {
        dispatcher.stop_all(stop, false);
    }
    dispatcher.start_waiting(control);
    dispatcher.publish();
    let mut tick = tokio::time::interval(TICK);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut last_write = Instant::now();
    let mut batch = Vec::new();
    while !dispatcher.running.is_empty() || !dispatcher.waiting.is_empty() {
        tokio::select! {
            _ = inbox.recv_many(&mut batch, 256) => {
                dispatcher.take_reports(&mut batch, control);
                last_write = Instant::now();
            }
            outside = control.next() => dispatcher.hear(outside, control).await,
            _ = tick.tick() => {
                for request in control.take_requests() {
                    dispatcher.grant(&request, control);
                }
                dispatcher.watch_budget(control);
                dispatcher.read_live();
                if last_write.elapsed() >= LIVE_WRITE {
                    dispatcher.write_status();
                    last_write = Instant::now();
                }
            }
        }
    }
    fault::reach(Point::PanelDone);
    dispatcher.finish()
}

impl Dispatcher<'_> {
    fn record(&mut self, event: Event) {
        match self.folder.record(event, Timestamp::now()) {
            Ok(record) => self.observer.event(&record, self.folder.status()),
            Err(error) => self.refuse(error),
        }
    }

    /// The first refusal is told at once: somebody may free the disk while the slots go on.
    fn refuse(&mut self, error: SessionError) {
        if self.refused.is_none() {
            self.observer.trouble(&format!(
                "{error}; the slots go on, and what the record lacks is written as soon as the folder takes it"
            ));
            self.refused = Some(error);
        }
    }

    /// What was refused for a while and is on disk now is no error any more.
    fn finish(mut self) -> Result<(), SessionError> {
        match self.refused.take() {
            None => Ok(()),
            Some(SessionError::Io(_)) if self.folder.settle().and_then(|()| self.folder.write_status()).is_ok() => {
                Ok(())
            }
            Some(refused) => Err(refused),
        }
    }

    /// Makes the record durable and the status visible.
    fn publish(&mut self) {
        if let Err(error) = self.folder.settle() {
            self.refuse(error);
        }
        self.write_status();
    }

    fn write_status(&mut self) {
        if let Err(error) = self.folder.write_status() {
            self.refuse(error);
        }
    }

    fn start_waiting(&mut self, control: &Control) {
        while self.running.len() < self.jobs {
            let Some(job) = self.waiting.pop_front() else { break };
            let slot = job.id;
            let gauge = Gauge::new(job.model.clone(), fs_err::metadata(&job.prompt).map_or(0, |meta| meta.len()));
            if !control.meter.admits(self.reading(), gauge.least()) {
                // Which of the slots is too dear would tell prices, and prices tell models. A round's verdict is near.
                let others = if self.is_round() { VecDeque::new() } else { std::mem::take(&mut self.waiting) };
                let slots = if self.is_round() { vec![slot] } else { Vec::new() };
                self.record(Event::StopRequested { cause: StopAll::Budget.cause().to_owned(), slots });
                self.end_before_start(slot, StopCause::Budget);
                others.iter().for_each(|job| self.end_before_start(job.id, StopCause::Budget));
                continue;
            }
            let attempt = self.folder.status().models.get(&slot).map_or(0, |entry| entry.attempts) + 1;
            self.record(Event::SlotStarted { slot, attempt });
            fault::reach(Point::SlotStarted);
            let live = Arc::new(LiveCell::new(Instant::now()));
            let (stop, stop_receiver) = watch::channel(StopOrder::None);
            let task = Attempt {
                number: attempt,
                job,
                layout: self.folder.layout().clone(),
                answers: Arc::clone(&self.answers),
                shared: Arc::clone(&self.shared),
                live: Arc::clone(&live),
                stop: stop_receiver,
                pause: self.pause.subscribe(),
                clock: control.clock().clone(),
                reports: self.reports.clone(),
            };
            self.running.insert(slot, Running { live, gauge, stop });
            executor::start(task);
        }
    }

    fn take_reports(&mut self, batch: &mut Vec<Report>, control: &mut Control) {
        for report in batch.drain(..) {
            match report {
                Report::Retry { slot, why } => self.record(Event::SlotRetry { slot, why }),
                Report::Ended { slot, mut end, cost } => {
                    if let Some(running) = self.running.remove(&slot) {
                        control.meter.add(running.cost(end.usage, cost));
                        let (nonce, head) = (&self.folder.manifest().nonce, self.folder.head());
                        end.sealed_cost = cost.map(|cost| SealedCost::seal(cost, nonce, slot, head));
                        end.sealed_usage = end.usage.take().map(|usage| SealedUsage::seal(usage, nonce, slot, head));
                        fault::reach(Point::SlotEndHeard);
                        self.record(Event::SlotEnded { slot, end });
                        fault::reach(Point::SlotEndRecorded);
                    }
                }
            }
        }
        self.start_waiting(control);
        self.publish();
        fault::reach(Point::SlotEndSettled);
    }

    /// Whether those that are asked are judges.
    fn is_round(&self) -> bool {
        let first = self.folder.records().first();
        first.is_some_and(|record| matches!(record.event, Event::Created { parent: Some(_), .. }))
    }

    /// Whether it is judges that are asked.
    fn judges(&self) -> bool {
        let first = self.folder.records().first();
        first.is_some_and(
            |record| matches!(&record.event, Event::Created { parent: Some(parent), .. } if parent.round.is_some()),
        )
    }

    /// What the running slots cost by now.
    fn reading(&self) -> Usd {
        self.running.values().map(Running::reading).sum()
    }

    /// Stops everything when the budget is spent.
    fn watch_budget(&mut self, control: &mut Control) {
        if control.meter.is_limited() && control.stop().is_none() && control.meter.is_over(self.reading()) {
            control.note_stop(StopAll::Budget);
            self.stop_all(StopAll::Budget, false);
            self.publish();
        }
    }

    async fn hear(&mut self, outside: Outside, control: &mut Control) {
        match outside {
            Outside::Signal(signal) => match control.count_stop_signal() {
                1 => {
                    control.note_stop(StopAll::Signal(signal));
                    self.stop_all(StopAll::Signal(signal), false);
                }
                2 => self.stop_all(StopAll::Signal(signal), true),
                // The lifelines break with this process, so no slot outlives it.
                _ => std::process::exit(i32::from(ExitCode::signal(signal).code())),
            },
            Outside::Deadline => {
                control.note_stop(StopAll::Deadline);
                self.stop_all(StopAll::Deadline, false);
            }
            Outside::Suspend => {
                control.begin_suspension();
                self.pause.send_replace(true);
                tokio::time::sleep(SUSPEND_GRACE).await;
                self.observer.suspend();
                if let Err(error) = control.stop_self() {
                    tracing::warn!("cannot stop for Ctrl-Z: {error}");
                }
                self.pause.send_replace(false);
            }
        }
        self.publish();
    }

    fn stop_all(&mut self, stop: StopAll, kill: bool) {
        let cause = match stop {
            StopAll::Budget => StopCause::Budget,
            StopAll::Deadline => StopCause::Deadline,
            StopAll::Request | StopAll::Signal(_) => StopCause::Cancelled,
        };
        self.record(Event::StopRequested { cause: stop.cause().to_owned(), slots: Vec::new() });
        let order = if kill { StopOrder::Kill(cause) } else { StopOrder::Stop(cause) };
        for running in self.running.values() {
            give_order(running, order);
        }
        for job in std::mem::take(&mut self.waiting) {
            self.end_before_start(job.id, cause);
        }
    }

    fn grant(&mut self, request: &Request, control: &mut Control) {
        match request {
            Request::Cancel { slot: None, .. } => {
                control.note_stop(StopAll::Request);
                self.stop_all(StopAll::Request, false);
            }
            // It was for a panel that has ended meanwhile.
            Request::Cancel { round, .. } if !control.is_about(*round, self.folder.layout()) => {}
            Request::Cancel { slot: Some(slot), .. } => {
                let slot = *slot;
                let waiting = self.waiting.iter().position(|job| job.id == slot);
                if waiting.is_some() || self.running.contains_key(&slot) {
                    self.record(Event::StopRequested { cause: "cancel".to_owned(), slots: vec![slot] });
                }
                if let Some(running) = self.running.get(&slot) {
                    give_order(running, StopOrder::Stop(StopCause::Cancelled));
                } else if let Some(position) = waiting {
                    self.waiting.remove(position);
                    self.end_before_start(slot, StopCause::Cancelled);
                }
            }
        }
        self.publish();
    }

    /// A slot whose turn never came.
    fn end_before_start(&mut self, slot: SlotId, cause: StopCause) {
        let (reason, detail) = match cause {
            StopCause::Deadline => (Reason::Timeout, "stopped before its turn came"),
            StopCause::Cancelled => (Reason::Cancelled, "stopped before its turn came"),
            StopCause::Budget => (Reason::Budget, "not begun: no more than `--max-cost` is to be spent"),
        };
        let attempt = self.folder.status().models.get(&slot).map_or(0, |entry| entry.attempts);
        let mut error = SlotError::new(reason, detail);
        if cause == StopCause::Budget && self.judges() {
            // The round may get its verdict without it, and then nothing is left to resume.
            error.next_step = "`team judge` with a greater `--max-cost` asks it, in a new round".to_owned();
        }
        let end = SlotEnd::without_answer(attempt, error);
        self.record(Event::SlotEnded { slot, end: Box::new(end) });
    }

    fn read_live(&mut self) {
        let now = Instant::now();
        for (slot, running) in &self.running {
            self.folder.set_live(*slot, running.live.read(now));
        }
        self.observer.live(self.folder.status());
    }
}

impl Running {
    fn reading(&self) -> Usd {
        let (spent, bytes) = self.live.spending();
        self.gauge.reading(spent, bytes)
    }

    /// What it cost in the end. Of one that was cut off, what its bytes come to is all that is known.
    fn cost(&self, usage: Option<Usage>, cost: Option<Usd>) -> Usd {
        let (_, bytes) = self.live.spending();
        self.gauge.total(Spent { usage, cost }, bytes)
    }
}

/// Orders only ever become more urgent; the first cause stays.
fn give_order(running: &Running, order: StopOrder) {
    running.stop.send_if_modified(|present| {
        let next = match (*present, order) {
            (StopOrder::None, new) => new,
            (StopOrder::Stop(first), StopOrder::Kill(_)) => StopOrder::Kill(first),
            (kept, _) => kept,
        };
        let changed = *present != next;
        *present = next;
        changed
    });
}
