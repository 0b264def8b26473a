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
#[derive(Debug)]
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
    suspend: Signal,
}

impl Signals {
    /// Takes over the signals; must be called inside the runtime.
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
            suspend: signal(SignalKind::from_raw(nix::sys::signal::Signal::SIGTSTP as i32))?,
        })
    }

    /// The next wish.
    pub(crate) async fn next(&mut self) -> Wish {
        tokio::select! {
            Some(()) = self.interrupt.recv() => Wish::Stop(SignalKind::interrupt().as_raw_value()),
            Some(()) = self.terminate.recv() => Wish::Stop(SignalKind::terminate().as_raw_value()),
            Some(()) = self.hang_up.recv() => Wish::Stop(SignalKind::hangup().as_raw_value()),
            Some(()) = self.suspend.recv() => Wish::Suspend,
            else => std::future::pending().await,
        }
    }
}

/// Stops this process as Ctrl-Z would; returns when it is continued.
pub(crate) fn stop_self() -> io::Result<()> {
    // SIGTSTP is caught here, so the stop itself must be the one that cannot be.
    nix::sys::signal::raise(nix::sys::signal::Signal::SIGSTOP).map_err(io::Error::from)
}
