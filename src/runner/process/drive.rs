//! From the start of a process to the moment when nothing is left of it.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::net::UnixStream;
use tokio::net::unix::pipe;
use tokio::process::{Child, Command};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout};

use super::control::{Control, Stop};
use super::end::{Outcome, ProcessEnd, SpawnError};
use super::spec::{LAST_WORD, ProcessSink, ProcessSpec};
use crate::isolation::Refusal;
use crate::isolation::stage::{OUTER, SELF};
use crate::isolation::wire::{Frames, Launch, Order, Report};

/// How many file descriptors `team` holds for each running process: two pipes, the socket to the supervisor and its
/// process handle. Starting one takes four more for a moment.
pub const DESCRIPTORS_PER_PROCESS: usize = 4;

/// How much is read from a pipe at once.
const CHUNK: usize = 64 << 10;

/// How long supervisors may take for what needs no agent's help: to read the launch, to go after their last word.
const SUPERVISOR_LIMIT: Duration = Duration::from_secs(5);

/// How long killed processes may take to vanish before they are given up: one in an uninterruptible system call never
/// does. Longer than what the stages themselves wait for it.
const KILL_LIMIT: Duration = Duration::from_secs(12);

/// Runs one process from start to end.
///
/// Dropping the future kills the whole tree. See [`super`] for the threads it may be called from.
pub async fn run(spec: &ProcessSpec, sink: &mut dyn ProcessSink, control: Control) -> ProcessEnd {
    match Running::start(spec).await {
        Ok(running) => running.drive(spec, sink, control).await,
        Err(source) => ProcessEnd::not_started(SpawnError::Supervisor { source }),
    }
}

/// What is to happen when, unless something else happens first.
#[derive(Debug, Default)]
struct Deadlines {
    /// The answer is complete, the process goes on: TERM.
    linger: Option<Instant>,
    /// TERM was not enough: KILL.
    kill: Option<Instant>,
    /// The process has ended, a pipe has not: kill whoever holds it.
    drain: Option<Instant>,
    /// Even KILL did not end it: leave it behind.
    abandon: Option<Instant>,
}

/// A deadline that has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Due {
    Linger,
    Kill,
    Drain,
    Abandon,
}

impl Deadlines {
    fn next(&self) -> Option<(Instant, Due)> {
        [(self.linger, Due::Linger), (self.kill, Due::Kill), (self.drain, Due::Drain), (self.abandon, Due::Abandon)]
            .into_iter()
            .filter_map(|(at, due)| Some((at?, due)))
            .min_by_key(|(at, _)| *at)
    }

    /// Moves everything by the length of a pause.
    fn shift(&mut self, by: Duration) {
        for at in [&mut self.linger, &mut self.kill, &mut self.drain, &mut self.abandon].into_iter().flatten() {
            *at += by;
        }
    }
}

struct Running {
    child: Child,
    link: Option<UnixStream>,
    frames: Frames,
    stdout: Option<pipe::Receiver>,
    stderr: Option<pipe::Receiver>,
    deadlines: Deadlines,
    paused_at: Option<Instant>,
    sweeping: bool,
    outcome: Option<Outcome>,
    end: ProcessEnd,
}

impl Running {
    async fn start(spec: &ProcessSpec) -> io::Result<Self> {
        let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        let mut link = UnixStream::from_std(ours)?;
        let (stdout, stdout_writer) = io::pipe()?;
        let (stderr, stderr_writer) = io::pipe()?;

        let mut command = Command::new(spec.supervisor.as_deref().unwrap_or(Path::new(SELF)));
        // Nothing about the agent here: both are there for every process of the machine to read. A process group of
        // its own from the first moment, so that Ctrl-C and Ctrl-Z on the terminal reach `team` alone.
        command.arg0("team").arg(OUTER).env_clear().current_dir("/").process_group(0);
        command.stdin(OwnedFd::from(theirs)).stdout(stdout_writer).stderr(stderr_writer);
        let child = command.spawn()?;
        // It holds the other ends, which must have no holder but the agent's tree.
        drop(command);

        let launch = Launch {
            argv: spec.argv.clone(),
            environment: spec.complete_environment(),
            directory: spec.directory.clone(),
            input: spec.input.clone(),
            descriptor_limit: spec.descriptor_limit,
            mechanism: spec.mechanism,
            enclosure: spec.enclosure.clone(),
        };
        // A supervisor that goes before it has read everything says why by itself.
        let order = Order::Launch(Box::new(launch)).encode();
        timeout(SUPERVISOR_LIMIT, link.write_all(&order)).await?.ok();

        Ok(Self {
            child,
            link: Some(link),
            frames: Frames::default(),
            stdout: Some(receiver(stdout)?),
            stderr: Some(receiver(stderr)?),
            deadlines: Deadlines::default(),
            paused_at: None,
            sweeping: false,
            outcome: None,
            end: ProcessEnd {
                outcome: Outcome::Lost,
                stopped: None,
                drained: true,
                lingered: false,
                leftovers: 0,
                sink_error: None,
            },
        })
    }

    async fn drive(mut self, spec: &ProcessSpec, sink: &mut dyn ProcessSink, mut control: Control) -> ProcessEnd {
        let mut buffer = vec![0; CHUNK];
        // Asked for before the process was there.
        control.stop.mark_changed();
        control.pause.mark_changed();
        while self.link.is_some() || self.stdout.is_some() || self.stderr.is_some() {
            let next = if self.paused_at.is_none() { self.deadlines.next() } else { None };
            tokio::select! {
                () = pipe_ready(self.stdout.as_ref()) => {
                    match read(&mut self.stdout, &mut buffer) {
                        Some(count) => self.take(spec, sink, &buffer[..count], Stream::Stdout).await,
                        None => self.after_progress(sink.answer_complete()).await,
                    }
                }
                () = pipe_ready(self.stderr.as_ref()) => {
                    match read(&mut self.stderr, &mut buffer) {
                        Some(count) => self.take(spec, sink, &buffer[..count], Stream::Stderr).await,
                        None => self.after_progress(sink.answer_complete()).await,
                    }
                }
                () = link_ready(self.link.as_ref()) => {
                    self.listen(spec, &mut buffer[..4096]);
                    self.after_progress(sink.answer_complete()).await;
                }
                stop = changed(&mut control.stop) => {
                    if let Some(stop) = stop {
                        self.stop(stop, spec.grace).await;
                    }
                }
                paused = changed(&mut control.pause) => self.pause(paused).await,
                due = at(next) => match due {
                    // It went on after all: a further turn, or a retry that worked.
                    Due::Linger if !sink.answer_complete() && !sink.in_vain() => self.deadlines.linger = None,
                    due => self.due(due, spec.grace).await,
                },
            }
        }
        self.finish().await
    }

    /// Nobody has anything to say any more: takes the supervisor off the list of processes.
    async fn finish(mut self) -> ProcessEnd {
        if timeout(SUPERVISOR_LIMIT, self.child.wait()).await.is_err() {
            self.child.start_kill().ok();
        }
        self.end.outcome = self.outcome.unwrap_or(Outcome::Lost);
        self.end
    }

    async fn take(&mut self, spec: &ProcessSpec, sink: &mut dyn ProcessSink, bytes: &[u8], stream: Stream) {
        if bytes.is_empty() || self.end.sink_error.is_some() {
            return;
        }
        let taken = match stream {
            Stream::Stdout => sink.stdout(bytes),
            Stream::Stderr => sink.stderr(bytes),
        };
        if let Err(error) = taken {
            self.end.sink_error = Some(error);
            self.stop(Stop::Term, spec.grace).await;
        } else if stream == Stream::Stdout && sink.answer_complete() {
            // Not once it is being stopped: that has its own deadline.
            if self.outcome.is_none() && self.deadlines.kill.is_none() {
                let linger = Instant::now() + spec.linger;
                self.deadlines.linger.get_or_insert(linger);
            }
            self.after_progress(sink.answer_complete()).await;
        } else if stream == Stream::Stderr && self.outcome.is_none() && sink.in_vain() {
            let last_word = Instant::now() + LAST_WORD;
            self.deadlines.linger = Some(self.deadlines.linger.map_or(last_word, |linger| linger.min(last_word)));
        } else if stream == Stream::Stdout && !sink.in_vain() {
            // Another turn has begun: its end is what is waited for.
            self.deadlines.linger = None;
        }
    }

    /// Reads what the supervisor reports.
    fn listen(&mut self, spec: &ProcessSpec, buffer: &mut [u8]) {
        let Some(link) = &self.link else { return };
        match link.try_read(buffer) {
            Ok(count) if count > 0 => self.frames.push(&buffer[..count]),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
            Ok(_) | Err(_) => {
                self.link = None;
                self.paused_at = None;
                self.deadlines = Deadlines { abandon: Some(Instant::now() + KILL_LIMIT), ..Deadlines::default() };
                return;
            }
        }
        while let Ok(Some(report)) = self.frames.report() {
            match report {
                Report::Started => {}
                Report::Refused { step, errno } => {
                    let error = SpawnError::from_refusal(Refusal { step, errno }, spec);
                    self.outcome.get_or_insert(Outcome::NotStarted(error));
                }
                Report::Exited(code) => self.ended(Outcome::Exited(code), spec.drain),
                Report::Killed(signal) => self.ended(Outcome::Signalled(signal), spec.drain),
                Report::Swept(leftovers) => self.end.leftovers = leftovers,
            }
        }
    }

    /// The agent's own process is gone; what it left behind may still be there.
    fn ended(&mut self, outcome: Outcome, drain: Duration) {
        self.outcome = Some(outcome);
        self.deadlines.linger = None;
        self.deadlines.drain = Some(Instant::now() + drain);
    }

    /// Once the process has ended and there is no reason to wait for more, kills what it left behind.
    async fn after_progress(&mut self, answer_complete: bool) {
        let read_to_end = self.stdout.is_none() && self.stderr.is_none();
        if self.outcome.is_some() && (read_to_end || answer_complete) {
            self.sweep().await;
        }
    }

    async fn stop(&mut self, stop: Stop, grace: Duration) {
        if self.outcome.is_some() {
            // It ended by itself; only leftovers are in the way.
            self.force().await;
            return;
        }
        let before = self.end.stopped;
        self.end.stopped = before.max(Some(stop));
        match stop {
            Stop::Term if before.is_none() => self.terminate(grace).await,
            Stop::Term => {}
            Stop::Kill => self.force().await,
        }
    }

    async fn terminate(&mut self, grace: Duration) {
        self.resume();
        self.send(Order::Signal(rustix::process::Signal::TERM.as_raw())).await;
        // A stopped process takes TERM only when it goes on.
        self.send(Order::Signal(rustix::process::Signal::CONT.as_raw())).await;
        self.deadlines.linger = None;
        self.deadlines.kill.get_or_insert(Instant::now() + grace);
    }

    /// Kills the whole tree at once.
    async fn force(&mut self) {
        self.resume();
        if self.stdout.is_some() || self.stderr.is_some() {
            self.end.drained = false;
        }
        self.sweep().await;
    }

    /// Has everything killed that still runs, once.
    async fn sweep(&mut self) {
        if std::mem::replace(&mut self.sweeping, true) {
            return;
        }
        self.send(Order::Sweep).await;
        self.paused_at = None;
        self.deadlines = Deadlines { abandon: Some(Instant::now() + KILL_LIMIT), ..Deadlines::default() };
    }

    async fn pause(&mut self, paused: bool) {
        // Whatever is being killed is not to be kept.
        if self.sweeping || paused == self.paused_at.is_some() {
            return;
        }
        let signal = if paused {
            self.paused_at = Some(Instant::now());
            rustix::process::Signal::STOP
        } else {
            self.resume();
            rustix::process::Signal::CONT
        };
        self.send(Order::Signal(signal.as_raw())).await;
    }

    /// The clock of the deadlines goes on.
    fn resume(&mut self) {
        if let Some(paused_at) = self.paused_at.take() {
            self.deadlines.shift(paused_at.elapsed());
        }
    }

    async fn due(&mut self, due: Due, grace: Duration) {
        match due {
            Due::Linger => {
                self.end.lingered = true;
                self.terminate(grace).await;
            }
            Due::Kill | Due::Drain => self.force().await,
            Due::Abandon => {
                self.end.drained = false;
                self.child.start_kill().ok();
                (self.link, self.stdout, self.stderr) = (None, None, None);
            }
        }
    }

    async fn send(&mut self, order: Order) {
        let Some(link) = &mut self.link else { return };
        // A few bytes; one that does not take them is gone or stopped, and the deadlines see to that.
        timeout(SUPERVISOR_LIMIT, link.write_all(&order.encode())).await.ok();
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stream {
    Stdout,
    Stderr,
}

fn receiver(reader: io::PipeReader) -> io::Result<pipe::Receiver> {
    pipe::Receiver::from_owned_fd(OwnedFd::from(reader))
}

/// Reads once: the number of bytes, 0 when there were none after all, or nothing at the end, which closes the pipe.
fn read(pipe: &mut Option<pipe::Receiver>, buffer: &mut [u8]) -> Option<usize> {
    match pipe.as_ref()?.try_read(buffer) {
        Ok(count) if count > 0 => Some(count),
        Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => Some(0),
        Ok(_) | Err(_) => {
            *pipe = None;
            None
        }
    }
}

/// Until a read would not wait; for ever where there is nothing to read.
async fn pipe_ready(pipe: Option<&pipe::Receiver>) {
    match pipe {
        // An error shows again at the read.
        Some(pipe) => drop(pipe.readable().await),
        None => std::future::pending().await,
    }
}

async fn link_ready(link: Option<&UnixStream>) {
    match link {
        Some(link) => drop(link.readable().await),
        None => std::future::pending().await,
    }
}

/// The next value; for ever when nobody can send one any more.
async fn changed<T: Copy>(receiver: &mut watch::Receiver<T>) -> T {
    match receiver.changed().await {
        Ok(()) => *receiver.borrow_and_update(),
        Err(_) => std::future::pending().await,
    }
}

async fn at(next: Option<(Instant, Due)>) -> Due {
    match next {
        Some((at, due)) => {
            sleep_until(at).await;
            due
        }
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_deadline_is_next_and_a_pause_moves_them_all() {
        let now = Instant::now();
        let second = Duration::from_secs(1);
        let mut deadlines = Deadlines::default();
        assert!(deadlines.next().is_none());
        deadlines.drain = Some(now + 2 * second);
        deadlines.kill = Some(now + second);
        assert_eq!(deadlines.next(), Some((now + second, Due::Kill)));
        deadlines.shift(5 * second);
        assert_eq!(deadlines.next(), Some((now + 6 * second, Due::Kill)));
        assert_eq!(deadlines.drain, Some(now + 7 * second));
    }
}
