//! Which variables hold a vendor's key by habit, for programs that ask many vendors.

/// Vendors whose variable is not called like themselves, as the catalogue <https://models.dev> has them.
const OWN_NAMES: &[(&str, &[&str])] = &[
    (
        "amazon-bedrock",
        &[
            "AWS_ACCESS_KEY_ID",
            "AWS_SECRET_ACCESS_KEY",
            "AWS_SESSION_TOKEN",
            "AWS_BEARER_TOKEN_BEDROCK",
            "AWS_REGION",
            "AWS_PROFILE",
        ],
    ),
    ("azure", &["AZURE_API_KEY", "AZURE_RESOURCE_NAME"]),
    ("fireworks-ai", &["FIREWORKS_API_KEY"]),
    ("google", &["GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"]),
    (
        "google-vertex",
        &["GOOGLE_VERTEX_PROJECT", "GOOGLE_VERTEX_LOCATION", "GOOGLE_CLOUD_PROJECT", "GOOGLE_APPLICATION_CREDENTIALS"],
    ),
    ("huggingface", &["HF_TOKEN"]),
    ("moonshotai", &["MOONSHOT_API_KEY"]),
    ("togetherai", &["TOGETHER_API_KEY"]),
    ("zai", &["ZHIPU_API_KEY"]),
    ("zhipuai", &["ZHIPU_API_KEY"]),
];

/// The variables that hold the key of `vendor`, an id such as `anthropic`: `ANTHROPIC_API_KEY`.
#[must_use]
pub fn vendor_key_variables(vendor: &str) -> Vec<String> {
    if let Some((_, names)) = OWN_NAMES.iter().find(|(id, _)| *id == vendor) {
        return names.iter().map(|name| (*name).to_owned()).collect();
    }
    let plain = vendor.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'));
    let name: String =
        vendor.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect();
    if plain && !name.is_empty() { vec![format!("{name}_API_KEY")] } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vendors_key_is_called_like_the_vendor_or_as_the_vendor_calls_it() {
        assert_eq!(vendor_key_variables("anthropic"), ["ANTHROPIC_API_KEY"]);
        assert_eq!(vendor_key_variables("io-net"), ["IO_NET_API_KEY"]);
        assert_eq!(vendor_key_variables("moonshotai"), ["MOONSHOT_API_KEY"]);
        assert_eq!(vendor_key_variables(""), Vec::<String>::new());
        assert_eq!(vendor_key_variables("a b=c"), Vec::<String>::new());
    }
}
