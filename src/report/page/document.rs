//! The file as a whole.

use std::collections::{BTreeMap, BTreeSet};

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Serde, Value, ValueKind};
use minijinja::{AutoEscape, Environment, Output, UndefinedBehavior, context};

use super::{compare, markdown, policy};
use crate::error::{Error, Result};
use crate::findings::Severity;
use crate::ids::SlotId;
use crate::report::sheet::{CellKind, Sheet};

const STYLE: &str = concat!(include_str!("templates/report.css"), include_str!("templates/findings.css"));
const SCRIPT: &str = concat!(include_str!("templates/report.js"), include_str!("templates/findings.js"));

/// Every template by its name; that of the file is the first.
const TEMPLATES: [(&str, &str); 12] = [
    ("report.html", include_str!("templates/report.html")),
    ("verdict.html", include_str!("templates/verdict.html")),
    ("votes.html", include_str!("templates/votes.html")),
    ("members.html", include_str!("templates/members.html")),
    ("issues.html", include_str!("templates/issues.html")),
    ("findings.html", include_str!("templates/findings.html")),
    ("repairs.html", include_str!("templates/repairs.html")),
    ("panels.html", include_str!("templates/panels.html")),
    ("answers.html", include_str!("templates/answers.html")),
    ("timeline.html", include_str!("templates/timeline.html")),
    ("failures.html", include_str!("templates/failures.html")),
    ("integrity.html", include_str!("templates/integrity.html")),
];

/// Answers up to this size are open when the report is, where there are few of them.
const OPEN_BYTES: usize = 32 << 10;
const OPEN_ANSWERS: usize = 6;

/// Up to so many findings are open where something is still to be done about them.
const OPEN_FINDINGS: usize = 30;

/// Longer answers stay closed on paper: hundreds of pages of one would bury the others.
const PRINT_BYTES: usize = 128 << 10;

/// The report as HTML.
///
/// # Errors
/// A template does not fit its data, which no session can bring about.
pub fn html(sheet: &Sheet) -> Result<String> {
    render(sheet).map_err(|error| Error::internal("cannot render the report").with_source(error))
}

fn render(sheet: &Sheet) -> std::result::Result<String, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    environment.set_auto_escape_callback(|_| AutoEscape::Html);

    environment.add_filter("code", |text: String| Value::from_safe_string(with_code(&text)));
    environment.set_formatter(|out, _, value| write_escaped(out, value));
    for (name, source) in TEMPLATES {
        environment.add_template(name, source)?;
    }
    let texts: Vec<(SlotId, &str)> =
        sheet.answers.iter().filter_map(|answer| Some((answer.seat.id, answer.text.as_ref()?.text.as_str()))).collect();
    let pairs = compare::pairs(&texts);
    let all_pairs = texts.len() * texts.len().saturating_sub(1) / 2;
    let bodies: BTreeMap<String, Value> =
        texts.iter().map(|(id, text)| (id.to_string(), Value::from_safe_string(markdown::html(text)))).collect();
    let states: BTreeSet<&str> = sheet.answers.iter().map(|answer| answer.state).collect();
    let kinds: BTreeSet<CellKind> = sheet.answers.iter().flat_map(|answer| answer.votes.iter().copied()).collect();
    let votes: Vec<&str> = kinds.into_iter().map(CellKind::as_str).collect();
    let legend: Vec<_> = CellKind::ALL
        .map(|kind| context! { kind => kind.as_str(), sign => kind.sign(), words => kind.describe() })
        .into();
    let reviewed = sheet.reviewed.as_ref();
    let found = || reviewed.iter().flat_map(|reviewed| &reviewed.groups).flat_map(|group| &group.findings);
    let severities = Severity::ALL.iter().rev().map(|severity| severity.as_str());
    let severities: Vec<&str> = severities.filter(|word| found().any(|finding| finding.severity == *word)).collect();
    let question = reviewed.and_then(|reviewed| reviewed.question.as_deref()).map(markdown::html);
    environment.get_template(TEMPLATES[0].0)?.render(context! {
        sheet => Value::from(Serde(sheet)),
        named => sheet.is_named(),
        bodies,
        states,
        votes,
        legend,
        severities,
        question => question.map(Value::from_safe_string),
        open_findings => found().count() <= OPEN_FINDINGS,
        open_bytes => if sheet.answers.len() <= OPEN_ANSWERS { OPEN_BYTES } else { 0 },
        print_bytes => PRINT_BYTES,
        comparable => texts.len() > 1,
        pairs => Value::from_safe_string(compare::json(&pairs)),
        pairs_left => all_pairs - pairs.len(),
        most_lines => compare::MOST_LINES,
        policy => Value::from_safe_string(policy::policy(SCRIPT, STYLE)),
        style => Value::from_safe_string(STYLE.to_owned()),
        script => Value::from_safe_string(SCRIPT.to_owned()),
    })
}

/// A sentence of ours as HTML: what stands between backticks is code, and everything is text.
fn with_code(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for (index, part) in text.split('`').enumerate() {
        let mark = if index % 2 == 1 { ("<code>", "</code>") } else { ("", "") };
        out.push_str(mark.0);
        markdown::push_text(&mut out, part);
        out.push_str(mark.1);
    }
    out
}

/// Writes a value of a template: what is not marked as HTML is text.
fn write_escaped(out: &mut Output<'_>, value: &Value) -> std::result::Result<(), minijinja::Error> {
    if value.is_safe() || value.kind() == ValueKind::Number {
        return write!(out, "{value}").map_err(minijinja::Error::from);
    }
    if value.is_none() {
        return Ok(());
    }
    let mut text = String::new();
    match value.as_str() {
        Some(plain) => markdown::push_text(&mut text, plain),
        None => markdown::push_text(&mut text, &value.to_string()),
    }
    out.write_str(&text).map_err(minijinja::Error::from)
}
