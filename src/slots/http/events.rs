//! Events out of bytes in any chunking: server-sent events (WHATWG HTML, 9.2.6), or one JSON value per line.
//!
//! Both are cut into lines by the same code. Lines end in CR, LF or CRLF; a byte-order mark at the start is skipped.
//! Text is looked at only once a line is whole, so a character that is cut by a chunk is never seen in halves.
//!
//! Of server-sent events comments and unknown fields are skipped, and several `data` lines are joined by LF. An event
//! that the stream ends in the middle of is given out too: many servers leave out the last blank line. Of JSON lines
//! every one that is not blank is an event.

/// The most bytes one event may have: no real one comes near, and memory stays bounded.
pub(super) const LARGEST_EVENT: usize = 64 << 20;

/// One event.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Event<'a> {
    /// Its `event` field, or empty.
    pub(super) name: &'a str,
    /// Its data.
    pub(super) data: &'a [u8],
    /// Whether its end came: the blank line, or of JSON lines the line's end.
    pub(super) closed: bool,
}

/// How events are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framing {
    /// Server-sent events.
    ServerSent,
    /// One JSON value per line.
    JsonLines,
}

/// A line or event is larger than [`LARGEST_EVENT`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("one event of the stream is larger than {} MiB", LARGEST_EVENT >> 20)]
pub(super) struct TooLarge;

/// Cuts a stream of bytes into events.
#[derive(Debug)]
pub(super) struct Reader {
    framing: Framing,
    /// The beginning of a line whose end has not come.
    partial: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    name: String,
    /// The last line ended in CR; a LF right after it belongs to it.
    after_cr: bool,
    first_line: bool,
    largest: usize,
}

impl Reader {
    pub(super) fn new(framing: Framing) -> Self {
        Self::with_limit(framing, LARGEST_EVENT)
    }

    fn with_limit(framing: Framing, largest: usize) -> Self {
        Self {
            framing,
            partial: Vec::new(),
            data: Vec::new(),
            has_data: false,
            name: String::new(),
            after_cr: false,
            first_line: true,
            largest,
        }
    }

    /// Takes the next bytes and hands every event that they complete to `each`.
    pub(super) fn push(&mut self, mut bytes: &[u8], mut each: impl FnMut(Event<'_>)) -> Result<(), TooLarge> {
        if self.after_cr && !bytes.is_empty() {
            self.after_cr = false;
            bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
        }
        while let Some(end) = memchr::memchr2(b'\n', b'\r', bytes) {
            let (head, terminator, rest) = (&bytes[..end], bytes[end], &bytes[end + 1..]);
            bytes = match (terminator, rest.first()) {
                (b'\r', Some(b'\n')) => &rest[1..],
                (b'\r', None) => {
                    self.after_cr = true;
                    rest
                }
                _ => rest,
            };
            if self.partial.is_empty() {
                self.room(head.len())?;
                self.line(head, true, &mut each)?;
            } else {
                self.room(self.partial.len() + head.len())?;
                let mut whole = std::mem::take(&mut self.partial);
                whole.extend_from_slice(head);
                self.line(&whole, true, &mut each)?;
                // Kept for its capacity only.
                whole.clear();
                self.partial = whole;
            }
        }
        self.room(self.partial.len() + bytes.len())?;
        self.partial.extend_from_slice(bytes);
        Ok(())
    }

    /// The stream is over: hands out the event that it ended in, if any.
    pub(super) fn finish(mut self, mut each: impl FnMut(Event<'_>)) -> Result<(), TooLarge> {
        let last = std::mem::take(&mut self.partial);
        if !last.is_empty() {
            self.line(&last, false, &mut each)?;
        }
        self.dispatch(false, &mut each);
        Ok(())
    }

    /// How events are told apart.
    pub(super) const fn framing(&self) -> Framing {
        self.framing
    }

    /// Whether a part of an event came whose rest did not.
    pub(super) fn is_within_event(&self) -> bool {
        match self.framing {
            Framing::ServerSent => self.has_data || self.partial.starts_with(b"data"),
            Framing::JsonLines => !self.partial.trim_ascii().is_empty(),
        }
    }

    fn room(&self, bytes: usize) -> Result<(), TooLarge> {
        if bytes + self.data.len() > self.largest { Err(TooLarge) } else { Ok(()) }
    }

    /// A line without its end; `closed` says whether the end came.
    fn line(&mut self, mut line: &[u8], closed: bool, each: &mut impl FnMut(Event<'_>)) -> Result<(), TooLarge> {
        if std::mem::take(&mut self.first_line) {
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        if self.framing == Framing::JsonLines {
            let data = line.trim_ascii();
            if !data.is_empty() {
                each(Event { name: "", data, closed });
            }
            return Ok(());
        }
        if line.is_empty() {
            self.dispatch(true, each);
            return Ok(());
        }
        let (field, value) = match memchr::memchr(b':', line) {
            Some(colon) => (&line[..colon], line[colon + 1..].strip_prefix(b" ").unwrap_or(&line[colon + 1..])),
            None => (line, &b""[..]),
        };
        match field {
            b"data" => {
                self.room(value.len())?;
                if std::mem::replace(&mut self.has_data, true) {
                    self.data.push(b'\n');
                }
                self.data.extend_from_slice(value);
            }
            b"event" => self.name = String::from_utf8_lossy(value).into_owned(),
            // A comment has an empty field; `id` and `retry` concern reconnecting, which nobody does here.
            _ => {}
        }
        Ok(())
    }

    fn dispatch(&mut self, closed: bool, each: &mut impl FnMut(Event<'_>)) {
        if std::mem::take(&mut self.has_data) {
            each(Event { name: &self.name, data: &self.data, closed });
        }
        self.data.clear();
        self.name.clear();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(chunks: &[&[u8]]) -> Vec<(String, String, bool)> {
        read_framed(Framing::ServerSent, chunks)
    }

    fn read_framed(framing: Framing, chunks: &[&[u8]]) -> Vec<(String, String, bool)> {
        let mut events = Vec::new();
        let mut keep =
            |e: Event<'_>| events.push((e.name.to_owned(), String::from_utf8(e.data.to_vec()).unwrap(), e.closed));
        let mut reader = Reader::new(framing);
        for chunk in chunks {
            reader.push(chunk, &mut keep).unwrap();
        }
        reader.finish(&mut keep).unwrap();
        events
    }

    fn event(name: &str, data: &str) -> (String, String, bool) {
        (name.to_owned(), data.to_owned(), true)
    }

    #[test]
    fn each_kind_of_line_end_closes_a_line() {
        for end in ["\n", "\r", "\r\n"] {
            let text = format!("event: a{end}data: 1{end}{end}data: 2{end}{end}");
            assert_eq!(read(&[text.as_bytes()]), [event("a", "1"), event("", "2")], "{end:?}");
        }
    }

    #[test]
    fn comments_unknown_fields_and_a_byte_order_mark_are_skipped() {
        let text = "\u{feff}: hello\n\n: again\ndata:x\nid: 4\nretry: 10\nwhat: no\n\n";
        assert_eq!(read(&[text.as_bytes()]), [event("", "x")]);
        let marked = "\u{feff}data: first\n\n".as_bytes();
        assert_eq!(read(&[&marked[..1], &marked[1..2], &marked[2..]]), [event("", "first")]);
    }

    #[test]
    fn data_lines_are_joined_and_one_leading_blank_is_dropped() {
        assert_eq!(read(&[b"data:  a\ndata\ndata: b\n\n"]), [event("", " a\n\nb")]);
    }

    #[test]
    fn an_event_without_its_blank_line_is_given_out_as_unclosed() {
        for text in ["data: [DONE]", "data: [DONE]\n"] {
            assert_eq!(read(&[text.as_bytes()]), [(String::new(), "[DONE]".to_owned(), false)]);
        }
        assert_eq!(read(&[b"event: x\n"]), []);
    }

    #[test]
    fn a_line_or_event_over_the_limit_is_refused() {
        let mut reader = Reader::with_limit(Framing::ServerSent, 8);
        assert_eq!(reader.push(b"data: 123", |_| {}), Err(TooLarge));
        let mut reader = Reader::with_limit(Framing::ServerSent, 14);
        assert_eq!(reader.push(b"data: 1234567\ndata: 1234567\ndata: 12", |_| {}), Err(TooLarge));
    }

    #[test]
    fn every_line_of_json_is_an_event_and_blank_ones_are_none() {
        let text = "\u{feff}{\"a\":1}\r\n\n  \n {\"b\":2}\r{\"c\":";
        let whole = read_framed(Framing::JsonLines, &[text.as_bytes()]);
        assert_eq!(whole[..2], [event("", "{\"a\":1}"), event("", "{\"b\":2}")]);
        assert_eq!(whole[2..], [(String::new(), "{\"c\":".to_owned(), false)]);
        for size in 1..text.len() {
            let chunks: Vec<&[u8]> = text.as_bytes().chunks(size).collect();
            assert_eq!(read_framed(Framing::JsonLines, &chunks), whole, "chunks of {size}");
        }
        for bytes in [&b"{\"a\": 12}"[..], b"{\"a\": 12}\n"] {
            assert_eq!(Reader::with_limit(Framing::JsonLines, 8).push(bytes, |_| {}), Err(TooLarge));
        }
    }

    proptest! {
        #[test]
        fn any_slicing_gives_the_same_events(
            text in "(data: [aé日\u{1f600}]{0,4}|event: [a-z]{1,3}|: c|)((\r\n|\n|\r)(data: [aé]{0,4}|event: x|: c|)){0,12}",
            cuts in prop::collection::vec(0_usize..200, 0..12),
        ) {
            let bytes = text.as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let chunks: Vec<&[u8]> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
            prop_assert_eq!(read(&chunks), read(&[bytes]));
        }
    }
}
