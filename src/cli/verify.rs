//! `team verify`: whether a session's folder still is what its record says.

use std::fmt::Write;

use super::args::VerifyArgs;
use super::context::Context;
use crate::engine::{self, Checked, Verification};
use crate::error::{ExitCode, Result};
use crate::report::{bytes, without_controls};
use crate::session::Catalogue;

/// What a good outcome means, and what not.
const SHOWS: &str = "\
shows    the folder agrees with itself: nothing was changed, added or taken away without writing the record anew
not      who wrote it: for that, compare the head with one noted elsewhere (`--head`); what programs left in `work/`";

/// Checks a session, and says what holds. Writes nothing.
pub(super) fn verify(args: &VerifyArgs, context: &Context) -> Result<ExitCode> {
    let config = context.load(context.global.settings())?;
    let layout = Catalogue::new(&config.settings().sessions_dir).find_any(&args.session.session)?;
    let found = engine::verify(&layout, args.head)?;
    if context.global.json {
        context.printer.json(&found)?;
    } else {
        let folder = layout.root().display().to_string();
        // Names of files that somebody planted and words of models stand in it.
        context.printer.document(&without_controls(&text(&found, &folder)))?;
    }
    Ok(if found.verified { ExitCode::DONE } else { ExitCode::INTEGRITY })
}

fn text(found: &Verification, folder: &str) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let mut line = |line: String| writeln!(text, "{line}").unwrap_or_default();
    line(format!("session  {}", found.session.as_deref().unwrap_or("unknown")));
    line(format!("folder   {folder}"));
    if let Some(state) = found.state {
        line(format!("state    {}", state.as_str()));
    }
    for record in &found.records {
        let head = record.head.map_or_else(|| "none".to_owned(), |head| head.to_string());
        let open = if record.closed { "" } else { ", not closed" };
        line(format!("record   {}: {}{open}, head {head}", record.file, count(record.events as u64, "line")));
    }
    line(format!("checked  {}", checked(&found.checked)));
    for note in &found.notes {
        line(format!("note     {}", one_line(note)));
    }
    for mismatch in &found.mismatches {
        line(format!("mismatch {}", one_line(&mismatch.to_string())));
        for (name, value) in [("expected", &mismatch.expected), ("found", &mismatch.found)] {
            if let Some(value) = value {
                line(format!("         {name:<8}  {}", one_line(value)));
            }
        }
    }
    if found.verified {
        line(SHOWS.to_owned());
    }
    line(match &found.mismatches[..] {
        [] => {
            let head = found.records.first().and_then(|own| own.head).map(|head| head.to_string()).unwrap_or_default();
            format!("verified: everything is as it was recorded, up to head {head}")
        }
        [first, rest @ ..] => {
            let many = plural(rest.len() as u64 + 1, "mismatch", "mismatches");
            let first = one_line(&first.to_string());
            format!("NOT verified: {many}{} {first}", if rest.is_empty() { ":" } else { ", the first:" })
        }
    });
    text
}

/// What was read, in words.
pub(super) fn checked(checked: &Checked) -> String {
    format!(
        "{} ({}): {}, {}; {} read again for {}, {} counted again",
        count(checked.files, "file"),
        bytes(checked.bytes),
        count(checked.answers, "answer"),
        count(checked.rounds, "round"),
        plural(checked.ballots, "reply", "replies"),
        count(checked.votes, "vote"),
        count(checked.verdicts, "verdict"),
    )
}

/// The name of a planted file, or a model's words, must not pass for a line of ours.
fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], "\u{fffd}")
}

fn count(number: u64, noun: &str) -> String {
    plural(number, noun, &format!("{noun}s"))
}

fn plural(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}
