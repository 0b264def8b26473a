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
}
