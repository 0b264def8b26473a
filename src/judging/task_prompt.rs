//! The prompt of a vote on the task itself: one for the whole panel.

use minijinja::context;

use super::copy::push_contained;
use super::{Nonce, PromptError};
use crate::prompts::{PromptName, Prompts};

/// The text that every member of the panel receives: the user's `task` between fences that nobody who wrote it can
/// close, and how to vote. In the copy of the task, marks that look like ours and openings of `vote` blocks are made
/// harmless, and characters that act or hide are made visible.
///
/// # Errors
/// The template is not usable, or does not hold the task exactly once.
pub fn task_prompt(prompts: &Prompts, task: &str, nonce: &Nonce) -> Result<String, PromptError> {
    let mut contained = String::new();
    push_contained(&mut contained, task.strip_prefix('\u{feff}').unwrap_or(task));
    fill(prompts, PromptName::Vote, nonce, &[("task", &contained)])
}

/// The text `name` with each place filled by its fenced text. These never pass through the template engine: marks that
/// nobody can guess hold their places.
fn fill(
    prompts: &Prompts,
    name: PromptName,
    nonce: &Nonce,
    places: &[(&'static str, &str)],
) -> Result<String, PromptError> {
    let mark = |place: &str| format!("\u{1}{nonce} {place}\u{1}");
    let marks = places.iter().map(|(place, _)| ((*place).to_owned(), mark(place)));
    let values: std::collections::BTreeMap<String, String> =
        marks.chain([("nonce".to_owned(), nonce.to_string())]).collect();
    let mut text = prompts.render(name, context! { ..values })?;
    // The template engine drops the last line feed.
    if !text.ends_with('\n') {
        text.push('\n');
    }
    let mut pieces: Vec<(usize, usize, &str)> = Vec::new();
    for (place, content) in places {
        let mark = mark(place);
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
        filled.push_str(&format!("BEGIN {nonce}\n{content}END {nonce}"));
        from = end;
    }
    filled.push_str(&text[from..]);
    Ok(filled)
}
