//! The init stage: starts the agent, reaps, passes signals on, and leaves nobody behind.
//!
//! With a namespace it is process 1 of it: signals from inside do not reach it, and its end is the end of all.
//! Without one it adopts every orphan below it and walks the tree.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use nix::sys::signal::{SigSet, Signal};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use rustix::process::{
    Pid, Resource, Rlimit, WaitStatus, geteuid, getpid, getrlimit, set_child_subreaper,
    set_parent_process_death_signal, setrlimit, setsid,
};

use super::super::enclosure::Enclosure;
use super::super::mechanism::Mechanism;
use super::super::wire::{Launch, Order, Report, Step};
use super::tree::{Children, Reach, reap};
use super::{AtStep, EXIT_NOT_SET_UP, Failure, Link, Signals, mounts, namespaces, release_output, rules, wait};

/// Blocked while this stage runs, so that a tool that signals its parent does not end it.
const WATCHED: [Signal; 5] = [Signal::SIGCHLD, Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP, Signal::SIGQUIT];

pub(super) fn main() -> u8 {
    let Ok(mut upper) = Link::standard_input() else { return EXIT_NOT_SET_UP };
    match Init::start(&mut upper) {
        Ok(init) => {
            init.supervise(upper);
            0
        }
        Err(failure) => {
            upper.send(&failure.report().encode());
            failure.exit_code()
        }
    }
}

struct Init {
    signals: Signals,
    reach: Reach,
    agent: Pid,
}

impl Init {
    fn start(upper: &mut Link) -> Result<Self, Failure> {
        let signals = Signals::watch(&WATCHED).at(Step::WatchSignals)?;
        namespaces::hide_memory()?;
        let (input, seed) = take_over(&upper.socket).at(Step::ReadLaunch)?;
        let launch = read_launch(upper).at(Step::ReadLaunch)?;
        // Away from the terminal and from the outer stage's process group.
        setsid().at(Step::StartInit)?;
        let reach = match launch.mechanism {
            Mechanism::Namespaces { .. } => {
                enter_namespace(seed, &launch.enclosure)?;
                Reach::Namespace
            }
            Mechanism::Landlock | Mechanism::TreeWalk => {
                set_child_subreaper(Some(getpid())).at(Step::AdoptOrphans)?;
                namespaces::forbid_new_privileges()?;
                if launch.mechanism == Mechanism::Landlock {
                    rules::restrict(&launch.enclosure)?;
                    // Root's own ways past it: files by their handles, other processes' memory.
                    if geteuid().is_root() {
                        namespaces::drop_privileges(namespaces::kept())?;
                    }
                }
                Reach::Descendants
            }
        };
        let input = if matches!(reach, Reach::Namespace) { read_only(&launch, input)? } else { input };
        let agent = start_agent(*launch, input)?;
        // Only now: a failure above would have been seen by nobody else.
        release_output().at(Step::StartInit)?;
        upper.send(&Report::Started.encode());
        Ok(Self { signals, reach, agent })
    }

    /// Until the agent has ended and nobody is left, or the upper stage is gone.
    fn supervise(self, mut upper: Link) {
        let mut ending = Ending { agent: self.agent, report: None };
        let mut sweep = false;
        loop {
            // Before waiting: a child that ended while its start had signals unblocked left no signal behind.
            let children = reap(|pid, status| ending.note(pid, status));
            ending.tell(&mut upper);
            if children == Children::None {
                upper.send(&Report::Swept(0).encode());
                return;
            }
            // Before waiting as well: an order may have come together with the launch.
            while let Ok(Some(order)) = upper.frames.order() {
                match order {
                    Order::Signal(number) => {
                        if let Some(signal) = rustix::process::Signal::from_named_raw(number) {
                            self.reach.signal(signal);
                        }
                    }
                    Order::Sweep => sweep = true,
                    Order::Launch(_) => {}
                }
            }
            if sweep {
                let killed =
                    self.reach.kill_all(&self.signals, Some(self.agent), |pid, status| ending.note(pid, status));
                ending.tell(&mut upper);
                upper.send(&Report::Swept(killed).encode());
                return;
            }
            let woken = wait(Some(&upper.socket), None, &self.signals, None);
            while woken.signal && self.signals.next().is_some() {}
            if woken.upper {
                // Without an owner there is nothing to stay for.
                sweep = !upper.fill();
            }
        }
    }
}

/// How the agent's own process ended, told once.
struct Ending {
    agent: Pid,
    report: Option<Report>,
}

impl Ending {
    fn note(&mut self, pid: Pid, status: WaitStatus) {
        if pid == self.agent {
            self.report = status.exit_status().map(Report::Exited).or(status.terminating_signal().map(Report::Killed));
        }
    }

    fn tell(&mut self, upper: &mut Link) {
        if let Some(report) = self.report.take() {
            upper.send(&report.encode());
        }
    }
}

/// The agent's input, opened where it is shown to be read only: by its entry in `/proc` the one from outside could be
/// opened again, and written.
fn read_only(launch: &Launch, input: File) -> Result<File, Failure> {
    match &launch.input {
        Some(path) if !launch.enclosure.shown.is_empty() => File::open(path).at(Step::OpenInput),
        _ => Ok(input),
    }
}

fn enter_namespace(seed: u32, enclosure: &Enclosure) -> Result<(), Failure> {
    // Anywhere else, a signal to all would leave the slot.
    if !getpid().is_init() {
        return Err(rustix::io::Errno::CHILD).at(Step::BeFirst);
    }
    // The outer stage has one thread, so its end is the end of that thread.
    set_parent_process_death_signal(Some(rustix::process::Signal::KILL)).at(Step::BeFirst)?;
    // Apart from the outer stage's as well: what is a mount point there it could not remove in the end.
    namespaces::leave_mounts()?;
    mounts::arrange(enclosure)?;
    namespaces::number_processes_after(seed);
    namespaces::drop_privileges(namespaces::kept())?;
    rules::scope_sockets()
}

fn start_agent(launch: Launch, input: File) -> Result<Pid, Failure> {
    if let Some(soft) = launch.descriptor_limit {
        let maximum = getrlimit(Resource::Nofile).maximum;
        let soft = maximum.map_or(soft, |maximum| soft.min(maximum));
        setrlimit(Resource::Nofile, Rlimit { current: Some(soft), maximum }).at(Step::LimitDescriptors)?;
    }
    // By its path, and after the mounts: a directory held from before would lead out by `..`.
    std::env::set_current_dir(&launch.directory).at(Step::EnterDirectory)?;
    let [program, arguments @ ..] = launch.argv.as_slice() else {
        return Err(rustix::io::Errno::INVAL).at(Step::ReadLaunch);
    };
    let mut command = Command::new(program);
    command.args(arguments).env_clear().envs(launch.environment).stdin(Stdio::from(input));
    // Its own group: a script that signals its group must not meet its supervisor there.
    command.process_group(0);
    // A child inherits the blocked signals, and agents that start with SIGTERM blocked cannot be asked to stop.
    let blocked = SigSet::thread_get_mask().at(Step::WatchSignals)?;
    SigSet::empty().thread_set_mask().at(Step::WatchSignals)?;
    let started = command.spawn();
    blocked.thread_set_mask().at(Step::WatchSignals)?;
    match started {
        Ok(child) => Ok(Pid::from_child(&child)),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied && !is_on_path(program, &command) => {
            Err(rustix::io::Errno::NOENT).at(Step::Execute)
        }
        Err(error) => Err(error).at(Step::Execute),
    }
}

/// Whether a program that was refused exists at all.
///
/// The search along `PATH` says "permission denied" also for a folder on it that this user may not enter, where a
/// shell says that there is no such command.
fn is_on_path(program: &OsStr, command: &Command) -> bool {
    if program.as_bytes().contains(&b'/') {
        return true;
    }
    let path = command.get_envs().find(|(name, _)| *name == "PATH").and_then(|(_, value)| value);
    path.is_none_or(|path| std::env::split_paths(path).any(|folder| folder.join(program).exists()))
}

/// Receives what [`super::outer`] hands over before the launch.
fn take_over(socket: &UnixStream) -> io::Result<(File, u32)> {
    let mut seed = [0; 4];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let received = recvmsg(socket, &mut [IoSliceMut::new(&mut seed)], &mut control, RecvFlags::CMSG_CLOEXEC)?;
    let input = control.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut fds) => fds.next(),
        _ => None,
    });
    match (received.bytes, input) {
        (4, Some(input)) => Ok((File::from(input), u32::from_le_bytes(seed))),
        _ => Err(rustix::io::Errno::PROTO.into()),
    }
}

fn read_launch(upper: &mut Link) -> io::Result<Box<Launch>> {
    super::outer::read_launch(upper)
}
