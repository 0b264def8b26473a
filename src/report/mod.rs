//! What a person or a program sees of sessions: while a run goes on live lines on a terminal, a line per change elsewhere,
//! one event per line for programs ([`LiveLines`], [`PlainLines`], [`JsonLines`]); afterwards one session as a [`sheet`],
//! shown as an HTML file ([`page`]) or as text ([`sheet_text()`]), and many as [`stats`]; and the schemas of all that.
//!
//! Reads sessions and decides nothing. Only of a session whose verdict is published is a model named.

mod aside;
mod canvas;
pub mod ci;
mod conversations;
mod fix_record;
mod format;
mod found;
mod gc;
mod ink;
mod json;
mod lines;
mod live;
mod money;
pub mod page;
mod paper;
mod picture;
mod published;
mod review_text;
mod schema;
pub mod sheet;
mod sheet_text;
mod shown;
pub mod stats;
mod tables;
mod views;

pub use aside::Aside;
pub use conversations::conversation_lines;
pub use fix_record::{FixBranch, FixRecord, FixReview, FixRound};
pub use format::{bytes, seconds, without_controls};
pub use found::{finding_named, findings_of};
pub use gc::{gc_summary, gc_text};
pub use ink::Ink;
pub use json::{JsonLines, SessionPlace, Written};
pub use lines::{PlainLines, Starts, TroubleLines, unanswered};
pub use live::LiveLines;
pub use review_text::finding_text;
pub use schema::Format;
pub use sheet_text::sheet_text;
pub use shown::{session_text, slot_text, verdict_json, verdict_line, verdict_text};
pub use tables::{list_text, status_text};
pub use views::{FolderReport, ListEntry, SessionReport, StatusReport};

use crate::runner::Observer;
use crate::session::{Record, SessionState, Status};

/// Shows nothing.
#[derive(Debug, Default)]
pub struct Silent;

impl Observer for Silent {
    fn event(&mut self, _: &Record, _: &Status) {}
    fn live(&mut self, _: &Status) {}
}

/// Shows one run in two ways at once.
pub struct Both<A, B>(pub A, pub B);

impl<A: Observer, B: Observer> Observer for Both<A, B> {
    fn event(&mut self, record: &Record, status: &Status) {
        self.0.event(record, status);
        self.1.event(record, status);
    }

    fn live(&mut self, status: &Status) {
        self.0.live(status);
        self.1.live(status);
    }

    fn enter(&mut self, folder: &str) {
        self.0.enter(folder);
        self.1.enter(folder);
    }

    fn closed(&mut self, state: SessionState) {
        self.0.closed(state);
        self.1.closed(state);
    }

    fn trouble(&mut self, text: &str) {
        self.0.trouble(text);
        self.1.trouble(text);
    }

    fn suspend(&mut self) {
        self.0.suspend();
        self.1.suspend();
    }
}
