//! The processes of one test environment, found by what they inherited from it.

use std::path::Path;
use std::sync::{Arc, Once};

use nix::sys::signal::Signal;

/// Whether the process lives; a zombie does not.
pub(crate) fn is_alive(pid: u32) -> bool {
    !matches!(process_state(pid), None | Some('Z' | 'X'))
}

/// The letter of the process's state: `T` is stopped.
pub(crate) fn process_state(pid: u32) -> Option<char> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The state follows the command's name, which may hold spaces and parentheses.
    stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next())
}

/// The command lines of living processes whose environment or working directory names `root`.
///
/// The program hands an allow-list of variables to its children; `HOME` is on it and lies in `root`, and a slot's
/// working directory does too.
pub(crate) fn belonging_to(root: &Path) -> Vec<(u32, String)> {
    let needle = root.as_os_str().as_encoded_bytes();
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok())
        .filter(|pid| *pid != std::process::id())
        .filter(|pid| {
            let environ = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            let inside = std::fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd.starts_with(root));
            (inside || memchr::memmem::find(&environ, needle).is_some()) && is_alive(*pid)
        })
        .map(|pid| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            (pid, String::from_utf8_lossy(&line).replace('\0', " "))
        })
        .collect()
}

/// Lets the programs that are started from now on receive every signal, also where the tests themselves run under
/// `nohup` or in the background of a script: what is ignored there would stay ignored in them, and they honour that.
///
/// A signal that is caught is at its default in a program that is started.
pub(crate) fn with_signals() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        let ignored = ignored.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok()).unwrap_or(0);
        for signal in [Signal::SIGHUP, Signal::SIGINT, Signal::SIGQUIT, Signal::SIGTERM, Signal::SIGTSTP] {
            let number = signal as i32;
            if ignored & (1 << (number - 1)) != 0 {
                signal_hook::flag::register(number, Arc::default()).unwrap();
            }
        }
    });
}
