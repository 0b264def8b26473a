//! Shows a file in whatever the person's system opens such files with.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::config::Environment;
use crate::error::{Error, Result};
use crate::slots::agents::locate;

/// How long an opener that fails usually takes to do so; one that goes on longer is at work.
const PATIENCE: Duration = Duration::from_secs(3);

const POLL: Duration = Duration::from_millis(20);

/// The programs that open a file, the best first.
const OPENERS: &[&str] = if cfg!(target_os = "macos") { &["open"] } else { &["xdg-open", "wslview", "gio"] };

/// Opens the file at `path`, which is absolute.
///
/// # Errors
/// There is no program to open it with, or it says that it could not.
pub(super) fn open(path: &Path, environment: &Environment) -> Result<()> {
    let by_hand = || format!("open `{}` in a browser by hand, or set BROWSER", path.display());
    let own = environment.text("BROWSER").filter(|name| !name.trim().is_empty());
    // A variable may name several, of which any will do.
    let wanted = own.into_iter().flat_map(|names| names.split(':')).chain(OPENERS.iter().copied());
    let found = wanted.filter_map(|name| Some((name, locate(name, environment)?))).next();
    let Some((name, program)) = found else {
        return Err(Error::usage(format!(
            "there is no program to open the report with (looked for {})",
            OPENERS.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
        ))
        .hint(by_hand()));
    };
    let mut command = Command::new(&program);
    if name == "gio" {
        command.arg("open");
    }
    // A browser that stays must not end with this terminal's Ctrl-C, nor write into it.
    command.arg(path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    let failed = |why: String| Error::usage(format!("`{}` {why}", program.display())).hint(by_hand());
    let mut child = command.spawn().map_err(|error| failed(format!("cannot be started: {error}")))?;
    let deadline = Instant::now() + PATIENCE;
    while Instant::now() < deadline {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(failed(format!("could not open the report ({status})"))),
            Ok(None) => std::thread::sleep(POLL),
            Err(error) => return Err(failed(format!("cannot be waited for: {error}"))),
        }
    }
    Ok(())
}
