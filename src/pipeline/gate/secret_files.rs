//! Files that hold keys by their name. Nothing of them is ever sent, whatever is in them.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::git::RepoPath;

/// The names, by what they usually are. A name without `/` is that of the file itself, in any folder; case does not
/// matter.
pub const SECRET_FILES: &[(&str, &[&str])] = &[
    ("environment files", &[".env", ".env.*", "*.env", ".envrc", ".envrc.*", ".dev.vars", ".flaskenv"]),
    (
        "private keys",
        &[
            "*.pem",
            "*.key",
            "*.ppk",
            "*.pk8",
            "id_rsa*",
            "id_dsa*",
            "id_ecdsa*",
            "id_ed25519*",
            "*.gpg",
            "secring.*",
            "private_key",
            "private-key",
        ],
    ),
    ("key stores", &["*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", "*.kdb", "*.agekey"]),
    (
        "credentials of programs",
        &[
            "credentials",
            "credentials.json",
            "credentials.toml",
            "credentials.yml",
            "credentials.yaml",
            "credentials.ini",
            "credentials.xml",
            "*-credentials.json",
            "*_credentials.json",
            ".credentials*",
            "client_secret*.json",
            "service-account*.json",
            "service_account*.json",
            "secrets.json",
            "secrets.toml",
            "secrets.yml",
            "secrets.yaml",
            ".netrc",
            "_netrc",
            ".npmrc",
            ".pypirc",
            ".htpasswd",
            ".pgpass",
            ".my.cnf",
            ".git-credentials",
            ".vault-token",
            ".dockercfg",
            "**/.docker/config.json",
            "**/.aws/config",
            "**/.kube/config",
            "kubeconfig",
            "**/.ssh/*",
            "*.tfvars",
            "*.tfvars.json",
            "*.tfstate",
            "*.tfstate.backup",
            "wp-config.php",
            "master.key",
        ],
    ),
];

/// Files of these kinds that hold no keys by their name: samples, and the public half of a pair.
const HARMLESS: &[&str] =
    &["*.example", "*.sample", "*.template", "*.dist", "*.pub", ".env.example.*", "example.env", "sample.env"];

/// What programs and people append to the name of a copy: without it, the name is looked at again.
const COPIES: &[&str] = &["*~", "*.bak", "*.backup", "*.orig", "*.old", "*.save", "*.swp"];

/// Tells such files from others.
#[derive(Debug)]
pub(in crate::pipeline) struct SecretFiles {
    secret: GlobSet,
    patterns: Vec<&'static str>,
    harmless: GlobSet,
}

impl SecretFiles {
    #[expect(clippy::expect_used, reason = "the patterns are constants, and a test builds them")]
    pub(in crate::pipeline) fn new() -> Self {
        let patterns: Vec<&'static str> =
            SECRET_FILES.iter().flat_map(|(_, patterns)| patterns.iter().copied()).collect();
        Self {
            secret: set(&patterns).expect("the built-in patterns are valid"),
            harmless: set(HARMLESS).expect("the built-in patterns are valid"),
            patterns,
        }
    }

    /// The pattern that makes `path` one.
    pub(in crate::pipeline) fn matches(&self, path: &RepoPath) -> Option<&'static str> {
        let named =
            |path: &Path| self.secret.matches(path).first().and_then(|index| self.patterns.get(*index)).copied();
        let (path, original) = (path.as_path(), original(path.as_path()));
        if self.harmless.is_match(path) || self.harmless.is_match(original) {
            return None;
        }
        named(path).or_else(|| named(original))
    }
}

/// What `path` is a copy of, by its name; itself where it is none.
fn original(path: &Path) -> &Path {
    let mut name = path.as_os_str().as_bytes();
    let endings = || COPIES.iter().map(|pattern| pattern.trim_start_matches('*').as_bytes());
    let shorter = |name: &[u8]| {
        endings().find_map(|ending| {
            let rest = name.len().checked_sub(ending.len())?;
            name[rest..].eq_ignore_ascii_case(ending).then_some(rest)
        })
    };
    while let Some(rest) = shorter(name) {
        name = &name[..rest];
    }
    Path::new(OsStr::from_bytes(name))
}

/// Patterns as people write them: without a `/` a file's name in any folder, else a path from the root.
pub(super) fn set<S: AsRef<str>>(patterns: &[S]) -> Result<GlobSet, globset::Error> {
    build(patterns, true)
}

/// The same for a user's own patterns, where case matters.
pub(in crate::pipeline) fn exact_set<S: AsRef<str>>(patterns: &[S]) -> Result<GlobSet, globset::Error> {
    build(patterns, false)
}

fn build<S: AsRef<str>>(patterns: &[S], any_case: bool) -> Result<GlobSet, globset::Error> {
    let mut builder = GlobSetBuilder::new();
    for pattern in patterns {
        let pattern = pattern.as_ref();
        let anchored = match pattern.strip_prefix('/') {
            Some(rest) => rest.to_owned(),
            None if pattern.contains('/') => pattern.to_owned(),
            None => format!("**/{pattern}"),
        };
        let whole = match anchored.strip_suffix('/') {
            Some(folder) => format!("{folder}/**"),
            None => anchored,
        };
        builder.add(GlobBuilder::new(&whole).literal_separator(true).case_insensitive(any_case).build()?);
    }
    builder.build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_hold_keys_are_told_by_their_name_in_any_folder_and_case() {
        let files = SecretFiles::new();
        for path in [
            ".env",
            "a/b/.env.production",
            "deploy/prod.env",
            "ID_RSA",
            "keys/id_ed25519",
            "certs/Server.PEM",
            "home/.aws/credentials",
            "home/.docker/config.json",
            "x/.ssh/known",
            "infra/prod.tfvars",
            "service-account-1.json",
            ".env~",
            ".envrc.local",
            "certs/server.key.bak",
            "server.pem.ORIG",
            "a/server.pem~",
            "server.key.bak.old",
            "kubeconfig.bak",
            "infra/terraform.tfvars.json",
            "gcp-credentials.json",
            "keys/private_key",
        ] {
            assert!(files.matches(&RepoPath::new(path)).is_some(), "{path}");
        }
        for path in [
            "src/env.rs",
            ".env.example",
            "id_rsa.pub",
            "src/credentials.rs",
            "docs/keys.md",
            "config.json",
            "src/main.rs",
            "environment",
            "monkey",
            ".env.example~",
            "id_rsa.pub.bak",
            "src/main.rs.bak",
            "notes~",
            "a/~",
            "private_key.rs",
        ] {
            assert_eq!(files.matches(&RepoPath::new(path)), None, "{path}");
        }
    }

    #[test]
    fn the_readme_lists_every_pattern() {
        let readme = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
        let readme = fs_err::read_to_string(readme).unwrap();
        for (what, patterns) in SECRET_FILES.iter().chain([&("copies of these", COPIES), &("none of them", HARMLESS)]) {
            let list: Vec<String> = patterns.iter().map(|pattern| format!("`{pattern}`")).collect();
            assert!(readme.contains(&format!("| {what} | {} |\n", list.join(", "))), "{what}");
        }
    }

    #[test]
    fn a_pattern_without_a_slash_is_a_name_and_one_with_a_slash_a_path() {
        let set = exact_set(&["*.lock", "gen/**", "/top.txt", "vendor/"]).unwrap();
        for path in ["Cargo.lock", "a/b.lock", "gen/x/y.rs", "top.txt", "vendor/a/b"] {
            assert!(set.is_match(path), "{path}");
        }
        for path in ["a.LOCK", "a/gen/x", "a/top.txt", "lock", "a/vendor/b"] {
            assert!(!set.is_match(path), "{path}");
        }
    }
}
