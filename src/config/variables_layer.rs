//! Settings from `TEAM_*` environment variables.

use toml::{Table, Value};

use super::nearest::nearest;
use super::problem::Problem;
use super::rules::{Leaks, Passes, Recuse, Untracked};
use super::{Environment, Limit, SelfVote, Threshold};
use crate::money::Usd;

/// The variables, each with its key in `team.toml`. Lists are separated by commas.
pub const VARIABLES: &[(&str, &str)] = &[
    ("TEAM_PANEL", "panel"),
    ("TEAM_JUDGES", "judges"),
    ("TEAM_SESSIONS_DIR", "sessions_dir"),
    ("TEAM_SELF_VOTE", "self_vote"),
    ("TEAM_RECUSE", "recuse"),
    ("TEAM_LEAKS", "leaks"),
    ("TEAM_PASSES", "passes"),
    ("TEAM_REPAIR", "repair"),
    ("TEAM_THRESHOLD", "threshold"),
    ("TEAM_TIMEOUT", "timeout"),
    ("TEAM_IDLE_TIMEOUT", "idle_timeout"),
    ("TEAM_DEADLINE", "deadline"),
    ("TEAM_JOBS", "jobs"),
    ("TEAM_RETRIES", "retries"),
    ("TEAM_MAX_COST", "max_cost"),
    ("TEAM_OFFLINE", "offline"),
    ("TEAM_WORKSPACE", "workspace"),
    ("TEAM_UNTRACKED", "untracked"),
];

/// What the environment sets, one table per variable; an empty variable sets nothing.
pub(super) fn read(environment: &Environment) -> (Vec<(&'static str, Table)>, Vec<Problem>, Vec<String>) {
    let mut layers = Vec::new();
    let mut problems = Vec::new();
    for (name, key) in VARIABLES {
        let Some(value) = environment.get(name).filter(|value| !value.is_empty()) else { continue };
        let parsed = match value.to_str() {
            Some(text) => parse(key, text),
            None => Err("is not valid Unicode".to_owned()),
        };
        match parsed {
            Ok(value) => layers.push((*name, Table::from_iter([((*key).to_owned(), value)]))),
            Err(message) => problems.push(Problem::new(format!("${name}"), message)),
        }
    }
    // Not an error: the prefix is short enough to be somebody else's too. A slip in one of ours is told.
    let warnings = environment
        .iter()
        .filter_map(|(name, _)| name.to_str())
        .filter(|name| name.starts_with("TEAM_") && !VARIABLES.iter().any(|(known, _)| known == name))
        .filter_map(|name| {
            let meant = nearest(name, VARIABLES.iter().map(|(known, _)| *known))?;
            Some(format!("environment variable `{name}` sets nothing: did you mean `{meant}`?"))
        })
        .collect();
    (layers, problems, warnings)
}

fn parse(key: &str, text: &str) -> Result<Value, String> {
    match key {
        "panel" | "judges" => {
            Ok(split_names(text).map(|name| Value::String(name.to_owned())).collect::<Vec<_>>().into())
        }
        "self_vote" => text.parse::<SelfVote>().map(|rule| rule.as_str().into()),
        "recuse" => text.parse::<Recuse>().map(|rule| rule.as_str().into()),
        "untracked" => text.parse::<Untracked>().map(|rule| rule.as_str().into()),
        "leaks" => text.parse::<Leaks>().map(|rule| rule.as_str().into()),
        "passes" => text.parse::<Passes>().map(|passes| i64::from(u32::from(passes)).into()),
        "threshold" => text.parse::<Threshold>().map(|bar| bar.to_string().into()),
        "repair" | "offline" => {
            text.parse::<bool>().map(Value::Boolean).map_err(|_| format!("`{text}` is neither `true` nor `false`"))
        }
        "timeout" | "idle_timeout" | "deadline" => {
            text.parse::<Limit>().map(|limit| limit.to_string().into()).map_err(|error| error.to_string())
        }
        "max_cost" => text.parse::<Usd>().map(|most| most.to_string().into()).map_err(|error| error.to_string()),
        "jobs" => text
            .parse::<std::num::NonZeroU32>()
            .map(|jobs| i64::from(jobs.get()).into())
            .map_err(|_| format!("`{text}` is not a number of slots from 1")),
        "retries" => text
            .parse::<u32>()
            .map(|retries| i64::from(retries).into())
            .map_err(|_| format!("`{text}` is not a number from 0")),
        _ => Ok(text.into()),
    }
}

/// Model names separated by commas, blanks around them and empty ones dropped.
pub fn split_names(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_set_their_keys() {
        let environment = Environment::from_iter([
            ("TEAM_PANEL", "claude, codex"),
            ("TEAM_JOBS", "3"),
            ("TEAM_TIMEOUT", "none"),
            ("TEAM_DEADLINE", ""),
        ]);
        let (layers, problems, warnings) = read(&environment);
        let all: Vec<String> = layers.iter().map(|(name, table)| format!("{name}: {table}")).collect();
        insta::assert_snapshot!(all.join(""), @r#"
        TEAM_PANEL: panel = ["claude", "codex"]
        TEAM_TIMEOUT: timeout = "none"
        TEAM_JOBS: jobs = 3
        "#);
        assert_eq!((problems, warnings), (vec![], vec![]));
    }

    #[test]
    fn wrong_values_and_slips_are_told_by_name() {
        let environment = Environment::from_iter([
            ("TEAM_JOBS", "0"),
            ("TEAM_TIMEOUT", "90"),
            ("TEAM_SELF_VOTE", "yes"),
            ("TEAM_SESSION_DIR", "x"),
            ("TEAM_CITY_VERSION", "1"),
        ]);
        let (_, problems, warnings) = read(&environment);
        let shown: Vec<String> = problems.iter().map(Problem::to_string).chain(warnings).collect();
        insta::assert_snapshot!(shown.join("\n"), @r"
        $TEAM_SELF_VOTE: `yes` is none of `model`, `slot`, `include`
        $TEAM_TIMEOUT: `90` has no unit: write `90s` for seconds or `90m` for minutes
        $TEAM_JOBS: `0` is not a number of slots from 1
        environment variable `TEAM_SESSION_DIR` sets nothing: did you mean `TEAM_SESSIONS_DIR`?
        ");
    }
}
