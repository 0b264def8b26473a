//! The panels inside of a pipeline session: replies read again, findings merged and votes counted again, the ledger, and
//! what was written down of all that.

use std::collections::{BTreeMap, BTreeSet};

use super::audit::{Audit, Entry};
use super::opening::Opening;
use super::panel::{Accepted, End, Panel};
use super::report::Mismatch;
use super::round::check_prompts;
use super::turns::TurnFolder;
use crate::engine::round::Chance;
use crate::error::Result;
use crate::findings::{
    Finding, FindingAssignment, FindingBallot, FindingRepair, FindingStandings, FindingVotes, Findings, Known,
    LedgerRead, ReviewResult, Severity, decide_review, merge, read_finding_votes, read_findings_below,
};
use crate::ids::{Sha256Hash, SlotId};
use crate::session::slot::SlotState;
use crate::session::{Event, FixStep, InnerKind, InnerPanel, Layout, Round, SessionKind, Turn};

/// The rule of a panel's record that says where its programs saw the repository.
pub(crate) const SNAPSHOT_RULE: &str = "snapshot";

/// A panel of a pipeline that was checked.
pub(super) struct InnerFolder {
    which: InnerPanel,
    panel: Panel,
    replies: BTreeMap<SlotId, Vec<u8>>,
    turns: Vec<TurnFolder>,
    round: Option<RoundFolder>,
}

/// The vote on what a panel found, with the further turns of its judges.
struct RoundFolder {
    panel: Panel,
    turns: Vec<TurnFolder>,
}

impl InnerFolder {
    /// Its own panel, those of its turns, and those of its vote.
    pub(super) fn panels(&self) -> Vec<&Panel> {
        let turns = self.turns.iter().flat_map(TurnFolder::panels);
        let round = self
            .round
            .iter()
            .flat_map(|round| std::iter::once(&round.panel).chain(round.turns.iter().flat_map(TurnFolder::panels)));
        std::iter::once(&self.panel).chain(turns).chain(round).collect()
    }
}

/// Checks every panel that the session's record opened, its ledger and its verdict.
pub(super) fn check(audit: &mut Audit, session: &Panel, id: &str, owned: bool) -> Result<Vec<InnerFolder>> {
    let mut found = Vec::new();
    let mut opened = BTreeSet::new();
    check_written(audit, session);
    let ledger = check_ledger(audit, session, id);
    for (index, record) in session.record.records.iter().enumerate() {
        let Event::PanelOpened { panel } = record.event else { continue };
        if !opened.insert(panel) {
            continue;
        }
        let opening =
            Opening { parent: session, index, folder: panel.folder(), round: None, turn: None, inner: Some(panel) };
        let Some(inner) = opening.read(audit, id, owned)? else { continue };
        found.push(check_panel(audit, session, inner, panel, (id, ledger.as_ref()), owned)?);
    }
    check_verdict(audit, session, &found, ledger.as_ref());
    Ok(found)
}

fn check_panel(
    audit: &mut Audit,
    session: &Panel,
    mut panel: Panel,
    which: InnerPanel,
    (id, ledger): (&str, Option<&Findings>),
    owned: bool,
) -> Result<InnerFolder> {
    panel.check_beginning(audit, &Accepted::of(&session.record))?;
    let replies = panel.read_answers(audit);
    audit.checked.answers += replies.len() as u64;
    panel.check_errors(audit);
    let turns = TurnFolder::check_all(audit, &panel, id, None, owned)?;
    check_written(audit, &panel);
    let found = read_again(&panel, &replies, &turns);
    check_reading(audit, &panel, &replies);
    let mut round = None;
    for (index, record) in panel.record.records.iter().enumerate() {
        let Event::RoundOpened { round: number } = record.event else { continue };
        let folder = panel.file(&number.folder());
        let opening = Opening { parent: &panel, index, folder, round: Some(number), turn: None, inner: Some(which) };
        if let Some(votes) = opening.read(audit, id, owned)? {
            let judges = Judging { panel: &panel, which, found: &found, ledger, round: number };
            round = Some(judges.check(audit, session, votes, id, owned)?);
        }
    }
    panel.check_status(audit)?;
    Ok(InnerFolder { which, panel, replies, turns, round })
}

/// What each reviewer found, by its last reply that can be read.
fn read_again(
    panel: &Panel,
    replies: &BTreeMap<SlotId, Vec<u8>>,
    turns: &[TurnFolder],
) -> BTreeMap<SlotId, Vec<Finding>> {
    let root = snapshot_root(panel);
    let mut found = BTreeMap::new();
    for (slot, first) in replies {
        let further =
            [Turn::Repair, Turn::Fresh].into_iter().filter_map(|turn| TurnFolder::find(turns, turn)?.reply(*slot));
        let read = std::iter::once(first.as_slice()).chain(further).find_map(|reply| findings_in(reply, root));
        found.extend(read.map(|read| (*slot, read)));
    }
    found
}

/// Where programs saw the repository when they were asked.
fn snapshot_root(panel: &Panel) -> Option<&str> {
    match panel.record.created() {
        Some(Event::Created { rules, .. }) => rules.get(SNAPSHOT_RULE).map(String::as_str),
        _ => None,
    }
}

fn findings_in(reply: &[u8], root: Option<&str>) -> Option<Vec<Finding>> {
    let roots: Vec<&str> = root.into_iter().collect();
    read_findings_below(&String::from_utf8_lossy(reply), &roots).ok().map(|read| read.findings)
}

/// Checks how many findings the record says that each reply holds.
fn check_reading(audit: &mut Audit, panel: &Panel, replies: &BTreeMap<SlotId, Vec<u8>>) {
    for (index, record) in panel.record.records.iter().enumerate() {
        let Event::FindingsRead { slot, response, findings } = &record.event else { continue };
        let Some(reply) = replies.get(slot).filter(|reply| Sha256Hash::of(reply) == *response) else { continue };
        let again =
            findings_in(reply, snapshot_root(panel)).map(|found| u32::try_from(found.len()).unwrap_or(u32::MAX));
        if again != *findings {
            let what = format!("says something else of the reply of slot {slot} than is in it");
            let told = Mismatch::new(&panel.record.file, what).line(index + 1);
            let count = |count: Option<u32>| count.map_or_else(|| "unreadable".to_owned(), |count| count.to_string());
            audit.mismatch(told.between(count(again), count(*findings)));
        }
    }
}

/// Checks each file that the record says was written; of one that was written again the newest.
fn check_written(audit: &mut Audit, panel: &Panel) {
    let mut newest: BTreeMap<&str, Sha256Hash> = BTreeMap::new();
    for record in &panel.record.records {
        if let Event::FileWritten { file, sha256 } = &record.event {
            newest.insert(file, *sha256);
        }
    }
    let by = format!("`{}`", panel.record.file);
    for (file, hash) in &newest {
        audit.expect(&panel.file(file), *hash, &by);
    }
    // That of a session has an event of its own.
    let has_verdict = panel.record.records.iter().any(|record| matches!(record.event, Event::Verdict { .. }));
    let verdict = ["verdict.json", "verdict.md"].into_iter().filter(|_| !has_verdict);
    for file in
        [Layout::CONSOLIDATED, Layout::REPORT, Layout::PATCH, Layout::DESIGN, "votes.json"].into_iter().chain(verdict)
    {
        if !newest.contains_key(file) {
            panel.unrecorded(audit, file);
        }
    }
}

/// Checks the ledger against its own chain and against how far the record says that it is.
fn check_ledger(audit: &mut Audit, session: &Panel, id: &str) -> Option<Findings> {
    let recorded = session.record.records.iter().rev().find_map(|record| match &record.event {
        Event::LedgerWritten { lines, head } => Some((*lines, *head)),
        _ => None,
    });
    let file = Layout::LEDGER;
    let Some((lines, head)) = recorded else {
        session.unrecorded(audit, file);
        return None;
    };
    let bytes = audit.read(file)?;
    let read = match LedgerRead::parse(&audit.path(file), &bytes) {
        Ok(read) => read,
        Err(error) => {
            audit.mismatch(Mismatch::new(file, error.to_string()));
            return None;
        }
    };
    for found in &read.breaks {
        audit.mismatch(Mismatch::new(file, found.why.clone()).line(found.line));
    }
    if read.session.as_deref() != Some(id) {
        audit.mismatch(Mismatch::new(file, "is the ledger of another session"));
    }
    if read.lines < lines || session.end == End::Published && read.lines > lines {
        let told = Mismatch::new(file, format!("has not the length that `{}` recorded", session.record.file));
        audit.mismatch(told.between(format!("{lines} lines"), format!("{} lines", read.lines)));
    } else if read.lines == lines && read.head != Some(head) {
        let told = Mismatch::new(file, format!("does not end with the line that `{}` recorded", session.record.file));
        audit.mismatch(told.between(head, read.head.map(|head| head.to_string()).unwrap_or_default()));
    } else if read.lines > lines {
        audit.note(format!("`{file}` has entries that are not recorded yet"));
    }
    Some(read.findings)
}

/// The vote on what a panel found.
struct Judging<'a> {
    panel: &'a Panel,
    which: InnerPanel,
    found: &'a BTreeMap<SlotId, Vec<Finding>>,
    ledger: Option<&'a Findings>,
    round: Round,
}

impl Judging<'_> {
    fn check(
        &self,
        audit: &mut Audit,
        session: &Panel,
        mut votes: Panel,
        id: &str,
        owned: bool,
    ) -> Result<RoundFolder> {
        audit.checked.rounds += 1;
        votes.check_beginning(audit, &Accepted::of(&session.record))?;
        check_prompts(audit, &votes);
        let replies = votes.read_answers(audit);
        votes.check_errors(audit);
        let turns = TurnFolder::check_all(audit, &votes, id, Some(self.round), owned)?;
        check_written(audit, &votes);
        self.check_ballots(audit, &votes, &replies, &turns);
        votes.check_status(audit)?;
        Ok(RoundFolder { panel: votes, turns })
    }

    fn check_ballots(
        &self,
        audit: &mut Audit,
        votes: &Panel,
        replies: &BTreeMap<SlotId, Vec<u8>>,
        turns: &[TurnFolder],
    ) {
        let file = votes.file("votes.json");
        let Some(counted) = read_json::<FindingVotes>(audit, &file) else { return };
        if self.which.number == 1 {
            let merged = merge(&self.found.iter().map(|(slot, found)| (*slot, found.clone())).collect::<Vec<_>>());
            let mut found = Known::new().identify(merged);
            // What was declined in an earlier session is not voted on.
            let is_left = |id| {
                let record = self.ledger.and_then(|ledger| ledger.get(id));
                record.is_some_and(|record| record.first_round == 1 && record.declined_before.is_some())
            };
            found.retain(|found| !is_left(found.id));
            let again = FindingVotes::raised_of(&found);
            if again != counted.raised {
                let panel = &self.panel.record.file;
                let what = format!("does not hold the findings that the replies on record in `{panel}` come to");
                audit.mismatch(Mismatch::new(&file, what));
            }
        }
        let Some(manifest) = &votes.manifest else { return };
        let chance = Chance::of(manifest);
        for judge in &counted.judges {
            let shown: BTreeSet<_> = judge.shown.iter().copied().collect();
            let shown: Vec<_> = shown.into_iter().collect();
            let assignment =
                FindingAssignment::draw(judge.id, &shown, &mut chance.rng(&format!("findings of {}", judge.id)));
            let first = replies.get(&judge.id);
            let again = match first {
                Some(reply) => {
                    audit.checked.ballots += 1;
                    read_finding_votes(&String::from_utf8_lossy(reply), &assignment)
                }
                None => FindingBallot::of_failed(&assignment),
            };
            let lacking = first.and_then(|_| assignment.lacking(&again));
            let repair = TurnFolder::find(turns, Turn::Repair).zip(lacking).and_then(|(turn, lacking)| {
                let state = turn.state(judge.id)?;
                let reply = turn.reply(judge.id).filter(|_| state == SlotState::Completed);
                audit.checked.ballots += u64::from(reply.is_some());
                let reply = reply.map(|reply| {
                    (Sha256Hash::of(reply), read_finding_votes(&String::from_utf8_lossy(reply), &lacking))
                });
                Some(FindingRepair::new(state, &lacking, reply))
            });
            if again != judge.ballot || repair != judge.repair {
                let what = format!("does not hold the votes that judge {} gave", judge.id);
                audit.mismatch(Mismatch::new(&file, what));
            }
        }
        let file = votes.file("verdict.json");
        let Some(standings) = read_json::<FindingStandings>(audit, &file) else { return };
        let severities: BTreeMap<_, Severity> =
            standings.findings.iter().map(|standing| (standing.judged.id, standing.judged.severity)).collect();
        audit.checked.verdicts += 1;
        if counted.standings(&severities) != standings.findings {
            let what = format!("does not follow from `{}/votes.json`", self.round.folder());
            audit.mismatch(Mismatch::new(&file, what));
        }
    }
}

/// Checks that the verdict of a review is what its findings, its seats and its bar come to.
fn check_verdict(audit: &mut Audit, session: &Panel, inner: &[InnerFolder], ledger: Option<&Findings>) {
    let recorded = session.record.records.iter().rev().find_map(|record| match record.event {
        Event::Verdict { verdict_json, verdict_md, .. } => Some((verdict_json, verdict_md)),
        _ => None,
    });
    let by = format!("`{}`", session.record.file);
    let Some((json, md)) = recorded else {
        ["verdict.json", "verdict.md"].iter().for_each(|file| session.unrecorded(audit, file));
        return;
    };
    audit.expect("verdict.md", md, &by);
    audit.expect("verdict.json", json, &by);
    let Some(result) = read_json::<ReviewResult>(audit, "verdict.json") else { return };
    let Some(ledger) = ledger else { return };
    let rests_on = rests_on(session, inner);
    let folder = rests_on.map_or_else(String::new, |reviewed| reviewed.which.folder());
    if folder != result.panel {
        let told =
            Mismatch::new("verdict.json", "names another panel than the one that its findings were last voted in");
        audit.mismatch(told.between(folder, result.panel));
        return;
    }
    audit.checked.verdicts += 1;
    let (panel, usable) = match rests_on {
        Some(reviewed) => {
            let usable = read_again(&reviewed.panel, &reviewed.replies, &reviewed.turns).len();
            (reviewed.panel.slots().len(), usable)
        }
        // Stopped before the first review was over.
        None => (session.manifest.as_ref().and_then(|all| all.cast.as_ref()).map_or(0, |cast| cast.panel.len()), 0),
    };
    let mut seats = result.verdict.seats;
    seats.panel = u32::try_from(panel).unwrap_or(u32::MAX);
    seats.usable = u32::try_from(usable).unwrap_or(u32::MAX);
    let again = decide_review(ledger.judged(), result.verdict.fail_on, seats);
    if again != result.verdict {
        let told = Mismatch::new("verdict.json", "is not what the findings and the seats come to");
        audit.mismatch(told.between(again.sentence, result.verdict.sentence));
    }
}

/// The panel that a verdict rests on: of a review its newest one; of a fix the newest whose review is on record, for one
/// that was stopped says nothing, and the fixer's is none. `None` where there was none.
fn rests_on<'a>(session: &Panel, inner: &'a [InnerFolder]) -> Option<&'a InnerFolder> {
    let is_fix = matches!(session.record.created(), Some(Event::Created { kind: SessionKind::Fix, .. }));
    if !is_fix {
        return inner.last();
    }
    let is_held = |panel: InnerPanel| {
        let held = |event: &Event| matches!(event, Event::Fix { step } if matches!(**step, FixStep::Reviewed { review, .. } if review == panel.number));
        panel.kind != InnerKind::Fix && session.record.position(held).is_some()
    };
    inner.iter().rfind(|folder| is_held(folder.which))
}

fn read_json<T: serde::de::DeserializeOwned>(audit: &mut Audit, file: &str) -> Option<T> {
    if !audit.entry(file).is_ok_and(|entry| entry == Entry::File) {
        return None;
    }
    let bytes = audit.read(file)?;
    match serde_json::from_slice(&bytes) {
        Ok(value) => Some(value),
        Err(error) => {
            audit.mismatch(Mismatch::new(file, format!("cannot be read: {error}")));
            None
        }
    }
}
