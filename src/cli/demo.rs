//! `team demo`: the main job on a small local model, without a key and without an agent program.

use std::sync::Arc;

use super::args::DemoArgs;
use super::context::Context;
use super::panel::{conclude, prepare, resolve, terms};
use crate::config::{LOCAL_MODEL, ResolvedModel, SelfVote};
use crate::engine::{self, Directives, JudgeRequest, Keeping, RunRequest, TopLines, read_input};
use crate::error::{Error, ExitCode, Result};
use crate::prompts::Prompts;
use crate::runner::Checks;
use crate::session::SessionKind;

/// What is asked when nothing else is.
const QUESTION: &str = include_str!("../../fixtures/questions/demo.md");

/// How the three seats of the one model differ: temperature, seed, system prompt.
const SEATS: [(f64, u64, &str); 3] = [
    (0.2, 11, "You answer in one short, plain paragraph."),
    (0.7, 23, "You answer as a numbered list of at most five steps."),
    (1.0, 37, "You are a careful teacher. Explain with one example."),
];

/// The most output tokens of a seat; a demo should end soon.
const MOST_TOKENS: u64 = 400;

/// Runs three seats of the local model, lets them judge each other, and prints the verdict.
pub(super) async fn demo(args: &DemoArgs, context: &Context) -> Result<ExitCode> {
    let config = context.load(context.global.settings())?;
    let input = match args.words.as_slice() {
        [] => engine::Input { text: QUESTION.to_owned(), directives: Directives::default() },
        words => read_input(None, words, TopLines::Text)?,
    };
    let models = resolve(context, &config, &[format!("local@{LOCAL_MODEL}")])?;
    let model = models.into_iter().next().ok_or_else(|| Error::internal("the local model stands for nothing"))?;
    let seats: Vec<ResolvedModel> = SEATS.iter().map(|seat| seat_of(&model, *seat)).collect();
    let prompts = Prompts::embedded().map_err(|error| Error::internal(error.to_string()))?;
    let judge =
        JudgeRequest { judges: None, rules: SelfVote::Slot.into(), prompts: Arc::new(prompts), prompts_dir: None };
    judge.check(&seats)?;
    context.printer.note(format!(
        "demo: three seats of one small model (local@{LOCAL_MODEL}) answer a question and vote on each other's answers"
    ));
    let notes = seats.iter().zip(1..).map(|(seat, number)| {
        let settings = &seat.settings;
        format!(
            "seat {number} as listed: temperature {}, system prompt \"{}\"",
            settings.temperature.unwrap_or_default(),
            settings.system.as_deref().unwrap_or_default()
        )
    });
    let notes = std::iter::once(
        "this is a demonstration: seats of one small model judge each other (`--self-vote slot`), so the result says \
         nothing about quality"
            .to_owned(),
    )
    .chain(notes)
    .collect();
    let prepared = prepare(context, &config, &seats.iter().collect::<Vec<_>>(), None, false).await?;
    let request = RunRequest {
        kind: SessionKind::Team,
        keeping: Keeping::Folder(config.settings().sessions_dir.clone()),
        title: input.title().to_owned(),
        input: input.text,
        models: seats,
        chosen: None,
        terms: terms(config.settings(), false),
        checks: Checks::default(),
        strict: false,
        judge: Some(judge),
        notes,
        workspace: None,
    };
    let ran =
        conclude(context, prepared, async |context| engine::run(request, context, &mut rand::rng()).await).await?;
    // What is shown is that the whole way works here; a small model that abstains is no failure of that.
    let shown = ran.verdict.is_some() && ran.stop.is_none();
    Ok(if shown { ExitCode::DONE } else { ran.exit_code() })
}

fn seat_of(model: &ResolvedModel, (temperature, seed, system): (f64, u64, &str)) -> ResolvedModel {
    let mut seat = model.clone();
    seat.settings.temperature = Some(temperature);
    seat.settings.seed = Some(seed);
    seat.settings.system = Some(system.to_owned());
    seat.settings.max_tokens = Some(MOST_TOKENS);
    // A small model does not always know when to stop; a cut answer is good enough to see the tool work.
    seat.settings.accept_truncated = true;
    seat
}
