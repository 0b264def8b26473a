//! The known name that was probably meant.

/// The name of `known` that is nearest to `name`, if any is near enough to be meant.
#[must_use]
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let folded = fold(name);
    known
        .into_iter()
        .filter_map(|candidate| {
            let other = fold(candidate);
            let distance = strsim::damerau_levenshtein(&folded, &other);
            // A quarter of the letters, at least one: `pannel` is `panel`, `x` is nothing, `wrong` is not `or-long`.
            let allowed = (folded.chars().count().min(other.chars().count()) / 4).max(1);
            let contained =
                folded.len() >= 4 && other.len() >= 4 && (other.starts_with(&folded) || folded.starts_with(&other));
            (distance <= allowed && distance < other.chars().count() || contained).then_some((distance, candidate))
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Up to three of `known` that `name` may stand for, the likeliest first: slips, and longer or shorter forms of it.
#[must_use]
pub fn close_matches<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    /// Of two names that share less than this nobody would take one for the other.
    const LEAST: f64 = 0.6;
    let folded = fold(name);
    let mut scored: Vec<(f64, &str)> = known
        .into_iter()
        .filter_map(|candidate| {
            let other = fold(candidate);
            let contained = folded.len() >= 3 && other.contains(&folded) || other.len() >= 3 && folded.contains(&other);
            let score = strsim::normalized_damerau_levenshtein(&folded, &other) + if contained { 1.0 } else { 0.0 };
            (score >= LEAST).then_some((score, candidate))
        })
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    scored.dedup_by(|a, b| a.1 == b.1);
    scored.into_iter().take(3).map(|(_, candidate)| candidate).collect()
}

/// Case and the kind of separator are the commonest slips.
fn fold(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '-' | '_')).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_find_the_name_that_was_meant() {
        let known = ["panel", "self_vote", "timeout", "idle_timeout", "api_key_env", "claude", "codex", "or-long"];
        for (slip, meant) in [
            ("pannel", Some("panel")),
            ("selfVote", Some("self_vote")),
            ("idle-timeout", Some("idle_timeout")),
            ("timeuot", Some("timeout")),
            ("api_key", Some("api_key_env")),
            ("Claude", Some("claude")),
            ("x", None),
            ("wrong", None),
            ("entirely_different", None),
        ] {
            assert_eq!(nearest(slip, known), meant, "{slip}");
        }
    }

    #[test]
    fn close_matches_are_slips_and_longer_forms() {
        let known = ["gpt-4o", "gpt-4o-mini", "gpt-4.1", "o3", "whisper-1", "text-embedding-3-small"];
        assert_eq!(close_matches("gpt4o", known), ["gpt-4o", "gpt-4o-mini", "gpt-4.1"]);
        assert_eq!(close_matches("o33", known), ["o3"]);
        assert_eq!(close_matches("wisper-1", known), ["whisper-1"]);
        assert_eq!(close_matches("llama", known), Vec::<&str>::new());
    }
}
