//! The prompts of a vote on the task itself: one for the whole panel, and one for a member whose vote cannot be read.

use minijinja::context;

use super::copy::{ANSWER_LIMIT, contained_reply, push_contained};
use super::fit::available;
use super::{BallotForm, Nonce, PromptError};
use crate::ids::SlotId;
use crate::prompts::{PromptName, Prompts};

/// The text that every member of the panel receives: the user's `task` between fences that nobody who wrote it can
/// close, and how to vote. In the copy of the task, marks that look like ours and openings of `vote` blocks are made
/// harmless, and characters that act or hide are made visible.
///
/// # Errors
/// The template is not usable, or does not hold the task exactly once.
pub fn task_prompt(prompts: &Prompts, task: &str, nonce: &Nonce) -> Result<String, PromptError> {
    let task = fenced(nonce, &contained(task));
    let values = context! { nonce => nonce.as_str(), task => place_mark(nonce, "task") };
    fill_places(prompts.render(PromptName::Vote, values)?, PromptName::Vote, nonce, &[("task", &task)])
}

/// What the text of [`task_repair_prompt`] is made of.
#[derive(Debug, Clone, Copy)]
pub struct TaskRepairPrompt<'a> {
    /// The text that is voted on.
    pub task: &'a str,
    /// The member.
    pub member: SlotId,
    /// Its reply, which has no vote that can be read.
    pub reply: &'a [u8],
    /// Its declared context: the reply is cut to what it leaves room for.
    pub context_tokens: Option<u64>,
    /// How it is asked to vote.
    pub form: BallotForm,
    /// The code in the fences.
    pub nonce: &'a Nonce,
}

/// The text that a member receives whose reply has no vote that can be read.
///
/// # Errors
/// As [`task_prompt`]; the reply is a place as well.
pub fn task_repair_prompt(prompts: &Prompts, parts: TaskRepairPrompt<'_>) -> Result<String, PromptError> {
    let TaskRepairPrompt { task, member, reply, context_tokens, form, nonce } = parts;
    let name = PromptName::VoteRepair;
    let task = fenced(nonce, &contained(task));
    let rendered = prompts.render(
        name,
        context! {
            nonce => nonce.as_str(), json => form == BallotForm::Json,
            task => place_mark(nonce, "task"), reply => place_mark(nonce, "reply"),
        },
    )?;
    let mut room = ANSWER_LIMIT;
    if let Some(tokens) = context_tokens {
        let without = (rendered.len() + task.len()) as u64;
        room = room.min(usize::try_from(available(tokens).saturating_sub(without)).unwrap_or(usize::MAX));
    }
    let reply = fenced(nonce, &contained_reply(member, reply, room));
    fill_places(rendered, name, nonce, &[("task", &task), ("reply", &reply)])
}

/// `task` between marks of the prompt: nothing in it looks like one, acts or hides. Ends in a line feed.
pub(crate) fn contained(task: &str) -> String {
    let mut contained = String::new();
    push_contained(&mut contained, task.strip_prefix('\u{feff}').unwrap_or(task));
    contained
}

/// What holds a place while the template is filled in: the texts themselves never pass through the template engine.
pub(crate) fn place_mark(nonce: &Nonce, place: &str) -> String {
    format!("\u{1}{nonce} {place}\u{1}")
}

/// `content`, which ends in a line feed, between fences.
pub(crate) fn fenced(nonce: &Nonce, content: &str) -> String {
    format!("BEGIN {nonce}\n{content}END {nonce}")
}

/// `text`, rendered from the template `name`, with each place filled by its text.
pub(crate) fn fill_places(
    mut text: String,
    name: PromptName,
    nonce: &Nonce,
    places: &[(&'static str, &str)],
) -> Result<String, PromptError> {
    // The template engine drops the last line feed.
    if !text.ends_with('\n') {
        text.push('\n');
    }
    let mut pieces: Vec<(usize, usize, &str)> = Vec::new();
    for (place, content) in places {
        let mark = place_mark(nonce, place);
        let found: Vec<usize> = text.match_indices(&mark).map(|(start, _)| start).collect();
        match found[..] {
            [start] => pieces.push((start, start + mark.len(), content)),
            _ => return Err(PromptError::Place { file: name.file_name(), place, count: found.len() }),
        }
    }
    pieces.sort_by_key(|(start, ..)| *start);
    let mut filled =
        String::with_capacity(text.len() + pieces.iter().map(|(.., content)| content.len()).sum::<usize>());
    let mut from = 0;
    for (start, end, content) in pieces {
        filled.push_str(&text[from..start]);
        filled.push_str(content);
        from = end;
    }
    filled.push_str(&text[from..]);
    Ok(filled)
}
