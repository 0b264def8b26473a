//! Finds the fenced blocks of a reply.

use crate::judging::fences::Fence;

use super::field::{Field, Subject, field, issue, issues, plain};

/// One ballot as it stands in a reply, nothing checked yet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Entry {
    /// What it is on, as it is named there.
    pub(crate) response: Option<String>,
    /// Every value given; more than one when the field is repeated.
    pub(crate) verdicts: Vec<String>,
    pub(super) confidence: Option<String>,
    pub(super) summary: String,
    pub(super) issues: Vec<String>,
}

/// What a reply holds besides prose.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) entries: Vec<Entry>,
    /// The contents of `json` fences, quoted unless such a fence is all there is ([`whole_json`]).
    pub(super) json: Vec<String>,
    /// Openings of `vote` blocks inside other fences.
    pub(super) quoted: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Vote,
    Json,
    Other,
}

/// Reads `text`, the reply of somebody who votes on `subject`s, line by line.
pub(super) fn find(text: &str, subject: Subject) -> Found {
    let mut found = Found::default();
    let mut open: Option<(Fence, Kind)> = None;
    let mut lines: Vec<&str> = Vec::new();
    let mut begun = false;
    for line in text.split(['\n', '\r']) {
        let first = !begun && !line.trim().is_empty();
        begun |= first;
        match open {
            // A reply that is fenced as a whole is taken out of its wrapping.
            None if first && is_wrapping(line) => {}
            None => {
                open = opening(line).map(|(fence, kind, _)| (fence, kind));
                lines.clear();
            }
            Some((fence, kind)) if fence.is_closed_by(line) => {
                close(&mut found, kind, &lines, subject);
                open = None;
            }
            Some((_, kind)) => match opening(line) {
                // The closing fence was forgotten.
                Some((next, Kind::Vote, _)) if kind == Kind::Vote => {
                    close(&mut found, kind, &lines, subject);
                    lines.clear();
                    open = Some((next, Kind::Vote));
                }
                Some((_, Kind::Vote, _)) => found.quoted += 1,
                _ => lines.push(line),
            },
        }
    }
    if let Some((_, kind)) = open {
        close(&mut found, kind, &lines, subject);
    }
    found
}

/// The JSON that `text` is as a whole, bare or in one fence; `None` when there is anything beside it.
///
/// What it looks like decides, not how the judge was asked: that a schema was in force is on no record, and a reply that
/// is held to one is JSON and nothing else.
pub(super) fn whole_json(text: &str) -> Option<&str> {
    let text = text.trim();
    let is_json = |text: &str| text.starts_with(['{', '[']);
    if is_json(text) {
        return Some(text);
    }
    let (first, rest) = text.split_once(['\n', '\r'])?;
    let (fence, kind, _) = opening(first)?;
    if kind != Kind::Json && !is_wrapping(first) {
        return None;
    }
    let inside = match rest.rsplit_once(['\n', '\r']) {
        Some((inside, last)) if fence.is_closed_by(last) => inside,
        // The closing fence was forgotten.
        _ => rest,
    };
    let alone = !inside.split(['\n', '\r']).any(|line| fence.is_closed_by(line));
    Some(inside.trim()).filter(|inside| alone && is_json(inside))
}

fn close(found: &mut Found, kind: Kind, lines: &[&str], subject: Subject) {
    match kind {
        Kind::Vote => found.entries.extend(entries(lines, subject)),
        Kind::Json => found.json.push(lines.join("\n")),
        Kind::Other => {}
    }
}

/// The fence that `line` opens, its kind, and the words after it.
fn opening(line: &str) -> Option<(Fence, Kind, &str)> {
    let (fence, info) = Fence::opened_by(line)?;
    let word = plain(info).split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    let kind = match word {
        _ if word.eq_ignore_ascii_case("vote") => Kind::Vote,
        _ if word.eq_ignore_ascii_case("json") => Kind::Json,
        _ => Kind::Other,
    };
    Some((fence, kind, info))
}

fn is_wrapping(line: &str) -> bool {
    opening(line).is_some_and(|(.., info)| {
        ["", "md", "markdown", "text", "txt"].iter().any(|kind| info.trim().eq_ignore_ascii_case(kind))
    })
}

/// Where a line without a field's name belongs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    Summary,
    Issues,
    Nothing,
}

/// The ballots of one block: a further name begins a further ballot.
fn entries(lines: &[&str], subject: Subject) -> Vec<Entry> {
    let mut all = Vec::new();
    let mut entry = Entry::default();
    let mut last = Last::Nothing;
    for line in lines {
        match field(line, subject) {
            Some((Field::Response, value)) => {
                if entry != Entry::default() && (entry.response.is_some() || !entry.verdicts.is_empty()) {
                    all.push(std::mem::take(&mut entry));
                }
                entry.response = Some(value.to_owned());
                last = Last::Nothing;
            }
            Some((Field::Verdict, value)) => {
                entry.verdicts.push(value.to_owned());
                last = Last::Nothing;
            }
            Some((Field::Confidence, value)) => {
                entry.confidence = Some(value.to_owned());
                last = Last::Nothing;
            }
            Some((Field::Summary, value)) => {
                value.clone_into(&mut entry.summary);
                last = Last::Summary;
            }
            Some((Field::KeyIssues, value)) => {
                entry.issues.extend(issues(value));
                last = Last::Issues;
            }
            None if line.trim().is_empty() => {}
            None => match last {
                Last::Summary => {
                    if !entry.summary.is_empty() {
                        entry.summary.push(' ');
                    }
                    entry.summary.push_str(line.trim());
                }
                Last::Issues => entry.issues.extend(issue(line)),
                Last::Nothing => {}
            },
        }
    }
    if entry != Entry::default() {
        all.push(entry);
    }
    all
}
