//! `.requests/`: one file per request to a living owner, made exclusively, polled by the owner. Owner: [`super`].

use std::io::Write;

use jiff::Timestamp;
use rand::CryptoRng;
use serde::{Deserialize, Serialize};

use super::layout::{Layout, Round};
use super::{SessionError, read};
use crate::fs;
use crate::ids::{FormatVersion, SlotId};

/// What another process asks of a session's owner.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "request", rename_all = "snake_case")]
pub enum Request {
    /// Stop one slot, or everything.
    Cancel {
        /// The slot; `None` for everything.
        slot: Option<SlotId>,
        /// The round of votes whose judge `slot` is; `None` for the session's own panel. Without it a request that
        /// comes as the panel ends would hit the judge of the same number.
        #[serde(default)]
        round: Option<Round>,
    },
}

#[derive(Debug, Serialize, Deserialize)]
struct RequestFile {
    version: FormatVersion,
    at: Timestamp,
    #[serde(flatten)]
    request: Request,
}

/// Leaves a request for the owner of the session at `layout`.
pub fn send(layout: &Layout, request: Request, now: Timestamp, rng: &mut impl CryptoRng) -> Result<(), SessionError> {
    fs::ensure_dir(&layout.requests())?;
    let name = format!("{}-{:08x}.json", now.as_millisecond(), rng.next_u32());
    let path = layout.requests().join(name);
    // Written under a hidden name first, so that the owner never reads half a request.
    let temp = layout.requests().join(format!(".{:016x}", rng.next_u64()));
    let mut file = fs::create_exclusive(&temp)?;
    let body = RequestFile { version: FormatVersion::CURRENT, at: now, request };
    file.write_all(&serde_json::to_vec(&body).map_err(std::io::Error::other)?)?;
    file.sync_all()?;
    fs::publish(&temp, &path)?;
    Ok(())
}

/// Takes the requests that are waiting, in order. One that cannot be read is removed and left out.
pub fn take(layout: &Layout) -> Vec<Request> {
    let Ok(entries) = fs_err::read_dir(layout.requests()) else { return Vec::new() };
    let mut paths: Vec<_> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|end| end == "json"))
        .collect();
    paths.sort();
    let mut requests = Vec::new();
    for path in paths {
        match read::json::<RequestFile>(&path) {
            Ok(file) => requests.push(file.request),
            Err(error) => tracing::warn!("a request was left out: {error}"),
        }
        if let Err(error) = fs::remove_if_exists(&path) {
            tracing::warn!("cannot remove a request: {error}");
        }
    }
    requests
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_arrive_once_and_in_order() {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::new(dir.path());
        assert!(take(&layout).is_empty());
        let slot = SlotId::panel(2).next();
        let mut rng = rand::rng();
        send(&layout, Request::Cancel { slot, round: None }, Timestamp::from_second(1).unwrap(), &mut rng).unwrap();
        send(&layout, Request::Cancel { slot: None, round: None }, Timestamp::from_second(2).unwrap(), &mut rng)
            .unwrap();
        assert_eq!(take(&layout), [Request::Cancel { slot, round: None }, Request::Cancel { slot: None, round: None }]);
        assert!(take(&layout).is_empty());
    }

    #[test]
    fn a_broken_request_does_not_stop_the_others() {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::new(dir.path());
        let now = Timestamp::from_second(9).unwrap();
        send(&layout, Request::Cancel { slot: None, round: None }, now, &mut rand::rng()).unwrap();
        fs::replace(&layout.requests().join("0.json"), b"{").unwrap();
        assert_eq!(take(&layout), [Request::Cancel { slot: None, round: None }]);
    }
}
