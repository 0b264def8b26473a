//! The outer stage: stands between `team` and the namespace, and outlives neither.
//!
//! It holds three things that end the slot with `team`: the socket (its end of file), a parent-death signal, and
//! its place above init. Orders are handed down, reports are handed up; signals that somebody sends to it directly
//! go to the whole tree.

use std::fs::File;
use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::Child;

use nix::sys::signal::Signal;
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use rustix::process::{Pid, getpid, getppid, set_child_subreaper, set_parent_process_death_signal};

use super::super::mechanism::Mechanism;
use super::super::scratch::Scratch;
use super::super::wire::{Launch, Order, Report, Step};
use super::tree::{Reach, reap};
use super::{AtStep, EXIT_NOT_SET_UP, Failure, INIT, Link, Signals, namespaces, release_output, stage_command, wait};

/// Comes when the thread that started this stage ends. That thread need not be the last of `team`, so the signal is
/// only a reason to look; a fatal one would end a healthy slot with a runtime's idle thread.
const PARENT_THREAD_ENDED: Signal = Signal::SIGUSR1;

/// Handed down to the agent's tree when somebody sends them here.
const RELAYED: [Signal; 4] = [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP, Signal::SIGQUIT];

pub(super) fn main() -> u8 {
    // First of all: nothing open above the standard streams is this program's own yet.
    close_inherited();
    let Ok(mut upper) = Link::standard_input() else { return EXIT_NOT_SET_UP };
    match Outer::start(&mut upper) {
        Ok(outer) => outer.supervise(upper),
        Err(failure) => {
            upper.send(&failure.report().encode());
            failure.exit_code()
        }
    }
}

struct Outer {
    signals: Signals,
    owner: Option<Pid>,
    mechanism: Mechanism,
    init: Child,
    lower: Link,
    scratch: Option<Scratch>,
}

impl Outer {
    fn start(upper: &mut Link) -> Result<Self, Failure> {
        let owner = getppid();
        let watched = [RELAYED.as_slice(), &[PARENT_THREAD_ENDED, Signal::SIGCHLD]].concat();
        let signals = Signals::watch(&watched).at(Step::WatchSignals)?;
        set_parent_process_death_signal(rustix::process::Signal::from_named_raw(PARENT_THREAD_ENDED as i32))
            .at(Step::WatchSignals)?;

        let launch = read_launch(upper).at(Step::ReadLaunch)?;
        // Opened out here: inside, the session's files are to be out of sight.
        let input = File::open(launch.input.as_deref().unwrap_or("/dev/null".as_ref())).at(Step::OpenInput)?;
        // Out here as well: inside, its path leads to a private folder.
        let scratch = launch.enclosure.scratch.as_deref().and_then(Scratch::open);
        match launch.mechanism {
            Mechanism::Namespaces { user } => namespaces::enter(user)?,
            // Takes over what an init leaves that was killed.
            Mechanism::Landlock | Mechanism::TreeWalk => {
                set_child_subreaper(Some(getpid())).at(Step::AdoptOrphans)?;
            }
        }
        // After the id maps: a process that is not dumpable may not write its own.
        namespaces::hide_memory()?;

        let (ours, theirs) = UnixStream::pair().at(Step::StartInit)?;
        let init = stage_command(INIT, OwnedFd::from(theirs)).spawn().at(Step::StartInit)?;
        release_output().at(Step::StartInit)?;
        if let Mechanism::Namespaces { .. } = launch.mechanism {
            namespaces::drop_all().at(Step::DropPrivileges)?;
        }
        let mechanism = launch.mechanism;
        let mut lower = Link::new(ours);
        hand_over(&lower.socket, &input).at(Step::StartInit)?;
        lower.send(&Order::Launch(launch).encode());
        Ok(Self { signals, owner, mechanism, init, lower, scratch })
    }

    /// Until init has ended; then says how the agent did, as a shell would.
    fn supervise(mut self, mut upper: Link) -> u8 {
        let init = Pid::from_child(&self.init);
        let mut code = None;
        let mut owned = true;
        let mut init_talks = true;
        let mut init_lives = true;
        // Init's socket ends only after all it had to say.
        while init_talks || init_lives {
            // Before waiting as well: an order may have come together with the launch.
            while let Ok(Some(order)) = upper.frames.order() {
                self.lower.send(&order.encode());
            }
            let woken =
                wait(owned.then_some(&upper.socket), init_talks.then_some(&self.lower.socket), &self.signals, None);
            let mut abandoned = false;
            while let Some(signal) = woken.signal.then(|| self.signals.next()).flatten() {
                match signal {
                    Signal::SIGCHLD => {}
                    PARENT_THREAD_ENDED => abandoned |= getppid() != self.owner,
                    signal => self.lower.send(&Order::Signal(signal as i32).encode()),
                }
            }
            reap(|pid, _| init_lives &= pid != init);
            if woken.lower {
                init_talks = self.lower.fill();
                while let Ok(Some(report)) = self.lower.frames.report() {
                    code = exit_code(report).or(code);
                    upper.send(&report.encode());
                }
            }
            if woken.upper {
                abandoned |= !upper.fill();
            }
            if abandoned && owned {
                owned = false;
                if init_lives {
                    self.abandon();
                }
            }
        }
        if matches!(self.mechanism, Mechanism::TreeWalk | Mechanism::Landlock) {
            // Nobody, unless init was killed.
            Reach::Descendants.kill_all(&self.signals, None, |_, _| {});
        }
        if let Some(scratch) = self.scratch.filter(|_| !owned) {
            scratch.remove_with_folder();
        }
        code.unwrap_or(EXIT_NOT_SET_UP)
    }

    /// `team` is gone: end everything at once.
    fn abandon(&mut self) {
        match self.mechanism {
            // The kernel takes the namespace with it.
            Mechanism::Namespaces { .. } => drop(self.init.kill()),
            // Init walks the tree at the end of its socket.
            Mechanism::TreeWalk | Mechanism::Landlock => drop(self.lower.socket.shutdown(std::net::Shutdown::Write)),
        }
    }
}

/// Closes what `team` was itself started with and did not open.
///
/// A descriptor of a directory leads out of any mount namespace, and one of a pipe keeps somebody waiting.
fn close_inherited() {
    let Ok(entries) = std::fs::read_dir("/proc/self/fd") else { return };
    let numbers: Vec<i32> = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    for number in numbers.into_iter().filter(|number| *number > 2) {
        // The listing's own number is among them and no longer open.
        nix::unistd::close(number).ok();
    }
}

pub(super) fn read_launch(upper: &mut Link) -> std::io::Result<Box<Launch>> {
    loop {
        match upper.frames.order()? {
            Some(Order::Launch(launch)) => return Ok(launch),
            Some(_) => return Err(rustix::io::Errno::PROTO.into()),
            None if upper.fill() => {}
            None => return Err(rustix::io::Errno::PIPE.into()),
        }
    }
}

/// Gives init the agent's standard input, and a number that no other slot has now.
fn hand_over(socket: &UnixStream, input: &File) -> rustix::io::Result<()> {
    let seed = getpid().as_raw_nonzero().get().to_le_bytes();
    let fds = [input.as_fd()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    control.push(SendAncillaryMessage::ScmRights(&fds));
    sendmsg(socket, &[IoSlice::new(&seed)], &mut control, SendFlags::empty()).map(drop)
}

/// What the agent's end makes this stage's exit code.
fn exit_code(report: Report) -> Option<u8> {
    match report {
        Report::Exited(code) => u8::try_from(code & 0xff).ok(),
        Report::Killed(signal) => u8::try_from(128 + (signal & 0x7f)).ok(),
        Report::Refused { step, errno } => Some(Failure { step, errno }.exit_code()),
        Report::Started | Report::Swept(_) => None,
    }
}
