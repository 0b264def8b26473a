//! JSON of a model, in which nothing is said twice: of two fields with one name a reader would have to guess.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// A value in which every name of an object is there once.
struct Unique(Value);

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Unique;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("JSON")
            }

            fn visit_unit<E: Error>(self) -> Result<Unique, E> {
                Ok(Unique(Value::Null))
            }

            fn visit_bool<E: Error>(self, value: bool) -> Result<Unique, E> {
                Ok(Unique(Value::Bool(value)))
            }

            fn visit_i64<E: Error>(self, value: i64) -> Result<Unique, E> {
                Ok(Unique(value.into()))
            }

            fn visit_u64<E: Error>(self, value: u64) -> Result<Unique, E> {
                Ok(Unique(value.into()))
            }

            fn visit_f64<E: Error>(self, value: f64) -> Result<Unique, E> {
                Ok(Unique(Number::from_f64(value).map_or(Value::Null, Value::Number)))
            }

            fn visit_str<E: Error>(self, value: &str) -> Result<Unique, E> {
                Ok(Unique(value.into()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Unique, A::Error> {
                let mut list = Vec::new();
                while let Some(Unique(value)) = seq.next_element()? {
                    list.push(value);
                }
                Ok(Unique(Value::Array(list)))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Unique, A::Error> {
                let mut object = Map::new();
                while let Some(name) = map.next_key::<String>()? {
                    let Unique(value) = map.next_value()?;
                    let told: String = name.chars().take(40).collect();
                    if object.insert(name, value).is_some() {
                        return Err(A::Error::custom(format!("the field `{told}` is there twice")));
                    }
                }
                Ok(Unique(Value::Object(object)))
            }
        }
        deserializer.deserialize_any(Any)
    }
}

/// Reads `text` as a whole.
///
/// # Errors
/// What is wrong, and where.
pub(super) fn read(text: &str) -> Result<Value, String> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let Unique(value) = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let path = error.path().to_string();
        if path == "." { error.into_inner().to_string() } else { format!("{path}: {}", error.into_inner()) }
    })?;
    reader.end().map_err(|error| error.to_string())?;
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_read_as_it_is_and_nothing_may_be_there_twice() {
        let text = r#"{"a": [1, -2, 0.5, "x", true, null], "b": {"a": {}}}"#;
        assert_eq!(read(text).unwrap(), serde_json::from_str::<Value>(text).unwrap());
        let twice = read(r#"{"list": [{"a": 1, "a": 1}]}"#).unwrap_err();
        assert!(twice.starts_with("list[0]") && twice.contains("`a` is there twice"), "{twice}");
    }

    #[test]
    fn what_is_no_json_is_told_with_its_place() {
        for (text, place) in
            [("{\"a\": 1,}", "line 1 column 9"), ("[1]\nx", "line 2 column 1"), ("", "line 1 column 0")]
        {
            let told = read(text).unwrap_err();
            assert!(told.contains(place), "{told}");
        }
        assert!(read(&"[".repeat(100_000)).is_err(), "depth is limited");
    }
}
