//! The numbers for a person.

use super::model::{Cost, Group, ModelStats, Share, Spread, Stats, Sum};
use crate::report::format::{grouped, seconds};
use crate::report::paper::Paper;

/// The numbers as text for a terminal of this many columns.
#[must_use]
pub fn stats_text(stats: &Stats, width: usize) -> String {
    let mut page = Paper::new(width);
    let counted = match stats.sessions {
        1 => "1 session counts".to_owned(),
        count => format!("{count} sessions count"),
    };
    page.paragraph("", &counted);
    for (reason, count) in &stats.skipped {
        page.paragraph("  left out: ", &format!("{count} {}", reason.describe()));
    }
    for group in &stats.groups {
        let name = match (&group.name, stats.by) {
            (Some(name), _) => name.clone(),
            (None, Some(by)) => format!("no {}", by.as_str()),
            (None, None) => "All".to_owned(),
        };
        let imported = if group.imported { ", imported votes" } else { "" };
        page.heading(&format!("{name}{imported} (N = {})", group.sessions));
        models(group, &mut page);
    }
    if stats.groups.iter().any(|group| !group.models.is_empty()) {
        page.blank();
        page.paragraph("", NOTE);
    }
    page.finish()
}

const NOTE: &str = "A model is counted by what it is; where `name (model)` stands, the name is the one that it has in the newest \
    session, such as an alias of `team.toml`. k/N is k of N; the range is the 95 % interval (Wilson 1927) as if all seats and votes were \
    independent, which those of one session are not. `agreed` is with most of the other voters. Time is the median of \
    complete answers. Questions, panels and judges differ between sessions: nothing here ranks models in general.";

fn models(group: &Group, page: &mut Paper) {
    let head = ["model", "answered", "failed", "won", "approved", "agreed", "time", "tokens in", "tokens out", "cost"];
    let mut rows = vec![head.map(str::to_owned)];
    rows.extend(group.models.iter().map(row));
    // What does not fit on a narrow page is left to a list.
    if page.fits(&rows) {
        let all = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
        page.table(&rows, &all);
        return;
    }
    for row in &rows[1..] {
        page.paragraph("", &row[0]);
        for (name, value) in head.iter().zip(row).skip(1).filter(|(_, value)| *value != "-") {
            page.paragraph(&format!("  {name:<10}  "), value);
        }
    }
}

fn row(model: &ModelStats) -> [String; 10] {
    let name = match model.names.first() {
        Some(name) if !model.model.ends_with(name.as_str()) => format!("{name} ({})", model.model),
        _ => model.model.clone(),
    };
    [
        name,
        share(model.answered),
        share(model.failed),
        share(model.won),
        share(model.approved),
        share(model.agreed),
        time(model.seconds),
        sum(model.input_tokens, model.answered.count),
        sum(model.output_tokens, model.answered.count),
        cost(model.cost_usd, model.answered.of),
    ]
}

/// `3/4 75 % (30-95)`.
fn share(share: Share) -> String {
    let (Some(value), Some(interval)) = (share.share, share.interval) else { return "-".to_owned() };
    let percent = |value: f64| format!("{:.0}", value * 100.0);
    format!("{}/{} {} % ({}-{})", share.count, share.of, percent(value), percent(interval.low), percent(interval.high))
}

fn time(spread: Spread) -> String {
    match spread.median {
        None => "-".to_owned(),
        Some(short) if short < 60.0 => format!("{short:.1}s"),
        Some(long) => seconds(long as u64),
    }
}

fn cost(cost: Cost, of: u32) -> String {
    match cost.total {
        None => "unknown".to_owned(),
        Some(total) if cost.of < of => format!("${total} (of {}/{of})", cost.of),
        Some(total) => format!("${total}"),
    }
}

/// With of how many it is known, where that is not all.
fn sum(sum: Sum, of: u32) -> String {
    match sum.total {
        None => "unknown".to_owned(),
        Some(total) if sum.of < of => format!("{} (of {}/{of})", grouped(total), sum.of),
        Some(total) => grouped(total),
    }
}
