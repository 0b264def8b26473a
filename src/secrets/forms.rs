//! The forms in which a secret value appears in text: as it is, and URL-, base64- and JSON-escaped.

use std::collections::BTreeSet;

/// Shorter values are left alone: `true`, `1` or `eu` would take ordinary text away with them.
pub(super) const SHORTEST: usize = 6;

/// A longer value is looked for in pieces of this size, which bounds what a stream holds back.
pub(super) const LONGEST: usize = 4096;

/// The shortest line of a value with several lines that is looked for by itself.
const SHORTEST_LINE: usize = 16;

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL_SAFE: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Every text to look for, longest first.
pub(super) fn literals<S: AsRef<str>>(values: impl IntoIterator<Item = S>) -> Vec<String> {
    let mut found = BTreeSet::new();
    for value in values {
        let value = value.as_ref().trim();
        if value.len() < SHORTEST || is_placeholder(value) {
            continue;
        }
        all_forms(value, &mut found);
        if value.contains('\n') {
            for line in value.lines().map(str::trim).filter(|line| line.len() >= SHORTEST_LINE) {
                // The armour of a key file is not secret, and stands in many texts.
                if !line.starts_with("-----") {
                    all_forms(line, &mut found);
                }
            }
        }
    }
    let mut literals: Vec<String> = found.into_iter().collect();
    literals.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
    literals
}

/// A value that stands for one to be filled in: `${VAR}`, `$VAR`, `<your-key>`.
fn is_placeholder(value: &str) -> bool {
    let name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    (value.starts_with('<') && value.ends_with('>'))
        || (value.starts_with("${") && value.ends_with('}'))
        || value.strip_prefix('$').is_some_and(|rest| !rest.is_empty() && rest.chars().all(name))
}

fn all_forms(value: &str, found: &mut BTreeSet<String>) {
    let mut add = |form: String| {
        if form.len() >= SHORTEST {
            pieces(&form, found);
        }
    };
    add(value.to_owned());
    add(json_escaped(value));
    add(json_escaped(value).replace('/', "\\/"));
    // A JSON text inside a JSON text.
    add(json_escaped(&json_escaped(value)));
    for (upper, spared) in [(true, ""), (false, ""), (true, "!'()*"), (true, "/:")] {
        add(url_escaped(value, upper, spared));
    }
    add(url_escaped(value, true, "").replace("%20", "+"));
    for alphabet in [STANDARD, URL_SAFE] {
        for before in 0..3 {
            let form = base64_inside(value.as_bytes(), before, alphabet);
            // What is left of a short value at an odd offset would match by chance.
            if form.len() >= 8 {
                add(form);
            }
        }
    }
}

/// Cuts what is longer than [`LONGEST`] at character boundaries; the last piece overlaps the one before, so that none
/// is too short to look for.
fn pieces(form: &str, found: &mut BTreeSet<String>) {
    let mut rest = form;
    while rest.len() > LONGEST {
        let cut = char_floor(rest, LONGEST);
        found.insert(rest[..cut].to_owned());
        if rest.len() - cut < LONGEST {
            rest = &rest[char_floor(rest, rest.len() - LONGEST)..];
            // A floor may have gone back by up to three bytes.
            let cut = char_floor(rest, LONGEST);
            found.insert(rest[..cut].to_owned());
            return;
        }
        rest = &rest[cut..];
    }
    found.insert(rest.to_owned());
}

/// The last character boundary at or before `at`.
fn char_floor(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

fn json_escaped(value: &str) -> String {
    let quoted = serde_json::Value::from(value).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// Percent-encoding of RFC 3986: everything but the unreserved characters and those in `spared`.
fn url_escaped(value: &str, upper: bool, spared: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for byte in value.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(char::from(byte)),
            byte if spared.as_bytes().contains(&byte) => out.push(char::from(byte)),
            byte if upper => out.push_str(&format!("%{byte:02X}")),
            byte => out.push_str(&format!("%{byte:02x}")),
        }
    }
    out
}

/// The characters that `value` has in base64 (RFC 4648) whatever stands around it, when `before` bytes (modulo 3) come
/// in front: as in a `Basic` header, whose value is `user:secret`. With `before` 0 the last, partial character is
/// left out too.
fn base64_inside(value: &[u8], before: usize, alphabet: &[u8; 64]) -> String {
    let bit = |n: usize| {
        let byte = n / 8;
        if byte < before { 0 } else { (value[byte - before] >> (7 - n % 8)) & 1 }
    };
    // The first character that holds no bit of what comes in front.
    let first = (before * 8).div_ceil(6);
    let last = (before + value.len()) * 8 / 6;
    (first..last)
        .map(|n| {
            let index = (0..6).fold(0_usize, |acc, k| acc << 1 | usize::from(bit(n * 6 + k)));
            char::from(alphabet[index])
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(value: &str) -> Vec<String> {
        literals([value])
    }

    #[test]
    fn short_values_and_placeholders_are_not_looked_for() {
        for value in ["", "true", "12345", "${OPENAI_API_KEY}", "$OPENAI_API_KEY", "<your-key>", "   a   "] {
            assert!(of(value).is_empty(), "{value}");
        }
    }

    #[test]
    fn a_dollar_sign_alone_does_not_make_a_placeholder() {
        assert!(of("$ecret-w0rd!").contains(&"$ecret-w0rd!".to_owned()));
    }

    #[test]
    fn url_and_json_forms_are_looked_for() {
        let forms = of("a/b c\"d\\é");
        for form in ["a/b c\"d\\é", "a%2Fb%20c%22d%5C%C3%A9", "a%2fb%20c%22d%5c%c3%a9", "a/b c\\\"d\\\\é"] {
            assert!(forms.iter().any(|f| f == form), "{form} in {forms:?}");
        }
    }

    #[test]
    fn base64_is_found_at_every_offset() {
        // Values from `printf 'SECRET' | base64` with nothing, `u:` and `us:` less one byte in front.
        let forms = of("hunter2-secret");
        for encoded in ["aHVudGVyMi1zZWNyZXQ=", "dTpodW50ZXIyLXNlY3JldA==", "dXNlcjpodW50ZXIyLXNlY3JldA=="] {
            assert!(forms.iter().any(|form| form.len() >= 8 && encoded.contains(form.as_str())), "{encoded}");
        }
    }

    #[test]
    fn a_long_value_is_looked_for_in_pieces_that_cover_it() {
        let value: String =
            (0..9000_u32).map(|n| char::from(b'a' + (n.wrapping_mul(2_654_435_761) >> 13) as u8 % 26)).collect();
        let forms = of(&value);
        assert!(forms.iter().all(|form| form.len() <= LONGEST));
        let mut covered = vec![false; value.len()];
        for form in &forms {
            for (start, _) in value.match_indices(form.as_str()) {
                covered[start..start + form.len()].fill(true);
            }
        }
        assert!(covered.iter().all(|c| *c));
    }

    #[test]
    fn each_line_of_a_key_file_is_looked_for() {
        let forms = of("-----BEGIN X-----\nMIIEvQIBADANBgkqhkiG9w0\n-----END X-----");
        assert!(forms.contains(&"MIIEvQIBADANBgkqhkiG9w0".to_owned()));
        assert!(!forms.contains(&"-----BEGIN X-----".to_owned()));
    }
}
