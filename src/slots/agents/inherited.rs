//! What a program inherits: an allow-list, never the whole environment.

use std::collections::BTreeMap;
use std::ffi::OsString;

use super::Call;
use super::habits::{Habits, habits_of, known_program};
use crate::config::{AgentKind, names_a_secret};
use crate::slots::network::NETWORK;

/// Variables by name, ordered.
pub(super) type Variables = BTreeMap<OsString, OsString>;

/// A shorter value (`1`, `true`) is in every text and no secret.
pub(super) const SHORTEST_SECRET: usize = 8;

/// What any program needs beside the way to the network: where things are, the language, the terminal.
const COMMON: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TZ",
    "TERM",
    "COLORTERM",
    "NO_COLOR",
    "TMPDIR",
    "XDG_*",
    "NODE_EXTRA_CA_CERTS",
    "LD_LIBRARY_PATH",
    "NIX_*",
];

/// The variables that `program` gets when it is asked for `model`, its declared ones left out.
pub(super) fn inherited(agent: AgentKind, program: &str, model: Option<&str>, call: &Call<'_>) -> Variables {
    let habits = habits_of(agent, program);
    let all: Vec<&Habits> = std::iter::successors(Some(habits), |habits| habits.runs).collect();
    let agent = known_program(agent, program);
    let mut reads: Vec<&str> = COMMON.iter().chain(&NETWORK).chain(habits.reads).copied().collect();
    for (switch, names) in habits.reads_when {
        if call.environment.text(switch).is_some() {
            reads.extend(*names);
        }
    }
    let keys = agent.keys_for(model);
    let mut variables: Variables = call
        .environment
        .iter()
        .filter(|(name, _)| {
            name.to_str().is_some_and(|name| {
                let declared = keys.contains(&name) || agent.addresses_for(model).contains(&name);
                // Of the keys that a program with many providers could use, it gets those of the one that is asked.
                let of_another = agent.has_many_vendors() && names_a_secret(name);
                declared
                    || reads.iter().any(|pattern| matches(pattern, name))
                        && !all.iter().any(|habits| habits.never.iter().any(|pattern| matches(pattern, name)))
                        && !of_another
            })
        })
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    // A program that goes by `PWD` would otherwise work in the folder that `team` was started in.
    variables.insert("PWD".into(), call.work_dir.into());
    for (name, value) in all.iter().flat_map(|habits| habits.defaults) {
        variables.entry((*name).into()).or_insert_with(|| (*value).into());
    }
    if let Some(name) = all.iter().find_map(|habits| habits.retries) {
        variables.entry(name.into()).or_insert_with(|| call.retries.to_string().into());
    }
    variables
}

/// The values of variables whose names say that they are secret.
pub(super) fn secrets_in(variables: &Variables) -> Vec<String> {
    variables
        .iter()
        .filter_map(|(name, value)| Some((name.to_str()?, value.to_str()?)))
        .flat_map(|(name, value)| {
            let proxy_password = name.to_ascii_lowercase().ends_with("_proxy").then(|| password_in(value)).flatten();
            let whole = (names_a_secret(name) || name.ends_with("_HEADERS")).then_some(value);
            [whole, proxy_password].into_iter().flatten().map(str::to_owned).collect::<Vec<_>>()
        })
        .filter(|value| value.len() >= SHORTEST_SECRET)
        .collect()
}

fn matches(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => name == pattern,
    }
}

fn password_in(url: &str) -> Option<&str> {
    let (user_info, _) = url.split_once("://")?.1.rsplit_once('@')?;
    user_info.split_once(':').map(|(_, password)| password)
}
