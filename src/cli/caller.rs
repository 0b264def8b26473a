//! What a process of `team mcp` does beside its command: it ends with its caller, or it makes sure that it does not.

use std::os::fd::AsFd;

use clap::ValueEnum;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rustix::event::{PollFd, PollFlags, poll};

/// How a process is tied to the one that started it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Caller {
    /// Nobody reads standard output any more: then it is stopped as if by SIGTERM.
    Attached,
    /// It is in a session of its own (of the operating system), which no signal for its caller reaches.
    Detached,
}

impl Caller {
    /// Sees to it; called before the command begins.
    pub(super) fn settle(self) {
        match self {
            Self::Attached => drop(std::thread::spawn(stop_when_unread)),
            // Who leads a group already has what it is for.
            Self::Detached => drop(rustix::process::setsid()),
        }
    }
}

/// Waits until the other end of standard output is closed, which also happens when its reader is killed.
fn stop_when_unread() {
    let stdout = std::io::stdout();
    let mut watched = [PollFd::from_borrowed_fd(stdout.as_fd(), PollFlags::empty())];
    loop {
        match poll(&mut watched, None) {
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return,
            Ok(_) if watched[0].revents().intersects(PollFlags::ERR | PollFlags::HUP) => break,
            Ok(_) => return,
        }
    }
    // To the whole process: the command hears it like any other, and if it does not listen yet, nothing has begun.
    kill(Pid::this(), Signal::SIGTERM).ok();
}
