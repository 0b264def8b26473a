//! The self-test's agent: looks from inside whether it is held as promised.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::path::{Path, PathBuf};

use rustix::mount::{UnmountFlags, unmount};
use rustix::process::{Pid, getpid, test_kill_process};
use rustix::thread::{capabilities, no_new_privs};

use super::namespaces;

/// What an agent could do and should not; in its exit code, one bit each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Findings {
    /// The canary was read.
    pub(crate) canary: bool,
    /// There are other processes in sight.
    pub(crate) processes: bool,
    /// A process outside can be signalled.
    pub(crate) kill: bool,
    /// An abstract socket outside can be reached.
    pub(crate) socket: bool,
    /// It has privileges, or could get some.
    pub(crate) power: bool,
    /// Its own folder cannot be used.
    pub(crate) unusable: bool,
}

impl Findings {
    const BITS: u8 = 6;

    fn to_code(self) -> u8 {
        let bits = [self.canary, self.processes, self.kill, self.socket, self.power, self.unusable];
        bits.iter().rev().fold(0, |code, bit| code << 1 | u8::from(*bit))
    }

    /// `None` for a code that no look from inside ends with.
    pub(crate) fn from_code(code: i32) -> Option<Self> {
        let code = u8::try_from(code).ok().filter(|code| *code < 1 << Self::BITS)?;
        let bit = |number: u8| code >> number & 1 == 1;
        Some(Self { canary: bit(0), processes: bit(1), kill: bit(2), socket: bit(3), power: bit(4), unusable: bit(5) })
    }
}

/// Takes the canary's path, the process id of `team`, and the name of its abstract socket.
pub(super) fn main(mut arguments: impl Iterator<Item = OsString>) -> u8 {
    let mut next = || arguments.next().unwrap_or_default();
    let (canary, outside, socket) = (PathBuf::from(next()), next(), next());
    let outside: Option<i32> = outside.to_str().and_then(|pid| pid.parse().ok());
    let findings = Findings {
        unusable: !own_folder_works(),
        canary: canary_is_read(&canary, outside),
        processes: others_are_seen(),
        // The same number can be this very process in a namespace.
        kill: outside.and_then(Pid::from_raw).is_some_and(|pid| pid != getpid() && test_kill_process(pid).is_ok()),
        socket: is_reached(&socket),
        power: !powerless(),
    };
    findings.to_code()
}

fn canary_is_read(canary: &Path, outside: Option<i32>) -> bool {
    let name = canary.file_name().unwrap_or(OsStr::new(""));
    let own = Path::new("../..").join(name);
    let through: Vec<PathBuf> = outside
        .into_iter()
        .chain(1..=2)
        .flat_map(|pid| {
            let entry = PathBuf::from(format!("/proc/{pid}"));
            let below = canary.strip_prefix("/").unwrap_or(canary);
            [entry.join("root").join(below), entry.join("cwd").join(&own)]
        })
        .collect();
    let read = |path: &Path| std::fs::read(path).is_ok_and(|bytes| bytes == super::CANARY);
    let ways = || [canary, &own].into_iter().chain(through.iter().map(PathBuf::as_path));
    ways().any(read) || {
        // The cover taken away. Only from the canary's own folder: were this process not held, no mount of the machine is
        // to suffer.
        canary.ancestors().nth(2).is_some_and(|folder| unmount(folder, UnmountFlags::DETACH).is_ok())
            && ways().any(read)
    }
}

fn own_folder_works() -> bool {
    let made = crate::fs::create_exclusive(Path::new("check"));
    made.and_then(|mut file| file.write_all(b"own")).is_ok()
        && std::fs::read("check").is_ok_and(|bytes| bytes == b"own")
}

fn others_are_seen() -> bool {
    let own = getpid().as_raw_nonzero().get().to_string();
    // A `/proc` of another namespace names this process differently, and shows the others.
    let fresh = std::fs::read_link("/proc/self").is_ok_and(|name| name == Path::new(&own));
    let mut others = std::fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .filter(|pid| *pid != 1 && pid.to_string() != own);
    !fresh || others.next().is_some()
}

fn is_reached(socket: &OsStr) -> bool {
    SocketAddr::from_abstract_name(socket.as_bytes()).and_then(|name| UnixStream::connect_addr(&name)).is_ok()
}

fn powerless() -> bool {
    capabilities(None).is_ok_and(|sets| namespaces::kept().contains(sets.permitted)) && no_new_privs().unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_come_back_from_an_exit_code_each_by_itself() {
        for code in 0..1 << Findings::BITS {
            assert_eq!(Findings::from_code(code).map(|found| i32::from(found.to_code())), Some(code));
        }
        // Those of a stage that failed, and of a shell.
        for code in [64, 125, 126, 127, 137, -1] {
            assert_eq!(Findings::from_code(code), None);
        }
        assert!(Findings::from_code(1).unwrap().canary && !Findings::from_code(2).unwrap().canary);
    }
}
