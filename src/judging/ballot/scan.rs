//! The fenced blocks of a reply, by their name.

use crate::judging::fences::Fence;

use super::field::plain;
use super::hidden::Hidden;
use super::indent::Indents;

/// What a reply holds besides prose.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Blocks {
    /// The contents of the blocks of the name that was looked for.
    pub(crate) named: Vec<String>,
    /// The contents of `json` fences, quoted unless such a fence is all there is ([`whole_json`]).
    pub(crate) json: Vec<String>,
    /// Openings of blocks of that name inside other fences, or where no reader sees them.
    pub(crate) quoted: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Named,
    Json,
    Other,
}

/// Reads `text` line by line, for blocks that are called `name`.
pub(crate) fn blocks_called(name: &str, text: &str) -> Blocks {
    // What the first line is indented by belongs to it.
    let blank = text.len() - text.trim_start().len();
    let text = text[text[..blank].rfind(LINE_ENDS).map_or(0, |end| end + 1)..].trim_end();
    // A reply that is fenced as a whole by a fence that its own blocks end is taken out of it. A fence that holds all of
    // them, as a longer one does, quotes them.
    let (first, last) = (text.split(LINE_ENDS).next(), text.rsplit(LINE_ENDS).next());
    if let Some((wrapping, ..)) = first.filter(|line| is_wrapping(line)).and_then(|line| opening(line, name)) {
        let inside = &text[first.unwrap_or_default().len()..];
        let ends = inside.split(LINE_ENDS).filter(|line| wrapping.is_closed_by(line)).count();
        if ends > 1 && last.is_some_and(|line| wrapping.is_closed_by(line)) {
            let (found, left) = read(inside, name);
            if left == Left::Empty {
                return found;
            }
        }
    }
    read(text, name).0
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
fn read(text: &str, name: &str) -> (Blocks, Left) {
    let mut found = Blocks::default();
    let mut hidden = Hidden::of(text);
    let mut indents = Indents::default();
    let mut open: Option<(Fence, Kind)> = None;
    // A block inside one that is looked for, as a fence that its own is longer than can be.
    let mut inner: Option<Fence> = None;
    let mut lines: Vec<&str> = Vec::new();
    let mut at = 0;
    for line in text.split(LINE_ENDS) {
        at += line.len() + 1;
        match (open, inner) {
            (None, _) => match opening(line, name) {
                Some((fence, kind, _)) if !hidden.is_open() && !indents.is_code(line) => {
                    open = Some((fence, kind));
                    lines.clear();
                }
                next => {
                    let unseen = hidden.read(line, at) || indents.is_code(line);
                    indents.read(line);
                    found.quoted += usize::from(unseen && matches!(next, Some((_, Kind::Named, _))));
                }
            },
            (Some((fence, kind)), _) if fence.is_closed_by(line) => {
                close(&mut found, kind, &lines);
                (open, inner) = (None, None);
            }
            (Some(_), Some(fence)) => {
                if fence.is_closed_by(line) {
                    inner = None;
                }
            }
            (Some((fence, kind)), None) => match opening(line, name) {
                Some((next, Kind::Named, _)) if kind == Kind::Named && !fence.holds(next) => {
                    // The closing fence was forgotten.
                    close(&mut found, kind, &lines);
                    lines.clear();
                    open = Some((next, Kind::Named));
                }
                Some((next, next_kind, _)) => {
                    found.quoted += usize::from(next_kind == Kind::Named);
                    if kind == Kind::Named && fence.holds(next) {
                        inner = Some(next);
                    } else if next_kind != Kind::Named {
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
        close(&mut found, kind, &lines);
    }
    (found, left)
}

/// The JSON that `text` is as a whole, bare or in one fence; `None` when there is anything beside it.
///
/// What it looks like decides, not how the judge was asked: that a schema was in force is on no record, and a reply that
/// is held to one is JSON and nothing else.
pub(crate) fn whole_json(text: &str) -> Option<&str> {
    let text = text.trim();
    let is_json = |text: &str| text.starts_with(['{', '[']);
    if is_json(text) {
        return Some(text);
    }
    let (first, rest) = text.split_once(['\n', '\r'])?;
    let (fence, kind, _) = opening(first, "")?;
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

fn close(found: &mut Blocks, kind: Kind, lines: &[&str]) {
    match kind {
        Kind::Named => found.named.push(lines.join("\n")),
        Kind::Json => found.json.push(lines.join("\n")),
        Kind::Other => {}
    }
}

/// The fence that `line` opens, its kind where blocks that are called `name` are looked for, and the words after it.
fn opening<'a>(line: &'a str, name: &str) -> Option<(Fence, Kind, &'a str)> {
    let (fence, info) = Fence::opened_by(line)?;
    let word = plain(info).split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    let kind = match word {
        _ if !name.is_empty() && word.eq_ignore_ascii_case(name) => Kind::Named,
        _ if word.eq_ignore_ascii_case("json") => Kind::Json,
        _ => Kind::Other,
    };
    Some((fence, kind, info))
}

fn is_wrapping(line: &str) -> bool {
    opening(line, "").is_some_and(|(.., info)| {
        ["", "md", "markdown", "text", "txt"].iter().any(|kind| info.trim().eq_ignore_ascii_case(kind))
    })
}
