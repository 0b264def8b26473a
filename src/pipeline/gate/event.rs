//! The event that a run of GitHub Actions is about: the JSON file that `GITHUB_EVENT_PATH` names.

use std::io::Read;
use std::path::Path;

use serde::Deserialize;

/// The largest event that is read; GitHub's own limit for one is 25 MB.
const MOST: u64 = 25 * 1024 * 1024;

/// What of it says which commits are compared.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct Event {
    pub(super) pull_request: Option<PullRequest>,
    pub(super) merge_group: Option<MergeGroup>,
    /// The commit that a branch pointed to before a push.
    pub(super) before: Option<String>,
    pub(super) repository: Repository,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct PullRequest {
    pub(super) base: Side,
    pub(super) head: Side,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct Side {
    pub(super) sha: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct MergeGroup {
    pub(super) base_sha: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct Repository {
    pub(super) default_branch: String,
}

impl Event {
    /// Reads the file; the error says what is wrong with it.
    pub(super) fn read(path: &Path) -> Result<Self, String> {
        let read = || -> std::io::Result<Vec<u8>> {
            let mut bytes = Vec::new();
            fs_err::File::open(path)?.take(MOST).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        let bytes = read().map_err(|error| error.to_string())?;
        serde_json::from_slice(&bytes).map_err(|error| format!("`{}`: {error}", path.display()))
    }
}
