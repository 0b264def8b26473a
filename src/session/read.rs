//! Reading our own files: the version first, then strictly, with the place of what is wrong.

use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::SessionError;
use crate::ids::FormatVersion;

#[derive(Deserialize)]
struct Versioned {
    version: Option<FormatVersion>,
}

/// Reads a whole JSON file of one of our formats; a newer version is refused by name.
pub(super) fn json<T: DeserializeOwned>(path: &Path) -> Result<T, SessionError> {
    let bytes = crate::fs::read_plain(path).map_err(|source| match source.kind() {
        std::io::ErrorKind::NotFound => SessionError::Missing(path.to_owned()),
        _ => SessionError::Io(source),
    })?;
    parse(path, &bytes)
}

/// The same of bytes that were read already.
pub(super) fn parse<T: DeserializeOwned>(path: &Path, bytes: &[u8]) -> Result<T, SessionError> {
    let malformed = |why: String| SessionError::Malformed { path: path.to_owned(), why };
    let versioned: Versioned = serde_json::from_slice(bytes).map_err(|e| malformed(e.to_string()))?;
    check_version(path, versioned.version)?;
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    serde_path_to_error::deserialize(&mut reader).map_err(|e| malformed(e.to_string()))
}

pub(super) fn check_version(path: &Path, version: Option<FormatVersion>) -> Result<(), SessionError> {
    match version {
        Some(version) if version > FormatVersion::CURRENT => {
            Err(SessionError::Newer { path: path.to_owned(), found: version.0, known: FormatVersion::CURRENT.0 })
        }
        Some(_) => Ok(()),
        None => {
            Err(SessionError::Malformed { path: path.to_owned(), why: "the field `version` is missing".to_owned() })
        }
    }
}
