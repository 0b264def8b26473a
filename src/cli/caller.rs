//! What a process of `team mcp` does beside its command: it ends with its caller, or it makes sure that it does not.

use std::ffi::OsString;
use std::os::fd::AsFd;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rustix::event::{PollFd, PollFlags, poll};

/// How a process is tied to the one that started it; said by the first word of its command line, which is nobody's to
/// write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Caller {
    /// Nobody reads standard output any more: then it is stopped as if by SIGTERM.
    Attached,
    /// It is in a session of its own (of the operating system), which no signal for its caller reaches.
    Detached,
}

impl Caller {
    /// The tie that the words of a command line begin with, and the words without it.
    pub(super) fn among(words: impl Iterator<Item = OsString>) -> (Option<Self>, Vec<OsString>) {
        let mut words: Vec<OsString> = words.collect();
        let first = words.get(1).and_then(|word| word.to_str());
        let caller = match first {
            Some("__attached") => Some(Self::Attached),
            Some("__detached") => Some(Self::Detached),
            _ => None,
        };
        if caller.is_some() {
            words.remove(1);
        }
        (caller, words)
    }

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
