//! A [`Sheet`](super::sheet::Sheet) as one HTML file that needs nothing else and asks nobody.
//!
//! [`html`] is a pure function. The templates, the style and the script lie in `templates/` and are part of the program.
//! What models wrote is hostile input: every text is escaped by the template engine, with what hides or acts made visible;
//! Markdown of answers becomes a small set of elements without attributes but checked links (`markdown`); and a content
//! policy in the file itself (`policy`) lets the browser run one script and one style, by their hashes, and load nothing.

mod compare;
mod document;
mod markdown;
mod policy;

pub use document::html;
pub use markdown::html as markdown_html;
