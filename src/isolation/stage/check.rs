//! The self-test's agent: looks from inside whether it is held as promised.

use std::ffi::OsStr;
use std::path::Path;

use rustix::process::getpid;
use rustix::thread::{capabilities, no_new_privs};

use super::namespaces;

/// 0 when it is, or when nothing more than being started was `expected`.
pub(super) fn main(expected: Option<&OsStr>) -> u8 {
    if expected == Some(OsStr::new(super::EXPECT_STARTED)) {
        return 0;
    }
    let own = getpid().as_raw_nonzero().get().to_string();
    // A `/proc` of another namespace names this process differently, and shows the others.
    let fresh = std::fs::read_link("/proc/self").is_ok_and(|name| name == Path::new(&own));
    let neighbours = std::fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .filter(|pid| *pid != 1 && pid.to_string() != own)
        .count();
    let powerless = capabilities(None).is_ok_and(|sets| namespaces::kept().contains(sets.permitted));
    let held = fresh && neighbours == 0 && powerless && no_new_privs().unwrap_or(false);
    u8::from(!held)
}
