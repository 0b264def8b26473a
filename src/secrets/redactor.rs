//! Secrets out of text: the values that were handed to a slot, and the shapes of well-known tokens.

use std::fmt;
use std::sync::Arc;

use aho_corasick::{AhoCorasick, AhoCorasickKind, Anchored, Input, MatchKind, StartKind};

use super::stream::RedactStream;
use super::{forms, shapes};

/// What stands where a secret was.
pub const REDACTED: &str = "[redacted]";

/// Replaces secrets by [`REDACTED`]: every value it was made with, of 6 bytes or more, also URL-, base64- and
/// JSON-escaped; API keys by their prefixes, `Authorization` values, `api_key = ..`, JSON web tokens, passwords in URLs
/// and private keys. Placeholders (`${VAR}`, `<your-key>`, `sk-...`, `YOUR_API_KEY`) stay.
///
/// Cheap to clone; the pattern is built once.
#[derive(Clone)]
pub struct Redactor(Arc<Patterns>);

struct Patterns {
    /// Where anything can begin; case does not matter.
    triggers: AhoCorasick,
    /// The values, for an anchored search of the longest; `None` when there are none.
    literals: Option<AhoCorasick>,
    /// Bytes from a place on that its decision may depend on.
    ahead: usize,
}

impl Redactor {
    /// A redactor for `secret_values` (the values of the variables that slots are given) and the usual shapes.
    pub fn new<S: AsRef<str>>(secret_values: impl IntoIterator<Item = S>) -> Self {
        let literals = forms::literals(secret_values);
        let longest = literals.first().map_or(0, String::len);
        let mut all: Vec<&str> = Vec::new();
        all.extend(literals.iter().map(|literal| &literal[..]));
        for trigger in shapes::triggers() {
            all.push(trigger);
        }
        Self(Arc::new(Patterns {
            triggers: build(
                AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).ascii_case_insensitive(true),
                all,
            ),
            literals: (!literals.is_empty()).then(|| {
                let mut builder = AhoCorasick::builder();
                // Only anchored searches are made, and only at triggers, so the small automaton is fast enough.
                builder
                    .match_kind(MatchKind::LeftmostLongest)
                    .start_kind(StartKind::Both)
                    .kind(Some(AhoCorasickKind::ContiguousNFA));
                build(&builder, &literals)
            }),
            ahead: longest.max(shapes::WINDOW),
        }))
    }

    /// `text` without its secrets.
    #[must_use]
    pub fn text(&self, text: &str) -> String {
        if !self.can_match(text.as_bytes()) {
            return text.to_owned();
        }
        // Values are UTF-8 and shapes are ASCII, so a cut never falls inside a character.
        String::from_utf8(self.all(text.as_bytes()))
            .unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned())
    }

    /// `bytes` without their secrets; what is not UTF-8 stays as it is.
    #[must_use]
    pub fn bytes(&self, bytes: &[u8]) -> Vec<u8> {
        if self.can_match(bytes) { self.all(bytes) } else { bytes.to_vec() }
    }

    /// The same for bytes that come in pieces.
    #[must_use]
    pub fn stream(&self) -> RedactStream {
        RedactStream::new(self.clone())
    }

    fn all(&self, bytes: &[u8]) -> Vec<u8> {
        let mut stream = self.stream();
        let mut out = stream.push(bytes);
        out.extend(stream.finish());
        out
    }

    fn can_match(&self, bytes: &[u8]) -> bool {
        self.0.triggers.is_match(bytes)
    }

    /// Where the next thing may begin in `bytes`, from `from` on.
    pub(super) fn next_trigger(&self, bytes: &[u8], from: usize) -> Option<usize> {
        self.0.triggers.find(Input::new(bytes).range(from..)).map(|found| found.start())
    }

    /// The length of the longest value that begins at the start of `bytes`.
    pub(super) fn literal_at(&self, bytes: &[u8]) -> Option<usize> {
        let found = self.0.literals.as_ref()?.find(Input::new(bytes).anchored(Anchored::Yes))?;
        Some(found.len())
    }

    /// How many bytes from a place on must be known to decide about it.
    pub(super) fn ahead(&self) -> usize {
        self.0.ahead
    }
}

impl fmt::Debug for Redactor {
    /// Never shows a value.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redactor").finish_non_exhaustive()
    }
}

#[expect(
    clippy::expect_used,
    reason = "only an automaton over 2 GiB of patterns cannot be built; the environment is smaller"
)]
fn build<P: AsRef<[u8]>>(
    builder: &aho_corasick::AhoCorasickBuilder,
    patterns: impl IntoIterator<Item = P>,
) -> AhoCorasick {
    builder.build(patterns).expect("the environment is smaller than 2 GiB")
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn none() -> Redactor {
        Redactor::new(Vec::<String>::new())
    }

    #[rstest]
    #[case("key sk-ant-api03-AbCdEf0123456789-xyz_1 end", "key [redacted] end")]
    #[case("sk-proj-abc123def456ghi789", "[redacted]")]
    #[case("OPENAI_API_KEY=sk-abcdefghijklmnopqrstuvwxyz012345", "OPENAI_API_KEY=[redacted]")]
    #[case("{\"t\":\"a\\nsk-or-v1-0123456789abcdef\"}", "{\"t\":\"a\\n[redacted]\"}")]
    #[case("ghp_0123456789abcdefghijABCDEFGHIJ012345.", "[redacted].")]
    #[case("github_pat_11ABCDEFG0abcdefghijkl_mnopqrstu", "[redacted]")]
    #[case("id AKIAIOSFODNN7EXAMPLE,", "id [redacted],")]
    #[case("?key=AIzaSyA0123456789abcdefghijklmnopqrstuv&a=1", "?key=[redacted]&a=1")]
    #[case("xoxb-123456789012-abcdefGHIJKL", "[redacted]")]
    #[case("Authorization: Bearer abc.def123456-x", "Authorization: Bearer [redacted]")]
    #[case("authorization: Basic dXNlcjpwYXNz", "authorization: Basic [redacted]")]
    #[case("\"Authorization\":\"Bearer abcdefgh12345678\"", "\"Authorization\":\"Bearer [redacted]\"")]
    #[case("x-api-key: 0123456789abcdef", "x-api-key: [redacted]")]
    #[case("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "aws_secret_access_key = [redacted]")]
    #[case("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.sIgNaTuRe_-1 x", "[redacted] x")]
    #[case("at postgres://ann:s3cret@db:5432/x", "at postgres://[redacted]@db:5432/x")]
    #[case("https://ann:p@ss@host/", "https://[redacted]@host/")]
    fn tokens_are_redacted_by_their_shape(#[case] text: &str, #[case] expected: &str) {
        assert_eq!(none().text(text), expected);
        assert_eq!(none().bytes(text.as_bytes()), expected.as_bytes());
    }

    #[rstest]
    #[case("OPENAI_API_KEY=${OPENAI_API_KEY}")]
    #[case("Authorization: Bearer $OPENAI_API_KEY")]
    #[case("Authorization: Bearer ${TOKEN}")]
    #[case("x-api-key: <your-key>")]
    #[case("set it to sk-... or sk-ant-...")]
    #[case("api_key = \"YOUR_API_KEY\"")]
    #[case("Authorization: Bearer YOUR_API_KEY")]
    #[case("sk-xxxxxxxxxxxxxxxxxxxxxxxx")]
    #[case("ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx")]
    #[case("postgres://user:${PASSWORD}@host/db and https://user:...@host")]
    #[case("a risk-based task-force with desk-research-2024")]
    #[case("sk-learn-tutorial-part-2")]
    #[case("the bearer of bad news, bearer authentication")]
    #[case("\"input_tokens\":12345678,\"token\": 12345678")]
    #[case("let token = std::env::var(\"TOKEN_NAME_12345678\")")]
    #[case("http://localhost:8080/a@b and mailto:ann@example.org")]
    #[case("-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----")]
    #[case("-----BEGIN CERTIFICATE-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END CERTIFICATE-----")]
    #[case("eyJhbGciOiJIUzI1NiJ9 is only a header")]
    fn placeholders_and_prose_stay(#[case] text: &str) {
        assert_eq!(none().text(text), text);
    }

    #[test]
    fn a_private_key_is_one_mark_whatever_its_line_ends() {
        for eol in ["\n", "\r\n", "\\n"] {
            let lines = ["-----BEGIN RSA PRIVATE KEY-----", "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC", "BKcwggSjAgEAAo+/=="];
            let text = format!("a {}{eol}-----END RSA PRIVATE KEY----- b", lines.join(eol));
            assert_eq!(none().text(&text), "a [redacted] b");
        }
    }

    #[test]
    fn a_private_key_without_an_end_is_swallowed_to_its_last_line_only() {
        let text = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n{\"next\": 1}";
        assert_eq!(none().text(text), "[redacted]{\"next\": 1}");
    }

    #[test]
    fn given_values_are_redacted_in_every_form() {
        let redactor = Redactor::new(["pa/ss wörd\"1"]);
        for form in ["pa/ss wörd\"1", "pa%2Fss%20w%C3%B6rd%221", "pa/ss wörd\\\"1", "pa\\/ss wörd\\\"1"] {
            assert_eq!(redactor.text(&format!("<{form}>")), "<[redacted]>", "{form}");
        }
        // `printf 'user:pa/ss wörd"1' | base64`
        let shown = redactor.text("x dXNlcjpwYS9zcyB3w7ZyZCIx y");
        assert!(shown.starts_with("x dXNlcj") && shown.contains(REDACTED) && !shown.contains("zcyB3w7Zy"), "{shown}");
    }

    #[test]
    fn a_value_that_contains_another_goes_whole() {
        let redactor = Redactor::new(["abcdef", "abcdef-long-one", "defghi"]);
        assert_eq!(redactor.text("(abcdef-long-one)"), "([redacted])");
        assert_eq!(redactor.text("(abcdefghi)"), "([redacted])");
    }

    #[test]
    fn a_value_longer_than_its_shape_goes_whole() {
        let redactor = Redactor::new(["sk-abc123def456$tail", "inner99$more"]);
        assert_eq!(redactor.text("sk-abc123def456$tail."), "[redacted].");
        assert_eq!(redactor.text("sk-abc123def456inner99$more."), "[redacted].");
    }

    #[test]
    fn case_matters_for_values() {
        assert_eq!(Redactor::new(["Secret1"]).text("secret1"), "secret1");
    }

    #[test]
    fn invalid_utf8_passes_through() {
        let redactor = Redactor::new(["hunter2"]);
        assert_eq!(redactor.bytes(b"\xff\xfehunter2\xff"), b"\xff\xfe[redacted]\xff");
    }

    #[test]
    fn its_debug_form_shows_no_value() {
        assert!(!format!("{:?}", Redactor::new(["hunter2"])).contains("hunter2"));
    }
}
