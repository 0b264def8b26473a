//! The budget of a command: what its calls have cost, and what those that go on cost by now as far as that can be told.
//!
//! A call that is over costs what its stream reported, or its tokens at the price in the configuration. One that goes on
//! costs what its stream has reported so far, or what its bytes come to: a token for every four of the prompt and of the
//! answer. A model whose price is not known is not metered; whoever sets a budget is told which ones those are.

use crate::config::ResolvedModel;
use crate::money::{Usd, cost_of};
use crate::session::slot::{Spent, Usage};

/// Bytes of text per token, for what nobody has counted yet.
const BYTES_PER_TOKEN: u64 = 4;

/// How much may be spent, and how much was.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Meter {
    most: Option<Usd>,
    spent: Usd,
}

impl Meter {
    /// A budget of `most`, no limit where `None`, of which `spent` is gone.
    #[must_use]
    pub const fn new(most: Option<Usd>, spent: Usd) -> Self {
        Self { most, spent }
    }

    /// Whether there is a limit.
    pub(crate) const fn is_limited(&self) -> bool {
        self.most.is_some()
    }

    /// Adds the cost of a call that is over.
    pub(crate) const fn add(&mut self, cost: Usd) {
        self.spent = self.spent.plus(cost);
    }

    /// Whether a call that costs at least `next` may begin while others are at `running`.
    pub(crate) fn admits(&self, running: Usd, next: Usd) -> bool {
        self.most
            .is_none_or(|most| self.spent.plus(running).plus(next) <= most && (self.spent < most || next == Usd::ZERO))
    }

    /// Whether the budget is spent while calls are at `running`.
    pub(crate) fn is_over(&self, running: Usd) -> bool {
        self.most.is_some_and(|most| self.spent.plus(running) > most)
    }
}

/// What a call that goes on costs by now.
#[derive(Debug, Clone)]
pub(crate) struct Gauge {
    model: ResolvedModel,
    prompt_bytes: u64,
}

impl Gauge {
    pub(crate) const fn new(model: ResolvedModel, prompt_bytes: u64) -> Self {
        Self { model, prompt_bytes }
    }

    /// With `spent` reported and `answer_bytes` of its answer here.
    pub(crate) fn reading(&self, spent: Spent, answer_bytes: u64) -> Usd {
        let reported = spent.cost(&self.model).unwrap_or(Usd::ZERO);
        reported.max(self.by_bytes(answer_bytes))
    }

    /// What it cost, now that it is over: what was reported, else what its bytes come to.
    pub(crate) fn total(&self, spent: Spent, answer_bytes: u64) -> Usd {
        spent.cost(&self.model).unwrap_or_else(|| self.by_bytes(answer_bytes))
    }

    /// What it costs at the least: its prompt.
    pub(crate) fn least(&self) -> Usd {
        self.by_bytes(0)
    }

    fn by_bytes(&self, answer_bytes: u64) -> Usd {
        let Some(price) = self.model.settings.price else { return Usd::ZERO };
        let tokens = |bytes: u64| bytes / BYTES_PER_TOKEN;
        // Of a prompt nobody knows yet how much is cached: the lower of the two prices.
        let input = price.cached_input.into_iter().chain(price.input).min();
        let parts = [(input, tokens(self.prompt_bytes)), (price.output, tokens(answer_bytes))];
        cost_of(parts.into_iter().filter_map(|(rate, tokens)| Some((rate?, tokens))))
    }
}

/// What it costs at the least to ask `model` a prompt of so many bytes, as far as that is known.
#[must_use]
pub fn least_cost(model: &ResolvedModel, prompt_bytes: u64) -> Usd {
    Gauge::new(model.clone(), prompt_bytes).least()
}

/// Whether what `model` costs is known while it is asked or once it was.
#[must_use]
pub fn is_metered(model: &ResolvedModel) -> bool {
    let one = Usage { input_tokens: Some(1), output_tokens: Some(1), ..Usage::default() };
    Spent { usage: Some(one), cost: None }.cost(model).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{ModelIdentity, ModelSettings, Price, Provider, Target, Wire};

    fn usd(text: &str) -> Usd {
        text.parse().unwrap()
    }

    fn model(base_url: &str, price: Option<Price>) -> ResolvedModel {
        let provider = Provider {
            name: "p".to_owned(),
            wire: Wire::OpenaiChat,
            base_url: base_url.to_owned(),
            api_key_env: None,
            headers: Default::default(),
            max_concurrent: None,
            json_schema: false,
        };
        ResolvedModel {
            name: "m".to_owned(),
            identity: ModelIdentity("m".to_owned()),
            target: Target::Http { provider, model: "m".to_owned() },
            settings: ModelSettings { price, ..ModelSettings::default() },
        }
    }

    fn price() -> Option<Price> {
        let rate = |text: &str| Some(text.parse().unwrap());
        Some(Price { input: rate("4"), cached_input: None, output: rate("8"), as_of: None })
    }

    #[test]
    fn nothing_begins_that_would_pass_the_budget() {
        let mut meter = Meter::new(Some(usd("1")), usd("0.5"));
        assert!(meter.admits(usd("0.2"), usd("0.3")));
        assert!(!meter.admits(usd("0.2"), usd("0.300000001")));
        assert!(!meter.is_over(usd("0.5")));
        assert!(meter.is_over(usd("0.500000001")));
        meter.add(usd("0.5"));
        assert!(!meter.admits(Usd::ZERO, Usd::from_nanos(1)));
        assert!(meter.admits(Usd::ZERO, Usd::ZERO), "what costs nothing goes on");
        let unlimited = Meter::new(None, usd("1000000"));
        assert!(unlimited.admits(usd("1"), usd("1")) && !unlimited.is_over(usd("1")));
    }

    #[test]
    fn a_call_that_goes_on_is_read_by_its_bytes_until_it_is_counted() {
        let gauge = Gauge::new(model("https://example.org/v1", price()), 4000);
        assert_eq!(gauge.least(), usd("0.004"));
        assert_eq!(gauge.reading(Spent::default(), 2000), usd("0.008"));
        let usage = Usage { input_tokens: Some(2000), output_tokens: Some(1000), ..Usage::default() };
        assert_eq!(gauge.reading(Spent { usage: Some(usage), cost: None }, 2000), usd("0.016"));
        assert_eq!(gauge.reading(Spent { usage: None, cost: Some(usd("0.1")) }, 2000), usd("0.1"));
        let less = Spent { usage: None, cost: Some(usd("0.001")) };
        assert_eq!((gauge.reading(less, 2000), gauge.total(less, 2000)), (usd("0.008"), usd("0.001")));
        assert_eq!(gauge.total(Spent::default(), 2000), usd("0.008"));
    }

    #[test]
    fn only_what_has_a_price_or_costs_nothing_is_metered() {
        assert!(is_metered(&model("https://example.org/v1", price())));
        assert!(!is_metered(&model("https://example.org/v1", None)));
        assert!(is_metered(&model("http://127.0.0.1:8080/v1", None)), "this machine costs nothing");
        let half = Price { output: None, ..price().unwrap() };
        assert!(!is_metered(&model("https://example.org/v1", Some(half))));
    }
}
