//! What is told of a review besides its findings: `report.md`, and the end of `verdict.md`.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::request::ReviewWork;
use super::seats::SeatEnd;
use crate::findings::ReviewVerdict;
use crate::ids::{Sha256Hash, SlotId};
use crate::pipeline::{ReviewOutcome, Reviewer, markdown};
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

/// What was spent, in words. What is not known is not called nothing.
pub(in crate::pipeline) fn spent(money: &Money) -> String {
    let calls = if money.calls == 1 { "1 call".to_owned() } else { format!("{} calls", money.calls) };
    match money.unknown_calls {
        0 => format!("{calls}, {} US dollars", money.known_usd),
        all if all == money.calls => format!("{calls}, of unknown cost"),
        unknown => {
            let known = money.known_usd;
            format!("{calls}: {known} US dollars, and what {unknown} of them cost is not known")
        }
    }
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
    let sentence = markdown::sentence(&inline(&verdict.sentence, TEXT));
    let mut text = format!("# Report of `{}`\n\n{sentence}.\n", told.session);
    if !told.first.is_empty() {
        text.push('\n');
    }
    told.first.iter().for_each(|note| text.push_str(&format!("- {}\n", inline_commands(note))));
    writeln!(text, "\nThis was reviewed: {}.", inline_commands(&work.told)).ok();
    if let Some(intent) = &work.intent {
        writeln!(text, "\nIt is meant to do this: {}", markdown::paragraphs(intent)).ok();
    }
    writeln!(text, "\n## Reviews\n\n| Panel | Reviewers | Read | Findings | In the way | Unsettled |").ok();
    writeln!(text, "| :--- | ---: | ---: | ---: | ---: | ---: |").ok();
    writeln!(
        text,
        "| [`{place}`]({place}/) | {} | {} | {} | {} | {} |",
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
        writeln!(text, "| {} | {} | {how} |", reviewer.id, inline(reviewer.model.as_deref().unwrap_or_default(), TEXT))
            .ok();
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
    let consolidated = format!("{place}/{}", Layout::CONSOLIDATED);
    for (file, what) in [
        (consolidated.as_str(), "what was found, and what was made of it"),
        (work.kind.file(), "what was reviewed"),
        (Layout::LEDGER, "what became of each finding, line by line"),
    ] {
        writeln!(text, "- [`{file}`]({file}): {what}").ok();
    }
    text + &trailer(told)
}
