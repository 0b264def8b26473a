//! Money and prices, in whole numbers: no amount drifts by being added up.
//!
//! An amount is counted in billionths of a US dollar, a price in millionths of a dollar per million tokens, which is
//! billionths of a thousandth of a dollar per token. An amount that is not known is `None`, never 0.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// An amount of US dollars, from 0 on, exact to a billionth.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Usd(u64);

/// A text that is no amount of money.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no amount of US dollars: write it like `0.50`")]
pub struct NotAnAmount(String);

impl Usd {
    /// Nothing.
    pub const ZERO: Self = Self(0);

    /// An amount of this many billionths.
    #[must_use]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// The billionths.
    #[must_use]
    pub const fn nanos(self) -> u64 {
        self.0
    }

    /// What a program reported as a number: its shortest decimal form, which is what the program printed, to the nearest
    /// billionth. `None` for what is no amount.
    #[must_use]
    pub fn reported(amount: f64) -> Option<Self> {
        (amount.is_finite() && amount >= 0.0).then(|| decimal(&amount.to_string(), 9).ok().map(Self)).flatten()
    }

    /// The sum; at the end of all numbers it stays there.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// What is left of it without `other`; `None` where that is more.
    #[must_use]
    pub const fn minus(self, other: Self) -> Option<Self> {
        match self.0.checked_sub(other.0) {
            Some(rest) => Some(Self(rest)),
            None => None,
        }
    }
}

impl std::iter::Sum for Usd {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::ZERO, Self::plus)
    }
}

impl fmt::Display for Usd {
    /// At least two digits behind the point, and no zeros after that: `0.50`, `0.000123`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&written(self.0, 9))
    }
}

impl FromStr for Usd {
    type Err = NotAnAmount;

    fn from_str(text: &str) -> Result<Self, NotAnAmount> {
        let digits = text.trim();
        let digits = digits.strip_prefix('$').unwrap_or(digits);
        decimal(digits, 9).map(Self).map_err(|()| NotAnAmount(text.to_owned()))
    }
}

impl Serialize for Usd {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Usd {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Amount(9)).map(Self)
    }
}

impl JsonSchema for Usd {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Usd".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string", "pattern": "^[0-9]+\\.[0-9]{2,9}$", "description": "US dollars, exact."
        })
    }
}

/// US dollars per million tokens, exact to a millionth of a dollar.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(u64);

impl Rate {
    /// What `tokens` cost, in millionths of a billionth of a dollar, so that several are rounded once.
    const fn of(self, tokens: u64) -> u128 {
        self.0 as u128 * tokens as u128
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&written(self.0, 6))
    }
}

impl FromStr for Rate {
    type Err = NotAnAmount;

    fn from_str(text: &str) -> Result<Self, NotAnAmount> {
        decimal(text.trim(), 6).map(Self).map_err(|()| NotAnAmount(text.to_owned()))
    }
}

impl Serialize for Rate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Rate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Amount(6)).map(Self)
    }
}

impl JsonSchema for Rate {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Rate".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string", "pattern": "^[0-9]+\\.[0-9]{2,6}$", "description": "US dollars per million tokens."
        })
    }
}

/// What `(rate, tokens)` come to together, rounded once to the nearest billionth.
#[must_use]
pub fn cost_of(parts: impl IntoIterator<Item = (Rate, u64)>) -> Usd {
    /// A rate counts millionths of a dollar per million tokens: a token at it is as many thousandths of a billionth.
    const PER_NANO: u128 = 1000;
    let sum: u128 = parts.into_iter().map(|(rate, tokens)| rate.of(tokens)).fold(0, u128::saturating_add);
    Usd(u64::try_from(sum.saturating_add(PER_NANO / 2) / PER_NANO).unwrap_or(u64::MAX))
}

/// Takes a number or a text of a settings file or of JSON, in its decimal form, with this many digits behind the point.
struct Amount(u32);

impl de::Visitor<'_> for Amount {
    type Value = u64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an amount of US dollars from 0 on, such as `0.50`")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<u64, E> {
        decimal(text.trim(), self.0).map_err(|()| E::invalid_value(de::Unexpected::Str(text), &self))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<u64, E> {
        decimal(&number.to_string(), self.0).map_err(|()| E::invalid_value(de::Unexpected::Float(number), &self))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<u64, E> {
        decimal(&number.to_string(), self.0).map_err(|()| E::invalid_value(de::Unexpected::Signed(number), &self))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<u64, E> {
        decimal(&number.to_string(), self.0).map_err(|()| E::invalid_value(de::Unexpected::Unsigned(number), &self))
    }
}

/// Digits with at most one point, as a whole number of the `places`-th digit behind it, to the nearest.
fn decimal(text: &str, places: u32) -> Result<u64, ()> {
    let (whole, rest) = text.split_once('.').unwrap_or((text, ""));
    let is_number = |digits: &str| digits.bytes().all(|digit| digit.is_ascii_digit());
    if whole.is_empty() && rest.is_empty() || !is_number(whole) || !is_number(rest) {
        return Err(());
    }
    let places = places as usize;
    let kept: String = rest.chars().chain(std::iter::repeat('0')).take(places).collect();
    let up = rest.as_bytes().get(places).is_some_and(|digit| *digit >= b'5');
    let number: u64 = format!("{whole}{kept}").parse().map_err(drop)?;
    number.checked_add(u64::from(up)).ok_or(())
}

fn written(number: u64, places: u32) -> String {
    let unit = 10_u64.pow(places);
    let digits = format!("{:0width$}", number % unit, width = places as usize);
    let least = digits.trim_end_matches('0').len().max(2);
    format!("{}.{}", number / unit, &digits[..least])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usd(text: &str) -> Usd {
        text.parse().unwrap()
    }

    #[test]
    fn amounts_are_written_as_they_are_read() {
        for (text, written) in [
            ("0", "0.00"),
            ("$1", "1.00"),
            (" 0.5 ", "0.50"),
            (".25", "0.25"),
            ("0.000000001", "0.000000001"),
            ("0.0000000005", "0.000000001"),
            ("0.0000000004", "0.00"),
            ("18446744073.709551615", "18446744073.709551615"),
        ] {
            assert_eq!(usd(text).to_string(), written, "{text}");
        }
        for wrong in ["", "-1", "1,5", "1e3", "NaN", ".", "1.2.3", "18446744074", "$$1", "free"] {
            assert!(wrong.parse::<Usd>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_tenth_that_is_added_up_stays_exact() {
        let tenths: Usd = std::iter::repeat_n(Usd::reported(0.1).unwrap(), 10).sum();
        assert_eq!(tenths, usd("1"));
        assert_eq!(Usd::reported(0.037_412_5), Some(usd("0.0374125")));
        assert_eq!(Usd::reported(1e-7), Some(usd("0.0000001")));
        assert_eq!([f64::NAN, f64::INFINITY, -0.1].map(Usd::reported), [None; 3]);
        assert_eq!(Usd::from_nanos(u64::MAX).plus(usd("1")), Usd::from_nanos(u64::MAX));
    }

    #[test]
    fn prices_per_million_are_rounded_once_over_all_tokens() {
        let rate = |text: &str| text.parse::<Rate>().unwrap();
        assert_eq!(cost_of([(rate("3"), 1_000_000), (rate("15"), 200_000)]), usd("6"));
        assert_eq!(cost_of([(rate("0.15"), 7), (rate("0.6"), 3)]), usd("0.00000285"));
        assert_eq!(cost_of([(rate("0.000001"), 1)]), Usd::ZERO);
        assert_eq!(
            cost_of([(rate("0.0004"), 1), (rate("0.0004"), 1)]),
            Usd::from_nanos(1),
            "0.4 and 0.4 are not 0 and 0"
        );
        assert_eq!(cost_of([(rate("1000000"), u64::MAX)]), Usd::from_nanos(u64::MAX));
    }

    #[test]
    fn json_and_toml_take_numbers_and_texts_and_write_texts() {
        for json in ["0.15", "\"0.15\"", "\"0.150\""] {
            let rate: Rate = serde_json::from_str(json).unwrap();
            assert_eq!(serde_json::to_string(&rate).unwrap(), "\"0.15\"");
        }
        assert_eq!(serde_json::from_str::<Usd>("2").unwrap(), usd("2"));
        let table: std::collections::BTreeMap<String, Rate> =
            toml::from_str("a = 3\nb = 0.0375\nc = \"1.25\"").unwrap();
        assert_eq!(table.values().map(ToString::to_string).collect::<Vec<_>>(), ["3.00", "0.0375", "1.25"]);
        for wrong in ["a = -1.0", "a = nan", "a = inf", "a = true", "a = \"x\""] {
            assert!(toml::from_str::<std::collections::BTreeMap<String, Rate>>(wrong).is_err(), "{wrong}");
        }
    }
}
