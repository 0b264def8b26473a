//! How a session stands, small enough to be read again and again.
//!
//! While it goes on: states, live bytes, idle seconds, what each slot is doing, and what these do and do not mean. When all
//! is settled: ids, sizes, files, reasons and the next step, and never a piece of what a model wrote.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};

use super::job::is_work;
use crate::ids::SlotId;
use crate::report::verdict_line;
use crate::session::slot::{Reason, SlotState};
use crate::session::{Layout, Manifest, Phase, SessionState, SlotStatus, Status, View};

/// What the live figures mean, for a model that reads them.
pub(super) const MEANS: &str = "bytes: of the answer so far, never shown before it is complete. idleSeconds: since the last byte of \
                     any kind; a slot may be quiet for minutes while its model thinks, and none is stopped for that \
                     unless you set `timeout`. Nothing here says how good an answer is or when it will be there.";

/// Where a verdict is told to people.
const VERDICT: &str = "verdict.md";

/// A session as it stands.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Card {
    session: String,
    path: String,
    state: SessionState,
    slots: Vec<Slot>,
    #[serde(skip_serializing_if = "Option::is_none")]
    votes: Option<Votes>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<VerdictFile>,
    /// What to do about each reason that occurs, once.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    next_steps: BTreeMap<Reason, &'static str>,
    /// Only where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    models: Option<BTreeMap<SlotId, String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    means: Option<&'static str>,
    /// The calls that make sense now.
    next: Vec<Value>,
}

/// A round of votes.
#[derive(Debug, Serialize)]
struct Votes {
    folder: String,
    state: SessionState,
    judges: Vec<Slot>,
}

#[derive(Debug, Serialize)]
pub(super) struct VerdictFile {
    pub(super) file: String,
    pub(super) outcome: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Slot {
    id: SlotId,
    state: SlotState,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    idle_seconds: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    activity: Option<String>,
    /// The answer, where it is complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    /// The answer was cut by its length limit, and is accepted all the same.
    #[serde(skip_serializing_if = "is_false")]
    truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<Reason>,
    #[serde(skip_serializing_if = "Option::is_none")]
    log: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
const fn is_false(value: &bool) -> bool {
    !*value
}

impl Card {
    /// The card of the session in `view`, which is called `reference` in further calls.
    pub(super) fn new(view: &View, reference: &str, names: Option<&Manifest>, now: Timestamp) -> Self {
        let round = view.round.as_ref();
        let verdict = match verdict_line(view) {
            Ok(line) => line.map(|outcome| VerdictFile { file: VERDICT.to_owned(), outcome }),
            Err(error) => Some(VerdictFile { file: VERDICT.to_owned(), outcome: error.to_string() }),
        };
        let mut next_steps = BTreeMap::new();
        let slots = slots(&view.status, &mut next_steps, now);
        let votes = round.map(|(round, status)| Votes {
            folder: round.folder(),
            state: status.state,
            judges: slots_of_round(status, &mut next_steps, now),
        });
        let active = view.state().is_active();
        let next = next(view, reference, verdict.is_some());
        Self {
            session: view.meta.session_id.clone(),
            path: view.layout.root().display().to_string(),
            state: view.state(),
            slots,
            votes,
            verdict,
            next_steps,
            models: names
                .map(|names| names.models.iter().map(|(slot, member)| (*slot, member.model.clone())).collect()),
            means: active.then_some(MEANS),
            next,
        }
    }
}

fn slots(status: &Status, next_steps: &mut BTreeMap<Reason, &'static str>, now: Timestamp) -> Vec<Slot> {
    status
        .models
        .iter()
        .map(|(id, entry)| {
            if let Some(error) = &entry.error {
                next_steps.insert(error.reason, error.reason.next_step());
            }
            slot(*id, entry, now)
        })
        .collect()
}

/// The same of judges, whose replies are read by nobody but the count: of a complete one the file is left out.
pub(super) fn slots_of_round(
    status: &Status,
    next_steps: &mut BTreeMap<Reason, &'static str>,
    now: Timestamp,
) -> Vec<Slot> {
    let mut judges = slots(status, next_steps, now);
    for judge in &mut judges {
        judge.file = None;
    }
    judges
}

fn slot(id: SlotId, entry: &SlotStatus, now: Timestamp) -> Slot {
    let live = entry.live.as_ref();
    let running = entry.state == SlotState::Running;
    let since = entry.started_at.filter(|_| running);
    Slot {
        id,
        state: entry.state,
        bytes: live.map(|live| live.live_bytes).or(entry.output_size),
        seconds: since.map(|start| u64::try_from(now.duration_since(start).as_secs()).unwrap_or(0)),
        idle_seconds: live.map(|live| live.idle_seconds),
        activity: live.map(|live| live.activity.clone()),
        file: (entry.state == SlotState::Completed).then(|| Layout::response_name(id)),
        truncated: entry.truncated,
        reason: entry.error.as_ref().map(|error| error.reason),
        log: entry.error.as_ref().and_then(|error| error.error_log_path.clone()),
    }
}

/// The calls that make sense for a session that stands like this.
fn next(view: &View, reference: &str, judged: bool) -> Vec<Value> {
    let call = |mode: &str| json!({"mode": mode, "path": reference});
    let complete = view.status.count(SlotState::Completed);
    match view.state() {
        SessionState::InProgress | SessionState::Closing => vec![call("status"), call("cancel")],
        SessionState::Interrupted | SessionState::Cancelled => vec![call("resume")],
        SessionState::AwaitingDecision => vec![call("show")],
        SessionState::Completed | SessionState::Failed if judged => vec![call("show"), call("verify")],
        SessionState::Completed | SessionState::Failed => {
            let mut calls = Vec::new();
            let first = view.status.models.iter().find(|(_, entry)| entry.state == SlotState::Completed);
            if let Some((slot, _)) = first {
                calls.push(json!({"mode": "show", "path": reference, "slot": slot}));
            }
            if complete >= 2 {
                calls.push(call("judge"));
            }
            if complete < view.status.models.len() {
                calls.push(json!({"mode": "resume", "path": reference, "failed": true}));
            }
            calls
        }
    }
}

/// How far a session is, in a line for a person who waits.
pub(super) fn progress_line(view: &View) -> String {
    if is_work(view) {
        return super::work_card::progress_line(view);
    }
    match (&view.round, view.status.phase) {
        // A session that goes on with its answers may have votes on earlier ones.
        (Some((_, round)), Phase::Judge | Phase::Verdict) => at_work(round, "judges"),
        _ => at_work(&view.status, "slots"),
    }
}

/// How far the slots of a folder are.
pub(super) fn at_work(status: &Status, what: &str) -> String {
    let settled = status.models.values().filter(|slot| slot.state.is_terminal()).count();
    let bytes: u64 = status.models.values().filter_map(|slot| slot.live.as_ref()).map(|live| live.live_bytes).sum();
    let running = status.count(SlotState::Running);
    let live = if running == 0 { String::new() } else { format!(", {running} running ({bytes} bytes so far)") };
    format!("{settled} of {} {what} settled{live}", status.models.len())
}
