//! Finding a Python that is new enough.

use std::ffi::{OsStr, OsString};
use std::io;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::LocalError;
use super::step::{Environment, run};

/// The oldest Python that the packages are built for.
pub(super) const OLDEST: (u32, u32) = (3, 10);

const LIMIT: Duration = Duration::from_secs(30);
const VERSION: &str = "import sys; print('team-python %d.%d' % sys.version_info[:2])";

/// The Pythons to try: the one in `TEAM_PYTHON`, or those that systems install.
pub(super) fn candidates(named: Option<OsString>) -> Vec<OsString> {
    match named.filter(|name| !name.is_empty()) {
        Some(name) => vec![name],
        None => {
            let names = ["python3", "python3.14", "python3.13", "python3.12", "python3.11", "python3.10", "python"];
            names.into_iter().map(OsString::from).collect()
        }
    }
}

/// The first of `candidates` that is new enough, or the most telling reason why there is none.
pub(super) async fn find(candidates: &[OsString], stop: &CancellationToken) -> Result<OsString, LocalError> {
    let mut first_failure = None;
    for candidate in candidates {
        match probe(candidate, stop).await {
            Ok(()) => return Ok(candidate.clone()),
            Err(LocalError::NoPython { .. }) => {}
            Err(LocalError::Stopped) => return Err(LocalError::Stopped),
            Err(error) => {
                first_failure.get_or_insert(error);
            }
        }
    }
    Err(first_failure.unwrap_or_else(|| {
        let tried = candidates.iter().map(|name| format!("`{}`", name.to_string_lossy())).collect::<Vec<_>>();
        LocalError::NoPython { tried: tried.join(", ") }
    }))
}

async fn probe(program: &OsStr, stop: &CancellationToken) -> Result<(), LocalError> {
    let name = program.to_string_lossy().into_owned();
    let broken = |detail: String| LocalError::PythonBroken { program: name.clone(), detail };
    let args = ["-I", "-c", VERSION].map(OsString::from);
    let ended = match run("looking for Python", program, &args, Environment::Plain, LIMIT, stop).await? {
        Ok(ended) => ended,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(LocalError::NoPython { tried: name }),
        Err(error) => return Err(broken(error.to_string())),
    };
    let version = ended.stdout.lines().find_map(|line| line.strip_prefix("team-python "));
    let Some(version) = version.filter(|_| ended.status.success()) else {
        return Err(broken(ended.last_words()));
    };
    match numbers(version) {
        Some(numbers) if numbers >= OLDEST => Ok(()),
        _ => Err(LocalError::PythonTooOld { program: name, found: version.trim().to_owned() }),
    }
}

fn numbers(version: &str) -> Option<(u32, u32)> {
    let (major, minor) = version.trim().split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        assert!(numbers("3.9").unwrap() < OLDEST);
        assert!(numbers("3.10\n").unwrap() >= OLDEST);
        assert_eq!(numbers("x"), None);
    }

    #[test]
    fn a_named_python_is_the_only_candidate() {
        assert_eq!(candidates(Some("p".into())), ["p"]);
        assert_eq!(candidates(Some("".into()))[0], "python3");
    }
}
