//! Reads one line as a frame, once, borrowed from the line wherever nothing is escaped.
//!
//! Agents write JavaScript strings: half of a surrogate pair, or bytes that are no UTF-8, must not turn a frame into a
//! line of the answer. So strings are read as bytes and made valid only where they are used.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::lines::looks_like_frame;
use super::progress::Progress;

/// What a line is.
#[derive(Debug)]
enum Line<'a, F> {
    /// A frame in the form that is known.
    Frame(F),
    /// A frame of this type in another form.
    Odd(Cow<'a, str>),
    /// Not a frame.
    Plain,
}

/// Reads `line` as a frame of the form `F`; else says whether it is a frame at all.
///
/// A frame of a type in `bearing` that has another form is a hole in the answer, which `progress` notes.
pub(super) fn frame_of<'a, F: Deserialize<'a> + Typed>(
    line: &'a [u8],
    bearing: &[&str],
    progress: &mut Progress,
) -> Result<F, bool> {
    match read(line) {
        Line::Frame(frame) => Ok(frame),
        Line::Plain => Err(false),
        Line::Odd(kind) => {
            if bearing.contains(&&*kind) {
                progress.unreadable(&kind);
            }
            Err(true)
        }
    }
}

/// Reads `line` as a frame of the form `F`.
///
/// `F` holds the field `type`; [`Header`] decides what is a frame where `F` does not fit.
fn read<'a, F: Deserialize<'a> + Typed>(line: &'a [u8]) -> Line<'a, F> {
    if !looks_like_frame(line) {
        // A list would be taken for the fields of `F` in their order.
        return Line::Plain;
    }
    match serde_json::from_slice::<F>(line) {
        Ok(frame) if frame.has_type() => Line::Frame(frame),
        Ok(_) => Line::Plain,
        Err(_) => match serde_json::from_slice::<Header<'a>>(line) {
            Ok(Header(Some(kind))) => Line::Odd(kind.into_str()),
            _ => Line::Plain,
        },
    }
}

/// A frame that may lack its type.
pub(super) trait Typed {
    /// Whether the object has a string `type`.
    fn has_type(&self) -> bool;
}

/// The bytes of a JSON string, unescaped; may hold invalid UTF-8.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Text<'a>(Cow<'a, [u8]>);

impl<'a> Text<'a> {
    /// The bytes as they are, to compare with known words.
    pub(super) fn raw(&self) -> &[u8] {
        &self.0
    }

    /// The text; what is no UTF-8 becomes U+FFFD.
    pub(super) fn as_str(&self) -> Cow<'_, str> {
        valid(&self.0)
    }

    fn into_str(self) -> Cow<'a, str> {
        match self.0 {
            Cow::Borrowed(bytes) => valid(bytes),
            Cow::Owned(bytes) => Cow::Owned(valid(&bytes).into_owned()),
        }
    }
}

/// Text that is valid, as nearly all is, costs no more than the check: the lossy reading takes several times as long.
fn valid(bytes: &[u8]) -> Cow<'_, str> {
    std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bytes;
        impl<'de> Visitor<'de> for Bytes {
            type Value = Text<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_borrowed_bytes<E>(self, bytes: &'de [u8]) -> Result<Self::Value, E> {
                Ok(Text(Cow::Borrowed(bytes)))
            }
            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(bytes.to_vec())))
            }
        }
        deserializer.deserialize_bytes(Bytes)
    }
}

/// A field that says something when it is a string or a number, and nothing otherwise.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) enum Loose<'a> {
    /// Absent, null, or of another type.
    #[default]
    Nothing,
    /// A string.
    Str(Cow<'a, str>),
    /// A number.
    Number(f64),
    /// A truth value.
    Flag(bool),
}

impl Loose<'_> {
    /// The string, when it is one and not empty.
    pub(super) fn str(&self) -> Option<&str> {
        match self {
            Self::Str(text) if !text.is_empty() => Some(text),
            _ => None,
        }
    }

    /// The number, when it is a count.
    pub(super) fn count(&self) -> Option<u64> {
        match self {
            // Counts of tokens and attempts are far below 2^53.
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be a count")]
            Self::Number(n) if n.is_finite() && (0.0..9e15).contains(n) => Some(*n as u64),
            _ => None,
        }
    }

    /// The number.
    pub(super) fn amount(&self) -> Option<f64> {
        match self {
            Self::Number(n) if n.is_finite() => Some(*n),
            _ => None,
        }
    }

    /// An HTTP status: a number, or a string that holds one.
    pub(super) fn status(&self) -> Option<u16> {
        match self {
            Self::Str(text) => text.parse().ok(),
            _ => self.count().and_then(|n| u16::try_from(n).ok()),
        }
        .filter(|status| (100..600).contains(status))
    }

    /// Whether it is `true`.
    pub(super) const fn is_true(&self) -> bool {
        matches!(self, Self::Flag(true))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Loose<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LooseVisitor)
    }
}

struct LooseVisitor;

impl<'de> Visitor<'de> for LooseVisitor {
    type Value = Loose<'de>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }
    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Loose::Str(Cow::Borrowed(text)))
    }
    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Loose::Str(Cow::Owned(text.to_owned())))
    }
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    fn visit_u64<E>(self, n: u64) -> Result<Self::Value, E> {
        Ok(Loose::Number(n as f64))
    }
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    fn visit_i64<E>(self, n: i64) -> Result<Self::Value, E> {
        Ok(Loose::Number(n as f64))
    }
    fn visit_f64<E>(self, n: f64) -> Result<Self::Value, E> {
        Ok(Loose::Number(n))
    }
    fn visit_bool<E>(self, flag: bool) -> Result<Self::Value, E> {
        Ok(Loose::Flag(flag))
    }
    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Loose::Nothing)
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while map.next_entry::<Text<'de>, IgnoredAny>()?.is_some() {}
        Ok(Loose::Nothing)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Loose::Nothing)
    }
}

/// Only the type of an object, whatever else it holds; of two the last counts.
#[derive(Debug)]
struct Header<'a>(Option<Text<'a>>);

impl<'de: 'a, 'a> Deserialize<'de> for Header<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Header<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut kind = None;
                while let Some(key) = map.next_key::<Text<'de>>()? {
                    if key.raw() == b"type" {
                        kind = match map.next_value::<Loose<'de>>()? {
                            Loose::Str(Cow::Borrowed(text)) => Some(Text(Cow::Borrowed(text.as_bytes()))),
                            Loose::Str(Cow::Owned(text)) => Some(Text(Cow::Owned(text.into_bytes()))),
                            _ => None,
                        };
                    } else {
                        map.next_value::<IgnoredAny>()?;
                    }
                }
                Ok(Header(kind))
            }
        }
        deserializer.deserialize_map(Object)
    }
}

/// A message's content: one text, or a list of blocks.
#[derive(Debug)]
pub(super) enum Content<'a> {
    /// One text.
    Whole(Text<'a>),
    /// Blocks of several types.
    Blocks(Vec<ContentBlock<'a>>),
}

/// One block of a message.
#[derive(Debug, serde::Deserialize)]
pub(super) struct ContentBlock<'a> {
    /// Its type.
    #[serde(borrow, default, rename = "type")]
    pub(super) kind: Option<Text<'a>>,
    /// The text of a text block.
    #[serde(borrow, default)]
    pub(super) text: Option<Text<'a>>,
    /// The name of a tool.
    #[serde(borrow, default)]
    pub(super) name: Loose<'a>,
}

impl<'de: 'a, 'a> Deserialize<'de> for Content<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Content<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or a list of blocks")
            }
            fn visit_borrowed_bytes<E>(self, bytes: &'de [u8]) -> Result<Self::Value, E> {
                Ok(Content::Whole(Text(Cow::Borrowed(bytes))))
            }
            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Self::Value, E> {
                Ok(Content::Whole(Text(Cow::Owned(bytes.to_vec()))))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut blocks = Vec::new();
                while let Some(block) = seq.next_element()? {
                    blocks.push(block);
                }
                Ok(Content::Blocks(blocks))
            }
        }
        // JSON offers a list here too when one is found.
        deserializer.deserialize_bytes(Either)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, serde::Deserialize)]
    struct Sample<'a> {
        #[serde(borrow, default, rename = "type")]
        kind: Option<Text<'a>>,
        #[serde(borrow, default)]
        text: Option<Text<'a>>,
    }

    impl Typed for Sample<'_> {
        fn has_type(&self) -> bool {
            self.kind.is_some()
        }
    }

    #[test]
    fn an_object_with_a_string_type_is_a_frame_and_nothing_else_is() {
        for frame in [&br#"{"type":"x"}"#[..], br#" {"a":{"type":1},"type":"y","text":null} "#] {
            assert!(matches!(read::<Sample<'_>>(frame), Line::Frame(_)));
        }
        for odd in [&br#"{"type":"x","text":7}"#[..], br#"{"text":7,"type":"x","type":"x"}"#] {
            assert!(matches!(read::<Sample<'_>>(odd), Line::Odd(kind) if kind == "x"));
        }
        for plain in [&b"{}"[..], br#"{"type":1}"#, br#"{"type":null}"#, br#"["type"]"#, b"{\"type\":\"x\"} y", b"{"] {
            assert!(matches!(read::<Sample<'_>>(plain), Line::Plain), "{}", String::from_utf8_lossy(plain));
        }
    }

    #[test]
    fn half_a_surrogate_pair_or_invalid_utf8_does_not_break_a_frame() {
        let Line::Frame(frame) = read::<Sample<'_>>(br#"{"type":"x","other":"\udc00","text":"a\ud83d!"}"#) else {
            panic!("no frame");
        };
        assert_eq!(frame.text.unwrap().as_str().trim_matches('\u{fffd}').chars().next(), Some('a'));
        let Line::Frame(frame) = read::<Sample<'_>>(b"{\"type\":\"x\",\"other\":\"\xff\",\"text\":\"a\xff\"}") else {
            panic!("no frame");
        };
        assert_eq!(frame.text.unwrap().as_str(), "a\u{fffd}");
    }

    #[test]
    fn text_without_escapes_is_borrowed() {
        let Line::Frame(frame) = read::<Sample<'_>>(br#"{"type":"x","text":"plain"}"#) else { panic!("no frame") };
        assert!(matches!(frame.text, Some(Text(Cow::Borrowed(_)))));
    }
}
