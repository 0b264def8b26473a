//! The user's prompt: where it comes from, and whether it can be used.
//!
//! Nothing is changed but that directive lines are taken out: line ends and a byte order mark stay as they are.

use std::io::{self, Read};
use std::path::Path;

use fs_err as fs;

use super::directives::{Directives, TopLines, take_directives};
use crate::error::{Error, Result, reason};

/// Endings of files that are no text.
const OTHER_MEDIA: [&str; 22] = [
    "png", "jpg", "jpeg", "gif", "webp", "bmp", "tif", "tiff", "heic", "pdf", "mp3", "wav", "ogg", "flac", "mp4",
    "mov", "webm", "avi", "zip", "gz", "docx", "xlsx",
];

/// A prompt that can be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// What every slot receives, byte for byte.
    pub text: String,
    /// What the lines at its top asked for.
    pub directives: Directives,
}

impl Input {
    /// The text whose first line names the session.
    #[must_use]
    pub fn title(&self) -> &str {
        let line = self.text.trim_start_matches('\u{feff}').lines().map(str::trim).find(|line| !line.is_empty());
        line.unwrap_or("").trim_start_matches('#').trim()
    }
}

/// Reads the prompt that the command line names: a file, `-` for standard input, or words.
///
/// One word that is an existing file is that file; one that looks like a path and does not exist is an error. `top` says
/// whether directives are taken out of it.
pub fn read_input(option: Option<&Path>, words: &[String], top: TopLines) -> Result<Input> {
    let (bytes, origin) = match (option, words) {
        (Some(_), [_, ..]) => {
            return Err(Error::usage("both `--input` and a text were given").hint("give the prompt in one way only"));
        }
        (Some(path), []) if path.as_os_str() == "-" => (read_stdin()?, "standard input".to_owned()),
        (Some(path), []) => read_file(path)?,
        (None, []) => {
            return Err(Error::usage("no input")
                .hint("give a file (`team run question.md`), a text (`team run \"Which is better?\"`), or `-i -`"));
        }
        (None, [word]) if word == "-" => (read_stdin()?, "standard input".to_owned()),
        (None, [word]) if Path::new(word).is_file() => read_file(Path::new(word))?,
        (None, [word]) if Path::new(word).is_dir() => return Err(is_folder(Path::new(word))),
        (None, [word]) if looks_like_path(word) => {
            return Err(Error::usage(format!("`{word}` looks like a file and does not exist"))
                .hint("correct the path, or write more than one word to send it as text"));
        }
        (None, words) => (words.join(" ").into_bytes(), "the command line".to_owned()),
    };
    let text = check_text(bytes, &origin)?;
    let (directives, text) = match top {
        TopLines::Directives => take_directives(text, &origin)?,
        TopLines::Text => (Directives::default(), text),
    };
    if text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}').is_empty() {
        return Err(Error::usage(format!("the input from {origin} is empty")).hint("write a prompt"));
    }
    Ok(Input { text, directives })
}

fn read_file(path: &Path) -> Result<(Vec<u8>, String)> {
    let ending = path.extension().map(|end| end.to_string_lossy().to_lowercase()).unwrap_or_default();
    if OTHER_MEDIA.contains(&ending.as_str()) {
        return Err(Error::usage(format!("`{}` is not text (`.{ending}`)", path.display()))
            .hint("only text can be sent; convert it first"));
    }
    let bytes = fs::read(path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => Error::usage(format!("the input `{}` does not exist", path.display()))
            .hint("correct the path; a text is given without `-i`"),
        io::ErrorKind::IsADirectory => is_folder(path),
        _ => Error::usage(format!("cannot read the input `{}`: {}", path.display(), reason(&source)))
            .hint("name a file that can be read"),
    })?;
    Ok((bytes, format!("`{}`", path.display())))
}

fn is_folder(path: &Path) -> Error {
    Error::usage(format!("`{}` is a folder", path.display()))
        .hint("name one file in it, or write more than one word to send it as text")
}

fn read_stdin() -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    io::stdin()
        .lock()
        .read_to_end(&mut bytes)
        .map_err(|source| Error::usage("cannot read standard input").with_source(source))?;
    Ok(bytes)
}

fn looks_like_path(word: &str) -> bool {
    !word.contains(char::is_whitespace) && (word.contains('/') || word.ends_with(".md") || word.ends_with(".txt"))
}

fn check_text(bytes: Vec<u8>, origin: &str) -> Result<String> {
    if let Some(offset) = memchr::memchr(0, &bytes) {
        return Err(Error::usage(format!("the input from {origin} has a NUL byte at offset {offset}"))
            .hint("only text can be sent"));
    }
    String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        Error::usage(format!("the input from {origin} is not valid UTF-8 at offset {offset}"))
            .hint("convert it to UTF-8, for example with `iconv -t utf-8`")
    })
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    fn file(bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("in.md");
        crate::fs::replace(&path, bytes).unwrap();
        (dir, path)
    }

    #[test]
    fn crlf_and_bom_are_kept_byte_for_byte() {
        let bytes = "\u{feff}# Q\r\nbody\r\n".as_bytes();
        let (_dir, path) = file(bytes);
        let input = read_input(Some(&path), &[], TopLines::Directives).unwrap();
        assert_eq!(input.text.as_bytes(), bytes);
        assert_eq!(input.title(), "Q");
    }

    #[test]
    fn nul_and_invalid_utf8_are_refused_with_their_offset() {
        for (bytes, place) in [(&b"ab\0c"[..], "NUL byte at offset 2"), (b"abc\xff", "not valid UTF-8 at offset 3")] {
            let (_dir, path) = file(bytes);
            let error = read_input(Some(&path), &[], TopLines::Directives).unwrap_err();
            assert!(error.to_string().contains(place), "{error}");
            assert_eq!(error.kind().exit_code().code(), 2);
        }
    }

    #[test]
    fn one_word_is_a_file_if_it_is_one_and_an_error_if_it_only_looks_like_one() {
        let (_dir, path) = file(b"from the file");
        let input = read_input(None, &[path.to_string_lossy().into_owned()], TopLines::Directives).unwrap();
        assert_eq!(input.text, "from the file");
        for word in ["nope.md", "a/b", "x.txt"] {
            assert!(read_input(None, &words(word), TopLines::Directives).is_err(), "{word}");
        }
        assert_eq!(read_input(None, &words("is a/b right"), TopLines::Directives).unwrap().text, "is a/b right");
        assert_eq!(read_input(None, &words("why"), TopLines::Directives).unwrap().text, "why");
    }

    #[test]
    fn an_empty_input_is_an_error_also_when_only_a_directive_was_in_it() {
        for bytes in [&b""[..], b" \n\t", "\u{feff}".as_bytes(), b"SESSION_PATH: sub\n"] {
            let (_dir, path) = file(bytes);
            let error = read_input(Some(&path), &[], TopLines::Directives).unwrap_err().to_string();
            assert!(error.contains("is empty"), "{error}");
        }
    }

    #[test]
    fn directives_are_taken_out_only_where_they_count() {
        let (_dir, path) = file(b"SESSION_PATH: out\nQ\n");
        let input = read_input(Some(&path), &[], TopLines::Directives).unwrap();
        assert_eq!((input.text.as_str(), input.directives.session_path.is_some()), ("Q\n", true));
        let input = read_input(Some(&path), &[], TopLines::Text).unwrap();
        assert_eq!((input.text.as_str(), input.directives), ("SESSION_PATH: out\nQ\n", Directives::default()));
    }

    #[test]
    fn other_media_are_refused_by_name() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.png");
        crate::fs::replace(&path, b"x").unwrap();
        let error = read_input(Some(&path), &[], TopLines::Directives).unwrap_err().to_string();
        assert!(error.contains("`.png`"), "{error}");
    }
}
