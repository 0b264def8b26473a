//! The shapes of well-known tokens, each decided by looking at a bounded window that begins at the shape.
//!
//! A shape only says where a secret begins and by which class of bytes it goes on; how long it is, is found while it
//! is swallowed. That is what lets a stream of any length be redacted in bounded memory.

/// Bytes that a secret may go on with.
pub(super) type Class = fn(u8) -> bool;

/// What begins at a place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Found {
    /// Bytes at the place that are shown before the mark (a header's name, a scheme).
    pub keep: usize,
    /// What is swallowed after them.
    pub body: Body,
}

/// How far a secret goes.
#[derive(Debug, Clone, Copy)]
pub(super) enum Body {
    /// This many bytes.
    Bytes(usize),
    /// As long as the class goes on.
    Run(Class),
    /// A private key up to its end line.
    Pem,
}

impl PartialEq for Body {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Bytes(a), Self::Bytes(b)) => a == b,
            (Self::Run(a), Self::Run(b)) => std::ptr::fn_addr_eq(*a, *b),
            (Self::Pem, Self::Pem) => true,
            _ => false,
        }
    }
}

/// No shape looks further ahead than this.
pub(super) const WINDOW: usize = 1024;

/// A token that is known by its prefix.
struct Prefix {
    text: &'static str,
    class: Class,
    /// Bytes of the class that must follow.
    least: usize,
    look: Look,
}

/// What a token's body must look like, so that prose and placeholders are spared.
#[derive(Clone, Copy, PartialEq)]
enum Look {
    /// Anything but a placeholder: the prefix alone is telling.
    Any,
    /// Like a token, not like words with hyphens.
    Token,
}

const fn prefix(text: &'static str, class: Class, least: usize, look: Look) -> Prefix {
    Prefix { text, class, least, look }
}

const PREFIXES: &[Prefix] = &[
    prefix("sk-ant-", word_dash, 8, Look::Token),
    prefix("sk-proj-", word_dash, 8, Look::Token),
    prefix("sk-or-", word_dash, 8, Look::Token),
    prefix("sk-", word_dash, 8, Look::Token),
    prefix("sk_live_", word, 10, Look::Any),
    prefix("sk_test_", word, 10, Look::Any),
    prefix("rk_live_", word, 10, Look::Any),
    prefix("ghp_", word, 20, Look::Any),
    prefix("gho_", word, 20, Look::Any),
    prefix("ghu_", word, 20, Look::Any),
    prefix("ghs_", word, 20, Look::Any),
    prefix("ghr_", word, 20, Look::Any),
    prefix("github_pat_", word, 20, Look::Any),
    prefix("glpat-", word_dash, 16, Look::Token),
    prefix("AKIA", upper, 16, Look::Any),
    prefix("ASIA", upper, 16, Look::Any),
    prefix("AIza", word_dash, 30, Look::Any),
    prefix("ya29.", word_dash, 20, Look::Token),
    prefix("xoxa-", word_dash, 10, Look::Any),
    prefix("xoxb-", word_dash, 10, Look::Any),
    prefix("xoxc-", word_dash, 10, Look::Any),
    prefix("xoxe-", word_dash, 10, Look::Any),
    prefix("xoxe.", word_dash, 10, Look::Any),
    prefix("xoxp-", word_dash, 10, Look::Any),
    prefix("xoxr-", word_dash, 10, Look::Any),
    prefix("xoxs-", word_dash, 10, Look::Any),
    prefix("xapp-", word_dash, 10, Look::Any),
    prefix("hf_", word, 20, Look::Token),
    prefix("gsk_", word, 20, Look::Token),
    prefix("xai-", word_dash, 20, Look::Token),
    prefix("pplx-", word_dash, 20, Look::Token),
    prefix("nvapi-", word_dash, 20, Look::Token),
    prefix("npm_", word, 30, Look::Token),
    prefix("pypi-", word_dash, 30, Look::Token),
];

/// Names whose value is a secret, where it is given with `:` or `=`.
const NAMES: &[&str] = &[
    "authorization",
    "api-key",
    "api_key",
    "apikey",
    "access_key",
    "access-key",
    "accesskey",
    "auth_token",
    "token",
    "secret",
    "password",
    "passwd",
];

/// The schemes of an `Authorization` header, after which any value is a secret.
const SCHEMES: &[&str] = &["bearer", "basic", "token", "apikey", "digest", "aws4-hmac-sha256"];

const BEARER: &str = "bearer";
const JWT: &str = "eyJ";
const URL: &str = "://";
const PEM: &str = "-----BEGIN ";

/// Every text at which a shape can begin; compared without regard to case.
pub(super) fn triggers() -> impl Iterator<Item = &'static str> {
    PREFIXES.iter().map(|p| p.text).chain(NAMES.iter().copied()).chain([BEARER, JWT, URL, PEM])
}

/// The shape that begins at the start of `window`, which holds at least [`WINDOW`] bytes or all that are left; the two
/// bytes in front of it are in `before`.
pub(super) fn at(window: &[u8], before: &[u8]) -> Option<Found> {
    let window = &window[..window.len().min(WINDOW)];
    token(window, before)
        .or_else(|| jwt(window, before))
        .or_else(|| bearer(window, before))
        .or_else(|| named(window))
        .or_else(|| userinfo(window))
        .or_else(|| pem(window))
}

fn token(window: &[u8], before: &[u8]) -> Option<Found> {
    if !begins_word(before) {
        return None;
    }
    PREFIXES.iter().find_map(|p| {
        let body = run(window.strip_prefix(p.text.as_bytes())?, p.class);
        let like = body.len() >= p.least && !is_placeholder(body) && (p.look == Look::Any || is_token(body));
        like.then_some(Found { keep: 0, body: Body::Run(p.class) })
    })
}

/// A JSON web token (RFC 7519): base64url parts joined by points, the first two of them JSON objects.
fn jwt(window: &[u8], before: &[u8]) -> Option<Found> {
    if !window.starts_with(JWT.as_bytes()) || !begins_word(before) {
        return None;
    }
    let head = run(window, word_dash).len();
    let rest = &window[head..];
    let next = rest.strip_prefix(b".")?;
    (head >= 10 && next.starts_with(JWT.as_bytes())).then_some(Found { keep: 0, body: Body::Run(jwt_byte) })
}

fn bearer(window: &[u8], before: &[u8]) -> Option<Found> {
    let rest = strip_prefix_ignore_case(window, BEARER)?;
    if !begins_word(before) {
        return None;
    }
    let gap = gap(rest, 1)?;
    let value = run(&rest[gap..], header_byte);
    (is_token(value) && !is_placeholder(value))
        .then_some(Found { keep: BEARER.len() + gap, body: Body::Run(header_byte) })
}

/// `api_key = VALUE`, `"x-api-key": "VALUE"`, `Authorization: Basic VALUE`.
fn named(window: &[u8]) -> Option<Found> {
    let name = NAMES.iter().find(|name| strip_prefix_ignore_case(window, name).is_some())?;
    let mut at = name.len();
    at += quotes(&window[at..]);
    at += gap(&window[at..], 0)?;
    at += usize::from(matches!(window.get(at), Some(b':' | b'=')));
    if !matches!(window[at - 1], b':' | b'=') {
        return None;
    }
    at += gap(&window[at..], 0)?;
    at += quotes(&window[at..]);
    if name == &"authorization" {
        let scheme = SCHEMES.iter().find(|scheme| strip_prefix_ignore_case(&window[at..], scheme).is_some());
        if let Some(scheme) = scheme
            && let Some(gap) = gap(&window[at + scheme.len()..], 1)
        {
            let keep = at + scheme.len() + gap;
            let value = run(&window[keep..], header_byte);
            return (value.len() >= 6 && !is_placeholder(value))
                .then_some(Found { keep, body: Body::Run(header_byte) });
        }
    }
    let value = run(&window[at..], header_byte);
    let like =
        (is_token(value) || is_mixed(value)) && value.iter().any(u8::is_ascii_alphabetic) && !is_placeholder(value);
    // A call, a path or a field access (`token = std::env::var(..)`) is no value.
    let ended = !matches!(window.get(at + value.len()), Some(b'(' | b':' | b'[' | b'<'));
    (like && ended).then_some(Found { keep: at, body: Body::Run(header_byte) })
}

/// `scheme://user:password@host` (RFC 3986, 3.2.1): both are swallowed.
fn userinfo(window: &[u8]) -> Option<Found> {
    let rest = window.strip_prefix(URL.as_bytes())?;
    let info = run(rest, |b| !b.is_ascii_whitespace() && !matches!(b, b'/' | b'?' | b'#' | b'"' | b'\'' | b'`'));
    // The last `@` ends it: an unescaped one in a password is common.
    let end = memchr::memrchr(b'@', info)?;
    let colon = memchr::memchr(b':', &info[..end])?;
    let password = &info[colon + 1..end];
    let filled_in = password.is_empty()
        || matches!(password[0], b'$' | b'<' | b'{' | b'%' if password.len() > 1 && !is_escape(password))
        || password.iter().all(|b| matches!(b, b'.' | b'*' | b'x' | b'X'))
        || is_placeholder(password);
    (!filled_in).then_some(Found { keep: URL.len(), body: Body::Bytes(end) })
}

/// Whether a `%` begins an escaped byte, not a `%VAR%`.
fn is_escape(text: &[u8]) -> bool {
    text[0] == b'%' && text.len() >= 3 && text[1..3].iter().all(u8::is_ascii_hexdigit)
}

/// A private key in PEM armour (RFC 7468).
fn pem(window: &[u8]) -> Option<Found> {
    let rest = window.strip_prefix(PEM.as_bytes())?;
    let label = run(rest, |b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b' ');
    let after = rest[label.len()..].strip_prefix(b"-----")?;
    let private = label.ends_with(b"PRIVATE KEY") || label.ends_with(b"PRIVATE KEY BLOCK");
    let body = run(after, pem_byte);
    let letters = body.iter().filter(|b| b.is_ascii_alphanumeric()).count();
    (private && letters >= 24 && !is_placeholder(body)).then_some(Found { keep: 0, body: Body::Pem })
}

/// Bytes inside the armour of a private key, escaped line ends and header lines included.
pub(super) fn pem_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b.is_ascii_whitespace() || matches!(b, b'+' | b'/' | b'=' | b'\\' | b':' | b',' | b'-')
}

/// The length of the end line at the start of `window`, if there is one.
pub(super) fn pem_end(window: &[u8]) -> Option<usize> {
    let rest = window[..window.len().min(128)].strip_prefix(b"-----END ")?;
    let label = run(rest, |b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b' ').len();
    rest[label..].starts_with(b"-----").then_some(9 + label + 5)
}

fn word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_'
}

fn word_dash(b: u8) -> bool {
    word(b) || b == b'-'
}

fn upper(b: u8) -> bool {
    b.is_ascii_uppercase() || b.is_ascii_digit()
}

fn jwt_byte(b: u8) -> bool {
    word_dash(b) || b == b'.'
}

fn header_byte(b: u8) -> bool {
    word_dash(b) || matches!(b, b'.' | b'~' | b'+' | b'/' | b'=')
}

fn run(text: &[u8], class: impl Fn(u8) -> bool) -> &[u8] {
    let end = text.iter().position(|b| !class(*b)).unwrap_or(text.len());
    &text[..end]
}

/// Whether a word can begin after `before`: not inside a word, but after an escape such as `\n`, `%20` or `ESC[1m`.
fn begins_word(before: &[u8]) -> bool {
    let Some(last) = before.last() else { return true };
    if !word_dash(*last) {
        return true;
    }
    let n = before.len();
    let escaped = n >= 2 && before[n - 2] == b'\\' && matches!(last, b'n' | b'r' | b't' | b'b' | b'f');
    let percent = n >= 3 && before[n - 3] == b'%' && before[n - 2..].iter().all(u8::is_ascii_hexdigit);
    let colour = *last == b'm' && {
        let code = before[..n - 1].iter().rposition(|b| !b.is_ascii_digit() && *b != b';');
        code.is_some_and(|at| before[at] == b'[' && at > 0 && before[at - 1] == 0x1b)
    };
    escaped || percent || colour
}

/// How many bytes in front of a place [`at`] wants to see.
pub(super) const BEFORE: usize = 12;

fn strip_prefix_ignore_case<'a>(text: &'a [u8], prefix: &str) -> Option<&'a [u8]> {
    let (head, rest) = text.split_at_checked(prefix.len())?;
    head.eq_ignore_ascii_case(prefix.as_bytes()).then_some(rest)
}

/// The length of the blanks at the start, at least `least` and at most 8 of them; `%20` and `+` are blanks in a URL.
fn gap(text: &[u8], least: usize) -> Option<usize> {
    if text.starts_with(b"%20") {
        return Some(3);
    }
    let blanks = run(text, |b| b == b' ' || b == b'\t').len();
    (least..=8).contains(&blanks).then_some(blanks)
}

/// The length of quotes at the start, escaped or not.
fn quotes(text: &[u8]) -> usize {
    let end = run(text, |b| matches!(b, b'"' | b'\'' | b'\\' | b'`')).len();
    end.min(4)
}

/// Whether `body` looks like a token, not like words: a run of 8 letters and digits with a digit in it, or of 20.
fn is_token(body: &[u8]) -> bool {
    body.split(|b| !b.is_ascii_alphanumeric())
        .any(|run| run.len() >= 20 || (run.len() >= 8 && run.iter().any(u8::is_ascii_digit)))
}

/// Whether `body` mixes cases and digits as base64 does, and is no path.
fn is_mixed(body: &[u8]) -> bool {
    body.len() >= 20
        && !matches!(body[0], b'/' | b'.' | b'~')
        && body.iter().any(u8::is_ascii_digit)
        && body.iter().any(u8::is_ascii_uppercase)
        && body.iter().any(u8::is_ascii_lowercase)
}

/// Whether `body` stands for a value to be filled in: `YOUR_API_KEY`, `xxxxxxxx`.
fn is_placeholder(body: &[u8]) -> bool {
    let body = body[..body.len().min(128)].to_ascii_lowercase();
    if body.is_empty() {
        return true;
    }
    let has = |word: &[u8]| memchr::memmem::find(&body, word).is_some();
    body.starts_with(b"your") || has(b"-your") || has(b"_your") || has(b"xxxxxx") || has(b"placeholder")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_with_hyphens_are_no_tokens() {
        assert!(!is_token(b"learn-tutorial-part-2"));
        assert!(is_token(b"a1b2c3d4"));
        assert!(is_token(b"abcdefghijklmnopqrstuvwx"));
    }

    #[test]
    fn a_prefix_inside_a_word_begins_nothing() {
        assert!(at(b"sk-1234567890abcdef", b"ta").is_none());
        assert!(at(b"sk-1234567890abcdef", b"=").is_some());
        assert!(at(b"sk-1234567890abcdef", b"\\n").is_some());
        assert!(at(b"sk-1234567890abcdef", b"\x1b[31m").is_some());
        assert!(at(b"sk-1234567890abcdef", b"%3D").is_some());
    }

    #[test]
    fn a_shape_never_looks_beyond_its_window() {
        let mut text = b"eyJ".to_vec();
        text.extend(std::iter::repeat_n(b'a', 2 * WINDOW));
        let all = [text.as_slice(), b".eyJhbGciOi"].concat();
        assert_eq!(at(&all, b""), at(&all[..WINDOW], b""));
    }

    #[test]
    fn the_end_line_of_a_key_is_measured() {
        assert_eq!(pem_end(b"-----END RSA PRIVATE KEY-----\nx"), Some(29));
        assert_eq!(pem_end(b"-----END "), None);
    }
}
