//! The directives at the top of a prompt: the only lines of it that `team` itself acts on.
//!
//! One place reads them, and a command that must not be steered by what it is given (`gate`) leaves them as text.

use crate::error::{Error, Result};

/// Puts the session into a folder of the caller's.
const SESSION_PATH: &str = "SESSION_PATH:";

/// Keeps the session in a temporary folder and copies the results to flat names.
const LEGACY_MODE: &str = "LEGACY_MODE:";

/// Whether lines at the top of a prompt direct the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TopLines {
    /// [`Directives`] are taken out and followed.
    Directives,
    /// They are text like any other: whoever wrote the prompt has no say in what the command does.
    Text,
}

/// A directive's value, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Directive<T> {
    /// What it says.
    pub value: T,
    /// The line of the prompt, from 1, and the prompt: `line 2 of standard input`.
    pub place: String,
}

/// What the lines at the top of a prompt ask for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Directives {
    /// `SESSION_PATH: DIR`.
    pub session_path: Option<Directive<String>>,
    /// `LEGACY_MODE: true` or `false`.
    pub legacy: Option<Directive<bool>>,
}

/// Takes the directives off the top of `text`, which is from `origin`: lines of their own, blank ones may stand before and
/// between them. Every other byte stays.
pub(super) fn take_directives(text: String, origin: &str) -> Result<(Directives, String)> {
    let mut found = Directives::default();
    let mark = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    // What stays of the lines read so far.
    let mut kept = text[..mark].to_owned();
    let mut read = mark;
    for (line, number) in text[mark..].split_inclusive('\n').zip(1..) {
        let content = line.trim_end();
        let place = || format!("line {number} of {origin}");
        if let Some(value) = content.strip_prefix(SESSION_PATH) {
            let value = folder(value, &place())?;
            set(&mut found.session_path, "SESSION_PATH", value, place())?;
        } else if let Some(value) = content.strip_prefix(LEGACY_MODE) {
            let value = truth(value.trim(), &place())?;
            set(&mut found.legacy, "LEGACY_MODE", value, place())?;
        } else if content.is_empty() {
            kept.push_str(line);
        } else {
            break;
        }
        read += line.len();
    }
    if found == Directives::default() {
        return Ok((found, text));
    }
    kept.push_str(&text[read..]);
    Ok((found, kept))
}

fn folder(value: &str, place: &str) -> Result<String> {
    match value.trim() {
        "" => Err(Error::usage(format!("{place}: `SESSION_PATH:` names no folder"))
            .hint("write a folder below the current directory after it, or take the line out")),
        value => Ok(value.to_owned()),
    }
}

fn truth(value: &str, place: &str) -> Result<bool> {
    match value.to_ascii_lowercase().as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(Error::usage(format!("{place}: `LEGACY_MODE: {value}` is neither true nor false"))
            .hint("write `LEGACY_MODE: true`, or take the line out")),
    }
}

fn set<T: PartialEq + std::fmt::Display>(
    slot: &mut Option<Directive<T>>,
    name: &str,
    value: T,
    place: String,
) -> Result<()> {
    match slot {
        Some(before) if before.value != value => Err(Error::usage(format!(
            "{place}: `{name}: {value}`, and {} says `{name}: {}`",
            before.place, before.value
        ))
        .hint("keep one of the two lines")),
        Some(_) => Ok(()),
        None => {
            *slot = Some(Directive { value, place });
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(text: &str) -> (Option<String>, Option<bool>, String) {
        let (found, rest) = take_directives(text.to_owned(), "`in.md`").unwrap();
        (found.session_path.map(|path| path.value), found.legacy.map(|legacy| legacy.value), rest)
    }

    #[test]
    fn directives_are_taken_out_and_every_other_byte_stays() {
        let path = |path: &str| Some(path.to_owned());
        for (text, expected) in [
            ("SESSION_PATH: out/here\nQ\n", (path("out/here"), None, "Q\n")),
            ("\u{feff}SESSION_PATH:out \t\r\n\r\nQ\r\n", (path("out"), None, "\u{feff}\r\nQ\r\n")),
            ("\nLEGACY_MODE: TRUE\n\nSESSION_PATH: a b\nQ", (path("a b"), Some(true), "\n\nQ")),
            ("LEGACY_MODE: false\nLEGACY_MODE: false\nQ", (None, Some(false), "Q")),
            ("SESSION_PATH: x", (path("x"), None, "")),
            // Not at the top, not at the beginning of a line, not spelt like that.
            ("Q\nSESSION_PATH: x\n", (None, None, "Q\nSESSION_PATH: x\n")),
            (" SESSION_PATH: x\n", (None, None, " SESSION_PATH: x\n")),
            ("\n\n  Q\n", (None, None, "\n\n  Q\n")),
            ("session_path: x\n", (None, None, "session_path: x\n")),
        ] {
            assert_eq!(taken(text), (expected.0, expected.1, expected.2.to_owned()), "{text:?}");
        }
    }

    #[test]
    fn a_directive_that_says_nothing_or_two_things_is_refused_with_its_line() {
        for (text, expected) in [
            ("SESSION_PATH: \nQ", "line 1 of `in.md`: `SESSION_PATH:` names no folder"),
            ("\nLEGACY_MODE: yes\nQ", "line 2 of `in.md`: `LEGACY_MODE: yes` is neither true nor false"),
            (
                "SESSION_PATH: a\nSESSION_PATH: b\nQ",
                "line 2 of `in.md`: `SESSION_PATH: b`, and line 1 of `in.md` says `SESSION_PATH: a`",
            ),
        ] {
            let error = take_directives(text.to_owned(), "`in.md`").unwrap_err();
            assert_eq!(error.to_string(), expected);
            assert_eq!((error.kind().exit_code().code(), error.hints().len()), (2, 1));
        }
    }
}
