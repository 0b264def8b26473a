//! The processes of one test environment, found by what they inherited from it.

use std::path::Path;

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
