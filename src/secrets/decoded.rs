//! Text as it reads once its escapes are undone, with where each part of it came from.
//!
//! A name is looked for in what a text says, and taken out of the text as it is written: `qwen%2Fqwen3-32b` in an
//! address, `qwen\/qwen3` and `qwen\u002f` in JSON, `qwen&#47;` in a page.

use std::borrow::Cow;
use std::ops::Range;

/// An escape may be escaped again, as in an address inside an address.
const ROUNDS: usize = 3;

/// The named entities that stand in names.
const ENTITIES: [(&str, u8); 9] = [
    ("amp", b'&'),
    ("sol", b'/'),
    ("colon", b':'),
    ("commat", b'@'),
    ("period", b'.'),
    ("lowbar", b'_'),
    ("hyphen", b'-'),
    ("nbsp", b' '),
    ("quot", b'"'),
];

/// A text without its escapes.
#[derive(Debug)]
pub(super) struct Decoded<'t> {
    text: Cow<'t, str>,
    /// Where each byte of `text`, and its end, begins in the original; `None` where nothing was escaped.
    starts: Option<Vec<usize>>,
}

impl<'t> Decoded<'t> {
    pub(super) fn of(original: &'t str) -> Self {
        let mut decoded = Self { text: Cow::Borrowed(original), starts: None };
        for _ in 0..ROUNDS {
            let Some((text, starts)) = once(&decoded.text) else { break };
            decoded.starts = Some(match decoded.starts {
                Some(before) => starts.into_iter().map(|at| before[at]).collect(),
                None => starts,
            });
            decoded.text = Cow::Owned(text);
        }
        decoded
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The part of the original that reads as `range`.
    pub(super) fn original(&self, range: &Range<usize>) -> Range<usize> {
        self.starts.as_ref().map_or_else(|| range.clone(), |starts| starts[range.start]..starts[range.end])
    }
}

/// Undoes one layer of escapes; `None` where there is none.
fn once(text: &str) -> Option<(String, Vec<usize>)> {
    let bytes = text.as_bytes();
    let next = |from: usize| memchr::memchr3(b'%', b'\\', b'&', &bytes[from..]).map(|at| from + at);
    let mut from = 0;
    while let Some(at) = next(from) {
        if escape_at(&bytes[at..]).is_some() {
            break;
        }
        from = at + 1;
    }
    next(from)?;
    let mut out = String::with_capacity(text.len());
    let mut starts = Vec::with_capacity(text.len() + 1);
    // Up to here nothing is escaped.
    let (mut plain, mut at) = (0, from);
    let copy = |out: &mut String, starts: &mut Vec<usize>, range: Range<usize>| {
        starts.extend(range.clone());
        out.push_str(&text[range]);
    };
    while let Some(found) = next(at) {
        let Some((byte, length)) = escape_at(&bytes[found..]) else {
            at = found + 1;
            continue;
        };
        copy(&mut out, &mut starts, plain..found);
        out.push(char::from(byte));
        starts.push(found);
        at = found + length;
        plain = at;
    }
    copy(&mut out, &mut starts, plain..text.len());
    starts.push(text.len());
    Some((out, starts))
}

/// The ASCII character that is escaped at the start of `bytes`, and the length of its escape.
fn escape_at(bytes: &[u8]) -> Option<(u8, usize)> {
    match bytes.first()? {
        b'%' => Some((hex(bytes.get(1..3)?)?, 3)),
        b'\\' => {
            // JSON inside JSON has more than one backslash.
            let slashes = bytes.iter().take(8).take_while(|b| **b == b'\\').count();
            match bytes.get(slashes)? {
                b'/' => Some((b'/', slashes + 1)),
                b'u' if bytes.get(slashes + 1..slashes + 3)? == b"00" => {
                    Some((hex(bytes.get(slashes + 3..slashes + 5)?)?, slashes + 5))
                }
                _ => None,
            }
        }
        b'&' => {
            let end = bytes.iter().take(10).position(|b| *b == b';')?;
            let name = std::str::from_utf8(&bytes[1..end]).ok()?;
            let byte = match name.strip_prefix('#') {
                Some(number) => printable(match number.strip_prefix(['x', 'X']) {
                    Some(hex) => u8::from_str_radix(hex, 16).ok()?,
                    None => number.parse().ok()?,
                })?,
                None => ENTITIES.iter().find(|(entity, _)| *entity == name)?.1,
            };
            Some((byte, end + 1))
        }
        _ => None,
    }
}

fn hex(digits: &[u8]) -> Option<u8> {
    let digit = |b: u8| char::from(b).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    printable(digit(digits[0])? << 4 | digit(digits[1])?)
}

fn printable(byte: u8) -> Option<u8> {
    matches!(byte, b'\t' | b'\n' | b'\r' | b' '..=b'~').then_some(byte)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("qwen%2Fqwen3%2d32b", "qwen/qwen3-32b")]
    #[case("a%252Fb", "a/b")]
    #[case(r"qwen\/qwen3\u002D32b \\/ \\u002f", "qwen/qwen3-32b / /")]
    #[case("a&#47;b&#x2d;c&sol;d&amp;e", "a/b-c/d&e")]
    #[case(
        "100%, 5%de, %, %2, \\n, \\, \\u00e9, &, &x; %C3%A9 é%20é",
        "100%, 5%de, %, %2, \\n, \\, \\u00e9, &, &x; %C3%A9 é é"
    )]
    #[case("", "")]
    fn escapes_are_undone(#[case] text: &str, #[case] expected: &str) {
        let decoded = Decoded::of(text);
        assert_eq!(decoded.text(), expected);
        assert_eq!(decoded.original(&(0..expected.len())), 0..text.len());
    }

    #[test]
    fn a_part_is_found_again_as_it_was_written() {
        let text = "x é%252Fab\\/c&#45; y";
        let decoded = Decoded::of(text);
        let at = decoded.text().find("/ab/c-").unwrap();
        assert_eq!(&text[decoded.original(&(at..at + 6))], "%252Fab\\/c&#45;");
    }
}
