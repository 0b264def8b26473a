//! Where everything that a slot prints goes: the answer file, the log, the live cell.

use std::io;
use std::sync::Arc;
use std::time::Instant;

use tokio::sync::mpsc;

use super::attempt::{Attempt, Report};
use super::live::LiveCell;
use crate::capture::{AnswerFile, ErrorLog, HeadTail, Redact, escape};
use crate::ids::SlotId;
use crate::secrets::{Scrub, ScrubLines};
use crate::session::slot::{Activity, Output, Spent};

/// How much of either end of the raw output is kept to show a snippet of it.
const KEPT: usize = 8 << 10;

/// The most characters of a tool's name, or of a retry's reason, that are shown.
const WORD: usize = 120;

/// Words of a program or of a model as they may be written and shown: without secrets, names and control characters.
pub(crate) fn shown(scrub: &Scrub, slot: SlotId, words: &str) -> String {
    let mut text = String::new();
    escape(scrub.text_for(Some(slot), words).as_bytes(), &mut text);
    text
}

/// The files and counters of one attempt.
pub(crate) struct AttemptSink {
    slot: SlotId,
    pub(crate) answer: AnswerFile,
    pub(crate) log: ErrorLog,
    pub(crate) printed: Printed,
    live: Arc<LiveCell>,
    scrub: Arc<Scrub>,
    reports: mpsc::UnboundedSender<Report>,
}

impl AttemptSink {
    pub(crate) fn open(attempt: &Attempt) -> io::Result<Self> {
        let slot = attempt.job.id;
        let scrub = Arc::clone(&attempt.shared.scrub);
        let part = attempt.layout.errors().join(format!(".{slot}.stderr.part"));
        Ok(Self {
            slot,
            answer: AnswerFile::create(&attempt.layout.response_part(slot))?,
            log: ErrorLog::new(&part, Box::new(log_redact(&scrub, slot)))?,
            printed: Printed(HeadTail::new(KEPT)),
            live: Arc::clone(&attempt.live),
            scrub,
            reports: attempt.reports.clone(),
        })
    }
}

impl AttemptSink {
    /// Keeps some of the raw output. Programs begin with the model that they chose, so its beginning is learned from.
    pub(crate) fn printed(&mut self, bytes: &[u8]) {
        if self.printed.0.total() < KEPT as u64 {
            let beginning = &bytes[..bytes.len().min(KEPT)];
            self.scrub.learn(self.slot, &String::from_utf8_lossy(beginning));
        }
        self.printed.0.push(bytes);
    }
}

impl Output for AttemptSink {
    fn text(&mut self, piece: &[u8]) -> io::Result<()> {
        self.answer.push(piece)?;
        self.live.answered(piece.len());
        self.live.set_activity(&Activity::Answering, Instant::now);
        Ok(())
    }

    fn activity(&mut self, mut activity: Activity) {
        let clean = |word: &mut String| *word = shown(&self.scrub, self.slot, word).chars().take(WORD).collect();
        match &mut activity {
            Activity::Tool(name) => clean(name),
            Activity::Retry { why, .. } => {
                clean(why);
                self.reports.send(Report::Retry { slot: self.slot, why: activity.to_string() }).ok();
            }
            Activity::Queued | Activity::Waiting | Activity::Thinking | Activity::Answering => {}
        }
        self.live.set_activity(&activity, Instant::now);
    }

    fn received(&mut self, _: usize) {
        self.live.received(Instant::now());
    }

    fn spent(&mut self, spent: Spent) {
        self.live.set_spent(spent);
    }
}

/// The raw output's beginning and end.
pub(crate) struct Printed(pub(crate) HeadTail);

impl Printed {
    /// Start and end of what was printed, scrubbed as a whole before it is cut, so that no secret shows in part.
    pub(crate) fn snippet(&self, limit: usize, scrub: &dyn Fn(&str) -> String) -> Option<String> {
        let text = scrub(&self.0.snippet(KEPT)?);
        let count = text.chars().count();
        if count <= 2 * limit {
            return Some(text);
        }
        let head: String = text.chars().take(limit).collect();
        let tail: String = text.chars().skip(count - limit).collect();
        Some(format!("{head} [...] {tail}"))
    }
}

/// What the log of `slot` goes through.
pub(crate) fn log_redact(scrub: &Scrub, slot: SlotId) -> impl Redact + use<> {
    LineRedact(scrub.lines_for(Some(slot)))
}

struct LineRedact(ScrubLines);

impl Redact for LineRedact {
    fn push(&mut self, bytes: &[u8], into: &mut Vec<u8>) {
        into.extend(self.0.push(bytes));
    }

    fn finish(&mut self, into: &mut Vec<u8>) {
        into.extend(self.0.finish());
    }
}
