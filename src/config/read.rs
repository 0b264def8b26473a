//! One file of settings: its text to a checked table.
//!
//! Everything wrong with a file is collected: a key that is not known is an error, for a setting that is dropped in
//! silence is worse than a run that does not start. A message never shows a source line, which might hold a key.

use std::collections::BTreeSet;
use std::path::Path;

use toml::de::{DeTable, DeValue};

use super::base_url;
use super::file::{self, FileSettings, ModelEntry};
use super::literal_secret;
use super::nearest::nearest;
use super::problem::Problem;
use super::variables::{is_variable_name, variables_in};
use super::{fix, gate, review};

/// Reads the text of the file at `path`; the table holds what was written, no defaults.
pub(super) fn read(path: &Path, text: &str) -> Result<toml::Table, Vec<Problem>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let spans = DeTable::parse(text).map_err(|error| {
        let line = error.span().map(|span| line_of(text, span.start));
        vec![Problem::new(path, one_line(error.message())).at(line)]
    })?;
    let spans = spans.get_ref();
    let place = |keys: &[String]| offset_of(spans, keys).map(|offset| line_of(text, offset));

    let mut problems = Vec::new();
    let mut unknown = BTreeSet::new();
    let deserializer = match toml::Deserializer::parse(text) {
        Ok(deserializer) => deserializer,
        Err(error) => return Err(vec![Problem::new(path, one_line(error.message()))]),
    };
    let mut note_unknown = |at: serde_ignored::Path<'_>| {
        unknown.insert(keys_of(&at));
    };
    let mut track = serde_path_to_error::Track::new();
    let ignoring = serde_ignored::Deserializer::new(deserializer, &mut note_unknown);
    let settings = serde::Deserialize::deserialize(serde_path_to_error::Deserializer::new(ignoring, &mut track));
    let settings: FileSettings = match settings {
        Ok(settings) => settings,
        Err(error) => {
            let key = track.path().to_string();
            let line = error.span().map(|span| line_of(text, span.start));
            problems
                .push(Problem::new(path, format!("`{key}`: {}", in_plain_words(&one_line(error.message())))).at(line));
            FileSettings::default()
        }
    };
    let table: toml::Table = match toml::from_str(text) {
        Ok(table) => table,
        Err(error) => return Err(vec![Problem::new(path, one_line(error.message()))]),
    };

    let secrets = literal_secret::find(&table);
    problems.extend(unknown.iter().filter(|keys| !secrets.iter().any(|s| s.keys == **keys)).map(|keys| {
        let (name, parents) = keys.split_last().map_or(("", &[][..]), |(name, parents)| (name.as_str(), parents));
        let section = if parents.is_empty() { String::new() } else { format!(" in `[{}]`", parents.join(".")) };
        let problem = Problem::new(path, format!("unknown key `{name}`{section}")).at(place(keys));
        match nearest(name, file::known_keys(parents).iter().copied()) {
            Some(meant) => problem.hint(format!("did you mean `{meant}`?")),
            None => problem.hint(format!("known here: {}", file::known_keys(parents).join(", "))),
        }
    }));
    problems.extend(secrets.into_iter().map(|secret| {
        Problem::new(path, format!("`{}` holds a secret, which never belongs in a file", secret.keys.join(".")))
            .at(place(&secret.keys))
            .hint(secret.hint)
    }));
    check_values(path, &settings, &place, &mut problems);
    check_sections(path, &settings, &place, &mut problems);
    problems.sort_by_key(|problem| problem.line);
    if problems.is_empty() { Ok(table) } else { Err(problems) }
}

/// What the types alone cannot say about `[gate]`, `[review]` and `[fix]`.
fn check_sections(
    path: &Path,
    settings: &FileSettings,
    place: &dyn Fn(&[String]) -> Option<usize>,
    problems: &mut Vec<Problem>,
) {
    let sections = [
        ("gate", gate::wrong_with(&settings.gate)),
        ("review", review::wrong_with(&settings.review)),
        ("fix", fix::wrong_with(&settings.fix)),
    ];
    for (section, wrong) in sections {
        for (key, message, hint) in wrong {
            let keys: Vec<String> = std::iter::once(section).chain(key.split('.')).map(str::to_owned).collect();
            let at = place(&keys);
            problems.push(Problem::new(path, format!("`{section}.{key}` {message}")).at(at).hint(hint));
        }
    }
}

/// What the types alone cannot say.
fn check_values(
    path: &Path,
    settings: &FileSettings,
    place: &dyn Fn(&[String]) -> Option<usize>,
    problems: &mut Vec<Problem>,
) {
    let keys = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect::<Vec<_>>();
    for (alias, model) in &settings.models {
        let at = place(&keys(&["models", alias]));
        let mut wrong = |message: String, hint: &str| {
            problems.push(Problem::new(path, format!("`[models.{alias}]` {message}")).at(at).hint(hint));
        };
        if alias.is_empty() || alias.contains(|c: char| c == ',' || c.is_whitespace() || c.is_control()) {
            wrong("is not a usable alias".into(), "an alias has no comma and no space");
        }
        if model.uses.is_some() && model.command.is_some() {
            wrong("has both `use` and `command`".into(), "keep the one that is meant");
        }
        if model.command.as_ref().is_some_and(|command| command.first().is_none_or(String::is_empty)) {
            wrong("has an empty `command`".into(), "write the program and its arguments as a list of strings");
        }
        for (key, value, hint) in wrong_numbers(model) {
            let path_of_key: Vec<&str> = ["models", alias].into_iter().chain(key.split('.')).collect();
            let at = place(&keys(&path_of_key)).or(at);
            problems.push(Problem::new(path, format!("`models.{alias}.{key}` is {value}")).at(at).hint(hint));
        }
        let mut wrong = |message: String, hint: &str| {
            problems.push(Problem::new(path, format!("`[models.{alias}]` {message}")).at(at).hint(hint));
        };
        for (name, value) in &model.env {
            if !is_variable_name(name) {
                wrong(format!("`env`: `{name}` is not a variable name"), "letters, digits and `_` only");
            } else if let Err(error) = variables_in(value) {
                wrong(format!("`env.{name}`: {error}"), "write `${NAME}`");
            }
        }
    }
    for (name, provider) in &settings.providers {
        let at = place(&keys(&["providers", name]));
        if let Some(url) = &provider.base_url
            && let Some(why) = base_url::wrong_with(url)
        {
            // What may hold a password or a key is not shown.
            let shown = if url.contains(['@', '?']) { "`base_url`".to_owned() } else { format!("`base_url` `{url}`") };
            let at = place(&keys(&["providers", name, "base_url"])).or(at);
            let problem = Problem::new(path, format!("`[providers.{name}]`: {shown} {why}")).at(at);
            problems.push(problem.hint("write it like `http://127.0.0.1:8080/v1` or `https://example.org/v1`"));
        }
        let mut wrong = |message: String, hint: &str| {
            problems.push(Problem::new(path, format!("`[providers.{name}]` {message}")).at(at).hint(hint));
        };
        for (header, value) in &provider.headers {
            if let Err(error) = variables_in(value) {
                wrong(format!("`headers.{header}`: {error}"), "write `${NAME}`");
            }
        }
    }
}

/// Settings of the right type that no model can be asked with: the key below the alias, the value, what would do.
fn wrong_numbers(model: &ModelEntry) -> Vec<(&'static str, String, &'static str)> {
    let mut wrong = Vec::new();
    let from_0 = "a number from 0 on";
    for (key, value, most, hint) in
        [("temperature", model.temperature, f64::MAX, from_0), ("top_p", model.top_p, 1.0, "a number from 0 to 1")]
    {
        // NaN is in no range.
        wrong.extend(value.filter(|value| !(0.0..=most).contains(value)).map(|value| (key, value.to_string(), hint)));
    }
    for (key, value) in [("max_tokens", model.max_tokens), ("context", model.context)] {
        wrong.extend(
            value.filter(|value| *value == 0).map(|value| (key, value.to_string(), "a number of tokens from 1 on")),
        );
    }
    if model.reasoning_effort.as_ref().is_some_and(|effort| effort.trim().is_empty()) {
        wrong.push(("reasoning_effort", "empty".to_owned(), "the provider's own word, such as `low` or `high`"));
    }
    wrong
}

fn keys_of(path: &serde_ignored::Path<'_>) -> Vec<String> {
    use serde_ignored::Path as P;
    match path {
        P::Root => Vec::new(),
        P::Seq { parent, index } => with(parent, index.to_string()),
        P::Map { parent, key } => with(parent, key.clone()),
        P::Some { parent } | P::NewtypeStruct { parent } | P::NewtypeVariant { parent } => keys_of(parent),
    }
}

fn with(parent: &serde_ignored::Path<'_>, key: String) -> Vec<String> {
    let mut keys = keys_of(parent);
    keys.push(key);
    keys
}

/// Where the key at `keys` is written, in bytes.
fn offset_of(table: &DeTable<'_>, keys: &[String]) -> Option<usize> {
    let (first, rest) = keys.split_first()?;
    let (key, value) = table.iter().find(|(key, _)| key.get_ref().as_ref() == first.as_str())?;
    match (rest.is_empty(), value.get_ref()) {
        (false, DeValue::Table(inner)) => offset_of(inner, rest).or(Some(key.span().start)),
        _ => Some(key.span().start),
    }
}

fn line_of(text: &str, offset: usize) -> usize {
    text.as_bytes().iter().take(offset).filter(|byte| **byte == b'\n').count() + 1
}

/// What a type is called by people who write settings and no programs.
fn in_plain_words(message: &str) -> String {
    const NAMES: [(&str, &str); 10] = [
        ("a nonzero usize", "a whole number from 1 on"),
        ("usize", "a whole number from 0 on"),
        ("u32", "a whole number from 0 on"),
        ("u64", "a whole number from 0 on"),
        ("f64", "a number"),
        ("a boolean", "`true` or `false`"),
        ("a sequence", "a list, such as `[\"a\", \"b\"]`"),
        ("a map", "a table, such as `{ name = \"value\" }`"),
        ("a string", "text in quotation marks"),
        ("a path string", "text in quotation marks"),
    ];
    let Some((found, expected)) = message.rsplit_once(", expected ") else { return message.to_owned() };
    let expected = match NAMES.iter().find(|(name, _)| *name == expected) {
        Some((_, plain)) => plain,
        None if expected.starts_with("struct ") => "a table, such as `{ name = \"value\" }`",
        None => expected,
    };
    let found = found.strip_prefix("invalid type: ").map_or_else(
        || found.to_owned(),
        |found| match found.split_once(' ') {
            None if found == "sequence" => "a list".to_owned(),
            None if found == "map" => "a table".to_owned(),
            Some(("floating", rest)) => format!("number {}", rest.trim_start_matches("point ")),
            _ => found.to_owned(),
        },
    );
    format!("{found}, expected {expected}")
}

fn one_line(message: &str) -> String {
    message.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(text: &str) -> String {
        let problems = read(Path::new("team.toml"), text).unwrap_err();
        problems.iter().map(|p| format!("{p} | {}\n", p.hint.as_deref().unwrap_or_default())).collect()
    }

    #[test]
    fn all_unknown_keys_are_reported_together_with_the_nearest_name() {
        let text = r#"
pannel = ["claude"]
timeout = "10m"

[models.fast]
use = "openai@gpt-4o-mini"
temprature = 0.2

[providers.mine]
base_url = "http://127.0.0.1:1/v1"
zzz = 1
"#;
        insta::assert_snapshot!(problems(text), @r"
        team.toml:2: unknown key `pannel` | did you mean `panel`?
        team.toml:7: unknown key `temprature` in `[models.fast]` | did you mean `temperature`?
        team.toml:11: unknown key `zzz` in `[providers.mine]` | known here: wire, base_url, api_key_env, headers, max_concurrent, json_schema
        ");
    }

    #[test]
    fn a_wrong_type_and_a_wrong_value_name_key_and_line() {
        insta::assert_snapshot!(problems("threshold = \"66.7%\""), @"team.toml:1: `threshold`: `66.7%` is not a whole number of percent |");
        insta::assert_snapshot!(problems("jobs = 0"), @"team.toml:1: `jobs`: invalid value: integer `0`, expected a whole number from 1 on |");
        insta::assert_snapshot!(problems("\ntimeout = \"90\""), @"team.toml:2: `timeout`: `90` has no unit: write `90s` for seconds or `90m` for minutes |");
        insta::assert_snapshot!(problems("[models.a]\nuse = \"x\"\noutput = \"xml\""), @"team.toml:3: `models.a.output`: unknown variant `xml`, expected one of `text`, `claude-stream-json`, `codex-json`, `gemini-json`, `opencode-json` |");
        insta::assert_snapshot!(problems("panel = \"a\""), @r#"team.toml:1: `panel`: string "a", expected a list, such as `["a", "b"]` |"#);
        insta::assert_snapshot!(problems("panel = [1]"), @"team.toml:1: `panel[0]`: integer `1`, expected text in quotation marks |");
        insta::assert_snapshot!(problems("retries = []"), @"team.toml:1: `retries`: a list, expected a whole number from 0 on |");
        insta::assert_snapshot!(problems("models = 1"), @r#"team.toml:1: `models`: integer `1`, expected a table, such as `{ name = "value" }` |"#);
        insta::assert_snapshot!(problems("[models]\na = 1"), @r#"team.toml:2: `models.a`: integer `1`, expected a table, such as `{ name = "value" }` |"#);
        insta::assert_snapshot!(problems("panel = [\n"), @"team.toml:1: unclosed array, expected `]` |");
    }

    #[test]
    fn a_setting_that_no_model_takes_is_told_with_its_value_and_line() {
        let text = r#"
[models.a]
use = "openai@m"
temperature = nan
top_p = 1.5
max_tokens = 0
context = 0
reasoning_effort = " "
[models.b]
use = "openai@m"
temperature = 0
top_p = 1
seed = 0
"#;
        insta::assert_snapshot!(problems(text), @r"
        team.toml:4: `models.a.temperature` is NaN | a number from 0 on
        team.toml:5: `models.a.top_p` is 1.5 | a number from 0 to 1
        team.toml:6: `models.a.max_tokens` is 0 | a number of tokens from 1 on
        team.toml:7: `models.a.context` is 0 | a number of tokens from 1 on
        team.toml:8: `models.a.reasoning_effort` is empty | the provider's own word, such as `low` or `high`
        ");
        let price = |price: &str| problems(&format!("[models.a]\nuse = \"x\"\nprice = {{ {price} }}"));
        for (written, told) in [
            ("input = -1.0", "`models.a.price.input`: "),
            ("output = inf", "an amount of US dollars from 0 on"),
            ("as_of = 2026", "`2026` is no day: write it like `2026-01-31`"),
            ("as_of = \"soon\"", "`soon` is no day"),
            ("inptu = 1", "did you mean `input`?"),
        ] {
            let problems = price(written);
            assert!(problems.starts_with("team.toml:3: ") && problems.contains(told), "{written}: {problems}");
        }
        insta::assert_snapshot!(problems("[models.a]\nuse = \"x\"\nseed = -1"), @"team.toml:3: `models.a.seed`: invalid value: integer `-1`, expected a whole number from 0 on |");
        insta::assert_snapshot!(problems("[models.a]\nuse = \"x\"\ntemperature = \"hot\""), @r#"team.toml:3: `models.a.temperature`: string "hot", expected a number |"#);
        insta::assert_snapshot!(problems("[models.a]\nuse = \"x\"\nmax_tokens = 1.5"), @"team.toml:3: `models.a.max_tokens`: number `1.5`, expected a whole number from 0 on |");
    }

    #[test]
    fn a_secret_in_a_file_is_refused_and_never_shown() {
        let text = r#"
[providers.a]
api_key = "sk-aaaaaaaaaaaaaaaaaaaaaaaa"
[providers.b]
api_key_env = "sk-bbbbbbbbbbbbbbbbbbbbbbbb"
[providers.c]
base_url = "https://user:cccccccccccc@example.org/v1"
headers = { Authorization = "Bearer dddddddddddddddddddd", "X-Title" = "team" }
[models.m]
use = "claude"
env = { ANTHROPIC_API_KEY = "eeeeeeeeeeeeeeeeeeeeeeee", OTHER_API_KEY = "${OTHER}", LOCAL_API_KEY = "dummy" }
"#;
        let shown = problems(text);
        for secret in ["aaaa", "bbbb", "cccc", "dddd", "eeee"] {
            assert!(!shown.contains(secret), "{shown}");
        }
        insta::assert_snapshot!(shown, @r#"
        team.toml:3: `providers.a.api_key` holds a secret, which never belongs in a file | put it into the environment, and write `api_key_env = "NAME"` here
        team.toml:5: `providers.b.api_key_env` holds a secret, which never belongs in a file | `api_key_env` takes the name of the variable that holds the key
        team.toml:7: `providers.c.base_url` holds a secret, which never belongs in a file | leave user and password out, and send them by `headers` with `${VAR}`
        team.toml:8: `providers.c.headers.Authorization` holds a secret, which never belongs in a file | write `${VAR}`, and put the value into the environment
        team.toml:11: `models.m.env.ANTHROPIC_API_KEY` holds a secret, which never belongs in a file | write `${VAR}`, and put the value into the environment
        "#);
    }

    #[test]
    fn a_broken_line_with_a_key_in_it_is_not_shown() {
        let shown = problems("[providers.a]\napi_key = sk-aaaaaaaaaaaaaaaa");
        assert!(!shown.contains("aaaa"), "{shown}");
        assert!(shown.starts_with("team.toml:2: "), "{shown}");
    }

    #[test]
    fn use_and_command_exclude_each_other() {
        insta::assert_snapshot!(problems("[models.a]\nuse = \"x\"\ncommand = [\"y\"]\n[models.b]\ncommand = []"), @r"
        team.toml:1: `[models.a]` has both `use` and `command` | keep the one that is meant
        team.toml:4: `[models.b]` has an empty `command` | write the program and its arguments as a list of strings
        ");
    }

    #[test]
    fn a_price_is_a_number_or_a_text_and_its_date_either_too() {
        for price in [
            "input = 3, output = 15.5, cached_input = \"0.30\", as_of = 2026-01-31",
            "input = 0.15, as_of = \"2026-01-31\"",
        ] {
            let text = format!("max_cost = 2.5\n[models.a]\nuse = \"x\"\nprice = {{ {price} }}");
            let table = read(Path::new("team.toml"), &text).unwrap();
            let settings: FileSettings = toml::Value::Table(table).try_into().unwrap();
            let price = settings.models["a"].price.unwrap();
            assert_eq!(price.as_of.unwrap().to_string(), "2026-01-31");
            assert_eq!(settings.max_cost.unwrap().to_string(), "2.50");
        }
    }

    #[test]
    fn a_key_of_the_pipeline_that_nobody_knows_is_told() {
        let text = "[pipeline]\nsession_reuse = true";
        assert_eq!(read(Path::new("team.toml"), text).unwrap().len(), 1);
        let problems = read(Path::new("team.toml"), "[pipeline]\nsesion_reuse = true").unwrap_err();
        assert!(format!("{problems:?}").contains("session_reuse"), "{problems:?}");
    }
}
