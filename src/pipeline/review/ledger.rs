//! The ledger of findings grows by a round. What it says of the round already is not said again.

use jiff::Timestamp;

use super::round::Surroundings;
use super::votes::ROUND;
use crate::engine::record;
use crate::error::Result;
use crate::fault::{self, Point};
use crate::findings::{
    Declined, EarlierDecline, EarlierDeclines, FindingId, FindingRecord, FindingStanding, FindingState, FindingVotes,
    Identified, Ledger, LedgerEntry, LedgerVote, Remark, Ruling, Seen, Severity, Standing, Witness,
};
use crate::session::{Event, InnerPanel, Session};

/// Opens the ledger of `session`, or begins it.
pub(in crate::pipeline) fn open(session: &Session) -> Result<Ledger> {
    Ok(Ledger::take_up(&session.layout().ledger(), session.id(), Timestamp::now())?)
}

/// Adds `entries`, and puts on the session's record how far the ledger is.
pub(in crate::pipeline) fn grow(
    session: &mut Session,
    ledger: &mut Ledger,
    entries: Vec<LedgerEntry>,
    around: &mut Surroundings<'_>,
) -> Result<()> {
    ledger.append(entries, Timestamp::now())?;
    fault::reach(Point::LedgerWritten);
    let (lines, Some(head)) = ledger.seal() else { return Ok(()) };
    let event = Event::LedgerWritten { lines, head };
    if !session.panel().records().iter().any(|record| record.event == event) {
        record(session.panel_mut(), event, &mut *around.observer)?;
        session.panel_mut().settle()?;
        fault::reach(Point::LedgerRecorded);
    }
    Ok(())
}

/// Puts what `panel` found into the ledger. Gives those back that are to be voted on: not those that a person has decided
/// to leave, in this session or before it. What is said to be worse than what was decided about is raised anew.
pub(super) fn raise(
    session: &mut Session,
    panel: InnerPanel,
    findings: Vec<Identified>,
    earlier: &EarlierDeclines,
    caused_by: Option<&str>,
    around: &mut Surroundings<'_>,
) -> Result<Vec<Identified>> {
    let mut ledger = open(session)?;
    let round = panel.number;
    let mut entries = Vec::new();
    let mut kept = Vec::new();
    for found in findings {
        let before = ledger.findings().get(found.id);
        let severity = found.merged.finding.severity;
        let is_declined = |record: &FindingRecord| record.state == FindingState::Declined;
        if before.is_some_and(|record| is_declined(record) && severity <= record.finding.severity) {
            continue;
        }
        // Where the process died between the two entries, the first one is there.
        let is_new = before.is_none_or(|record| record.state == FindingState::Raised && record.first_round == round);
        let declined = match earlier.of(&found.merged) {
            Some(Declined::As(decline)) if is_new => Some(decline),
            _ => None,
        };
        if before.is_none_or(|record| record.last_round != round || is_declined(record)) {
            entries.extend(before.and_then(|record| reopened(record, severity, round)));
            let by = Witness::Panel { folder: panel.folder(), slots: found.merged.raised_by.iter().copied().collect() };
            let content = found.merged.finding.clone();
            let caused_by = caused_by.filter(|_| found.seen == Seen::New).map(str::to_owned);
            entries.push(LedgerEntry::Raised { finding: found.id, round, by, content, caused_by });
        }
        match declined {
            Some(EarlierDecline { origin, note, .. }) => {
                let (note, before) = (note.clone(), Some(origin.clone()));
                entries.push(LedgerEntry::Declined { finding: found.id, round, note, before });
            }
            None => kept.push(found),
        }
    }
    grow(session, &mut ledger, entries, around)?;
    // What was kept is what is voted on, also where keys in the environment are others by now.
    for found in &mut kept {
        if let Some(record) = ledger.findings().get(found.id) {
            found.merged.finding = record.finding.clone();
        }
    }
    Ok(kept)
}

/// What is said first of a finding that is there again, now of this severity, where it was closed.
fn reopened(record: &FindingRecord, severity: Severity, round: u32) -> Option<LedgerEntry> {
    if record.state.is_open() {
        return None;
    }
    let why = match record.state {
        FindingState::Declined => {
            format!("declined as {}, and found in round {round} as {severity}", record.finding.severity)
        }
        _ => format!("found again in round {round}"),
    };
    Some(LedgerEntry::Reopened { finding: record.id, round, why: Remark::new(&why) })
}

/// Puts what the votes say of each finding into the ledger.
pub(super) fn settle_standings(
    session: &mut Session,
    panel: InnerPanel,
    standings: &[FindingStanding],
    votes: &FindingVotes,
    around: &mut Surroundings<'_>,
) -> Result<()> {
    let mut ledger = open(session)?;
    let round = panel.number;
    let folder = format!("{}/{}", panel.folder(), ROUND.folder());
    let is_ruled = |id: FindingId| {
        let record = ledger.findings().get(id);
        let ruling = record.and_then(|record| record.ruling.as_ref());
        // What is found again is reopened before it is voted on: what is mended now was settled by this round.
        ruling.is_some_and(|ruling| ruling.round == round)
            || record.is_some_and(|record| record.state == FindingState::Verified)
    };
    let entries = standings
        .iter()
        .filter(|standing| !is_ruled(standing.judged.id))
        .flat_map(|FindingStanding { judged, tally }| {
            let by = Witness::Votes { folder: folder.clone(), tally: *tally, votes: votes_on(votes, judged.id) };
            let finding = judged.id;
            let is_claimed =
                ledger.findings().get(finding).is_some_and(|record| record.state == FindingState::FixClaimed);
            let is_silent = tally.raised == 0 && tally.reject > tally.sustain;
            if is_claimed && (judged.standing == Standing::Rejected || is_silent && votes.judges.len() == 1) {
                // That it is not there is what the claim says.
                return vec![LedgerEntry::Verified { finding, round, by }];
            }
            let ruling = Ruling { finding, round, by, consensus: judged.consensus };
            let why = Remark::new(&format!("round {round} does not confirm that it is mended"));
            let reopened = is_claimed.then_some(LedgerEntry::Reopened { finding, round, why });
            reopened.into_iter().chain([LedgerEntry::ruled(ruling, judged.standing)]).collect()
        })
        .collect();
    grow(session, &mut ledger, entries, around)
}

fn votes_on(votes: &FindingVotes, finding: FindingId) -> Vec<LedgerVote> {
    let cast = votes.judges.iter().flat_map(|judge| judge.votes().map(|vote| (judge.id, vote)));
    let cast = cast.filter(|(_, vote)| vote.finding == finding);
    cast.map(|(judge, vote)| LedgerVote { judge, verdict: vote.verdict, confidence: vote.confidence }).collect()
}
