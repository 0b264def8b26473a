//! Redaction of bytes that come in pieces.

use super::redactor::{REDACTED, Redactor};
use super::shapes::{self, Body, Class};

/// A private key without an end is given up after this many bytes.
const PEM_LONGEST: usize = 32 * 1024;

/// Redacts a stream; the result is the same for every way to cut the input into pieces.
///
/// It holds back as many bytes as a decision can depend on: 1 KiB, or the longest form of a value (at most 4 KiB).
/// Beyond that and the piece in hand it keeps nothing, however long the stream or a secret in it is.
#[derive(Debug)]
pub struct RedactStream {
    redactor: Redactor,
    /// What is not decided, behind a few bytes that are.
    held: Vec<u8>,
    /// Where in `held` the undecided part begins.
    at: usize,
    mode: Mode,
}

#[derive(Debug, Clone, Copy)]
enum Mode {
    /// Shows what comes.
    Clear,
    /// Swallows at least `left` bytes, then as long as the class goes on.
    Secret { left: usize, class: Option<Class> },
    /// Swallows a private key; `left` bytes until it is given up.
    Pem { left: usize },
}

impl RedactStream {
    pub(super) fn new(redactor: Redactor) -> Self {
        Self { redactor, held: Vec::new(), at: 0, mode: Mode::Clear }
    }

    /// Takes the next piece; gives what can be shown by now.
    #[must_use]
    pub fn push(&mut self, piece: &[u8]) -> Vec<u8> {
        self.held.extend_from_slice(piece);
        // Every place before this one has all the bytes that its decision can depend on.
        let decided = self.held.len().saturating_sub(self.redactor.ahead());
        self.advance(decided)
    }

    /// Ends the stream; gives the rest. A further piece begins a new stream.
    #[must_use]
    pub fn finish(&mut self) -> Vec<u8> {
        let rest = self.advance(self.held.len());
        self.held.clear();
        self.at = 0;
        self.mode = Mode::Clear;
        rest
    }

    /// Decides about everything before `limit`.
    fn advance(&mut self, limit: usize) -> Vec<u8> {
        let mut out = Vec::with_capacity(limit.saturating_sub(self.at));
        while self.at < limit {
            match self.mode {
                Mode::Clear => self.clear(limit, &mut out),
                Mode::Secret { left, class } => self.secret(left, class),
                Mode::Pem { left } => self.pem(left),
            }
        }
        let done = self.at.saturating_sub(shapes::BEFORE);
        self.held.drain(..done);
        self.at -= done;
        out
    }

    /// Shows bytes up to the next secret or to `limit`.
    fn clear(&mut self, limit: usize, out: &mut Vec<u8>) {
        let mut search = self.at;
        while let Some(start) = self.redactor.next_trigger(&self.held, search).filter(|start| *start < limit) {
            let window = self.window(start);
            let literal = self.redactor.literal_at(window);
            let shape = shapes::at(window, &self.held[start.saturating_sub(shapes::BEFORE)..start]);
            let (keep, mode) = match (literal, shape) {
                (None, None) => {
                    search = start + 1;
                    continue;
                }
                // A private key outlasts any value in it.
                (_, Some(found)) if found.body == Body::Pem => (found.keep, Mode::Pem { left: PEM_LONGEST }),
                // The bytes in front of a shape's secret are shown, unless a value covers them.
                (Some(left), Some(found)) if found.keep == 0 => (0, secret(found.body, left)),
                (Some(left), _) => (0, Mode::Secret { left, class: None }),
                (None, Some(found)) => (found.keep, secret(found.body, 0)),
            };
            // What is kept can reach over the limit: it was decided here, with all that it depends on.
            out.extend_from_slice(&self.held[self.at..start + keep]);
            out.extend_from_slice(REDACTED.as_bytes());
            self.at = start + keep;
            self.mode = mode;
            return;
        }
        out.extend_from_slice(&self.held[self.at..limit]);
        self.at = limit;
    }

    /// Swallows one byte, or ends the secret. A value that begins inside makes it longer.
    fn secret(&mut self, left: usize, class: Option<Class>) {
        let left = left.max(self.redactor.literal_at(self.window(self.at)).unwrap_or(0));
        let class = class.filter(|class| class(self.held[self.at]));
        if left == 0 && class.is_none() {
            self.mode = Mode::Clear;
            return;
        }
        self.at += 1;
        self.mode = Mode::Secret { left: left.saturating_sub(1), class };
    }

    fn pem(&mut self, left: usize) {
        let window = self.window(self.at);
        if let Some(end) = shapes::pem_end(window) {
            self.mode = Mode::Secret { left: end, class: None };
        } else if left == 0 || !shapes::pem_byte(window[0]) {
            // A value may have begun in the last bytes of the key; it is looked for from here as anywhere.
            self.mode = Mode::Secret { left: 0, class: None };
        } else {
            self.at += 1;
            self.mode = Mode::Pem { left: left - 1 };
        }
    }

    /// What a decision about `start` may look at: the same bytes whatever has come in by now.
    fn window(&self, start: usize) -> &[u8] {
        let end = self.held.len().min(start + self.redactor.ahead());
        &self.held[start..end]
    }
}

fn secret(body: Body, least: usize) -> Mode {
    match body {
        Body::Bytes(count) => Mode::Secret { left: count.max(least), class: None },
        Body::Run(class) => Mode::Secret { left: least, class: Some(class) },
        Body::Pem => Mode::Pem { left: PEM_LONGEST },
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn redactor() -> Redactor {
        Redactor::new(["hunter2-secret", "ter2-sec", "wörd/1\"x"])
    }

    fn in_slices(redactor: &Redactor, bytes: &[u8], sizes: &[usize]) -> Vec<u8> {
        let mut stream = redactor.stream();
        let mut out = Vec::new();
        let mut rest = bytes;
        for size in sizes.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (piece, later) = rest.split_at((*size).min(rest.len()));
            out.extend(stream.push(piece));
            rest = later;
        }
        out.extend(stream.finish());
        out
    }

    /// Fragments that begin, continue and break secrets.
    fn fragment() -> impl Strategy<Value = Vec<u8>> {
        let texts = [
            "sk-",
            "sk-ant-",
            "ghp_",
            "AKIA",
            "eyJhbGciOiJI",
            ".eyJ",
            "Bearer ",
            "Authorization: ",
            "Basic ",
            "://",
            "ann:",
            "@host",
            "api_key=",
            "\"",
            "\\n",
            " ",
            "\n",
            "hunter2-secret",
            "hunter2",
            "-sec",
            "wörd/1\"x",
            "w%C3%B6rd%2F1%22x",
            "aHVudGVyMi1zZWNyZXQ=",
            "-----BEGIN PRIVATE KEY-----",
            "-----END PRIVATE KEY-----",
            "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC",
            "0123456789",
            "abcdefghijklmnop",
            "...",
            "${VAR}",
            "é",
            "prose",
        ];
        prop_oneof![
            8 => proptest::sample::select(texts.to_vec()).prop_map(|t| t.as_bytes().to_vec()),
            1 => proptest::collection::vec(any::<u8>(), 0..20),
            1 => (1_usize..3000).prop_map(|n| vec![b'a'; n]),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

        #[test]
        fn any_slicing_gives_the_same_bytes(
            parts in proptest::collection::vec(fragment(), 0..24),
            sizes in proptest::collection::vec(1_usize..2000, 1..6),
        ) {
            let redactor = redactor();
            let bytes = parts.concat();
            let whole = redactor.bytes(&bytes);
            prop_assert_eq!(&in_slices(&redactor, &bytes, &sizes), &whole);
        }

        #[test]
        fn no_value_survives(parts in proptest::collection::vec(fragment(), 0..24)) {
            let shown = redactor().bytes(&parts.concat());
            for value in ["hunter2-secret", "ter2-sec", "wörd/1\"x"] {
                prop_assert!(memchr::memmem::find(&shown, value.as_bytes()).is_none());
            }
        }
    }

    #[test]
    fn slices_of_1_7_13_and_5000_bytes_agree() {
        let text =
            format!("{} sk-ant-{} x hunter2-secret é {}", "a".repeat(4000), "B7".repeat(6000), "tail ".repeat(900));
        let whole = redactor().bytes(text.as_bytes());
        assert!(whole.len() < 10_000);
        for size in [1, 7, 13, 5000] {
            assert_eq!(in_slices(&redactor(), text.as_bytes(), &[size]), whole, "{size}");
        }
    }

    #[test]
    fn what_is_held_does_not_grow_with_a_secret_or_the_stream() {
        let mut stream = redactor().stream();
        let _ = stream.push(b"sk-ant-0123456789");
        for _ in 0..2000 {
            assert!(stream.push(&[b'a'; 1000]).len() < 3000);
            assert!(stream.held.len() <= 4096 + 1000 + shapes::BEFORE);
        }
        assert_eq!(stream.finish(), b"");
    }

    #[test]
    fn a_finished_stream_begins_anew() {
        let mut stream = redactor().stream();
        let mut out = stream.push(b"sk-ant-0123456789abcdef");
        out.extend(stream.finish());
        out.extend(stream.push(b"plain"));
        out.extend(stream.finish());
        assert_eq!(out, b"[redacted]plain");
    }
}
