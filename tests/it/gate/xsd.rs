//! As much of XML Schema as the schema of JUnit files uses: which elements and attributes there may be, which must be, and
//! where text may stand.

use std::collections::{BTreeMap, BTreeSet};

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

#[derive(Debug, Default)]
struct Node {
    name: String,
    attributes: BTreeMap<String, String>,
    children: Vec<Node>,
    text: String,
}

#[derive(Debug, Default)]
struct Declared {
    attributes: BTreeMap<String, bool>,
    children: BTreeSet<String>,
    text: bool,
}

/// The elements that a schema declares.
#[derive(Debug)]
pub(super) struct Schema(BTreeMap<String, Declared>);

fn node(start: &BytesStart<'_>) -> Node {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let attributes = start.attributes().map(|attribute| attribute.unwrap());
    let attributes = attributes.map(|attribute| (text(attribute.key.as_ref()), text(&attribute.value)));
    Node { name: text(start.name().as_ref()), attributes: attributes.collect(), ..Node::default() }
}

/// Reads a whole document; fails where it is not well formed.
#[track_caller]
fn parse(xml: &str) -> Node {
    let mut reader = Reader::from_str(xml);
    let mut open = vec![Node::default()];
    loop {
        match reader.read_event().unwrap() {
            Event::Start(start) => open.push(node(&start)),
            Event::Empty(start) => open.last_mut().unwrap().children.push(node(&start)),
            Event::End(_) => {
                let closed = open.pop().unwrap();
                open.last_mut().unwrap().children.push(closed);
            }
            Event::Text(text) => open.last_mut().unwrap().text.push_str(&String::from_utf8_lossy(&text)),
            Event::Eof => break,
            _ => {}
        }
    }
    assert_eq!(open.len(), 1, "an element is not closed");
    let mut document = open.remove(0);
    assert_eq!(document.children.len(), 1, "one element at the top");
    document.children.remove(0)
}

impl Schema {
    pub(super) fn new(xsd: &str) -> Self {
        let schema = parse(xsd);
        let types: BTreeMap<&str, &Node> = schema
            .children
            .iter()
            .filter(|node| node.name == "xs:complexType")
            .map(|node| (node.attributes["name"].as_str(), node))
            .collect();
        let elements = schema.children.iter().filter(|node| node.name == "xs:element");
        Self(elements.map(|element| (element.attributes["name"].clone(), Declared::of(element, &types))).collect())
    }

    /// Fails unless `xml` is a document of this schema.
    #[track_caller]
    pub(super) fn check(&self, xml: &str) {
        let root = parse(xml);
        assert!(["testsuites", "testsuite"].contains(&root.name.as_str()), "{}", root.name);
        self.check_node(&root);
    }

    #[track_caller]
    fn check_node(&self, node: &Node) {
        let declared = self.0.get(&node.name).unwrap_or_else(|| panic!("<{}> is not declared", node.name));
        for name in node.attributes.keys() {
            assert!(declared.attributes.contains_key(name), "<{} {name}=..> is not declared", node.name);
        }
        for (name, required) in &declared.attributes {
            assert!(!required || node.attributes.contains_key(name), "<{}> has no `{name}`", node.name);
        }
        assert!(declared.text || node.text.trim().is_empty(), "<{}> holds text: {}", node.name, node.text);
        for child in &node.children {
            assert!(declared.children.contains(&child.name), "<{}> in <{}>", child.name, node.name);
            self.check_node(child);
        }
    }
}

impl Declared {
    fn of(element: &Node, types: &BTreeMap<&str, &Node>) -> Self {
        let mut declared = Self::default();
        match element.attributes.get("type").map(String::as_str) {
            Some(name) if types.contains_key(name) => declared.add(types[name]),
            Some(_) => declared.text = true,
            None => element.children.iter().for_each(|child| declared.add(child)),
        }
        declared
    }

    fn add(&mut self, node: &Node) {
        self.text |= node.attributes.get("mixed").is_some_and(|mixed| mixed == "true");
        match node.name.as_str() {
            "xs:attribute" => {
                let required = node.attributes.get("use").is_some_and(|value| value == "required");
                self.attributes.insert(node.attributes["name"].clone(), required);
            }
            "xs:element" => {
                let name = node.attributes.get("ref").or_else(|| node.attributes.get("name"));
                self.children.insert(name.unwrap().clone());
                return;
            }
            _ => {}
        }
        node.children.iter().for_each(|child| self.add(child));
    }
}

#[test]
fn what_the_schema_does_not_declare_is_found() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/standards/junit-10.xsd");
    let schema = Schema::new(&std::fs::read_to_string(path).unwrap());
    let suite =
        |inner: &str| format!("<testsuite name=\"a\" tests=\"1\" failures=\"0\" errors=\"0\">{inner}</testsuite>");
    schema.check(&suite("<testcase name=\"b\"><failure message=\"m\">text</failure></testcase>"));
    for wrong in ["<testcase/>", "<testcase name=\"b\" nope=\"\"/>", "<failure/>", "text", "<nope/>"] {
        assert!(std::panic::catch_unwind(|| schema.check(&suite(wrong))).is_err(), "{wrong}");
    }
}
