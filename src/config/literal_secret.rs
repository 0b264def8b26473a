//! Finds secrets that were written into a file instead of into the environment.

use super::variables::is_variable_name;

/// A value that looks like a secret.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LiteralSecret {
    /// Where it stands.
    pub(super) keys: Vec<String>,
    /// What to write instead.
    pub(super) hint: String,
}

/// Every secret in the sections that are sent or handed to something.
pub(super) fn find(table: &toml::Table) -> Vec<LiteralSecret> {
    let mut found = Vec::new();
    for section in ["models", "providers"] {
        for (name, entry) in table.get(section).and_then(toml::Value::as_table).into_iter().flatten() {
            let Some(entry) = entry.as_table() else { continue };
            let keys = |rest: &[&str]| {
                [section, name].iter().chain(rest).map(|key| (*key).to_owned()).collect::<Vec<String>>()
            };
            for (key, value) in entry {
                match (key.as_str(), value) {
                    ("api_key_env", toml::Value::String(text)) if !is_variable_name(text) => {
                        found.push(LiteralSecret {
                            keys: keys(&[key]),
                            hint: "`api_key_env` takes the name of the variable that holds the key".into(),
                        })
                    }
                    ("base_url", toml::Value::String(text)) if has_user_info(text) => found.push(LiteralSecret {
                        keys: keys(&[key]),
                        hint: "leave user and password out, and send them by `headers` with `${VAR}`".into(),
                    }),
                    ("env" | "headers", toml::Value::Table(inner)) => {
                        for (name, value) in inner {
                            if value.as_str().is_some_and(|text| names_a_secret(name) && looks_like_a_secret(text)) {
                                found.push(LiteralSecret {
                                    keys: keys(&[key, name]),
                                    hint: "write `${VAR}`, and put the value into the environment".into(),
                                });
                            }
                        }
                    }
                    (key, toml::Value::String(text))
                        if key != "api_key_env" && names_a_secret(key) && !text.is_empty() =>
                    {
                        found.push(LiteralSecret {
                            keys: keys(&[key]),
                            hint: "put it into the environment, and write `api_key_env = \"NAME\"` here".into(),
                        });
                    }
                    _ => {}
                }
            }
        }
    }
    found
}

/// Whether a setting, header or variable of this name usually holds a secret.
#[must_use]
pub fn names_a_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase().replace('-', "_");
    // `PWD` alone is the folder, `MYSQL_PWD` a password.
    let of_something = name.contains('_');
    let secret = |part: &str| {
        let part = part.trim_end_matches(|c: char| c.is_ascii_digit());
        WORDS.contains(&part)
            || part == "pwd" && of_something
            || ENDINGS.iter().any(|ending| part.ends_with(ending)) && !OTHER_WORDS.contains(&part)
    };
    name.split('_').any(secret) && !["max_tokens", "token_limit"].contains(&name.as_str())
}

/// Words that say so by themselves, between `_`.
const WORDS: &[&str] = &[
    "auth",
    "authorization",
    "cookie",
    "cred",
    "credential",
    "credentials",
    "bearer",
    "pat",
    "ghpat",
    "glpat",
    "private",
    "passphrase",
];

/// Words that say so also at the end of another: `MYKEY`, `PGPASSWORD`.
const ENDINGS: &[&str] = &["key", "token", "secret", "password", "passwd", "pass", "jwt", "creds"];

/// Words that only end like one.
const OTHER_WORDS: &[&str] = &[
    "monkey",
    "donkey",
    "turkey",
    "hockey",
    "jockey",
    "whiskey",
    "hotkey",
    "lesskey",
    "compass",
    "bypass",
    "encompass",
    "surpass",
    "overpass",
    "underpass",
    // The path of a program that asks for one.
    "askpass",
];

/// A dummy (`none`, `dummy`, `${VAR}`) is none: local servers often want one.
fn looks_like_a_secret(text: &str) -> bool {
    !text.contains("${")
        && text.split_whitespace().any(|word| {
            word.len() >= 16
                && word.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.+/=:".contains(&b))
                && !word.starts_with('/')
        })
}

fn has_user_info(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split(['/', '?', '#']).next().is_some_and(|authority| authority.contains('@'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_known_by_their_parts() {
        for name in ["ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "Authorization", "x-api-key", "DB_PASSWORD"] {
            assert!(names_a_secret(name), "{name}");
        }
        for name in ["SOMEKEY", "MYKEY", "API_KEY2", "GITHUB_PAT", "DB_PASS", "PGPASSWORD", "MYSQL_PWD", "CREDS"] {
            assert!(names_a_secret(name), "{name}");
        }
        for name in ["AWS_CREDS", "CI_JOB_JWT", "CI_JOB_JWT_V2", "SSH_PRIVATE_KEY", "DEPLOY_PRIVATE", "GITHUBTOKEN"] {
            assert!(names_a_secret(name), "{name}");
        }
        for name in ["max_tokens", "KEYBOARD", "X-Title", "PATH", "TOKENIZERS_PARALLELISM"] {
            assert!(!names_a_secret(name), "{name}");
        }
        for name in
            ["MONKEY", "KEYBOARD_LAYOUT", "PWD", "OLDPWD", "GIT_ASKPASS", "COMPASS_DIR", "X_COMPAT", "GOPRIVATE"]
        {
            assert!(!names_a_secret(name), "{name}");
        }
        for name in ["LD_LIBRARY_PATH", "PATTERN", "DISPATCH", "PASSES", "MAX_OUTPUT_TOKENS"] {
            assert!(!names_a_secret(name), "{name}");
        }
    }

    #[test]
    fn a_dummy_or_a_path_is_no_secret() {
        for text in ["dummy", "none", "${KEY}", "Bearer ${KEY}", "/home/somebody/keys/file", ""] {
            assert!(!looks_like_a_secret(text), "{text}");
        }
        assert!(looks_like_a_secret("Bearer abcdefghijklmnop"));
    }
}
