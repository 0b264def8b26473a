//! The numbers as CSV (RFC 4180): a line for each model of each group.

use super::model::{Share, Stats};

/// What a cell must not begin with: a spreadsheet would take it for a formula (OWASP, "CSV Injection").
const FORMULA: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];

const HEAD: [&str; 37] = [
    "group",
    "votes",
    "model",
    "name",
    "sessions",
    "asked",
    "answered",
    "answered_share",
    "answered_low",
    "answered_high",
    "failed",
    "failed_share",
    "failed_low",
    "failed_high",
    "won",
    "won_of",
    "won_share",
    "won_low",
    "won_high",
    "approved",
    "approved_of",
    "approved_share",
    "approved_low",
    "approved_high",
    "agreed",
    "agreed_of",
    "agreed_share",
    "agreed_low",
    "agreed_high",
    "seconds_of",
    "seconds_median",
    "input_tokens_of",
    "input_tokens",
    "output_tokens_of",
    "output_tokens",
    "cost_usd_of",
    "cost_usd",
];

/// The CSV of `stats`; what is unknown is empty.
#[must_use]
pub fn stats_csv(stats: &Stats) -> String {
    let mut out = String::new();
    line(&mut out, HEAD.map(str::to_owned));
    for group in &stats.groups {
        for model in &group.models {
            let whole = |share: Share| [share.count.to_string(), share.of.to_string()];
            let parts = |share: Share| {
                let interval = share.interval;
                [share.share, interval.map(|interval| interval.low), interval.map(|interval| interval.high)].map(shown)
            };
            let sum = |sum: super::model::Sum| [sum.of.to_string(), shown(sum.total)];
            let cells = [
                text(group.name.as_deref().unwrap_or_default()),
                if group.imported { "imported" } else { "asked" }.to_owned(),
                text(&model.model),
                text(model.names.first().map_or("", String::as_str)),
                model.sessions.to_string(),
                model.answered.of.to_string(),
                model.answered.count.to_string(),
            ]
            .into_iter()
            .chain(parts(model.answered))
            .chain([model.failed.count.to_string()])
            .chain(parts(model.failed));
            let shares = [model.won, model.approved, model.agreed];
            let cells = cells
                .chain(shares.into_iter().flat_map(|share| whole(share).into_iter().chain(parts(share))))
                .chain([model.seconds.of.to_string(), shown(model.seconds.median)])
                .chain(sum(model.input_tokens))
                .chain(sum(model.output_tokens))
                .chain([model.cost_usd.of.to_string(), shown(model.cost_usd.total)]);
            line(&mut out, cells);
        }
    }
    out
}

fn shown(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// A text of somebody's: not a formula, whatever it begins with.
fn text(value: &str) -> String {
    if value.starts_with(FORMULA) { format!("'{value}") } else { value.to_owned() }
}

fn line(out: &mut String, cells: impl IntoIterator<Item = String>) {
    for (at, cell) in cells.into_iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        if cell.contains([',', '"', '\r', '\n']) {
            out.push('"');
            out.push_str(&cell.replace('"', "\"\""));
            out.push('"');
        } else {
            out.push_str(&cell);
        }
    }
    out.push_str("\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::stats::{Group, ModelStats};

    #[test]
    fn names_are_quoted_and_no_formula_is_let_through() {
        let model = ModelStats {
            model: "=HYPERLINK(\"http://x\",\"y\")".to_owned(),
            names: vec!["@a,b".to_owned()],
            sessions: 1,
            answered: Share { count: 1, of: 2, share: Some(0.5), interval: None },
            failed: Share::default(),
            won: Share::default(),
            approved: Share::default(),
            agreed: Share::default(),
            seconds: Default::default(),
            input_tokens: Default::default(),
            output_tokens: Default::default(),
            cost_usd: Default::default(),
        };
        let stats = Stats {
            version: crate::ids::FormatVersion::CURRENT,
            since: None,
            until: None,
            context: None,
            by: None,
            sessions: 1,
            skipped: Default::default(),
            groups: vec![Group { name: None, imported: false, sessions: 1, models: vec![model] }],
        };
        let csv = stats_csv(&stats);
        let lines: Vec<&str> = csv.split_terminator("\r\n").collect();
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[0].split(',').count(), HEAD.len());
        assert!(
            lines[1].starts_with(",asked,\"'=HYPERLINK(\"\"http://x\"\",\"\"y\"\")\",\"'@a,b\",1,2,1,0.5,,,0,"),
            "{}",
            lines[1]
        );
        // Each of the two quoted cells has one comma of its own.
        assert_eq!(lines[1].split(',').count(), HEAD.len() + 2);
    }
}
