//! A fault on a branch, for reviewers of known quality to find or to miss.

use serde_json::{Value, json};

use super::{Repository, TeamToml, TestEnv};

/// The fault that is planted: the last item is never summed.
pub(crate) const FAULTY: &str = "pub fn sum(items: &[u64]) -> u64 {
    let mut total = 0;
    for index in 0..items.len() - 1 {
        total += items[index];
    }
    total
}
";

/// What it was before.
pub(crate) const SOUND: &str = "pub fn sum(items: &[u64]) -> u64 {
    items.iter().sum()
}
";

/// A repository whose `main` is sound and has these settings, and whose branch `topic` plants the fault.
#[track_caller]
pub(crate) fn with_planted_fault(env: TestEnv, config: &TeamToml, others: &[(&str, &str)]) -> Repository {
    let settings = config.text();
    let base = [&[("src/sum.rs", SOUND), ("team.toml", &settings)], others].concat();
    Repository::new(env, &base, &[("src/sum.rs", FAULTY)])
}

/// A reply that ends in a `findings` block with these, as the text of a step.
pub(crate) fn reply(findings: &[Value]) -> String {
    let block = json!({ "findings": findings }).to_string().replace('\\', "\\\\");
    format!("I looked at all of it.\\n\\n```findings\\n{block}\\n```")
}
