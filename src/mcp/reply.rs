//! What a tool answers: a JSON object, and where there is one, a text beside it.

use rmcp::model::{CallToolResult, ContentBlock};
use serde::Serialize;

use crate::error::{Error, Result};
use crate::report::without_controls;

/// How much of a text is in a reply; the rest is in its file.
const MOST: usize = 48 * 1024;

/// An object.
pub(super) fn object(value: &impl Serialize) -> Result<CallToolResult> {
    Ok(CallToolResult::success(vec![json(value)?]))
}

/// An object, and a text of models or about them.
pub(super) fn object_and_text(value: &impl Serialize, text: &str) -> Result<CallToolResult> {
    Ok(CallToolResult::success(vec![json(value)?, ContentBlock::text(shortened(text))]))
}

/// What went wrong and what to do, for the model that made the call.
pub(super) fn failure(error: &Error) -> CallToolResult {
    let mut text = error.chain();
    for hint in error.hints() {
        text.push_str("\nhint: ");
        text.push_str(hint);
    }
    CallToolResult::error(vec![ContentBlock::text(without_controls(&text))])
}

fn json(value: &impl Serialize) -> Result<ContentBlock> {
    let text =
        serde_json::to_string(value).map_err(|error| Error::internal("cannot write the reply").with_source(error))?;
    Ok(ContentBlock::text(text))
}

/// The text, or its beginning and a line that says so.
fn shortened(text: &str) -> String {
    if text.len() <= MOST {
        return text.to_owned();
    }
    let end = (0..=MOST).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    format!("{}\n\n[cut: {} of {} bytes; the rest is in the file]", &text[..end], end, text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_between_characters_and_says_so() {
        assert_eq!(shortened("short"), "short");
        let long = format!("a{}", "é".repeat(MOST));
        let cut = shortened(&long);
        assert!(
            cut.len() < MOST + 100 && cut.ends_with("of 98305 bytes; the rest is in the file]"),
            "{}",
            &cut[MOST..]
        );
    }
}
