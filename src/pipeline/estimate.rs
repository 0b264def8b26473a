//! What a review and a fix would send and cost, before they do anything: from the least, one review that finds nothing, to
//! the most that their rules allow.
//!
//! At the most every reply has to be asked for again as often as that is done, every finding of every review stays open,
//! and a conversation that goes on sends again all that was said in it.

use crate::config::{ResolvedModel, SessionReuse};
use crate::engine::{Estimate, JudgeRequest, Range, SeatEstimate, estimated_answer};
use crate::pipeline::fix::FixRequest;
use crate::pipeline::review::ReviewRequest;

/// The calls of a reviewer in one review: once more with what is wrong with its reply, and once anew.
const REVIEWER_CALLS: u64 = 3;

/// The calls of a judge in one review: once more for votes that cannot be read.
const JUDGE_CALLS: u64 = 2;

/// The most bytes of what a fixer is told of its last attempt.
const TROUBLE: u64 = 64 << 10;

/// Nothing.
const NONE: Range = Range::new(0, 0);

/// What one review would take.
#[must_use]
pub fn estimate_review(request: &ReviewRequest, judges: &JudgeRequest) -> Estimate {
    let course = Course::new(request, judges);
    let sizes = [course.size(request.subject.text.len() as u64)];
    Estimate::of_seats(course.seats(&sizes)).covering(
        "The least is a review that finds nothing, of which no vote is held; the most has every reply asked for again."
            .to_owned(),
    )
}

/// What a fix would take with all its rounds.
#[must_use]
pub fn estimate_fix(request: &FixRequest, judges: &JudgeRequest) -> Estimate {
    let review = &request.review;
    let course = Course::new(review, judges);
    let first = review.subject.text.len() as u64;
    let rounds = request.max_rounds;
    // After each repair it is looked at, and where that leaves nothing open, all of it.
    let later = std::iter::repeat_n(course.size(request.max_bytes.max(first)), 2 * rounds as usize);
    let sizes: Vec<Range> = std::iter::once(course.size(first)).chain(later).collect();
    let mut seats = course.seats(&sizes);
    if rounds > 0 {
        seats.push(course.fixer(request));
    }
    let covers = match rounds {
        0 => "No round of repairs is allowed: it is one review.".to_owned(),
        _ => format!(
            "The least is a first review that finds nothing. The most is what `--max-rounds {rounds}` allows: {} reviews (the \
             first, and for each round one of the repair and one of all of it), {} turns of the fixer, and every reply asked \
             for again. What you decide yourself (`team respond`) may add a round each time.",
            sizes.len(),
            u64::from(rounds) * FixRequest::TURNS,
        ),
    };
    Estimate::of_seats(seats).covering(covers)
}

/// What all reviews of a command have in common.
struct Course<'a> {
    request: &'a ReviewRequest,
    judges: &'a JudgeRequest,
    /// The tokens of the longest text around what is sent.
    frame: Range,
    /// What the reviewers of one review may find, in tokens.
    found: Range,
}

impl<'a> Course<'a> {
    fn new(request: &'a ReviewRequest, judges: &'a JudgeRequest) -> Self {
        let intent = request.intent.as_ref().map_or(0, String::len);
        let frame = Range::of_bytes(request.prompts.longest().saturating_add(intent) as u64);
        let found = request.models.iter().map(shown).fold(NONE, Range::plus);
        Self { request, judges, frame, found }
    }

    /// The tokens of a prompt about so many bytes.
    fn size(&self, bytes: u64) -> Range {
        self.frame.plus(Range::of_bytes(bytes))
    }

    /// Everybody who looks and votes in reviews of which a prompt has these sizes, in order. All but the first may not come
    /// about.
    fn seats(&self, sizes: &[Range]) -> Vec<SeatEstimate> {
        let reviewers = self.request.models.iter().map(|model| self.reviewer(model, sizes));
        let shown = self.judges.shown_to(&self.request.models).into_iter().filter(|(_, shown)| !shown.is_empty());
        reviewers.chain(shown.map(|(model, _)| self.judge(&model, sizes))).collect()
    }

    fn reviewer(&self, model: &ResolvedModel, sizes: &[Range]) -> SeatEstimate {
        let answer = estimated_answer(model);
        let mut input = NONE;
        let mut said = NONE;
        for (index, size) in sizes.iter().enumerate() {
            let prompt = size.plus(self.open(index));
            let before = if self.request.session_reuse == SessionReuse::On { said } else { NONE };
            let begun = before.plus(prompt);
            // With what is wrong with its reply, which is quoted.
            let mend = begun.plus(answer).plus(self.frame).plus(answer);
            let all = begun.plus(mend.up_to()).plus(prompt.up_to());
            input = input.plus(if index == 0 { all } else { all.up_to() });
            said = mend.plus(answer).up_to();
        }
        let calls = Range::new(1, REVIEWER_CALLS * sizes.len() as u64);
        SeatEstimate::new("slot", model, calls, input, answer.times(calls))
    }

    fn judge(&self, model: &ResolvedModel, sizes: &[Range]) -> SeatEstimate {
        let answer = estimated_answer(model);
        let prompts = sizes.iter().enumerate().map(|(index, size)| {
            let prompt = size.plus(self.open(index)).plus(self.found);
            prompt.plus(prompt).plus(answer)
        });
        let calls = Range::new(0, JUDGE_CALLS * sizes.len() as u64);
        SeatEstimate::new("judge", model, calls, prompts.fold(NONE, Range::plus).up_to(), answer.times(calls))
    }

    fn fixer(&self, request: &FixRequest) -> SeatEstimate {
        let model = &request.fixer;
        let answer = estimated_answer(model);
        let around = self.frame.plus(Range::of_bytes(FixRequest::SHOWN_BYTES)).plus(Range::of_bytes(TROUBLE));
        let mut input = NONE;
        let mut said = NONE;
        for round in 0..request.max_rounds as usize {
            for _ in 0..FixRequest::TURNS {
                let prompt = around.plus(self.open(2 * round + 1));
                let before = if self.request.session_reuse == SessionReuse::On { said } else { NONE };
                input = input.plus(before).plus(prompt);
                said = before.plus(prompt).plus(answer);
            }
        }
        let calls = Range::new(0, u64::from(request.max_rounds) * FixRequest::TURNS);
        SeatEstimate::new("fixer", model, calls, input.up_to(), answer.times(calls))
    }

    /// What may be open after so many reviews.
    fn open(&self, reviews: usize) -> Range {
        self.found.times(Range::new(0, reviews as u64)).up_to()
    }
}

/// What others are shown of an answer. Of an agent's no limit is known but the one that it is shown by.
fn shown(model: &ResolvedModel) -> Range {
    const MOST: u64 = 32 << 10;
    let answer = estimated_answer(model);
    Range::new(0, answer.high.map_or(MOST, |high| high.min(MOST)))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::config::{
        FailOn, Leaks, ModelIdentity, ModelSettings, Price, Provider, Severity, Target, VoteRules, Wire,
    };
    use crate::engine::Keeping;
    use crate::findings::{EarlierDeclines, MissingSeats};
    use crate::pipeline::fix::{Consent, Start, TakeUncommitted};
    use crate::pipeline::review::{Source, Subject, SubjectKind};
    use crate::prompts::Prompts;
    use crate::session::{InnerKind, SessionKind};

    fn model(name: &str) -> ResolvedModel {
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
        let price = Price { input: rate("1"), output: rate("10"), ..Price::default() };
        ResolvedModel {
            name: name.to_owned(),
            identity: ModelIdentity(name.to_owned()),
            target: Target::Http { provider, model: name.to_owned() },
            settings: ModelSettings { price: Some(price), max_tokens: Some(1000), ..ModelSettings::default() },
        }
    }

    fn request(max_rounds: u32, session_reuse: SessionReuse) -> FixRequest {
        let subject = Subject {
            kind: SubjectKind::Diff,
            phase: InnerKind::ImplReview,
            told: "a change".to_owned(),
            base: None,
            from: None,
            head: None,
            text: "x".repeat(1000),
            files: Vec::new(),
            warnings: Vec::new(),
            source: Source::Nothing,
            point: None,
        };
        let review = ReviewRequest {
            kind: SessionKind::Fix,
            keeping: Keeping::Legacy,
            title: String::new(),
            subject,
            intent: None,
            models: ["a", "b", "c"].map(model).to_vec(),
            judges: None,
            own: VoteRules::default().own,
            leaks: Leaks::default(),
            fail_on: FailOn::default(),
            quorum: None,
            missing: MissingSeats::Tolerated,
            terms: Default::default(),
            prompts: Arc::new(Prompts::embedded().unwrap()),
            prompts_dir: None,
            notes: Vec::new(),
            session_reuse,
            declined: EarlierDeclines::default(),
        };
        FixRequest {
            review,
            fixer: model("f"),
            start: Start {
                root: "/r".into(),
                from: String::new(),
                head: String::new(),
                uncommitted: TakeUncommitted::No,
            },
            only: Vec::new(),
            severity: None::<Severity>,
            max_rounds,
            test: Vec::new(),
            lint: Vec::new(),
            check_timeout: None,
            scope: Vec::new(),
            max_bytes: 4000,
            ignore: Vec::new(),
            consent: Consent::Ask,
        }
    }

    fn judges(request: &FixRequest) -> JudgeRequest {
        let prompts = Arc::clone(&request.review.prompts);
        JudgeRequest { judges: None, rules: VoteRules::default(), prompts, prompts_dir: None }
    }

    fn of(max_rounds: u32, reuse: SessionReuse) -> Estimate {
        let request = request(max_rounds, reuse);
        estimate_fix(&request, &judges(&request))
    }

    #[test]
    fn the_least_of_a_fix_is_one_review_that_finds_nothing_and_the_most_all_that_the_rounds_allow() {
        let whole = of(2, SessionReuse::Off);
        let calls: Vec<(&str, Range)> = whole.seats.iter().map(|seat| (seat.seat, seat.calls)).collect();
        let (slot, judge) = (("slot", Range::new(1, 15)), ("judge", Range::new(0, 10)));
        assert_eq!(calls, [slot, slot, slot, judge, judge, judge, ("fixer", Range::new(0, 4))]);
        assert!(whole.covers.as_ref().unwrap().contains("5 reviews"), "{:?}", whole.covers);
        let request = request(2, SessionReuse::Off);
        let alone = estimate_review(&request.review, &judges(&request));
        assert_eq!(whole.usd.unwrap().low, alone.usd.unwrap().low);
        assert_eq!(alone.seats[0].calls, Range::new(1, 3));
        assert_eq!(alone.seats[3].output_tokens, Range::new(0, 2000));
        assert!(whole.usd.unwrap().high > alone.usd.unwrap().high);
    }

    #[test]
    fn more_rounds_and_conversations_that_go_on_cost_more_at_the_most_and_the_same_at_the_least() {
        let (one, two) = (of(1, SessionReuse::Off).usd.unwrap(), of(2, SessionReuse::Off).usd.unwrap());
        let kept = of(2, SessionReuse::On).usd.unwrap();
        assert_eq!((one.low, two.low), (two.low, kept.low));
        assert!(one.high < two.high && two.high < kept.high, "{one:?} {two:?} {kept:?}");
    }

    #[test]
    fn without_rounds_it_is_a_review() {
        let none = of(0, SessionReuse::On);
        assert!(none.seats.iter().all(|seat| seat.seat != "fixer"));
        assert_eq!(none.seats[0].calls, Range::new(1, 3));
        assert!(none.covers.unwrap().contains("it is one review"));
    }
}
