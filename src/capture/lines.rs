//! Cuts a byte stream into lines, whatever the chunks, with bounded memory.

use std::io;

/// What comes out of [`Lines`].
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// A whole line with its newline, if it had one.
    Line(&'a [u8]),
    /// A part of a line that is too long to be held and cannot be a frame; its parts follow each other.
    Part(&'a [u8]),
    /// A line that looks like a frame passed the limit; the rest of it is skipped.
    TooLong,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Collecting,
    Skipping,
    Streaming,
}

/// Splits at newlines; lines that lie whole within a chunk are not copied.
#[derive(Debug)]
pub(super) struct Lines {
    pending: Vec<u8>,
    state: State,
    limit: usize,
}

/// Buffers beyond this are given back after the line that needed them.
const KEEP: usize = 1 << 20;

impl Lines {
    /// Lines of at most `limit` bytes, newline not counted.
    pub(super) fn new(limit: usize) -> Self {
        Self { pending: Vec::new(), state: State::Collecting, limit }
    }

    /// Takes the next bytes and hands out every piece they complete.
    pub(super) fn push(
        &mut self,
        mut bytes: &[u8],
        take: &mut impl FnMut(Piece<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        while let Some(newline) = memchr::memchr(b'\n', bytes) {
            let (line, rest) = bytes.split_at(newline + 1);
            bytes = rest;
            let state = std::mem::replace(&mut self.state, State::Collecting);
            match state {
                State::Skipping => {}
                State::Streaming => take(Piece::Part(line))?,
                State::Collecting if self.pending.is_empty() => {
                    if newline <= self.limit {
                        take(Piece::Line(line))?;
                    } else if looks_like_frame(line) {
                        take(Piece::TooLong)?;
                    } else {
                        take(Piece::Part(line))?;
                    }
                }
                State::Collecting => {
                    let mut whole = std::mem::take(&mut self.pending);
                    if whole.len() + newline <= self.limit {
                        whole.extend_from_slice(line);
                        take(Piece::Line(&whole))?;
                    } else if looks_like_frame_in(&whole, line) {
                        take(Piece::TooLong)?;
                    } else {
                        take(Piece::Part(&whole))?;
                        take(Piece::Part(line))?;
                    }
                    if whole.capacity() <= KEEP {
                        whole.clear();
                        self.pending = whole;
                    }
                }
            }
        }
        match self.state {
            State::Skipping => Ok(()),
            State::Streaming if bytes.is_empty() => Ok(()),
            State::Streaming => take(Piece::Part(bytes)),
            State::Collecting if self.pending.len() + bytes.len() <= self.limit => {
                self.pending.extend_from_slice(bytes);
                Ok(())
            }
            State::Collecting => {
                let begun = std::mem::take(&mut self.pending);
                if looks_like_frame_in(&begun, bytes) {
                    self.state = State::Skipping;
                    take(Piece::TooLong)
                } else {
                    self.state = State::Streaming;
                    take(Piece::Part(&begun))?;
                    take(Piece::Part(bytes))
                }
            }
        }
    }

    /// The last line, when the stream ended without a newline after it.
    pub(super) fn finish(self) -> Option<Vec<u8>> {
        (!self.pending.is_empty()).then_some(self.pending)
    }
}

/// Whether a line can be a JSON object at all.
pub(super) fn looks_like_frame(line: &[u8]) -> bool {
    line.iter().find(|b| !b.is_ascii_whitespace()) == Some(&b'{')
}

fn looks_like_frame_in(begun: &[u8], more: &[u8]) -> bool {
    begun.iter().chain(more).find(|b| !b.is_ascii_whitespace()) == Some(&b'{')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(limit: usize, input: &[u8], size: usize) -> (Vec<String>, Option<Vec<u8>>) {
        let mut lines = Lines::new(limit);
        let mut seen: Vec<String> = Vec::new();
        let mut parts_open = false;
        for chunk in input.chunks(size) {
            lines
                .push(chunk, &mut |piece| {
                    match piece {
                        Piece::Line(line) => seen.push(format!("line {}", String::from_utf8_lossy(line))),
                        Piece::TooLong => seen.push("too long".to_owned()),
                        Piece::Part(part) => {
                            let part = String::from_utf8_lossy(part);
                            match seen.last_mut().filter(|_| parts_open) {
                                Some(last) => last.push_str(&part),
                                None => seen.push(format!("part {part}")),
                            }
                            parts_open = !part.ends_with('\n');
                        }
                    }
                    Ok(())
                })
                .unwrap();
        }
        (seen, lines.finish())
    }

    #[test]
    fn any_chunking_gives_the_same_lines() {
        let input = b"ab\n\nlonger than the limit\n{\"longer\":\"than the limit\"}\nxy\ntail";
        let whole = pieces(8, input, input.len());
        assert_eq!(
            whole.0,
            ["line ab\n", "line \n", "part longer than the limit\n", "too long", "line xy\n"].map(str::to_owned)
        );
        assert_eq!(whole.1.as_deref(), Some(&b"tail"[..]));
        for size in 1..input.len() {
            assert_eq!(pieces(8, input, size), whole, "chunks of {size}");
        }
    }

    #[test]
    fn memory_is_given_back_after_a_huge_line() {
        let mut lines = Lines::new(8 << 20);
        let chunk = vec![b'x'; 3 << 20];
        lines.push(&chunk, &mut |_| Ok(())).unwrap();
        lines.push(b"\n", &mut |_| Ok(())).unwrap();
        assert_eq!(lines.pending.capacity(), 0);
    }
}
