//! The id of a message that is too long to be kept, so that whoever waits for its reply gets one.

use rmcp::model::RequestId;

/// The longest id that is looked at.
const LONGEST: usize = 256;

/// Looks at a JSON object piece by piece and keeps nothing but its own `id`, wherever it stands.
#[derive(Debug, Default)]
pub(super) struct IdFinder {
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// Behind the colon of a member of the outermost object.
    in_value: bool,
    is_id: bool,
    token: Vec<u8>,
    id: Option<Vec<u8>>,
}

impl IdFinder {
    /// Takes the next piece.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.byte(*byte);
        }
    }

    /// The id, where there was one that can be used.
    pub(super) fn found(self) -> Option<RequestId> {
        serde_json::from_slice(&self.id?).ok()
    }

    fn byte(&mut self, byte: u8) {
        if self.in_string {
            self.keep(byte);
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            return;
        }
        match byte {
            b'"' => {
                self.in_string = true;
                self.keep(byte);
            }
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => {
                if self.depth == 1 {
                    self.end();
                }
                self.depth = self.depth.saturating_sub(1);
            }
            b':' if self.depth == 1 && !self.in_value => {
                self.is_id = self.token == b"\"id\"";
                self.in_value = true;
                self.token.clear();
            }
            b',' if self.depth == 1 => self.end(),
            _ if byte.is_ascii_whitespace() => {}
            _ => self.keep(byte),
        }
    }

    fn keep(&mut self, byte: u8) {
        if self.depth == 1 && self.token.len() < LONGEST {
            self.token.push(byte);
        }
    }

    /// A member of the outermost object ends here.
    fn end(&mut self) {
        let token = std::mem::take(&mut self.token);
        if self.in_value && self.is_id {
            self.id = Some(token);
        }
        self.in_value = false;
        self.is_id = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, pieces: usize) -> Option<RequestId> {
        let mut finder = IdFinder::default();
        text.as_bytes().chunks(pieces).for_each(|piece| finder.feed(piece));
        finder.found()
    }

    #[test]
    fn only_the_messages_own_id_is_found_wherever_it_stands() {
        let number = |n: i64| Some(RequestId::Number(n));
        for (text, expected) in [
            (r#"{"id":7,"method":"x"}"#, number(7)),
            (r#"{"params":{"id":1,"a":[{"id":2}],"s":"\"id\":3,"},"method":"x", "id" : -4 }"#, number(-4)),
            (r#"{"id":"a\"b","params":{"id":5}}"#, Some(RequestId::String("a\"b".into()))),
            (r#"{"params":{"id":1}}"#, None),
            (r#"{"id":{"id":1}}"#, None),
            (r#"{"id":nul}"#, None),
            (r#"[{"id":1}]"#, None),
            ("", None),
        ] {
            for pieces in [1, 3, 1000] {
                assert_eq!(found(text, pieces), expected, "{text}");
            }
        }
    }
}
