//! Everything that descends from an agent: found, signalled, killed until none is left.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use nix::sys::signal::kill;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, WaitStatus, getpid, pidfd_open, pidfd_send_signal, wait as wait_any,
};

use super::{Signals, wait};

/// How long killed processes may take to go; one in an uninterruptible system call takes for ever.
const KILL_LIMIT: Duration = Duration::from_secs(5);

/// How long to wait for the next end before looking again.
const KILL_STEP: Duration = Duration::from_millis(5);

/// How often a stop is repeated for processes that were forked while it went round.
const STOP_ROUNDS: usize = 16;

/// How far a stage's signals reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// Every process of the PID namespace whose first process this is.
    Namespace,
    /// Every descendant; orphans count because this process adopts them.
    Descendants,
}

/// One process as `/proc/PID/stat` shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Process {
    pid: i32,
    parent: i32,
    state: u8,
    /// In clock ticks since the system started; with the pid, who it is.
    started: u64,
}

impl Process {
    fn read(pid: i32) -> Option<Self> {
        Self::parse(pid, &std::fs::read(format!("/proc/{pid}/stat")).ok()?)
    }

    fn parse(pid: i32, stat: &[u8]) -> Option<Self> {
        // The name is in parentheses and may hold anything, parentheses and newlines too.
        let end = stat.iter().rposition(|byte| *byte == b')')?;
        let rest = std::str::from_utf8(&stat[end + 1..]).ok()?;
        let mut fields = rest.split_ascii_whitespace();
        let state = *fields.next()?.as_bytes().first()?;
        let parent = fields.next()?.parse().ok()?;
        let started = fields.nth(17)?.parse().ok()?;
        Some(Self { pid, parent, state, started })
    }

    fn is_dead(&self) -> bool {
        matches!(self.state, b'Z' | b'X')
    }

    fn is_stopped(&self) -> bool {
        matches!(self.state, b'T' | b't')
    }

    /// Signals this very process, never a stranger that has got its number meanwhile.
    fn signal(&self, signal: Signal) {
        let Some(pid) = Pid::from_raw(self.pid) else { return };
        let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else { return };
        if Self::read(self.pid).is_some_and(|now| now.started == self.started) {
            pidfd_send_signal(&handle, signal).ok();
        }
    }
}

/// All processes that `/proc` shows.
fn processes() -> Vec<Process> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    entries.flatten().filter_map(|entry| Process::read(entry.file_name().to_str()?.parse().ok()?)).collect()
}

/// Those below `root`, in no order.
fn below(root: i32, all: &[Process]) -> Vec<Process> {
    let mut children: HashMap<i32, Vec<Process>> = HashMap::new();
    for process in all {
        children.entry(process.parent).or_default().push(*process);
    }
    let mut found = Vec::new();
    let mut next = vec![root];
    while let Some(parent) = next.pop() {
        for child in children.remove(&parent).unwrap_or_default() {
            next.push(child.pid);
            found.push(child);
        }
    }
    found
}

/// What a round of reaping found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Children {
    /// Somebody is still there.
    Some,
    /// Nobody: for one that adopts all orphans, no descendant at all.
    None,
}

/// Takes every ended child off the list of zombies and shows each to `ended`.
pub(super) fn reap(mut ended: impl FnMut(Pid, WaitStatus)) -> Children {
    loop {
        match wait_any(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) => ended(pid, status),
            Ok(None) => return Children::Some,
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return Children::None,
        }
    }
}

impl Reach {
    /// The living processes within reach, this one left out.
    fn members(self) -> Vec<Process> {
        let own = getpid().as_raw_nonzero().get();
        let mut all = processes();
        if self == Self::Descendants {
            all = below(own, &all);
        }
        all.retain(|process| process.pid != own && !process.is_dead());
        all
    }

    /// Sends `signal` to everybody within reach.
    pub(super) fn signal(self, signal: Signal) {
        match self {
            // One call that the kernel makes atomic; it leaves out the caller and, for process 1 of a namespace,
            // everything outside. For anybody else it would reach every process of the user.
            Self::Namespace if getpid().is_init() => {
                if let Ok(signal) = nix::sys::signal::Signal::try_from(signal.as_raw()) {
                    kill(nix::unistd::Pid::from_raw(-1), signal).ok();
                }
            }
            Self::Namespace => {}
            Self::Descendants if signal == Signal::STOP => Self::stop_descendants(),
            Self::Descendants => {
                for process in self.members() {
                    process.signal(signal);
                }
            }
        }
    }

    /// Goes round until a round finds nobody running, since a process can fork while the others are being stopped.
    fn stop_descendants() {
        for _ in 0..STOP_ROUNDS {
            let running: Vec<_> =
                Self::Descendants.members().into_iter().filter(|process| !process.is_stopped()).collect();
            if running.is_empty() {
                return;
            }
            for process in running {
                process.signal(Signal::STOP);
            }
        }
    }

    /// Kills everybody within reach and waits until they are gone. Says how many there were, `but` left out.
    pub(super) fn kill_all(self, signals: &Signals, but: Option<Pid>, mut ended: impl FnMut(Pid, WaitStatus)) -> u32 {
        let but = but.map(|pid| pid.as_raw_nonzero().get());
        let mut killed: Vec<(i32, u64)> = Vec::new();
        let limit = Instant::now() + KILL_LIMIT;
        while reap(&mut ended) == Children::Some && Instant::now() < limit {
            for process in self.members() {
                let identity = (process.pid, process.started);
                if Some(process.pid) != but && !killed.contains(&identity) {
                    killed.push(identity);
                }
                if self == Self::Descendants {
                    process.signal(Signal::KILL);
                }
            }
            if self == Self::Namespace {
                self.signal(Signal::KILL);
            }
            wait(None, None, signals, Some(KILL_STEP));
            while signals.next().is_some() {}
        }
        u32::try_from(killed.len()).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: i32, parent: i32) -> Process {
        Process { pid, parent, state: b'S', started: 1 }
    }

    #[test]
    fn a_name_with_parentheses_and_spaces_does_not_shift_the_fields() {
        let stat = b"42 (a) S 7 (b\n) T 5 42 42 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 987654 2 3";
        assert_eq!(Process::parse(42, stat), Some(Process { pid: 42, parent: 5, state: b'T', started: 987_654 }));
        assert_eq!(Process::parse(42, b"42 (cut off"), None);
    }

    #[test]
    fn this_process_is_read_with_its_parent() {
        let own = getpid().as_raw_nonzero().get();
        let read = Process::read(own).unwrap();
        assert_eq!(Some(read.parent), rustix::process::getppid().map(|pid| pid.as_raw_nonzero().get()));
        assert!(!read.is_dead() && read.started > 0);
    }

    #[test]
    fn descendants_are_found_through_every_generation_and_no_neighbour_is() {
        let all = [process(2, 1), process(10, 2), process(11, 10), process(12, 11), process(20, 1), process(21, 20)];
        let mut found: Vec<_> = below(10, &all).iter().map(|process| process.pid).collect();
        found.sort_unstable();
        assert_eq!(found, [11, 12]);
    }

    #[test]
    fn a_loop_in_a_torn_reading_ends() {
        assert_eq!(below(5, &[process(5, 6), process(6, 5)]).len(), 2);
    }

    #[test]
    fn a_namespace_signal_from_a_process_that_is_not_first_goes_nowhere() {
        // The test itself would die otherwise.
        assert!(!getpid().is_init());
        Reach::Namespace.signal(Signal::TERM);
    }
}
