//! From the JSON of a block to findings.

use serde_json::{Map, Value};

use super::text::{self, Cleaned};
use super::{Action, Finding, FindingsNote, FindingsNoteKind, FindingsRead, Lines};
use crate::config::Severity;

/// The most findings of one reviewer.
pub(super) const MOST_FINDINGS: usize = 100;

const LONGEST_TITLE: usize = 200;
const LONGEST_TEXT: usize = 4000;
const LONGEST_PATH: usize = 500;
const LONGEST_NOTE: usize = 60;
/// Notes beyond these would only repeat themselves.
const MOST_NOTES: usize = 100;

/// The fields of a finding, and other names by which they are taken.
const FIELDS: [(&str, &[&str]); 9] = [
    ("severity", &[]),
    ("action", &[]),
    ("file", &["path"]),
    ("line", &["lines", "start_line"]),
    ("end_line", &[]),
    ("title", &[]),
    ("description", &[]),
    ("evidence", &[]),
    ("suggestion", &[]),
];

/// Reads `value`, the whole of a block. An absolute path below one of `roots` is one inside of what is reviewed.
///
/// # Errors
/// All that is not as expected, each with its place.
pub(super) fn read_all(value: &Value, roots: &[&str]) -> Result<FindingsRead, Vec<String>> {
    let mut read = FindingsRead::default();
    let mut problems = Vec::new();
    let list = match value {
        Value::Array(list) => list,
        Value::Object(object) => match object.get("findings") {
            Some(Value::Array(list)) => list,
            Some(other) => return Err(vec![wrong("findings", "an array", other)]),
            None => {
                return Err(vec!["the field `findings` is missing: an array, empty if nothing was found".to_owned()]);
            }
        },
        other => return Err(vec![wrong("", "an object with the array `findings`", other)]),
    };
    if list.len() > MOST_FINDINGS {
        return Err(vec![format!(
            "findings: {} are too many; give the {MOST_FINDINGS} that matter most, and one for what repeats itself",
            list.len()
        )]);
    }
    for (index, value) in list.iter().enumerate() {
        let Value::Object(fields) = value else {
            problems.push(wrong(&format!("findings[{index}]"), "an object", value));
            continue;
        };
        let mut reader = Reader { fields, index, roots, problems: &mut problems, notes: &mut read.notes };
        read.findings.extend(reader.finding());
    }
    if problems.is_empty() { Ok(read) } else { Err(problems) }
}

/// What is said of `value` at `place`.
fn wrong(place: &str, expected: &str, value: &Value) -> String {
    let found = match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    };
    let place = if place.is_empty() { "the whole" } else { place };
    format!("{place}: expected {expected}, found {found}")
}

struct Reader<'a> {
    fields: &'a Map<String, Value>,
    index: usize,
    roots: &'a [&'a str],
    problems: &'a mut Vec<String>,
    notes: &'a mut Vec<FindingsNote>,
}

impl Reader<'_> {
    /// `None` where something is wrong; then it is among the problems.
    fn finding(&mut self) -> Option<Finding> {
        let before = self.problems.len();
        self.note_unknown_fields();
        let severity = self.severity();
        let action = self.action();
        let title = self.required("title", |text| text::line(text, LONGEST_TITLE));
        let description = self.required("description", |text| text::block(text, LONGEST_TEXT));
        let evidence = self.text("evidence").unwrap_or_default();
        let suggestion = self.text("suggestion").unwrap_or_default();
        let evidence = self.kept(text::block(&evidence, LONGEST_TEXT));
        let suggestion = self.kept(text::block(&suggestion, LONGEST_TEXT));
        let named = self.text("file").unwrap_or_default();
        let (named, behind) = without_lines(named.trim());
        let lines = self.lines(behind);
        let (file, outside) = self.file(named);
        let mut description = description?;
        if let Some(outside) = outside {
            description.push_str(&format!("\n\n(The file was given as: {outside})"));
        }
        // Lines of a file that is not known are lines of nothing.
        let lines = lines.filter(|_| file.is_some());
        (self.problems.len() == before).then_some(Finding {
            severity,
            action,
            file,
            lines,
            title: title?,
            description,
            evidence,
            suggestion,
        })
    }

    /// The value of the field `name`; an explicit `null` is the same as no field.
    fn value(&self, name: &str) -> Option<&Value> {
        let others = FIELDS.iter().find(|(field, _)| *field == name).map(|(_, others)| *others).unwrap_or_default();
        let mut names = std::iter::once(&name).chain(others);
        names.find_map(|name| self.fields.get(*name)).filter(|value| !value.is_null())
    }

    fn text(&mut self, name: &str) -> Option<String> {
        match self.value(name)? {
            Value::String(text) => Some(text.clone()),
            other => {
                let problem = wrong(&self.place(name), "a string", other);
                self.problems.push(problem);
                None
            }
        }
    }

    fn required(&mut self, name: &str, clean: impl Fn(&str) -> Cleaned) -> Option<String> {
        let before = self.problems.len();
        let text = self.text(name).unwrap_or_default();
        if self.problems.len() > before {
            return None;
        }
        let cleaned = clean(&text);
        if cleaned.text.is_empty() {
            self.problems.push(format!("{}: missing or empty; every finding needs one", self.place(name)));
            return None;
        }
        Some(self.kept(cleaned))
    }

    fn severity(&mut self) -> Severity {
        let word = self.text("severity");
        let known = word.as_deref().and_then(|word| Severity::ALL.into_iter().find(|s| same_word(word, s.as_str())));
        known.unwrap_or_else(|| {
            self.note(FindingsNoteKind::UnknownSeverity, word.as_deref());
            Severity::Critical
        })
    }

    fn action(&mut self) -> Action {
        let word = self.text("action");
        let known = word.as_deref().and_then(|word| Action::ALL.into_iter().find(|a| same_word(word, a.as_str())));
        known.unwrap_or_else(|| {
            self.note(FindingsNoteKind::UnknownAction, word.as_deref());
            Action::AskUser
        })
    }

    /// The lines that are given, else those that stood `behind` the name of the file.
    fn lines(&mut self, behind: Option<Lines>) -> Option<Lines> {
        let Some(start) = self.value("line").cloned() else { return behind };
        let end = self.value("end_line").cloned();
        let range = match (&start, &end) {
            (Value::String(text), _) if text.trim().is_empty() => return behind,
            (Value::String(text), None) => range(text),
            (start, end) => match (number(start), end.as_ref().map(number)) {
                // 0 is how one says that there is none where a number is asked for.
                (Some(0), _) => return behind,
                (Some(start), None | Some(Some(0))) => Lines::new(start, start),
                (Some(start), Some(Some(end))) => Lines::new(start.min(end), start.max(end)),
                (None, _) | (_, Some(None)) => None,
            },
        };
        if !matches!(start, Value::String(_) | Value::Number(_)) {
            let problem = wrong(&self.place("line"), "a whole number", &start);
            self.problems.push(problem);
        } else if let Some(end) = end.filter(|end| !matches!(end, Value::String(_) | Value::Number(_))) {
            let problem = wrong(&self.place("end_line"), "a whole number", &end);
            self.problems.push(problem);
        } else if range.is_none() {
            self.note(FindingsNoteKind::BadLines, Some(&start.to_string()));
        }
        range.or(behind)
    }

    /// The path, or what was given instead of one.
    fn file(&mut self, named: &str) -> (Option<String>, Option<String>) {
        if named.is_empty() {
            return (None, None);
        }
        match relative(named, self.roots) {
            Some(path) => (Some(path), None),
            None => {
                let told = text::line(named, LONGEST_PATH).text;
                self.note(FindingsNoteKind::NotAPath, Some(&told));
                (None, Some(told))
            }
        }
    }

    fn kept(&mut self, cleaned: Cleaned) -> String {
        if cleaned.cut {
            self.note(FindingsNoteKind::Shortened, None);
        }
        cleaned.text
    }

    fn note_unknown_fields(&mut self) {
        let known = |name: &str| FIELDS.iter().any(|(field, others)| *field == name || others.contains(&name));
        let unknown: Vec<&String> = self.fields.keys().filter(|name| !known(name)).collect();
        for name in unknown {
            self.note(FindingsNoteKind::UnknownField, Some(name));
        }
    }

    fn note(&mut self, kind: FindingsNoteKind, text: Option<&str>) {
        if self.notes.len() < MOST_NOTES {
            let text = text.map(|text| text::line(text, LONGEST_NOTE).text);
            let finding = u32::try_from(self.index + 1).ok();
            self.notes.push(FindingsNote { kind, finding, text });
        }
    }

    fn place(&self, field: &str) -> String {
        format!("findings[{}].{field}", self.index)
    }
}

/// Whether `word` is `known`, whatever its case and what stands between its parts.
fn same_word(word: &str, known: &str) -> bool {
    let letters =
        |text: &str| text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect::<String>();
    let word = word.trim();
    word.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ' ' | '*' | '`'))
        && letters(word) == letters(known)
}

fn number(value: &Value) -> Option<u32> {
    match value {
        Value::Number(number) => number
            .as_u64()
            .or_else(|| number.as_f64().filter(|n| n.fract() == 0.0 && (0.0..=1e9).contains(n)).map(|n| n as u64))
            .and_then(|number| u32::try_from(number).ok()),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// `12`, `12-15`, `L12-L15`.
fn range(text: &str) -> Option<Lines> {
    let mut parts = text.split(['-', '\u{2013}']).map(|part| part.trim().trim_start_matches(['L', 'l']).parse::<u32>());
    let start = parts.next()?.ok()?;
    let end = parts.next().unwrap_or(Ok(start)).ok()?;
    if parts.next().is_some() { None } else { Lines::new(start.min(end), start.max(end)) }
}

/// `src/a.rs:12` as the path and the lines. A second number behind a colon is a column.
fn without_lines(named: &str) -> (&str, Option<Lines>) {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let Some((path, last)) = named.rsplit_once(':') else { return (named, None) };
    let numbers = last.split('-').all(|part| digits(part.trim_start_matches('L')));
    match path.rsplit_once(':') {
        _ if !numbers => (named, None),
        Some((path, line)) if digits(line) => (path, range(line)),
        _ => (path, range(last)),
    }
}

/// `named` as a normal path inside of what is reviewed.
fn relative(named: &str, roots: &[&str]) -> Option<String> {
    if named.chars().count() > LONGEST_PATH || named.chars().any(char::is_control) {
        return None;
    }
    let below = |root: &&str| named.strip_prefix(root.trim_end_matches('/'))?.strip_prefix('/');
    let inside = roots.iter().filter(|root| root.starts_with('/') && root.len() > 1).find_map(below).unwrap_or(named);
    let slashes = if inside.contains('/') { inside.to_owned() } else { inside.replace('\\', "/") };
    let drive = slashes.as_bytes().get(1) == Some(&b':') && slashes.as_bytes()[0].is_ascii_alphabetic();
    if slashes.starts_with(['/', '~']) || drive || slashes.contains("://") {
        return None;
    }
    let mut parts = Vec::new();
    for part in slashes.split('/') {
        match part {
            "." => {}
            // Also two slashes in a row, and one at the end.
            "" | ".." => return None,
            part => parts.push(part),
        }
    }
    let path = parts.join("/");
    // A path is shown as it is, so it may hold nothing that hides or acts.
    let harmless = text::line(&path, LONGEST_PATH).text == path;
    (harmless && !path.is_empty()).then_some(path)
}
