//! A report as a browser would read it: elements with their attributes, by a tokenizer of the HTML standard.

use std::collections::BTreeMap;
use std::path::Path;

use html5gum::{DefaultEmitter, Token, Tokenizer};

/// A start tag.
#[derive(Debug, Clone)]
pub(crate) struct Element {
    pub(crate) name: String,
    pub(crate) attributes: BTreeMap<String, String>,
}

impl Element {
    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.get(name).map(String::as_str)
    }

    pub(crate) fn class(&self, name: &str) -> bool {
        self.attribute("class").is_some_and(|classes| classes.split(' ').any(|class| class == name))
    }
}

/// A part of the document.
#[derive(Debug, Clone)]
enum Part {
    Start(Element),
    End(String),
    Text(String),
}

/// A whole report.
#[derive(Debug)]
pub(crate) struct Document {
    parts: Vec<Part>,
}

impl Document {
    #[track_caller]
    pub(crate) fn read(path: &Path) -> Self {
        let source = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Self::parse(&source)
    }

    /// A mistake in the form of the document is a failure.
    #[track_caller]
    pub(crate) fn parse(source: &str) -> Self {
        let mut parts = Vec::new();
        let mut emitter = DefaultEmitter::<()>::default();
        // What a browser takes for no markup: scripts, styles.
        emitter.naively_switch_states(true);
        for token in Tokenizer::new_with_emitter(source, emitter) {
            match token.unwrap() {
                Token::StartTag(tag) => {
                    let name = String::from_utf8(tag.name.to_vec()).unwrap();
                    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
                    let attributes = tag.attributes.iter().map(|(name, value)| (text(name), text(value))).collect();
                    parts.push(Part::Start(Element { name, attributes }));
                }
                Token::EndTag(tag) => parts.push(Part::End(String::from_utf8(tag.name.to_vec()).unwrap())),
                Token::String(text) => parts.push(Part::Text(String::from_utf8(text.to_vec()).unwrap())),
                Token::Doctype(_) => {}
                Token::Comment(comment) => panic!("a comment: {comment:?}"),
                Token::Error(error) => panic!("{error:?} in {}", &source[..source.len().min(400)]),
            }
        }
        Self { parts }
    }

    pub(crate) fn elements<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Element> {
        self.all().filter(move |element| element.name == name)
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Element> {
        self.parts.iter().filter_map(|part| match part {
            Part::Start(element) => Some(element),
            Part::End(_) | Part::Text(_) => None,
        })
    }

    /// What a person can read: no script, no style.
    pub(crate) fn text(&self) -> String {
        let mut hidden = false;
        let mut text = String::new();
        for part in &self.parts {
            match part {
                Part::Start(element) => hidden = matches!(element.name.as_str(), "script" | "style"),
                Part::End(_) => hidden = false,
                Part::Text(found) if !hidden => text.push_str(found),
                Part::Text(_) => {}
            }
        }
        text
    }

    /// The text of the first element that `wanted` takes, with all that is in it.
    #[track_caller]
    pub(crate) fn text_of(&self, wanted: impl Fn(&Element) -> bool) -> String {
        let start = self.parts.iter().position(|part| matches!(part, Part::Start(element) if wanted(element)));
        let start = start.expect("no such element");
        let Part::Start(Element { name, .. }) = &self.parts[start] else { unreachable!() };
        let mut depth = 0;
        let mut text = String::new();
        for part in &self.parts[start..] {
            match part {
                Part::Start(element) if element.name == *name => depth += 1,
                Part::End(end) if end == name => depth -= 1,
                Part::Text(found) => text.push_str(found),
                Part::Start(_) | Part::End(_) => {}
            }
            if depth == 0 {
                break;
            }
        }
        text
    }

    /// The text of the script of this type; without a type, of the one that runs.
    #[track_caller]
    pub(crate) fn script(&self, kind: &str) -> String {
        self.text_of(|element| element.name == "script" && element.attribute("type").unwrap_or("") == kind)
    }

    /// Fails where an element that must be closed is not, or in another order.
    #[track_caller]
    pub(crate) fn assert_nested(&self) {
        const VOID: [&str; 6] = ["meta", "br", "hr", "input", "rect", "link"];
        let mut open: Vec<&str> = Vec::new();
        for part in &self.parts {
            match part {
                Part::Start(element) if VOID.contains(&element.name.as_str()) => {}
                Part::Start(element) => open.push(&element.name),
                Part::End(name) => assert_eq!(open.pop(), Some(name.as_str()), "{open:?}"),
                Part::Text(_) => {}
            }
        }
        assert_eq!(open, [""; 0]);
    }
}
