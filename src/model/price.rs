//! What a model's tokens cost, as the user wrote it down, and when.

use std::fmt;
use std::str::FromStr;

use jiff::civil::Date;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::{ResolvedModel, Target};
use crate::money::Rate;

/// US dollars per million tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Price {
    /// Tokens of the prompt.
    pub input: Option<Rate>,
    /// Tokens of the prompt that the provider had cached; like all others of the prompt where absent.
    pub cached_input: Option<Rate>,
    /// Tokens of the answer, reasoning included.
    pub output: Option<Rate>,
    /// The day on which this was the price.
    #[schemars(with = "Option<String>")]
    pub as_of: Option<AsOf>,
}

impl ResolvedModel {
    /// Whether asking it costs nothing: it is on this machine and no key is needed, or it is a recording.
    #[must_use]
    pub fn is_free(&self) -> bool {
        match &self.target {
            Target::Local { .. } | Target::Replay { .. } => true,
            Target::Http { provider, .. } => provider.api_key_env.is_none() && is_here(&provider.base_url),
            Target::Process { .. } => false,
        }
    }
}

fn is_here(base_url: &str) -> bool {
    let Ok(url) = reqwest::Url::parse(base_url) else { return false };
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// A day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct AsOf(Date);

impl fmt::Display for AsOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for AsOf {
    type Err = jiff::Error;

    fn from_str(text: &str) -> Result<Self, jiff::Error> {
        text.trim().parse().map(Self)
    }
}

impl Serialize for AsOf {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for AsOf {
    /// A day of TOML's own kind, or its text.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written = match toml::Value::deserialize(deserializer)? {
            toml::Value::String(text) => text,
            other => other.to_string(),
        };
        written.parse().map_err(|_| de::Error::custom(format!("`{written}` is no day: write it like `2026-01-31`")))
    }
}
