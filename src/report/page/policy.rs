//! What the browser may do with a report.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::ids::Sha256Hash;

/// The content security policy (W3C CSP Level 3) that lets run this `script` and this `style`, and load nothing. It is
/// meant for a `meta` element; the hashes are of the exact text between the tags.
pub(super) fn policy(script: &str, style: &str) -> String {
    let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256Hash::of(text.as_bytes()).bytes()));
    format!(
        "default-src 'none'; script-src {}; style-src {}; base-uri 'none'; form-action 'none'",
        hash(script),
        hash(style)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_that_a_browser_computes() {
        // `printf %s 'a' | openssl dgst -sha256 -binary | base64`
        let policy = policy("a", "");
        assert!(policy.contains("script-src 'sha256-ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs='"), "{policy}");
        assert!(policy.contains("style-src 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"), "{policy}");
        assert!(policy.starts_with("default-src 'none';"));
    }
}
