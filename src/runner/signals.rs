//! Signals and other wishes from outside, as the dispatcher sees them.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Something that the person at the terminal, or another process, wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wish {
    /// Stop, with the signal that says so (SIGINT, SIGTERM, SIGHUP).
    Stop(i32),
    /// Stop for a while (Ctrl-Z).
    Suspend,
}

/// The signals that this program listens to. Made once per command, before anything is started.
///
/// One that the caller had ignored stays ignored: `nohup` means SIGHUP, a shell without job control means SIGINT for
/// what it runs in the background.
#[derive(Debug)]
pub(crate) struct Signals {
    interrupt: Option<Signal>,
    terminate: Option<Signal>,
    hang_up: Option<Signal>,
    suspend: Option<Signal>,
}

impl Signals {
    /// Takes over the signals; must be called inside the runtime.
    pub(crate) fn listen() -> io::Result<Self> {
        let ignored = ignored();
        let hear = |kind: SignalKind| {
            let is_ignored = ignored & (1 << (kind.as_raw_value() - 1)) != 0;
            if is_ignored { Ok(None) } else { signal(kind).map(Some) }
        };
        // A file that grows over its limit is then an error of that write, not the end of the program.
        drop(signal(SignalKind::from_raw(nix::sys::signal::Signal::SIGXFSZ as i32))?);
        Ok(Self {
            interrupt: hear(SignalKind::interrupt())?,
            terminate: hear(SignalKind::terminate())?,
            hang_up: hear(SignalKind::hangup())?,
            suspend: hear(SignalKind::from_raw(nix::sys::signal::Signal::SIGTSTP as i32))?,
        })
    }

    /// The next wish.
    pub(crate) async fn next(&mut self) -> Wish {
        tokio::select! {
            () = next(&mut self.interrupt) => Wish::Stop(SignalKind::interrupt().as_raw_value()),
            () = next(&mut self.terminate) => Wish::Stop(SignalKind::terminate().as_raw_value()),
            () = next(&mut self.hang_up) => Wish::Stop(SignalKind::hangup().as_raw_value()),
            () = next(&mut self.suspend) => Wish::Suspend,
        }
    }
}

async fn next(signal: &mut Option<Signal>) {
    let heard = match signal {
        Some(signal) => signal.recv().await,
        None => None,
    };
    if heard.is_none() {
        std::future::pending().await
    }
}

/// The signals that this process was started with as ignored, a bit each. None where the system does not tell.
fn ignored() -> u64 {
    let status = fs_err::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// Stops this process as Ctrl-Z would; returns when it is continued.
pub(crate) fn stop_self() -> io::Result<()> {
    // SIGTSTP is caught here, so the stop itself must be the one that cannot be.
    nix::sys::signal::raise(nix::sys::signal::Signal::SIGSTOP).map_err(io::Error::from)
}
