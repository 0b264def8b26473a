//! The verdict of a review: written, recorded, and read again.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use jiff::Timestamp;

use super::request::ReviewWork;
use super::round::{RoundEnd, Surroundings, Vote};
use super::seats::SeatEnd;
use super::told::{Told, report, trailer};
use super::votes::{ROUND, write_once};
use crate::engine::{
    Decision, VerdictFiles, give_verdict, isolation_told, panel_notes, record, record_notes, remarks, show_last, total,
};
use crate::error::{Error, ErrorKind, Result};
use crate::fault::{self, Point};
use crate::findings::{
    FindingId, FindingVotes, JudgeOnFindings, LedgerRead, ReviewResult, ReviewVerdict, decide_review,
};
use crate::fs;
use crate::ids::{FormatVersion, Sha256Hash, SlotId};
use crate::pipeline::declines;
use crate::pipeline::roles;
use crate::pipeline::{Consolidated, FindingJudge, ReviewOutcome, Reviewer, consolidated};
use crate::session::slot::Reason;
use crate::session::{
    Event, Layout, Manifest, PanelFolder, Phase, Record, Session, SessionError, SessionKind, SessionState, Turn,
};

/// The number of the wording of `verdict.md`.
const RENDERING: u32 = 2;

/// A verdict on disk.
pub(in crate::pipeline) struct Published {
    pub(in crate::pipeline) decision: Decision,
    pub(in crate::pipeline) text: String,
}

/// The verdict that is on record. `None` where there is none.
pub(in crate::pipeline) fn published(session: &Session) -> Result<Option<Published>> {
    let Some((verdict_json, verdict_md)) = on_record(session.panel().records()) else { return Ok(None) };
    let json = checked(&session.layout().verdict_json(), verdict_json)?;
    let text = checked(&session.layout().verdict_md(), verdict_md)?;
    let result: ReviewResult = serde_json::from_slice(&json).map_err(|error| {
        let path = session.layout().verdict_json();
        Error::new(ErrorKind::Integrity, format!("`{}` cannot be read: {error}", path.display()))
    })?;
    let text = String::from_utf8_lossy(&text).into_owned();
    Ok(Some(Published { decision: Decision::Reviewed(Box::new(result.verdict)), text }))
}

fn on_record(records: &[Record]) -> Option<(Sha256Hash, Sha256Hash)> {
    records.iter().rev().find_map(|record| match record.event {
        Event::Verdict { verdict_json, verdict_md, .. } => Some((verdict_json, verdict_md)),
        _ => None,
    })
}

fn checked(path: &Path, recorded: Sha256Hash) -> Result<Vec<u8>> {
    let bytes = crate::fs::read_plain(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => SessionError::Missing(path.to_owned()),
        _ => SessionError::Io(error),
    })?;
    if Sha256Hash::of(&bytes) == recorded {
        Ok(bytes)
    } else {
        Err(SessionError::NotAsRecorded(path.to_owned()).into())
    }
}

/// What a round came to, as it is written down in its panel.
pub(in crate::pipeline) struct Account {
    verdict: ReviewVerdict,
    reviewers: Vec<Reviewer>,
    first: Vec<String>,
    told: String,
    isolation: String,
}

/// Writes `consolidated.md` of the round's panel, unless it is on record.
pub(in crate::pipeline) fn consolidate(
    session: &Session,
    work: &ReviewWork,
    round: &mut RoundEnd,
    around: &mut Surroundings<'_>,
) -> Result<Account> {
    let panel = round.folder.inner().ok_or_else(|| Error::internal("a review in no panel"))?;
    let place = panel.folder();
    let findings = LedgerRead::read(&session.layout().ledger())?.findings;
    let usable = round.seats.values().filter(|seat| seat.read().is_some()).count();
    let verdict = decide_review(findings.judged(), work.fail_on, work.seats(round.seats.len(), usable));
    let mut reviewers = reviewers(&round.seats, round.folder.manifest());
    let judged = round.folder.enter_round(ROUND)?;
    let mut judges = judges(&round.votes, judged.as_ref().map(PanelFolder::manifest));
    // A fix goes on after this: who is who is told when it has ended.
    if around.kind == SessionKind::Fix {
        reviewers.iter_mut().for_each(|reviewer| reviewer.model = None);
        judges.iter_mut().for_each(|judge| judge.model = None);
    }
    // Whether a gate's panel saw all of the change weighs more than what it made of it.
    let (mut first, given) = match around.kind {
        SessionKind::Gate => (work.notes.clone(), Vec::new()),
        _ => (Vec::new(), work.notes.clone()),
    };
    first.extend(remarks(session.panel().records()));
    let mut notes = notes(given, round, judged.as_ref());
    notes.extend(declines::told(&findings, &work.declined));
    let told = consolidated(&Consolidated {
        verdict: &verdict,
        findings: &findings,
        folder: &place,
        reviewers: &reviewers,
        judges: &judges,
        files: &work.files,
        first: &first,
        notes: &notes,
    });
    // What models wrote is quoted; a secret that they saw must not be.
    let told = around.services.redactor().text(&told);
    let isolation =
        isolation_told(round.folder.records(), judged.as_ref().map_or(&[], |judged| judged.records())).to_owned();
    write_once(&mut round.folder, Layout::CONSOLIDATED, told.as_bytes(), Point::ConsolidatedWritten, around)?;
    fault::reach(Point::ConsolidatedRecorded);
    Ok(Account { verdict, reviewers, first, told, isolation })
}

/// Writes down what the round came to, closes its panel, and publishes the verdict. What of that is on record already is
/// not done again.
pub(super) fn publish(
    session: &mut Session,
    work: &ReviewWork,
    mut round: RoundEnd,
    around: &mut Surroundings<'_>,
) -> Result<Published> {
    let panel = round.folder.inner().ok_or_else(|| Error::internal("a review in no panel"))?;
    let place = panel.folder();
    let Account { verdict, reviewers, first, told, isolation } = consolidate(session, work, &mut round, around)?;
    let redactor = around.services.redactor();
    let status = round.folder.status().clone();
    let last = session.panel_mut().close_inner(panel, round.folder, SessionState::Completed, Timestamp::now())?;
    around.observer.event(&last, &status);
    around.observer.enter(".");
    show_last(session.panel(), &mut *around.observer);

    record(session.panel_mut(), Event::PhaseStarted { phase: Phase::Report }, &mut *around.observer)?;
    session.panel_mut().settle()?;
    let money = total(session);
    let head = session.panel().head();
    let conversations = roles::told(session)?;
    let facts = Told {
        session: session.id(),
        head,
        first: &first,
        isolation: &isolation,
        money: &money,
        conversations: &conversations,
    };
    let account = report(work, &verdict, &reviewers, &round.seats, &place, &facts);
    let account = redactor.text(&account);
    let text = told + &trailer(&facts);
    let result = ReviewResult { version: FormatVersion::CURRENT, panel: place, verdict };
    put_out(session, &result, &account, &text, around)?;
    [Phase::Review, Phase::Vote, Phase::Report].into_iter().for_each(|phase| session.finish_phase(phase));
    Ok(Published { decision: Decision::Reviewed(Box::new(result.verdict)), text })
}

/// Writes the report and the verdict of a session of the pipeline, and puts them on record.
pub(in crate::pipeline) fn put_out(
    session: &mut Session,
    result: &ReviewResult,
    report: &str,
    text: &str,
    around: &mut Surroundings<'_>,
) -> Result<()> {
    let mut json = serde_json::to_vec_pretty(result).map_err(|error| Error::internal(error.to_string()))?;
    json.push(b'\n');
    fs::replace(&session.layout().report(), report.as_bytes())?;
    let written = Event::FileWritten { file: Layout::REPORT.to_owned(), sha256: Sha256Hash::of(report.as_bytes()) };
    record(session.panel_mut(), written, &mut *around.observer)?;
    let files = VerdictFiles { json: &json, text, rendering: RENDERING, usage: BTreeMap::new() };
    give_verdict(session, files, &mut *around.observer)
}

fn reviewers(seats: &BTreeMap<SlotId, SeatEnd>, manifest: &Manifest) -> Vec<Reviewer> {
    let outcome = |seat: &SeatEnd| match seat {
        SeatEnd::Read { read, by } => {
            let mut notes: Vec<String> = Vec::new();
            notes.extend(by.map(|turn| how_read(turn).to_owned()));
            notes.extend(read.notes.iter().map(|note| {
                let which = note.finding.map(|number| format!("finding {number}: ")).unwrap_or_default();
                let text = note.text.as_ref().map(|text| format!(" ({text})")).unwrap_or_default();
                format!("{which}{}{text}", note.kind.describe())
            }));
            ReviewOutcome::Found { count: read.findings.len(), notes }
        }
        SeatEnd::Unreadable { why } => ReviewOutcome::Failed(format!("{}: {why}", Reason::BadOutput.as_str())),
        SeatEnd::Failed { state, reason, detail } => {
            let reason = reason.map_or_else(|| state.as_str().to_owned(), |reason| reason.as_str().to_owned());
            ReviewOutcome::Failed(if detail.is_empty() { reason } else { format!("{reason}: {detail}") })
        }
    };
    let name = |slot: &SlotId| manifest.member(*slot).map(|member| member.model.clone());
    seats.iter().map(|(slot, seat)| Reviewer { id: *slot, model: name(slot), outcome: outcome(seat) }).collect()
}

/// How a reviewer's findings came to be readable.
const fn how_read(turn: Turn) -> &'static str {
    match turn {
        Turn::Fresh => "its first reply and the one that was to mend it could not be read; it was asked anew",
        Turn::Repair | Turn::SecondPass => "its first reply could not be read; it was asked once more",
    }
}

fn judges(votes: &FindingVotes, manifest: Option<&Manifest>) -> Vec<FindingJudge> {
    let name = |slot: SlotId| manifest.and_then(|manifest| manifest.member(slot)).map(|member| member.model.clone());
    let judge = |judge: &JudgeOnFindings| FindingJudge { id: judge.id, model: name(judge.id), ballot: judge.said() };
    votes.judges.iter().map(judge).collect()
}

/// What came of asking a judge once more.
fn repair_note(judge: &JudgeOnFindings) -> Option<String> {
    let repair = judge.repair.as_ref()?;
    // By id: the order of its prompt is drawn.
    let asked: BTreeSet<FindingId> = repair.asked.iter().copied().collect();
    let asked: Vec<String> = asked.iter().map(ToString::to_string).collect();
    let came = judge.votes().filter(|vote| repair.asked.contains(&vote.finding)).count();
    let asked_for = asked.join(", ");
    Some(format!("judge {} was asked once more for its votes on {asked_for}: {came} of {} came", judge.id, asked.len()))
}

/// What a reader should know besides; `notes` came with the request.
fn notes(mut notes: Vec<String>, round: &RoundEnd, judged: Option<&PanelFolder>) -> Vec<String> {
    match round.vote {
        Vote::Held => {}
        Vote::NothingFound => notes.push("no vote was held, for nothing was found".to_owned()),
        Vote::OutOfTime => notes.push(
            "the time was over before the vote: what was found by more than half of the panel stands, all else needs a \
             person"
                .to_owned(),
        ),
    }
    notes.extend(round.touched.clone());
    notes.extend(round.votes.judges.iter().filter_map(repair_note));
    let asked = judged.map(|judged| (judged.manifest(), judged.status()));
    notes.extend(panel_notes(round.folder.status(), round.folder.manifest(), asked));
    notes.extend(record_notes(round.folder.records(), judged.map_or(&[], |judged| judged.records())));
    notes
}
