//! Writes every prompt of a round once to nobody, so that a text that cannot be used is told before anybody is asked.

use std::io::sink;

use rand::SeedableRng;
use rand::rngs::StdRng;

use super::{
    Alias, Assignment, BallotForm, CopyRules, JudgePrompts, LeakScan, Nonce, PromptError, TaskRepairPrompt,
    task_prompt, task_repair_prompt,
};
use crate::config::Leaks;
use crate::ids::SlotId;
use crate::prompts::Prompts;

const FORMS: [BallotForm; 2] = [BallotForm::Blocks, BallotForm::Json];

/// Whether the texts for judges can be used, for one answer and for more.
///
/// # Errors
/// A template is not usable, or does not hold a place exactly once.
pub fn rehearse_judging(prompts: &Prompts) -> Result<(), PromptError> {
    // What is drawn goes nowhere; the same each time, so that the check is.
    let mut rng = StdRng::seed_from_u64(0);
    let answers: Vec<SlotId> = SlotId::panel(2).collect();
    let texts = answers.iter().map(|id| (*id, &b"An answer."[..]));
    let round =
        JudgePrompts::new(prompts, b"A task.", texts, CopyRules { scan: &LeakScan::new([""; 0]), leaks: Leaks::Flag });
    for shown in [&answers[..1], &answers[..]] {
        let assignment = Assignment {
            judge: answers[0],
            shown: shown.iter().map(|id| (*id, Alias::draw(&mut rng))).collect(),
            nonce: Nonce::draw(&mut rng),
        };
        for form in FORMS {
            round.write(&assignment, form, &mut sink())?;
            round.write_repair(&assignment, form, b"A reply.", None, &mut sink())?;
        }
    }
    Ok(())
}

/// Whether the texts for a vote on a task can be used.
///
/// # Errors
/// As [`rehearse_judging`].
pub fn rehearse_voting(prompts: &Prompts) -> Result<(), PromptError> {
    let nonce = Nonce::draw(&mut StdRng::seed_from_u64(0));
    let (task, reply) = ("A task.", &b"A reply."[..]);
    task_prompt(prompts, task, &nonce)?;
    for (member, form) in SlotId::panel(FORMS.len()).zip(FORMS) {
        let parts = TaskRepairPrompt { task, member, reply, context_tokens: None, form, nonce: &nonce };
        task_repair_prompt(prompts, parts)?;
    }
    Ok(())
}
