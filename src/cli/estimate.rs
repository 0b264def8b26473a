//! `--estimate`: what a command would send and cost. Nothing is started, nobody asked, nothing written.

use super::context::Context;
use crate::engine::{Estimate, Range, SeatEstimate, UsdRange};
use crate::error::{ExitCode, Result};

/// Prints the estimate.
pub(super) fn show(context: &Context, estimate: &Estimate) -> Result<ExitCode> {
    if context.global.json {
        context.printer.json(estimate)?;
    } else {
        context.printer.document(&text(estimate))?;
    }
    context.printer.note("nothing was started");
    Ok(ExitCode::DONE)
}

fn text(estimate: &Estimate) -> String {
    let mut rows = vec![["seat", "model", "calls", "tokens in", "tokens out", "US dollars"].map(str::to_owned)];
    rows.extend(estimate.seats.iter().map(row));
    let widths: Vec<usize> =
        (0..6).map(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0)).collect();
    let line = |row: &[String; 6]| {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        format!("{}\n", cells.join("  ").trim_end())
    };
    let mut text: String = rows.iter().map(line).collect();
    if let Some(covers) = &estimate.covers {
        text.push_str(&format!("\n{covers}\n"));
    }
    text.push_str(&format!("\nIn all {}", sum(estimate)));
    text.push_str(
        ".\nA token is taken as 2 to 5 bytes, an answer as 100 tokens to `max_tokens` (4000 where none is set), a ballot as 60\n\
         to 400 tokens per answer, reasoning not counted. What agent programs send besides is not known. Prices are those of\n\
         `price` in `[models.x]`.\n",
    );
    text
}

/// What is unknown is neither nothing nor left out of the sum in silence.
fn sum(estimate: &Estimate) -> String {
    let (unknown, seats) = (estimate.unknown_seats, estimate.seats.len());
    let Some(usd) = estimate.usd else { return "unknown: the price of no seat is known".to_owned() };
    if unknown == 0 {
        return format!("{} US dollars", dollars(usd));
    }
    // A sum without a most says so by itself.
    let more = if usd.high.is_some() { " and more" } else { "" };
    format!("{} US dollars{more}, without {unknown} of {seats} seats, whose price is unknown", dollars(usd))
}

fn row(seat: &SeatEstimate) -> [String; 6] {
    [
        seat.seat.to_owned(),
        seat.model.clone(),
        range(seat.calls),
        range(seat.input_tokens),
        range(seat.output_tokens),
        seat.usd.map_or_else(|| "unknown".to_owned(), dollars),
    ]
}

fn range(range: Range) -> String {
    match range.high {
        Some(high) if high == range.low => high.to_string(),
        Some(high) => format!("{} to {high}", range.low),
        None => format!("{} or more", range.low),
    }
}

fn dollars(usd: UsdRange) -> String {
    match usd.high {
        Some(high) if high == usd.low => high.to_string(),
        Some(high) => format!("{} to {high}", usd.low),
        None => format!("{} or more", usd.low),
    }
}
