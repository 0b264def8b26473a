//! Text to steps.

use std::str::FromStr;

use nix::sys::signal::Signal;

use crate::ballots::{Rule, Weighing};

/// What separates the steps inside `spawn` and `on-term`.
const SEPARATOR: &str = ";;";

/// One thing to do; the table is in the program's doc.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Step {
    Write {
        text: Vec<u8>,
        to: Stream,
    },
    PrintFile(String),
    Slices {
        sizes: Vec<usize>,
        file: String,
        to: Stream,
    },
    BigFrame(u64),
    Bytes {
        count: u64,
        to: Stream,
    },
    ClaudeFrames {
        count: usize,
        text: String,
    },
    ReadStdin,
    Read(usize),
    Swallow,
    Cat,
    Env(String),
    EnvNames,
    Cwd,
    Touch(String),
    Note(String),
    Need(String),
    Pid(String),
    WaitFor(String),
    Sleep(u64),
    Hang,
    Chatter(u64, Vec<u8>),
    Spin,
    IgnoreTerm,
    OnTerm(Vec<Step>),
    Setsid,
    Setpgid,
    Spawn(Vec<String>),
    CloseStdout,
    Exit(u8),
    KillSelf(Signal),
    Answer(Vec<u8>),
    /// A file that counts, and the texts.
    Nth(String, Vec<Vec<u8>>),
    Look {
        file: String,
        /// What the file may hold, and what is printed then: the first that it holds decides.
        there: Vec<(String, Vec<u8>)>,
        absent: Vec<u8>,
    },
    Vote(Rule),
    Weigh(Weighing),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    Out,
    Err,
}

/// Reads a whole script.
pub(crate) fn read(arguments: impl Iterator<Item = String>) -> Result<Vec<Step>, String> {
    let mut steps = Vec::new();
    for argument in arguments {
        let text = match argument.strip_prefix('@') {
            Some(file) => std::fs::read_to_string(file).map_err(|e| format!("cannot read `{file}`: {e}"))?,
            None => argument,
        };
        for line in text.lines().map(str::trim_start).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            steps.push(step(line)?);
        }
    }
    Ok(steps)
}

fn step(line: &str) -> Result<Step, String> {
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    let file = || if rest.is_empty() { Err(format!("`{word}` needs a file")) } else { Ok(rest.to_owned()) };
    Ok(match word {
        "print" => Step::Write { text: with_line_end(unescape(rest)?), to: Stream::Out },
        "write" => Step::Write { text: unescape(rest)?, to: Stream::Out },
        "stderr" => Step::Write { text: with_line_end(unescape(rest)?), to: Stream::Err },
        "print-file" => Step::PrintFile(file()?),
        "print-slices" => slices(word, rest, Stream::Out)?,
        "stderr-slices" => slices(word, rest, Stream::Err)?,
        "big-frame" => Step::BigFrame(number(word, rest)?),
        "bytes" => Step::Bytes { count: number(word, rest)?, to: Stream::Out },
        "stderr-bytes" => Step::Bytes { count: number(word, rest)?, to: Stream::Err },
        "claude" => Step::ClaudeFrames { count: 1, text: rest.to_owned() },
        "claude-frames" => {
            let (count, text) = rest.split_once(' ').unwrap_or((rest, "text"));
            Step::ClaudeFrames { count: number(word, count)?, text: text.to_owned() }
        }
        "read-stdin" => Step::ReadStdin,
        "read" => Step::Read(number(word, rest)?),
        "swallow" => Step::Swallow,
        "cat" => Step::Cat,
        "env" => Step::Env(file()?),
        "env-names" => Step::EnvNames,
        "cwd" => Step::Cwd,
        "touch" => Step::Touch(file()?),
        "note" => Step::Note(file()?),
        "need" => Step::Need(file()?),
        "pid" => Step::Pid(file()?),
        "wait-for" => Step::WaitFor(file()?),
        "sleep" => Step::Sleep(number(word, rest)?),
        "hang" => Step::Hang,
        "chatter" => {
            let (pause, line) = rest.split_once(' ').unwrap_or((rest, "still here"));
            Step::Chatter(number(word, pause)?, with_line_end(unescape(line)?))
        }
        "spin" => Step::Spin,
        "ignore-term" => Step::IgnoreTerm,
        "on-term" => Step::OnTerm(nested(rest).map(step).collect::<Result<_, _>>()?),
        "setsid" => Step::Setsid,
        "setpgid" => Step::Setpgid,
        "spawn" => {
            // Read now, so that a slip is found before anything happens.
            nested(rest).try_for_each(|line| step(line).map(drop))?;
            Step::Spawn(nested(rest).map(str::to_owned).collect())
        }
        "close-stdout" => Step::CloseStdout,
        "exit" => Step::Exit(number(word, rest)?),
        "kill-self" => Step::KillSelf(Signal::from_str(rest).map_err(|_| format!("`{rest}` is not a signal"))?),
        "answer" => Step::Answer(with_line_end(unescape(rest)?)),
        "nth" => {
            let (file, texts) = rest.split_once(' ').ok_or_else(|| format!("`{word}` needs a file and texts"))?;
            let texts = nested(texts).map(|text| Ok(with_line_end(unescape(text)?))).collect::<Result<_, String>>()?;
            Step::Nth(file.to_owned(), texts)
        }
        "look" => {
            let wrong = || format!("`{word}` needs a file, and `TEXT ;; THERE ;; .. ;; ABSENT`");
            let (file, rest) = rest.split_once(' ').ok_or_else(wrong)?;
            let parts: Vec<&str> = nested(rest).collect();
            let [pairs @ .., absent] = &parts[..] else { return Err(wrong()) };
            let (pairs, []) = pairs.as_chunks::<2>() else { return Err(wrong()) };
            let there = pairs.iter().map(|[text, there]| Ok(((*text).to_owned(), with_line_end(unescape(there)?))));
            Step::Look {
                file: file.to_owned(),
                there: there.collect::<Result<_, String>>()?,
                absent: with_line_end(unescape(absent)?),
            }
        }
        "weigh" => Step::Weigh(rest.parse()?),
        "vote" => Step::Vote(String::from_utf8_lossy(&unescape(rest)?).parse()?),
        _ => return Err(format!("unknown step `{line}`")),
    })
}

fn slices(word: &str, rest: &str, to: Stream) -> Result<Step, String> {
    let (sizes, file) = rest.split_once(' ').ok_or_else(|| format!("`{word}` needs sizes and a file"))?;
    let sizes = sizes.split(',').map(|size| number(word, size)).collect::<Result<Vec<usize>, _>>()?;
    if sizes.contains(&0) {
        return Err(format!("`{word}` needs sizes over 0"));
    }
    Ok(Step::Slices { sizes, file: file.to_owned(), to })
}

fn nested(rest: &str) -> impl Iterator<Item = &str> {
    rest.split(SEPARATOR).map(str::trim).filter(|line| !line.is_empty())
}

fn number<T: FromStr>(word: &str, text: &str) -> Result<T, String> {
    text.trim().parse().map_err(|_| format!("`{word}` needs a number, not `{text}`"))
}

fn with_line_end(mut text: Vec<u8>) -> Vec<u8> {
    text.push(b'\n');
    text
}

fn unescape(text: &str) -> Result<Vec<u8>, String> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        match bytes.next() {
            Some(b'n') => out.push(b'\n'),
            Some(b't') => out.push(b'\t'),
            Some(b'r') => out.push(b'\r'),
            Some(b'\\') => out.push(b'\\'),
            Some(b'x') => {
                let digits: String = bytes.by_ref().take(2).map(char::from).collect();
                out.push(u8::from_str_radix(&digits, 16).map_err(|_| format!("`\\x{digits}` is not a byte"))?);
            }
            other => return Err(format!("unknown escape `\\{}`", other.map_or('?', char::from))),
        }
    }
    Ok(out)
}
