//! What a turn of a conversation leaves for the next one: `roles/ROLE-NN.turn-N.kept`. Owner: [`super`]; the runner has
//! it written when a turn has completed, and it is removed when the turn after it has, or the conversation is sealed.
//!
//! A program's id of a conversation, its transcript and the model's identity say who it is. So the file is sealed, like a
//! cost, by the nonce of the manifest, which is the one file that names models anyway: this keeps names out of sight, it
//! keeps nothing from somebody who has the manifest.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::slot::{Spent, TurnMode};
use super::{SessionError, read};
use crate::fs;
use crate::ids::{FormatVersion, Sha256Hash};
use crate::model::ModelIdentity;

/// What is kept of a conversation.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// Whose it is: no other model goes on with it.
    pub identity: ModelIdentity,
    /// The hash of the answer that the turn ended with.
    pub answer: Sha256Hash,
    /// How the turn was taken, for whoever finds the answer where its end is not on record.
    pub mode: TurnMode,
    /// Why it was taken so, without names.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub why: Option<String>,
    /// The program's own name of it; absent where it has none, or must not be gone on with.
    pub id: Option<String>,
    /// Why it cannot be gone on with, where that is known already.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub lost: Option<String>,
    /// What the program reported at the end of the turn, as it stands in its stream.
    #[serde(default)]
    pub reported: Spent,
    /// The program's transcript: files by their paths in its folder.
    #[serde(with = "bytes_by_name")]
    pub files: BTreeMap<String, Vec<u8>>,
}

impl fmt::Debug for Kept {
    /// Without what names the model.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kept").field("files", &self.files.len()).finish_non_exhaustive()
    }
}

/// The first line of the file; what is sealed follows.
#[derive(Serialize, Deserialize)]
struct Header {
    version: FormatVersion,
    /// The hash of what is sealed, with the nonce: no two are sealed alike, and what was changed is noticed.
    salt: Sha256Hash,
}

impl Kept {
    /// Writes the file; gives its hash. It is durable when this returns.
    pub fn write(&self, path: &Path, nonce: &str) -> Result<Sha256Hash, SessionError> {
        let bytes = self.seal(nonce)?;
        if let Some(folder) = path.parent() {
            fs::ensure_dir(folder)?;
        }
        fs::replace(path, &bytes)?;
        Ok(Sha256Hash::of(&bytes))
    }

    /// Reads the file, which must have this hash.
    ///
    /// # Errors
    /// It is missing, not the one that was recorded, of a newer version, or of another manifest.
    pub fn read(path: &Path, nonce: &str, sha256: Sha256Hash) -> Result<Self, SessionError> {
        let (kept, is) = Self::found(path, nonce)?;
        if is == sha256 { Ok(kept) } else { Err(SessionError::NotAsRecorded(path.to_owned())) }
    }

    /// Reads the file, which nothing on record knows yet; gives its hash too.
    ///
    /// # Errors
    /// It is missing, was changed, is of a newer version, or of another manifest.
    pub fn found(path: &Path, nonce: &str) -> Result<(Self, Sha256Hash), SessionError> {
        let bytes = fs_err::read(path).map_err(|source| match source.kind() {
            std::io::ErrorKind::NotFound => SessionError::Missing(path.to_owned()),
            _ => SessionError::Io(source),
        })?;
        let sha256 = Sha256Hash::of(&bytes);
        Ok((Self::open(path, bytes, nonce)?, sha256))
    }

    fn seal(&self, nonce: &str) -> Result<Vec<u8>, SessionError> {
        let mut plain = serde_json::to_vec(self).map_err(std::io::Error::other)?;
        let salt = salt_of(nonce, &plain);
        let header = Header { version: FormatVersion::CURRENT, salt };
        let mut bytes = serde_json::to_vec(&header).map_err(std::io::Error::other)?;
        bytes.push(b'\n');
        blur(nonce, salt, &mut plain);
        bytes.append(&mut plain);
        Ok(bytes)
    }

    fn open(path: &Path, mut bytes: Vec<u8>, nonce: &str) -> Result<Self, SessionError> {
        let malformed = |why: &str| SessionError::Malformed { path: path.to_owned(), why: why.to_owned() };
        let end = bytes.iter().position(|byte| *byte == b'\n').ok_or_else(|| malformed("it has no header"))?;
        let Header { salt, .. } = read::parse(path, &bytes[..end])?;
        let plain = &mut bytes[end + 1..];
        blur(nonce, salt, plain);
        if salt_of(nonce, plain) != salt {
            return Err(malformed("it was changed, or it is sealed by another manifest"));
        }
        serde_json::from_slice(plain).map_err(|error| malformed(&error.to_string()))
    }
}

fn salt_of(nonce: &str, plain: &[u8]) -> Sha256Hash {
    let mut hasher = Sha256::new_with_prefix(format!("kept {nonce} "));
    hasher.update(plain);
    Sha256Hash::finish(hasher)
}

/// Combines `bytes` with hashes of the nonce, the salt and a count; the second time gives them back.
fn blur(nonce: &str, salt: Sha256Hash, bytes: &mut [u8]) {
    let start = Sha256::new_with_prefix(format!("blur {nonce} {salt} "));
    for (number, block) in bytes.chunks_mut(32).enumerate() {
        let pad: [u8; 32] = start.clone().chain_update((number as u64).to_be_bytes()).finalize().into();
        block.iter_mut().zip(pad).for_each(|(byte, pad)| *byte ^= pad);
    }
}

/// Bytes as base64.
mod bytes_by_name {
    use serde::de::{Deserializer, Error};
    use serde::ser::Serializer;

    use super::{BTreeMap, Deserialize, Engine, STANDARD};

    pub(super) fn serialize<S: Serializer>(files: &BTreeMap<String, Vec<u8>>, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(files.iter().map(|(name, bytes)| (name, STANDARD.encode(bytes))))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<String, Vec<u8>>, D::Error> {
        let texts: BTreeMap<String, String> = BTreeMap::deserialize(from)?;
        texts.into_iter().map(|(name, text)| Ok((name, STANDARD.decode(text).map_err(D::Error::custom)?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::slot::Usage;

    fn kept() -> Kept {
        let usage = Usage { input_tokens: Some(12), ..Usage::default() };
        Kept {
            identity: ModelIdentity("process/claude:opus".to_owned()),
            answer: Sha256Hash::of(b"yes"),
            mode: TurnMode::Begun,
            why: None,
            id: Some("ses_dd2928fb5ffeKYlnBkmpCSnd42".to_owned()),
            lost: None,
            reported: Spent { usage: Some(usage), cost: Some("0.0123".parse().unwrap()) },
            files: BTreeMap::from([
                ("a/b.jsonl".to_owned(), vec![0, 0xff, b'\n']),
                ("c".to_owned(), b"opus".repeat(99)),
            ]),
        }
    }

    #[test]
    fn it_reads_back_with_the_nonce_and_names_nobody_without_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("roles/fixer-01.turn-1.kept");
        let sha256 = kept().write(&path, "nonce").unwrap();
        assert_eq!(Kept::read(&path, "nonce", sha256).unwrap(), kept());
        let bytes = fs_err::read(&path).unwrap();
        for word in ["claude", "opus", "ses_", "process", "b3B1c"] {
            assert!(memchr::memmem::find(&bytes, word.as_bytes()).is_none(), "{word}");
        }
        assert!(!format!("{:?}", kept()).contains("opus"));
        let error = Kept::read(&path, "other", sha256).unwrap_err().to_string();
        assert!(error.contains("another manifest"), "{error}");
    }

    #[test]
    fn one_that_was_changed_is_gone_or_is_newer_is_not_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("k");
        let sha256 = kept().write(&path, "nonce").unwrap();
        let mut bytes = fs_err::read(&path).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        fs::replace(&path, &bytes).unwrap();
        let error = Kept::read(&path, "nonce", sha256).unwrap_err().to_string();
        assert!(error.contains("was changed"), "{error}");
        let other = Kept { why: Some("other".to_owned()), ..kept() };
        other.write(&path, "nonce").unwrap();
        assert!(matches!(Kept::read(&path, "nonce", sha256), Err(SessionError::NotAsRecorded(_))));
        assert_eq!(Kept::found(&path, "nonce").unwrap().0, other);
        let newer = String::from_utf8_lossy(&bytes[..20]).replace("\"version\":1", "\"version\":7").into_bytes();
        let newer = [&newer[..], &bytes[20..]].concat();
        fs::replace(&path, &newer).unwrap();
        let error = Kept::read(&path, "nonce", Sha256Hash::of(&newer)).unwrap_err().to_string();
        assert!(error.contains("format version 7"), "{error}");
        fs::remove_if_exists(&path).unwrap();
        assert!(matches!(Kept::read(&path, "nonce", sha256), Err(SessionError::Missing(_))));
    }
}
