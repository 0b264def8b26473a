//! Finds the fenced blocks of a reply.

use crate::judging::fences::Fence;

use super::field::{Field, Subject, field, issue, issues, plain, unwrapped};
use super::hidden::Hidden;

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
    /// Openings of `vote` blocks inside other fences, or where no reader sees them.
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
    let text = text.trim();
    // A reply that is fenced as a whole by a fence that its own blocks end is taken out of it. A fence that holds all of
    // them, as a longer one does, quotes them.
    let (first, last) = (text.split(LINE_ENDS).next(), text.rsplit(LINE_ENDS).next());
    if let Some((wrapping, ..)) = first.filter(|line| is_wrapping(line)).and_then(opening) {
        let inside = &text[first.unwrap_or_default().len()..];
        let ends = inside.split(LINE_ENDS).filter(|line| wrapping.is_closed_by(line)).count();
        if ends > 1 && last.is_some_and(|line| wrapping.is_closed_by(line)) {
            let (found, left) = read(inside, subject);
            if left == Left::Empty {
                return found;
            }
        }
    }
    read(text, subject).0
}

const LINE_ENDS: [char; 2] = ['\n', '\r'];

/// What is open at the end of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Left {
    /// A block with nothing in it: the fence on the last line opens what it should close.
    Empty,
    /// Nothing, or a block that was not closed.
    Other,
}

/// Reads `text` line by line as it stands.
fn read(text: &str, subject: Subject) -> (Found, Left) {
    let mut found = Found::default();
    let mut hidden = Hidden::of(text);
    let mut open: Option<(Fence, Kind)> = None;
    // A block inside a vote, as a fence that the vote's own is longer than can be.
    let mut inner: Option<Fence> = None;
    let mut lines: Vec<&str> = Vec::new();
    let mut at = 0;
    for line in text.split(LINE_ENDS) {
        at += line.len() + 1;
        match (open, inner) {
            (None, _) => match opening(line) {
                Some((fence, kind, _)) if !hidden.is_open() => {
                    open = Some((fence, kind));
                    lines.clear();
                }
                next => {
                    let unseen = hidden.read(line, at);
                    found.quoted += usize::from(unseen && matches!(next, Some((_, Kind::Vote, _))));
                }
            },
            (Some((fence, kind)), _) if fence.is_closed_by(line) => {
                close(&mut found, kind, &lines, subject);
                (open, inner) = (None, None);
            }
            (Some(_), Some(fence)) => {
                if fence.is_closed_by(line) {
                    inner = None;
                }
            }
            (Some((fence, kind)), None) => match opening(line) {
                Some((next, Kind::Vote, _)) if kind == Kind::Vote && !fence.holds(next) => {
                    // The closing fence was forgotten.
                    close(&mut found, kind, &lines, subject);
                    lines.clear();
                    open = Some((next, Kind::Vote));
                }
                Some((next, next_kind, _)) => {
                    found.quoted += usize::from(next_kind == Kind::Vote);
                    if kind == Kind::Vote && fence.holds(next) {
                        inner = Some(next);
                    } else if next_kind != Kind::Vote {
                        lines.push(line);
                    }
                }
                None => lines.push(line),
            },
        }
    }
    let left = match open {
        Some((_, Kind::Other)) if lines.is_empty() => Left::Empty,
        _ => Left::Other,
    };
    if let Some((_, kind)) = open {
        close(&mut found, kind, &lines, subject);
    }
    (found, left)
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
                    all.push(whole(std::mem::take(&mut entry)));
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
        all.push(whole(entry));
    }
    all
}

/// `entry` when its last line is read: only then is it to be seen what is around all of the summary.
fn whole(mut entry: Entry) -> Entry {
    entry.summary = unwrapped(&entry.summary).to_owned();
    entry
}
