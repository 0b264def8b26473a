//! What a command would send and cost, before it does anything.
//!
//! Nobody is asked how a text is counted, so everything here is a range. A token is two to five bytes of text. An answer
//! has from 100 tokens to `max_tokens`, 4,000 where none is set; a ballot 60 to 400 for each answer that it is about,
//! reasoning not counted. What an agent program sends besides the prompt, and how often it asks, nobody knows: of one
//! there is only a least. Retries are not counted, a second pass is, and asking for what a ballot lacks is in the most.

use serde::Serialize;

use super::judge::JudgeRequest;
use crate::config::{Passes, Repair, ResolvedModel, Target};
use crate::money::{Rate, Usd, cost_of};
use crate::prompts::Prompts;

/// Bytes of text that are one token, at the most and at the least.
const BYTES_PER_TOKEN: (u64, u64) = (5, 2);
/// Tokens of an answer, at the least and, without `max_tokens`, at the most.
const ANSWER: (u64, u64) = (100, 4000);
/// Tokens of a ballot for each answer.
const BALLOT: (u64, u64) = (60, 400);
/// No more tokens of one answer are shown to a judge: 64 KiB.
const SHOWN: u64 = (64 << 10) / BYTES_PER_TOKEN.1;

/// From so much to so much; without an end where only the least is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Range {
    /// The least.
    pub low: u64,
    /// The most, where it is known.
    pub high: Option<u64>,
}

impl Range {
    /// From `low` to `high`.
    #[must_use]
    pub const fn new(low: u64, high: u64) -> Self {
        Self { low, high: Some(high) }
    }

    /// Nothing, or as much as this at the most.
    #[must_use]
    pub const fn up_to(self) -> Self {
        Self { low: 0, high: self.high }
    }

    /// The tokens of a text.
    #[must_use]
    pub const fn of_bytes(bytes: u64) -> Self {
        Self::new(bytes.div_ceil(BYTES_PER_TOKEN.0), bytes.div_ceil(BYTES_PER_TOKEN.1))
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let high = self.high.zip(other.high).map(|(a, b)| a.saturating_add(b));
        Self { low: self.low.saturating_add(other.low), high }
    }

    /// As often as this.
    #[must_use]
    pub fn times(self, calls: Self) -> Self {
        let high = self.high.zip(calls.high).map(|(a, b)| a.saturating_mul(b));
        Self { low: self.low.saturating_mul(calls.low), high }
    }
}

/// From so many dollars to so many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct UsdRange {
    /// The least.
    pub low: Usd,
    /// The most, where it is known.
    pub high: Option<Usd>,
}

/// What one seat would be asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SeatEstimate {
    /// `slot` or `judge`.
    pub seat: &'static str,
    /// The model, as the user wrote it.
    pub model: String,
    /// How often it is asked.
    pub calls: Range,
    /// Tokens of the prompts of all calls.
    pub input_tokens: Range,
    /// Tokens of the output of all calls.
    pub output_tokens: Range,
    /// What they cost; `null` where no price is known.
    pub usd: Option<UsdRange>,
}

/// What a command would send and cost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Estimate {
    version: u32,
    /// By seat, in the user's order.
    pub seats: Vec<SeatEstimate>,
    /// Of all seats whose cost is known; `null` where it is known of none.
    pub usd: Option<UsdRange>,
    /// How many seats are asked whose price is not known.
    pub unknown_seats: usize,
    /// What the least and the most are of, where that is not one and the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub covers: Option<String>,
}

impl Estimate {
    /// What it takes to ask `models` a prompt of `prompt_bytes`, and to have the answers to a task of `task_bytes` judged.
    #[must_use]
    pub fn of(models: &[ResolvedModel], prompt_bytes: u64, judge: Option<&JudgeRequest>, task_bytes: u64) -> Self {
        let once = Range::new(1, 1);
        let answers: Vec<Range> = models.iter().map(answer_of).collect();
        let mut seats: Vec<SeatEstimate> = models
            .iter()
            .zip(&answers)
            .map(|(model, answer)| seat("slot", model, once, Range::of_bytes(prompt_bytes), *answer))
            .collect();
        if let Some(judge) = judge {
            let (calls, frame) = judging(judge, task_bytes);
            for (model, shown) in judge.shown_to(models) {
                if shown.is_empty() {
                    continue;
                }
                let text = shown.iter().map(|index| answers[*index]);
                let prompt = text.fold(frame, |sum, answer| {
                    // What an agent writes is limited by nothing but what is shown of it.
                    sum.plus(Range::new(answer.low, answer.high.unwrap_or(SHOWN).min(SHOWN)))
                });
                let count = shown.len() as u64;
                let ballot = Range::new(BALLOT.0 * count, BALLOT.1 * count);
                seats.push(seat("judge", &model, calls, prompt, ballot));
            }
        }
        Self::of_seats(seats)
    }

    /// What it takes to have `models` vote on a text with which their prompt has so many bytes, at the least and at the most.
    #[must_use]
    pub fn of_vote(models: &[ResolvedModel], (least, most): (u64, u64), repair: Repair) -> Self {
        let prompt = Range { low: Range::of_bytes(least).low, high: Range::of_bytes(most).high };
        let of = |model: &ResolvedModel| {
            let answer = answer_of(model);
            let (calls, again) = match repair {
                Repair::Once => (Range::new(1, 2), prompt.plus(answer).up_to()),
                Repair::Never => (Range::new(1, 1), Range::new(0, 0)),
            };
            SeatEstimate::new("slot", model, calls, prompt.plus(again), answer.times(calls))
        };
        Self::of_seats(models.iter().map(of).collect())
    }

    /// What it takes to have a finished run judged: `sizes` are the bytes of its complete answers, of the others there is
    /// none, and `task_bytes` those of the task.
    ///
    /// Every judge gets the same range, from the fewest and shortest answers to the most and longest: what exactly it
    /// would be shown says which answer is its own. The range holds whichever of the models have no answer, for that too
    /// is told by the verdict only.
    #[must_use]
    pub fn of_judging(models: &[ResolvedModel], sizes: &[Option<u64>], judge: &JudgeRequest, task_bytes: u64) -> Self {
        let complete = sizes.iter().flatten().count() as u64;
        let missing = (models.len() as u64).saturating_sub(complete);
        let judges: Vec<(ResolvedModel, u64)> =
            judge.shown_to(models).into_iter().map(|(model, shown)| (model, shown.len() as u64)).collect();
        // Of what a judge may see at the least as many answers are missing as there can be among it.
        let fewest = judges.iter().map(|(_, shown)| shown.saturating_sub(missing)).min().unwrap_or(0);
        let most = judges.iter().map(|(_, shown)| (*shown).min(complete)).max().unwrap_or(0);
        let answers = || sizes.iter().flatten().map(|bytes| Range::of_bytes(*bytes));
        let shortest = answers().map(|answer| answer.low.min(SHOWN)).min().unwrap_or(0);
        let longest = answers().filter_map(|answer| answer.high).map(|high| high.min(SHOWN)).max().unwrap_or(0);
        let (mut calls, frame) = judging(judge, task_bytes);
        if fewest == 0 {
            // Who has nothing to judge is not asked.
            calls.low = 0;
        }
        let prompt = frame.plus(Range::new(shortest.saturating_mul(fewest), longest.saturating_mul(most)));
        let ballot = Range::new(BALLOT.0 * fewest, BALLOT.1 * most);
        Self::of_seats(judges.iter().map(|(model, _)| seat("judge", model, calls, prompt, ballot)).collect())
    }

    /// Of these seats.
    #[must_use]
    pub fn of_seats(seats: Vec<SeatEstimate>) -> Self {
        let known: Vec<UsdRange> = seats.iter().filter_map(|seat| seat.usd).collect();
        Self {
            version: 1,
            usd: (!known.is_empty()).then(|| UsdRange {
                low: known.iter().map(|usd| usd.low).sum(),
                high: known.iter().map(|usd| usd.high).collect::<Option<Vec<_>>>().map(|all| all.into_iter().sum()),
            }),
            unknown_seats: seats.iter().filter(|seat| seat.usd.is_none()).count(),
            seats,
            covers: None,
        }
    }

    /// The same, with what the least and the most are of.
    #[must_use]
    pub fn covering(self, covers: String) -> Self {
        Self { covers: Some(covers), ..self }
    }
}

impl SeatEstimate {
    /// Of `model`, which is asked so often. `input` are the tokens of the prompts of all calls, `output` those of all
    /// replies.
    #[must_use]
    pub fn new(seat: &'static str, model: &ResolvedModel, calls: Range, input: Range, output: Range) -> Self {
        let system = Range::of_bytes(model.settings.system.as_ref().map_or(0, String::len) as u64).times(calls);
        let open = |range: Range| if is_agent(model) { Range { high: None, ..range } } else { range };
        let (input_tokens, output_tokens) = (open(input.plus(system)), open(output));
        let usd = usd(model, input_tokens, output_tokens);
        Self { seat, model: model.name.clone(), calls, input_tokens, output_tokens, usd }
    }
}

/// How often a judge is asked, and the tokens of what stands around the answers.
fn judging(judge: &JudgeRequest, task_bytes: u64) -> (Range, Range) {
    let passes = match judge.rules.passes {
        Passes::One => 1,
        Passes::Two => 2,
    };
    let calls = Range::new(passes, if judge.rules.repair == Repair::Once { 2 * passes } else { passes });
    (calls, Range::of_bytes(frame_bytes(&judge.prompts).saturating_add(task_bytes)))
}

/// The tokens of an answer.
pub(crate) fn answer_of(model: &ResolvedModel) -> Range {
    let most = model.settings.max_tokens.unwrap_or(ANSWER.1);
    let high = (!is_agent(model)).then_some(most);
    Range { low: ANSWER.0.min(most), high }
}

const fn is_agent(model: &ResolvedModel) -> bool {
    matches!(model.target, Target::Process { .. })
}

/// The text around the task and the answers.
fn frame_bytes(prompts: &Prompts) -> u64 {
    prompts.longest() as u64
}

fn seat(name: &'static str, model: &ResolvedModel, calls: Range, prompt: Range, output: Range) -> SeatEstimate {
    SeatEstimate::new(name, model, calls, prompt.times(calls), output.times(calls))
}

fn usd(model: &ResolvedModel, input: Range, output: Range) -> Option<UsdRange> {
    let cost = |rates: (Rate, Rate), input: u64, output: u64| cost_of([(rates.0, input), (rates.1, output)]);
    let rates = match model.settings.price {
        Some(price) => (price.input?, price.output?),
        None if model.is_free() => (Rate::default(), Rate::default()),
        None => return None,
    };
    Some(UsdRange {
        low: cost(rates, input.low, output.low),
        high: input.high.zip(output.high).map(|(input, output)| cost(rates, input, output)),
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::config::{ModelIdentity, ModelSettings, Price, Provider, SelfVote, Wire};

    fn model(name: &str, price: Option<(&str, &str)>, max_tokens: Option<u64>) -> ResolvedModel {
        let provider = Provider {
            name: "p".to_owned(),
            wire: Wire::OpenaiChat,
            base_url: "https://example.org/v1".to_owned(),
            api_key_env: None,
            headers: Default::default(),
            max_concurrent: None,
            json_schema: false,
        };
        let rate = |text: &str| Some(text.parse().unwrap());
        let price = price.map(|(input, output)| Price { input: rate(input), output: rate(output), ..Price::default() });
        ResolvedModel {
            name: name.to_owned(),
            identity: ModelIdentity(name.to_owned()),
            target: Target::Http { provider, model: name.to_owned() },
            settings: ModelSettings { price, max_tokens, ..ModelSettings::default() },
        }
    }

    #[test]
    fn a_prompt_is_a_range_of_tokens_and_a_range_of_money() {
        let models = [model("a", Some(("1", "10")), Some(1000)), model("b", None, None)];
        let estimate = Estimate::of(&models, 1001, None, 1001);
        let [a, b] = estimate.seats.as_slice() else { unreachable!() };
        assert_eq!((a.input_tokens, a.output_tokens), (Range::new(201, 501), Range::new(100, 1000)));
        let usd = a.usd.unwrap();
        assert_eq!((usd.low.to_string(), usd.high.unwrap().to_string()), ("0.001201".into(), "0.010501".into()));
        assert_eq!((b.output_tokens, b.usd), (Range::new(100, 4000), None));
        assert_eq!((estimate.unknown_seats, estimate.usd), (1, Some(usd)));
        assert_eq!(Estimate::of(&models[1..], 1, None, 1).usd, None, "unknown is not nothing");
    }

    #[test]
    fn judges_are_asked_about_what_they_are_shown_as_often_as_the_rules_say() {
        let models = ["a", "b", "c"].map(|name| model(name, None, Some(200)));
        let prompts = Arc::new(Prompts::embedded().unwrap());
        let mut judge = JudgeRequest { judges: None, rules: SelfVote::Model.into(), prompts, prompts_dir: None };
        let of = |judge: &JudgeRequest| Estimate::of(&models, 100, Some(judge), 100).seats.pop().unwrap();
        let seat = of(&judge);
        assert_eq!((seat.seat, seat.model.as_str(), seat.calls), ("judge", "c", Range::new(1, 2)));
        assert_eq!(
            seat.output_tokens,
            Range::new(2 * 60, 2 * 2 * 400),
            "two answers, and once more for what is missing"
        );
        let frame = frame_bytes(&judge.prompts) + 100;
        assert_eq!(seat.input_tokens.low, frame.div_ceil(5) + 2 * 100);
        judge.rules.passes = Passes::Two;
        judge.rules.repair = Repair::Never;
        assert_eq!(of(&judge).calls, Range::new(2, 2));
        judge.rules.own = SelfVote::Include.into();
        assert_eq!(of(&judge).output_tokens, Range::new(2 * 3 * 60, 2 * 3 * 400));
    }

    #[test]
    fn an_estimate_of_votes_on_finished_answers_tells_no_judge_apart() {
        let models = ["a", "b", "c", "d"].map(|name| model(name, Some(("1", "10")), None));
        let prompts = Arc::new(Prompts::embedded().unwrap());
        let judge = JudgeRequest { judges: None, rules: SelfVote::Model.into(), prompts, prompts_dir: None };
        let estimate = Estimate::of_judging(&models, &[Some(100), Some(10_000), None, Some(1000)], &judge, 50);
        assert_eq!(estimate.seats.len(), 4);
        let frame = frame_bytes(&judge.prompts) + 50;
        for seat in &estimate.seats {
            // Whoever has no answer of its own would be shown three, the others two.
            let tokens = Range::new(frame.div_ceil(5) + 2 * 20, 2 * (frame.div_ceil(2) + 3 * 5000));
            assert_eq!((seat.input_tokens, seat.output_tokens), (tokens, Range::new(2 * 60, 2 * 3 * 400)));
        }
    }
}
