//! What a call cost, and how that is recorded before the verdict without telling anybody.
//!
//! A cost with its tokens is a price, and a price names a model. So the record holds a cost that a program reported only
//! sealed: it is read with the nonce of the manifest, which is the one file that names the models anyway.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Usage;
use crate::ids::{Sha256Hash, SlotId};
use crate::model::{Price, ResolvedModel};
use crate::money::{Usd, cost_of};

/// What a stream said of its use of the model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Spent {
    /// Tokens, where reported.
    pub usage: Option<Usage>,
    /// The cost, where reported.
    pub cost: Option<Usd>,
}

impl Spent {
    /// What it cost to ask `model`: as reported, else by the price that the user wrote down; nothing on this machine.
    /// `None` where it is not known.
    #[must_use]
    pub fn cost(self, model: &ResolvedModel) -> Option<Usd> {
        self.cost
            .or_else(|| by_price(model.settings.price?, self.usage?))
            .or_else(|| model.is_free().then_some(Usd::ZERO))
    }
}

impl Spent {
    /// What of it came after `before`, in a conversation whose program counts all of it at the end of each turn. A program
    /// that reports less than it did before counts each turn anew.
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        self.minus(before).unwrap_or(self)
    }

    fn minus(self, before: Self) -> Option<Self> {
        let usage = match (self.usage, before.usage) {
            (Some(now), Some(before)) => Some(usage_since(now, before)?),
            (now, _) => now,
        };
        let cost = match (self.cost, before.cost) {
            (Some(now), Some(before)) => Some(now.minus(before)?),
            (now, _) => now,
        };
        Some(Self { usage, cost })
    }
}

fn usage_since(now: Usage, before: Usage) -> Option<Usage> {
    let rest = |now: Option<u64>, before: Option<u64>| match (now, before) {
        (Some(now), Some(before)) => Some(Some(now.checked_sub(before)?)),
        (now, _) => Some(now),
    };
    Some(Usage {
        input_tokens: rest(now.input_tokens, before.input_tokens)?,
        cached_input_tokens: rest(now.cached_input_tokens, before.cached_input_tokens)?,
        output_tokens: rest(now.output_tokens, before.output_tokens)?,
        reasoning_tokens: rest(now.reasoning_tokens, before.reasoning_tokens)?,
    })
}

/// The tokens at the price. A kind of tokens that has no price leaves the whole unknown, unless there are none of it.
fn by_price(price: Price, usage: Usage) -> Option<Usd> {
    let cached = usage.cached_input_tokens.unwrap_or(0);
    let fresh = usage.input_tokens?.saturating_sub(cached);
    let output = usage.output_tokens?;
    let parts = [(price.input, fresh), (price.cached_input.or(price.input), cached), (price.output, output)];
    let parts = parts.into_iter().filter(|(_, tokens)| *tokens > 0);
    Some(cost_of(parts.map(|(rate, tokens)| Some((rate?, tokens))).collect::<Option<Vec<_>>>()?))
}

/// A cost that only the manifest's nonce makes readable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct SealedCost(String);

impl SealedCost {
    /// Seals `cost` of an attempt; `prev` is the hash of the line before its end, so that no two are sealed alike.
    #[must_use]
    pub fn seal(cost: Usd, nonce: &str, slot: SlotId, prev: Option<Sha256Hash>) -> Self {
        Self(format!("{:016x}", cost.nanos() ^ pad(nonce, slot, prev)))
    }

    /// The cost again; `None` when it is none.
    #[must_use]
    pub fn open(&self, nonce: &str, slot: SlotId, prev: Option<Sha256Hash>) -> Option<Usd> {
        let sealed = u64::from_str_radix(&self.0, 16).ok()?;
        Some(Usd::from_nanos(sealed ^ pad(nonce, slot, prev)))
    }
}

fn pad(nonce: &str, slot: SlotId, prev: Option<Sha256Hash>) -> u64 {
    let prev = prev.map(|hash| hash.to_string()).unwrap_or_default();
    let hash = Sha256Hash::of(format!("cost {slot} {prev} {nonce}").as_bytes());
    hash.bytes().iter().take(8).fold(0, |pad, byte| pad << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(input: u64, cached: u64, output: u64) -> Usage {
        Usage {
            input_tokens: Some(input),
            cached_input_tokens: Some(cached),
            output_tokens: Some(output),
            reasoning_tokens: None,
        }
    }

    fn price(input: &str, cached: Option<&str>, output: Option<&str>) -> Price {
        Price {
            input: Some(input.parse().unwrap()),
            cached_input: cached.map(|rate| rate.parse().unwrap()),
            output: output.map(|rate| rate.parse().unwrap()),
            as_of: None,
        }
    }

    #[test]
    fn tokens_are_priced_by_their_kind_and_unknown_stays_unknown() {
        let full = price("2", Some("0.5"), Some("8"));
        let shown = |price, usage| by_price(price, usage).map(|cost| cost.to_string());
        assert_eq!(shown(full, usage(1000, 400, 100)).unwrap(), "0.0022");
        assert_eq!(shown(price("2", None, Some("8")), usage(1000, 400, 100)).unwrap(), "0.0028");
        assert_eq!(shown(price("2", None, None), usage(1000, 0, 100)), None);
        assert_eq!(shown(price("2", None, None), usage(1000, 0, 0)).unwrap(), "0.002");
        assert_eq!(shown(full, Usage { input_tokens: Some(1), ..Usage::default() }), None);
        assert_eq!(shown(full, Usage::default()), None);
    }

    #[test]
    fn a_turn_of_a_conversation_is_what_was_spent_since_the_one_before_it() {
        let spent = |input, output, cost: &str| Spent {
            usage: Some(usage(input, 0, output)),
            cost: Some(cost.parse().unwrap()),
        };
        let (first, second) = (spent(12, 9, "0.1"), spent(30, 10, "0.25"));
        assert_eq!(second.since(first), spent(18, 1, "0.15"));
        assert_eq!(second.since(Spent::default()), second);
        assert_eq!(spent(5, 20, "0.3").since(first), spent(5, 20, "0.3"), "it counts each turn anew");
        assert_eq!(Spent::default().since(first), Spent::default(), "what was not reported stays unknown");
    }

    #[test]
    fn a_sealed_cost_is_read_with_the_nonce_alone() {
        let slot: SlotId = "02".parse().unwrap();
        let (here, there) = (Some(Sha256Hash::of(b"a")), Some(Sha256Hash::of(b"b")));
        let cost: Usd = "0.0123".parse().unwrap();
        let sealed = SealedCost::seal(cost, "nonce", slot, here);
        assert_eq!(sealed.open("nonce", slot, here), Some(cost));
        assert_ne!(sealed.open("other", slot, here), Some(cost));
        assert_ne!(sealed, SealedCost::seal(cost, "nonce", slot, there));
        assert_eq!(serde_json::to_value(&sealed).unwrap().as_str().unwrap().len(), 16);
    }
}
