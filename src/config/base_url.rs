//! Whether an endpoint's address can be asked at all.

use reqwest::Url;

/// Why an address cannot be asked, in words that follow the key's name.
///
/// Stricter than the URL standard, which takes the first part of a path for a host that is missing.
pub(super) fn wrong_with(written: &str) -> Option<String> {
    let text = written.trim();
    let Some((scheme, rest)) = text.split_once("://") else {
        return Some("is no address: `http://` or `https://` must come first".to_owned());
    };
    if !(scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https")) {
        return Some("is neither http nor https".to_owned());
    }
    if text.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return Some("has a blank in it".to_owned());
    }
    if rest.is_empty() || rest.starts_with(['/', '?', '#', ':']) {
        return Some("names no host".to_owned());
    }
    Url::parse(text).err().map(|error| format!("cannot be used: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_taken_in_any_letter_case_and_a_broken_one_is_told_from_it() {
        for good in ["http://h", "HTTP://H:80/v1", "https://[::1]:8080/v1?x=y", " http://127.0.0.1:1/ "] {
            assert_eq!(wrong_with(good), None, "{good}");
        }
        for (bad, words) in [
            ("http://", "no host"),
            ("http:///v1", "no host"),
            ("http://:8080/v1", "no host"),
            ("http://h:99999/v1", "port"),
            ("http://h/v 1", "blank"),
            ("http://a b/v1", "blank"),
            ("http://[::1/v1", "cannot be used"),
            ("ftp://h", "neither http nor https"),
            ("localhost:8080", "no address"),
            ("", "no address"),
        ] {
            let wrong = wrong_with(bad).unwrap();
            assert!(wrong.contains(words), "{bad}: {wrong}");
        }
    }
}
