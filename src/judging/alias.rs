//! Names and fences that cannot be guessed.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use rand::{CryptoRng, RngExt};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserializer};
use serde::{Deserialize, Serialize, Serializer};

use crate::ids::SlotId;

// Neither vowels, which would make words, nor what is easily read as something else (0 O, 1 I L, U V). A name with
// one of the characters left out, such as those of the worked examples (`EXAMP1`), can therefore never be drawn.
const LETTERS: &[u8] = b"BCDFGHJKMNPQRSTWXZ";
const LETTERS_AND_DIGITS: &[u8] = b"23456789BCDFGHJKMNPQRSTWXZ";

const ALIAS_LENGTH: usize = 6;
const NONCE_LENGTH: usize = 20;

/// The name of one answer in one judge's prompt: a letter and five letters or digits, so one of over 200 million.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Alias(String);

impl Alias {
    /// Draws a name.
    pub fn draw<R: CryptoRng + ?Sized>(rng: &mut R) -> Self {
        let mut name = String::with_capacity(ALIAS_LENGTH);
        name.push(pick(LETTERS, rng));
        name.extend((1..ALIAS_LENGTH).map(|_| pick(LETTERS_AND_DIGITS, rng)));
        Self(name)
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The code in the fences of one judge's prompt: about 94 bits.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Nonce(String);

impl Nonce {
    /// Draws a code.
    pub fn draw<R: CryptoRng + ?Sized>(rng: &mut R) -> Self {
        Self((0..NONCE_LENGTH).map(|_| pick(LETTERS_AND_DIGITS, rng)).collect())
    }

    /// The code.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn pick<R: CryptoRng + ?Sized>(from: &[u8], rng: &mut R) -> char {
    char::from(from[rng.random_range(0..from.len())])
}

/// A text is not an alias or a nonce of its exact form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{value}` is not a valid {what}")]
pub struct AliasError {
    what: &'static str,
    value: String,
}

impl AliasError {
    /// An answer that was shown has no alias.
    pub(super) fn absent(answer: SlotId) -> Self {
        Self { what: "answer with an alias", value: answer.to_string() }
    }
}

macro_rules! exact_form {
    ($name:ident, $what:literal, $length:expr) => {
        impl FromStr for $name {
            type Err = AliasError;

            fn from_str(text: &str) -> Result<Self, AliasError> {
                if text.len() == $length && text.bytes().all(|byte| LETTERS_AND_DIGITS.contains(&byte)) {
                    Ok(Self(text.to_owned()))
                } else {
                    Err(AliasError { what: $what, value: text.chars().take(40).collect() })
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                let letters = String::from_utf8_lossy(LETTERS_AND_DIGITS);
                json_schema!({"type": "string", "pattern": format!("^[{letters}]{{{}}}$", $length)})
            }
        }
    };
}

exact_form!(Alias, "alias", ALIAS_LENGTH);
exact_form!(Nonce, "nonce", NONCE_LENGTH);

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand::rngs::StdRng;

    use super::*;

    #[test]
    fn a_drawn_alias_is_of_the_exact_form_and_begins_with_a_letter() {
        let mut rng = StdRng::seed_from_u64(1);
        for _ in 0..1000 {
            let alias = Alias::draw(&mut rng);
            assert_eq!(alias.as_str().parse(), Ok(alias.clone()));
            assert!(alias.as_str().starts_with(|c: char| c.is_ascii_uppercase()));
        }
    }

    #[test]
    fn names_of_the_worked_examples_can_never_be_drawn() {
        for text in ["EXAMP1", "EXAMP2", "K7Q2P", "K7Q2PXX", "k7q2px", ""] {
            assert!(text.parse::<Alias>().is_err(), "{text}");
        }
    }
}
