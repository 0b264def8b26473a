//! Markdown that a model wrote, as HTML that can do nothing.
//!
//! Only elements of a fixed list come out, none with an attribute but a link's address, which is `http`, `https` or
//! `mailto`, and a list's first number. HTML in the source is text, images are their text and address, and a link says
//! where it goes when its own text does not.

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::judging::push_visible;

/// What addresses a link may have.
const SCHEMES: [&str; 3] = ["http://", "https://", "mailto:"];

/// The longest address that is shown.
const LONGEST_ADDRESS: usize = 200;

/// `source` as HTML.
#[must_use]
pub fn html(source: &str) -> String {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut writer = Writer { out: String::with_capacity(source.len() + source.len() / 4), ..Writer::default() };
    for event in Parser::new_ext(source, options) {
        writer.event(event);
    }
    writer.out
}

/// Appends `text`, escaped, with what hides or acts made visible.
pub(super) fn push_text(out: &mut String, text: &str) {
    let mut mark = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // A line end of two characters is one.
            '\r' if chars.peek() == Some(&'\n') => {}
            ' '..='~' | '\n' | '\t' => out.push(c),
            _ => {
                // A joiner is needed after a character that is not ASCII, which the mark has to see.
                mark.clear();
                mark.extend(out.chars().next_back());
                let before = mark.len();
                push_visible(&mut mark, c);
                match &mark[before..] {
                    shown if shown.chars().eq([c]) => out.push(c),
                    shown => {
                        out.push_str("<span class=\"mark\">");
                        out.push_str(&shown.replace('<', "&lt;").replace('>', "&gt;"));
                        out.push_str("</span>");
                    }
                }
            }
        }
    }
}

#[derive(Default)]
struct Writer {
    out: String,
    /// Whether cells are of a table's head.
    in_head: bool,
    /// The links and images that are open.
    targets: Vec<Target>,
    /// Whether one of them is a link that can be followed.
    in_link: bool,
}

/// A link or an image that is open.
struct Target {
    address: String,
    /// Where its text begins.
    start: usize,
    is_link: bool,
}

impl Writer {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => push_text(&mut self.out, &text),
            Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.out.push_str("<code>");
                push_text(&mut self.out, &text);
                self.out.push_str("</code>");
            }
            Event::FootnoteReference(name) => push_text(&mut self.out, &format!("[^{name}]")),
            Event::SoftBreak => self.out.push('\n'),
            Event::HardBreak => self.out.push_str("<br>\n"),
            Event::Rule => self.out.push_str("<hr>\n"),
            Event::TaskListMarker(done) => self.out.push_str(if done { "[x] " } else { "[ ] " }),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph => self.out.push_str("<p>"),
            Tag::Heading { level, .. } => self.out.push_str(&format!("<{}>", below_ours(level))),
            Tag::BlockQuote(_) => self.out.push_str("<blockquote>\n"),
            Tag::CodeBlock(CodeBlockKind::Fenced(_) | CodeBlockKind::Indented) => self.out.push_str("<pre><code>"),
            // What may stand in no paragraph of its own must be kept apart from what follows.
            Tag::HtmlBlock => self.out.push_str("<pre>"),
            Tag::List(Some(1)) => self.out.push_str("<ol>\n"),
            Tag::List(Some(first)) => self.out.push_str(&format!("<ol start=\"{first}\">\n")),
            Tag::List(None) => self.out.push_str("<ul>\n"),
            Tag::Item => self.out.push_str("<li>"),
            Tag::Table(_) => self.out.push_str("<div class=\"scroll\"><table>\n"),
            Tag::TableHead => {
                self.in_head = true;
                self.out.push_str("<thead><tr>");
            }
            Tag::TableRow => self.out.push_str("<tr>"),
            Tag::TableCell => self.out.push_str(if self.in_head { "<th scope=\"col\">" } else { "<td>" }),
            Tag::Emphasis => self.out.push_str("<em>"),
            Tag::Strong => self.out.push_str("<strong>"),
            Tag::Strikethrough => self.out.push_str("<del>"),
            Tag::Subscript => self.out.push_str("<sub>"),
            Tag::Superscript => self.out.push_str("<sup>"),
            Tag::Link { link_type, dest_url, .. } => {
                let mail = if link_type == pulldown_cmark::LinkType::Email { "mailto:" } else { "" };
                self.open(format!("{mail}{dest_url}"), true);
            }
            Tag::Image { dest_url, .. } => self.open(dest_url.into_string(), false),
            Tag::DefinitionList => self.out.push_str("<dl>\n"),
            Tag::DefinitionListTitle => self.out.push_str("<dt>"),
            Tag::DefinitionListDefinition => self.out.push_str("<dd>"),
            Tag::FootnoteDefinition(name) => {
                self.out.push_str("<div>");
                push_text(&mut self.out, &format!("[^{name}]: "));
            }
            Tag::MetadataBlock(_) => self.out.push_str("<pre>"),
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph => self.out.push_str("</p>\n"),
            TagEnd::Heading(level) => self.out.push_str(&format!("</{}>\n", below_ours(level))),
            TagEnd::BlockQuote(_) => self.out.push_str("</blockquote>\n"),
            TagEnd::CodeBlock => self.out.push_str("</code></pre>\n"),
            TagEnd::HtmlBlock | TagEnd::MetadataBlock(_) => self.out.push_str("</pre>\n"),
            TagEnd::List(true) => self.out.push_str("</ol>\n"),
            TagEnd::List(false) => self.out.push_str("</ul>\n"),
            TagEnd::Item => self.out.push_str("</li>\n"),
            TagEnd::Table => self.out.push_str("</tbody></table></div>\n"),
            TagEnd::TableHead => {
                self.in_head = false;
                self.out.push_str("</tr></thead>\n<tbody>\n");
            }
            TagEnd::TableRow => self.out.push_str("</tr>\n"),
            TagEnd::TableCell => self.out.push_str(if self.in_head { "</th>" } else { "</td>" }),
            TagEnd::Emphasis => self.out.push_str("</em>"),
            TagEnd::Strong => self.out.push_str("</strong>"),
            TagEnd::Strikethrough => self.out.push_str("</del>"),
            TagEnd::Subscript => self.out.push_str("</sub>"),
            TagEnd::Superscript => self.out.push_str("</sup>"),
            TagEnd::Link | TagEnd::Image => self.close(),
            TagEnd::DefinitionList => self.out.push_str("</dl>\n"),
            TagEnd::DefinitionListTitle => self.out.push_str("</dt>\n"),
            TagEnd::DefinitionListDefinition => self.out.push_str("</dd>\n"),
            TagEnd::FootnoteDefinition => self.out.push_str("</div>\n"),
        }
    }

    fn open(&mut self, address: String, is_link: bool) {
        // A link within a link, or an image within one, is its text.
        let is_link = is_link && is_safe(&address) && self.targets.is_empty();
        if is_link {
            self.out.push_str("<a rel=\"noopener noreferrer nofollow\" target=\"_blank\" href=\"");
            push_attribute(&mut self.out, &address);
            self.out.push_str("\">");
            self.in_link = true;
        } else if !self.in_link {
            self.out.push_str("<span class=\"inert\">");
        }
        self.targets.push(Target { address, start: self.out.len(), is_link });
    }

    fn close(&mut self) {
        let Some(Target { address, start, is_link }) = self.targets.pop() else { return };
        let mut shown = String::new();
        push_text(&mut shown, address.strip_prefix("mailto:").unwrap_or(&address));
        let says_it = self.out[start..] == shown;
        if is_link {
            self.in_link = false;
            self.out.push_str("</a>");
        }
        if !says_it {
            let short: String = address.chars().take(LONGEST_ADDRESS).collect();
            let rest = if short.len() < address.len() { "…" } else { "" };
            self.out.push_str(" <span class=\"address\">(");
            push_text(&mut self.out, &short);
            self.out.push_str(rest);
            self.out.push_str(")</span>");
        }
        if !is_link && !self.in_link {
            self.out.push_str("</span>");
        }
    }
}

/// Whether a browser goes where the address says and nothing else happens.
fn is_safe(address: &str) -> bool {
    let plain = address.chars().all(|c| !c.is_control() && !c.is_whitespace());
    let starts = |scheme: &&str| address.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    plain && SCHEMES.iter().any(starts)
}

/// As the value of an attribute: nothing in it ends the value, and nothing hides.
fn push_attribute(out: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '<' => out.push_str("%3C"),
            '>' => out.push_str("%3E"),
            '!'..='~' => out.push(c),
            // As a browser would write it.
            _ => {
                let mut bytes = [0; 4];
                for byte in c.encode_utf8(&mut bytes).bytes() {
                    out.push_str(&format!("%{byte:02X}"));
                }
            }
        }
    }
}

/// The report's own headings go down to the third level.
const fn below_ours(level: HeadingLevel) -> &'static str {
    match level {
        HeadingLevel::H1 => "h4",
        HeadingLevel::H2 => "h5",
        HeadingLevel::H3 | HeadingLevel::H4 | HeadingLevel::H5 | HeadingLevel::H6 => "h6",
    }
}
