//! The tokens of a call, and how they are recorded before the verdict without telling anybody.
//!
//! Every maker counts a text in its own way, and with a price tokens are money: of one prompt either would tell models
//! apart. So the record holds tokens sealed like costs, and tells them with the verdict.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Usage;
use crate::ids::{Sha256Hash, SlotId};

/// A number and whether it is there, four times.
const BYTES: usize = 4 * 9;

/// Tokens that only the manifest's nonce makes readable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct SealedUsage(String);

impl SealedUsage {
    /// Seals the tokens of an attempt; `prev` is the hash of the line before its end, so that no two are sealed alike.
    #[must_use]
    pub fn seal(usage: Usage, nonce: &str, slot: SlotId, prev: Option<Sha256Hash>) -> Self {
        let Usage { input_tokens, cached_input_tokens, output_tokens, reasoning_tokens } = usage;
        let mut plain = Vec::with_capacity(BYTES);
        for number in [input_tokens, cached_input_tokens, output_tokens, reasoning_tokens] {
            plain.push(u8::from(number.is_some()));
            plain.extend(number.unwrap_or(0).to_be_bytes());
        }
        let sealed = plain.iter().zip(pad(nonce, slot, prev)).map(|(byte, pad)| format!("{:02x}", byte ^ pad));
        Self(sealed.collect())
    }

    /// The tokens again; `None` when it holds none.
    #[must_use]
    pub fn open(&self, nonce: &str, slot: SlotId, prev: Option<Sha256Hash>) -> Option<Usage> {
        let sealed = self.0.as_bytes().chunks(2).map(|digits| {
            let digits = std::str::from_utf8(digits).ok().filter(|digits| digits.len() == 2)?;
            u8::from_str_radix(digits, 16).ok()
        });
        let sealed: Vec<u8> = sealed.collect::<Option<_>>()?;
        if sealed.len() != BYTES {
            return None;
        }
        let plain: Vec<u8> = sealed.iter().zip(pad(nonce, slot, prev)).map(|(byte, pad)| byte ^ pad).collect();
        let numbers = plain.chunks(9).map(|part| {
            let (there, number) = part.split_first()?;
            let number = u64::from_be_bytes(number.try_into().ok()?);
            match there {
                0 => Some(None),
                1 => Some(Some(number)),
                _ => None,
            }
        });
        let numbers: Vec<Option<u64>> = numbers.collect::<Option<_>>()?;
        let [input_tokens, cached_input_tokens, output_tokens, reasoning_tokens] = numbers.try_into().ok()?;
        Some(Usage { input_tokens, cached_input_tokens, output_tokens, reasoning_tokens })
    }
}

fn pad(nonce: &str, slot: SlotId, prev: Option<Sha256Hash>) -> impl Iterator<Item = u8> {
    let prev = prev.map(|hash| hash.to_string()).unwrap_or_default();
    let blocks = (0..2).map(move |block| Sha256Hash::of(format!("tokens {block} {slot} {prev} {nonce}").as_bytes()));
    blocks.flat_map(|hash| hash.bytes().to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sealed_tokens_are_read_with_the_nonce_alone_and_all_look_alike() {
        let slot: SlotId = "02".parse().unwrap();
        let (here, there) = (Some(Sha256Hash::of(b"a")), Some(Sha256Hash::of(b"b")));
        for usage in [
            Usage::default(),
            Usage { input_tokens: Some(0), output_tokens: Some(u64::MAX), ..Usage::default() },
            Usage { cached_input_tokens: Some(12), reasoning_tokens: Some(7), ..Usage::default() },
        ] {
            let sealed = SealedUsage::seal(usage, "nonce", slot, here);
            assert_eq!(sealed.open("nonce", slot, here), Some(usage));
            assert_ne!(sealed.open("other", slot, here), Some(usage));
            assert_ne!(sealed.open("nonce", slot, there), Some(usage));
            assert_eq!(serde_json::to_value(&sealed).unwrap().as_str().unwrap().len(), 72);
        }
        for broken in ["", "zz", "0", "é", &"00".repeat(35)] {
            assert_eq!(SealedUsage(broken.to_owned()).open("nonce", slot, here), None, "{broken}");
        }
    }
}
