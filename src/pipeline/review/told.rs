//! What is told of a review besides its findings: `report.md`, and the end of `verdict.md`.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::request::ReviewWork;
use super::seats::SeatEnd;
use crate::findings::ReviewVerdict;
use crate::ids::{Sha256Hash, SlotId};
use crate::pipeline::{ReviewOutcome, Reviewer};
use crate::session::{Layout, Money, Turn};
use crate::verdict::{inline_commands, inline_markdown as inline};

/// The most characters of a text that somebody else wrote.
const TEXT: usize = 4000;

/// What both tell.
pub(super) struct Told<'a> {
    /// The session's id.
    pub(super) session: &'a str,
    /// The head of its record before the verdict.
    pub(super) head: Option<Sha256Hash>,
    /// What a reader must know before the verdict, a line each.
    pub(super) first: &'a [String],
    /// What kept reviewers and judges apart.
    pub(super) isolation: &'a str,
    /// What was spent.
    pub(super) money: &'a Money,
    /// How the conversations went: a line for each seat, with its own.
    pub(super) conversations: &'a [(String, Vec<String>)],
}

/// The end of `verdict.md`.
pub(super) fn trailer(told: &Told<'_>) -> String {
    let head = told.head.map(|head| head.to_string()).unwrap_or_default();
    let mut text = String::from("\n## Record\n\n");
    // Writing to a string cannot fail.
    writeln!(text, "- session: `{}`", told.session).ok();
    writeln!(text, "- head of its record before this: `{head}`").ok();
    writeln!(text, "- kept apart by: {}", inline(told.isolation, TEXT)).ok();
    writeln!(text, "- {}", spent(told.money)).ok();
    text
}

fn spent(money: &Money) -> String {
    let calls = if money.calls == 1 { "call" } else { "calls" };
    let unknown = match money.unknown_calls {
        0 => String::new(),
        count => format!(", without {count} of which the cost is not known"),
    };
    format!("{} {calls}, {} US dollars{unknown}", money.calls, money.known_usd)
}

/// `report.md`: how the review went.
pub(super) fn report(
    work: &ReviewWork,
    verdict: &ReviewVerdict,
    reviewers: &[Reviewer],
    seats: &BTreeMap<SlotId, SeatEnd>,
    place: &str,
    told: &Told<'_>,
) -> String {
    let mut text = format!("# Report of `{}`\n\n{}.\n", told.session, inline(&verdict.sentence, TEXT));
    if !told.first.is_empty() {
        text.push('\n');
    }
    told.first.iter().for_each(|note| text.push_str(&format!("- {}\n", inline_commands(note))));
    writeln!(text, "\nReviewed was {}.", inline(&work.told, TEXT)).ok();
    if let Some(intent) = &work.intent {
        writeln!(text, "What it is meant to do: {}", inline(intent, TEXT)).ok();
    }
    writeln!(text, "\n## Rounds\n\n| Panel | Reviewers | Read | Findings | In the way | Unsettled |").ok();
    writeln!(text, "| :--- | ---: | ---: | ---: | ---: | ---: |").ok();
    writeln!(
        text,
        "| `{place}` | {} | {} | {} | {} | {} |",
        verdict.seats.panel,
        verdict.seats.usable,
        verdict.findings.len(),
        verdict.blocking.len(),
        verdict.unsettled.len()
    )
    .ok();
    writeln!(text, "\n## Reviewers\n\n| Seat | Model | How it ended |\n| :--- | :--- | :--- |").ok();
    for reviewer in reviewers {
        let how = match (&reviewer.outcome, seats.get(&reviewer.id)) {
            (ReviewOutcome::Failed(why), _) => inline(why, TEXT),
            (ReviewOutcome::Found { count, .. }, Some(SeatEnd::Read { by: Some(turn), .. })) => {
                let turn = if *turn == Turn::Fresh { "asked anew" } else { "asked once more" };
                format!("{count} found, {turn}")
            }
            (ReviewOutcome::Found { count, .. }, _) => format!("{count} found"),
        };
        writeln!(text, "| {} | {} | {how} |", reviewer.id, inline(&reviewer.model, TEXT)).ok();
    }
    if !told.conversations.is_empty() {
        writeln!(text, "\n## Conversations\n").ok();
        for (seat, strayed) in told.conversations {
            writeln!(text, "- {}", inline(seat, TEXT)).ok();
            for line in strayed {
                writeln!(text, "  - {}", inline(line, TEXT)).ok();
            }
        }
    }
    writeln!(text, "\n## Files\n").ok();
    writeln!(text, "- `{}`: what was reviewed", work.kind.file()).ok();
    writeln!(text, "- `{place}/{}`: what was found, and what was made of it", Layout::CONSOLIDATED).ok();
    writeln!(text, "- `{}`: what became of each finding", Layout::LEDGER).ok();
    text + &trailer(told)
}
