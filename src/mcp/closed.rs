//! Objects that a client gives: read strictly, and described by a closed schema.
//!
//! Nothing is guessed: a name that is not known, and a value of another type, are refused with the place, the value and
//! what would be right.

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::config::nearest;
use crate::error::{Error, Result};

/// What was given: a `null` is an argument that was not.
pub(super) fn without_nulls(given: JsonObject) -> JsonObject {
    given.into_iter().filter(|(_, value)| !value.is_null()).collect()
}

/// Refuses an argument that `tool` does not have; `why` says of some why that is.
pub(super) fn check_known(
    tool: &str,
    given: &JsonObject,
    known: &[&str],
    why: impl Fn(&str) -> Option<&'static str>,
) -> Result<()> {
    let Some(name) = given.keys().find(|name| !known.contains(&name.as_str())) else { return Ok(()) };
    let error = Error::usage(format!("`{name}` is no argument of `{tool}`"));
    Err(match (why(name), nearest(name, known.iter().copied())) {
        (Some(why), _) => error.hint(why),
        (None, Some(near)) => error.hint(format!("did you mean `{near}`?")),
        (None, None) => error.hint(format!("it takes {}", listed(known))),
    })
}

/// The arguments in their types.
pub(super) fn typed<T: DeserializeOwned>(given: JsonObject) -> Result<T> {
    serde_path_to_error::deserialize(Value::Object(given)).map_err(|error| {
        let place = error.path().to_string();
        match place.as_str() {
            // Of the object as a whole: an argument is missing.
            "." => Error::usage(error.into_inner().to_string()),
            _ => Error::usage(format!("`{place}`: {}", error.into_inner())),
        }
    })
}

/// The schema of those arguments of `T` that are `known`.
pub(super) fn schema_of<T: JsonSchema>(known: &[&str]) -> JsonObject {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut schema = Value::from(settings.into_generator().into_root_schema_for::<T>());
    simplify(&mut schema);
    let Value::Object(mut object) = schema else { return JsonObject::new() };
    for name in ["$schema", "title", "description"] {
        object.shift_remove(name);
    }
    if let Some(Value::Object(properties)) = object.get_mut("properties") {
        properties.retain(|name, _| known.contains(&name.as_str()));
    }
    object
}

/// A list of models says which; an empty one, or two names in one, is a slip.
pub(super) fn check_names(argument: &str, names: Option<&[String]>) -> Result<()> {
    let Some(names) = names else { return Ok(()) };
    if names.is_empty() {
        return Err(Error::usage(format!("`{argument}` is empty")).hint("leave it out for what is configured"));
    }
    for (at, name) in names.iter().enumerate() {
        if name.trim().is_empty() {
            return Err(Error::usage(format!("`{argument}[{at}]` is empty")).hint("`team models` lists names"));
        }
        if name.contains(',') {
            return Err(Error::usage(format!("`{argument}[{at}]`: `{name}` is more than one name"))
                .hint("give each model an entry of its own"));
        }
    }
    Ok(())
}

/// `a`, `b` and `c` in a row.
pub(super) fn listed(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// A value that is written as text.
pub(super) fn text_of<'de, D, T>(deserializer: D) -> std::result::Result<Option<T>, D::Error>
where
    D: serde::Deserializer<'de>,
    T: std::str::FromStr<Err: std::fmt::Display>,
{
    let text = Option::<String>::deserialize(deserializer)?;
    text.map(|text| text.parse().map_err(serde::de::Error::custom)).transpose()
}

/// Makes a schema one that every client understands: a value may be left out instead of being `null`, a choice of words is
/// an `enum`, no format is named that only this program knows, and a description is one line.
fn simplify(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            if let Some(Value::Array(types)) = object.get_mut("type") {
                types.retain(|name| name != "null");
                if let [only] = types.as_slice() {
                    let only = only.clone();
                    object.insert("type".to_owned(), only);
                }
            }
            if object.get("default").is_some_and(Value::is_null) {
                object.shift_remove("default");
            }
            if object.get("format").is_some_and(Value::is_string) {
                object.shift_remove("format");
            }
            if let Some(Value::Array(choices)) = object.get_mut("anyOf") {
                choices.retain(|choice| choice.get("type").is_none_or(|name| name != "null"));
                if choices.len() == 1
                    && let Some(Value::Object(only)) = choices.pop()
                {
                    object.shift_remove("anyOf");
                    for (name, value) in only {
                        object.entry(name).or_insert(value);
                    }
                }
            }
            let described = object.get("description").and_then(Value::as_str).map(|text| text.replace('\n', " "));
            if let Some(Value::Array(choices)) = object.get("oneOf")
                && let Some(words) =
                    choices.iter().map(|choice| choice.get("const").cloned()).collect::<Option<Vec<_>>>()
            {
                let each = choices.iter().map(|choice| {
                    let word = |name: &str| choice.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
                    format!("`{}`: {}", word("const"), word("description").replace('\n', " "))
                });
                let text = described.iter().cloned().chain(each).collect::<Vec<_>>().join(" ");
                object.shift_remove("oneOf");
                object.insert("type".to_owned(), "string".into());
                object.insert("enum".to_owned(), Value::Array(words));
                object.insert("description".to_owned(), text.into());
            } else if let Some(text) = described {
                object.insert("description".to_owned(), text.into());
            }
            object.values_mut().for_each(simplify);
        }
        Value::Array(values) => values.iter_mut().for_each(simplify),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_name_that_is_not_known_is_refused_with_what_is_near_or_why() {
        let given = |name: &str| JsonObject::from_iter([(name.to_owned(), json!(1))]);
        let why = |name: &str| (name == "test").then_some("that is configured");
        for (name, hint) in
            [("inpt", "did you mean `input`?"), ("zzz", "it takes `input`, `mode`"), ("test", "that is configured")]
        {
            let error = check_known("tool", &given(name), &["input", "mode"], why).unwrap_err();
            assert_eq!(error.to_string(), format!("`{name}` is no argument of `tool`"));
            assert_eq!(error.hints(), [hint]);
        }
        assert!(check_known("tool", &given("mode"), &["input", "mode"], why).is_ok());
    }
}
