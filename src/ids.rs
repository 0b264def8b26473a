//! Newtypes for the things that are counted, named and hashed.
//!
//! Parsing is strict: an id that does not have its exact form is refused, never repaired.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserializer};
use serde::{Deserialize, Serialize, Serializer};
use sha2::{Digest, Sha256};

/// An id was not of its exact form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{value}` is not a valid {what}")]
pub struct IdError {
    what: &'static str,
    value: String,
}

macro_rules! string_serde {
    ($name:ident) => {
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                text.parse().map_err(de::Error::custom)
            }
        }
    };
}

/// The anonymous id of a slot or a judge: its number within the panel, from 1, written with two digits or with as
/// many as the largest id of its panel needs. Ordered by number, so 10 sorts after 09.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SlotId {
    number: u16,
    width: u8,
}

impl SlotId {
    /// All ids of a panel of `count` slots, in order.
    pub fn panel(count: usize) -> impl ExactSizeIterator<Item = Self> + Clone {
        let count = u16::try_from(count).unwrap_or(u16::MAX);
        let width = count.to_string().len().max(2) as u8;
        (0..count).map(move |n| Self { number: n + 1, width })
    }

    /// The number, from 1.
    #[must_use]
    pub const fn number(self) -> usize {
        self.number as usize
    }

    /// The position in the panel's ordered list, from 0.
    #[must_use]
    pub const fn index(self) -> usize {
        self.number as usize - 1
    }
}

impl fmt::Display for SlotId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:0width$}", self.number, width = self.width as usize)
    }
}

impl FromStr for SlotId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        let bad = || IdError { what: "slot id", value: text.chars().take(40).collect() };
        if !(2..=5).contains(&text.len()) || !text.bytes().all(|b| b.is_ascii_digit()) {
            return Err(bad());
        }
        let number: u16 = text.parse().map_err(|_| bad())?;
        // A wider id with a leading zero (`001`) is right in a panel of over 99 only; the panel's list decides.
        if number == 0 {
            return Err(bad());
        }
        Ok(Self { number, width: text.len() as u8 })
    }
}

string_serde!(SlotId);

impl JsonSchema for SlotId {
    fn schema_name() -> Cow<'static, str> {
        "SlotId".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "The anonymous id of a slot or a judge: its number within the panel, from 01.",
            "type": "string",
            "pattern": "^[0-9]{2,5}$",
        })
    }
}

/// A SHA-256 (FIPS 180-4) of bytes on disk, written as 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Sha256Hash([u8; 32]);

impl Sha256Hash {
    /// The hash of `bytes`.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The 32 bytes.
    #[must_use]
    pub const fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The value of a finished hasher.
    #[must_use]
    pub fn finish(hasher: Sha256) -> Self {
        Self(hasher.finalize().into())
    }
}

impl fmt::Display for Sha256Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Sha256Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Sha256Hash {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        let bad = || IdError { what: "SHA-256 hash", value: text.chars().take(80).collect() };
        if text.len() != 64 || !text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')) {
            return Err(bad());
        }
        let mut bytes = [0_u8; 32];
        for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
            let digits = std::str::from_utf8(pair).map_err(|_| bad())?;
            *byte = u8::from_str_radix(digits, 16).map_err(|_| bad())?;
        }
        Ok(Self(bytes))
    }
}

string_serde!(Sha256Hash);

impl JsonSchema for Sha256Hash {
    fn schema_name() -> Cow<'static, str> {
        "Sha256".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A SHA-256 (FIPS 180-4), in lower-case hexadecimal digits.",
            "type": "string",
            "pattern": "^[0-9a-f]{64}$",
        })
    }
}

/// How a time is written in our files; stands for it where a schema is made.
#[derive(Debug)]
pub struct DateTime;

impl JsonSchema for DateTime {
    fn schema_name() -> Cow<'static, str> {
        "DateTime".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "format": "date-time"})
    }
}

/// The version of one of our file formats. Reading a newer one is refused by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FormatVersion(pub u32);

impl FormatVersion {
    /// The version that this program writes, of every format.
    pub const CURRENT: Self = Self(1);
}

impl JsonSchema for FormatVersion {
    fn schema_name() -> Cow<'static, str> {
        "FormatVersion".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "The version of the format. Another number is another format, with a schema of its own.",
            "const": Self::CURRENT.0,
        })
    }
}

/// How many characters of a slug are kept.
const SLUG_LENGTH: usize = 20;

/// A file-safe short form of `text`: its first line that is not blank, without a leading `#`, in lower case, spaces
/// as `-`, only `[a-z0-9-]`, at most 20 characters; `workflow` when nothing is left.
#[must_use]
pub fn slug(text: &str) -> String {
    let line = text.trim_start_matches('\u{feff}').lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("");
    let mut slug = String::new();
    for c in line.trim_start_matches('#').trim().chars().flat_map(char::to_lowercase) {
        match c {
            'a'..='z' | '0'..='9' => slug.push(c),
            ' ' | '-' | '_' | '\t' if !slug.ends_with('-') && !slug.is_empty() => slug.push('-'),
            _ => {}
        }
        if slug.len() == SLUG_LENGTH {
            break;
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { "workflow".to_owned() } else { slug.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slot_ids_have_two_digits_and_more_past_99() {
        let ids: Vec<String> = SlotId::panel(12).map(|id| id.to_string()).collect();
        assert_eq!(ids[0], "01");
        assert_eq!(ids[11], "12");
        let ids: Vec<String> = SlotId::panel(120).map(|id| id.to_string()).collect();
        assert_eq!((ids[0].as_str(), ids[119].as_str()), ("001", "120"));
    }

    #[test]
    fn slot_ids_are_ordered_by_number() {
        let mut ids: Vec<SlotId> = SlotId::panel(11).collect();
        ids.reverse();
        ids.sort();
        assert_eq!(ids[10].to_string(), "11");
        assert!(ids[8] < ids[9]);
    }

    #[test]
    fn a_malformed_slot_id_is_refused() {
        for text in ["", "0", "00", "1", "a1", "../1", "123456", "-1"] {
            assert!(text.parse::<SlotId>().is_err(), "{text}");
        }
    }

    #[test]
    fn hashes_are_those_of_the_standard_and_round_trip() {
        let hash = Sha256Hash::of(b"abc");
        // FIPS 180-4, example B.1.
        assert_eq!(hash.to_string(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(hash.to_string().parse::<Sha256Hash>().unwrap(), hash);
        assert!("BA78".parse::<Sha256Hash>().is_err());
    }

    #[test]
    fn slugs_are_file_safe_and_never_empty() {
        assert_eq!(slug("# Stats  Validation\nmore"), "stats-validation");
        assert_eq!(slug("日本語"), "workflow");
        assert_eq!(slug(""), "workflow");
        assert_eq!(slug("../../etc/passwd"), "etcpasswd");
        assert_eq!(slug("a very long first line that goes on"), "a-very-long-first-li");
    }
}
