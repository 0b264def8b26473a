//! What is said of imported ballots, and of judgements of two answers against each other.

use crate::judging::Imports;
use crate::verdict::{PairResult, Verdict};

use super::escape::inline;
use super::sections::{LONGEST_TEXT, inline_commands, interval, percent, plural};
use super::{Context, Names};

/// The win rates.
pub(super) fn ranking(pairs: &[PairResult], names: &Names) -> String {
    let mut text = String::from(
        "## Ranking\n\nBy win rate, a tie counting as half a win.\n\n\
         | Rank | Answer | Model | Wins | Losses | Ties | Win rate | 95 % interval | N |\n\
         | ---: | :--- | :--- | ---: | ---: | ---: | ---: | :--- | ---: |",
    );
    for pair in pairs {
        let shared = pairs.iter().filter(|other| other.rank.is_some() && other.rank == pair.rank).count() > 1;
        let rank = match pair.rank {
            Some(rank) if shared => format!("{rank} (shared)"),
            Some(rank) => rank.to_string(),
            None => "-".to_owned(),
        };
        text.push_str(&format!(
            "\n| {rank} | {} | {} | {} | {} | {} | {} | {} | {} |",
            pair.answer,
            names.slot(pair.answer),
            pair.wins,
            pair.losses,
            pair.ties,
            pair.rate.map_or_else(|| "none".to_owned(), percent),
            pair.interval.map_or_else(|| "-".to_owned(), interval),
            pair.comparisons()
        ));
    }
    text
}

/// How a round of imported ballots was made.
pub(super) fn imported(imports: &Imports, verdict: &Verdict, context: &Context) -> String {
    let panel = &verdict.panel;
    let mut lines = vec![
        format!("- Panel: {} of {} complete", panel.completed_slots, plural(panel.slots, "answer")),
        format!(
            "- The ballots of {} were made elsewhere and imported; nobody was asked. What these judges were shown, in \
             which order and whether they knew the authors is not known here",
            plural(panel.judges, "judge")
        ),
    ];
    for file in &imports.files {
        lines.push(format!(
            "- From: {} (kept as `{}`, SHA-256 `{}`)",
            inline(&file.name, LONGEST_TEXT),
            file.kept,
            file.sha256
        ));
    }
    if let Some(pattern) = &imports.pattern {
        lines.push(format!("- Read by the pattern: {}", inline(pattern, LONGEST_TEXT)));
    }
    lines.extend(context.notes.iter().map(|note| format!("- Note: {}", inline_commands(note))));
    format!("## How it was made\n\n{}", lines.join("\n"))
}
