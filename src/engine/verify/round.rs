//! One round of votes: tied to the session both ways, prompts, replies, ballots, verdict.

use std::collections::BTreeMap;

use super::audit::{Audit, Entry};
use super::ballots::{self, Recount};
use super::difference::difference_of_older;
use super::document;
use super::headings::Headings;
use super::imports;
use super::opening::Opening;
use super::panel::{Accepted, Panel};
use super::record::FolderRecord;
use super::report::Mismatch;
use super::turns::TurnFolder;
use crate::engine::publish::{BallotSource, Told};
use crate::error::Result;
use crate::ids::{Sha256Hash, SlotId};
use crate::judging::{Votes, VotesError};
use crate::session::{Event, Round, Status, Turn};
use crate::verdict;

/// The hashes of a published verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RoundVerdict {
    pub(super) json: Sha256Hash,
    pub(super) md: Sha256Hash,
}

/// A round that was checked.
pub(super) struct RoundFolder {
    pub(super) round: Round,
    /// Its record, when there is one.
    pub(super) panel: Option<Panel>,
    /// The further turns of its judges.
    pub(super) turns: Vec<TurnFolder>,
    /// What its record says of its verdict.
    pub(super) verdict: Option<RoundVerdict>,
}

/// The event that published a round's verdict.
struct Published {
    /// Its number in the record, from 0.
    index: usize,
    votes: Option<Sha256Hash>,
    verdict: RoundVerdict,
    rendering: Option<u32>,
}

impl RoundFolder {
    /// Checks the round that the `opened`-th event of the session opened.
    pub(super) fn check(
        audit: &mut Audit,
        session: &Panel,
        id: &str,
        round: Round,
        opened: usize,
        owned: bool,
    ) -> Result<Self> {
        let mut checked = Self { round, panel: None, turns: Vec::new(), verdict: None };
        let (folder, of) = (round.folder(), Some(round));
        let opening = Opening { parent: session, index: opened, folder, round: of, turn: None, inner: None };
        let Some(mut panel) = opening.read(audit, id, owned)? else { return Ok(checked) };
        audit.checked.rounds += 1;
        panel.check_beginning(audit, &Accepted::of(&session.record))?;
        let published = published(&panel.record);
        checked.verdict = published.as_ref().map(|published| published.verdict);
        if published.is_none() {
            // Written right before they are recorded.
            ["verdict.json", "verdict.md"].iter().for_each(|name| panel.unrecorded(audit, name));
        }
        let headings = check_prompts(audit, &panel);
        let imports = imports::check(audit, &panel);
        checked.turns = TurnFolder::check_all(audit, &panel, id, Some(round), owned)?;
        let slots = session.record.fold(audit, id, opened + 1);
        let recount = Recount {
            session,
            panel: &panel,
            slots: slots.as_ref(),
            headings: &headings,
            turns: &checked.turns,
            imports: &imports,
            round,
        };
        let votes = check_votes(audit, &recount, published.as_ref())?;
        panel.check_errors(audit);
        panel.check_tokens(audit);
        if let (Some(published), Some(slots)) = (&published, &slots) {
            let second_pass = TurnFolder::find(&checked.turns, Turn::SecondPass).and_then(|t| t.panel.status.as_ref());
            let folders =
                Folders { session, panel: &panel, slots, second_pass, turns: &checked.turns, id, round, opened };
            check_verdict(audit, &folders, published, votes.as_ref());
        }
        panel.check_status(audit)?;
        checked.panel = Some(panel);
        Ok(checked)
    }
}

impl RoundFolder {
    /// The round's own, and those of its turns.
    pub(super) fn panels(&self) -> Vec<&Panel> {
        self.panel.iter().chain(self.turns.iter().flat_map(TurnFolder::panels)).collect()
    }
}

fn published(record: &FolderRecord) -> Option<Published> {
    record.records.iter().enumerate().find_map(|(index, record)| match &record.event {
        Event::Verdict { votes, verdict_json, verdict_md, rendering, .. } => Some(Published {
            index,
            votes: *votes,
            verdict: RoundVerdict { json: *verdict_json, md: *verdict_md },
            rendering: *rendering,
        }),
        _ => None,
    })
}

/// Checks each judge's prompt; gives what stands in its headings.
pub(super) fn check_prompts(audit: &mut Audit, panel: &Panel) -> BTreeMap<SlotId, Vec<String>> {
    let written: BTreeMap<SlotId, Sha256Hash> = panel
        .record
        .records
        .iter()
        .filter_map(|record| match &record.event {
            Event::PromptWritten { judge, sha256 } => Some((*judge, *sha256)),
            _ => None,
        })
        .collect();
    let mut found = BTreeMap::new();
    for judge in panel.slots() {
        let name = format!("prompt-{judge}.md");
        let Some(expected) = written.get(&judge) else {
            panel.unrecorded(audit, &name);
            continue;
        };
        let file = panel.file(&name);
        let mut headings = Headings::default();
        let hash = audit.hash_with(&file, |piece| headings.push(piece));
        if audit.same(&file, *expected, hash, &format!("`{}`", panel.record.file)) {
            found.insert(judge, headings.finish());
        }
    }
    found
}

/// Checks `votes.json` and every reply that its ballots were read from; gives the votes when they are the ones recorded.
fn check_votes(audit: &mut Audit, recount: &Recount<'_>, published: Option<&Published>) -> Result<Option<Votes>> {
    let panel = recount.panel;
    let file = panel.file("votes.json");
    let recorded = published.and_then(|published| published.votes);
    let bytes = match recorded {
        Some(hash) => audit.read_expected(&file, hash, &format!("`{}`", panel.record.file)),
        // A round that was stopped publishes nothing; its ballots are what the replies say all the same.
        None if audit.entry(&file).is_ok_and(|entry| entry == Entry::File) => audit.read(&file),
        None => None,
    };
    let votes = match bytes.as_deref().map(Votes::from_json) {
        Some(Ok(votes)) => Some(votes),
        Some(Err(error @ VotesError::Newer { .. })) => return Err(error.into()),
        Some(Err(error)) => {
            let why = std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
            audit.mismatch(Mismatch::new(&file, format!("cannot be read: {why}")));
            None
        }
        None => None,
    };
    let raw = bytes.as_deref().and_then(|bytes| serde_json::from_slice(bytes).ok());
    let read = votes.as_ref().zip(raw.as_ref());
    ballots::check(audit, recount, read, published.is_some());
    Ok(votes)
}

/// What the text of a verdict is told from.
struct Folders<'a> {
    session: &'a Panel,
    panel: &'a Panel,
    slots: &'a Status,
    second_pass: Option<&'a Status>,
    turns: &'a [TurnFolder],
    id: &'a str,
    round: Round,
    opened: usize,
}

/// Counts the votes again, and writes the document again.
fn check_verdict(audit: &mut Audit, folders: &Folders<'_>, published: &Published, votes: Option<&Votes>) {
    let panel = folders.panel;
    let by = format!("`{}`", panel.record.file);
    let (json_file, md_file) = (panel.file("verdict.json"), panel.file("verdict.md"));
    let json = audit.read_expected(&json_file, published.verdict.json, &by);
    let result = votes.map(verdict::tally);
    if let (Some(json), Some(result)) = (json, &result) {
        audit.checked.verdicts += 1;
        check_count(audit, panel, &json_file, &json, result);
    }
    let Some(md) = audit.read_expected(&md_file, published.verdict.md, &by) else { return };
    let md = String::from_utf8_lossy(&md);
    let head = panel.record.records[published.index].prev;
    if let Some(head) = head
        && !md.contains(&head.to_string())
    {
        audit.mismatch(Mismatch::new(&md_file, "does not print the head before it").between(head, "another or none"));
        return;
    }
    if published.rendering != Some(verdict::RENDERING) {
        let file = &md_file;
        audit.note(format!("`{file}` is in the wording of another version: its hash is checked, its text is not"));
        return;
    }
    let (Some(result), Some(models), Some(judges)) = (&result, &folders.session.manifest, &panel.manifest) else {
        return;
    };
    let Some(judged) = panel.record.fold(audit, folders.id, published.index) else { return };
    let told = Told {
        session: folders.id,
        round: folders.round,
        panel: models,
        slots: folders.slots,
        slot_records: &folders.session.record.records[..=folders.opened],
        judges,
        judged: &judged,
        judge_records: &panel.record.records[..published.index],
        second_pass: folders.second_pass,
        turns: folders.turns.iter().flat_map(TurnFolder::panels).map(|turn| turn.record.records.clone()).collect(),
        source: votes.map_or(BallotSource::Asked, BallotSource::of),
        head,
    };
    let expected = verdict::render(result, &told.names(), &told.context(Vec::new()));
    if let Some(found) = document::difference(&expected, &md) {
        let told = Mismatch::new(&md_file, "does not say what the votes and the record come to").line(found.line);
        audit.mismatch(told.between(found.expected, found.found));
    }
}

fn check_count(audit: &mut Audit, panel: &Panel, file: &str, json: &[u8], result: &verdict::Verdict) {
    let Ok(again) = verdict::to_json(result) else { return };
    if again == json {
        return;
    }
    let values = (serde_json::from_slice(&again), serde_json::from_slice(json));
    let votes = panel.file("votes.json");
    match values {
        (Ok(again), Ok(found)) => match difference_of_older(&again, &found) {
            Some(found) => {
                let told = Mismatch::new(file, format!("does not follow from `{votes}`, at `{}`", found.place));
                audit.mismatch(told.between(found.expected, found.found));
            }
            None => audit.note(format!("`{file}` holds less than this program computes; what it holds is right")),
        },
        (_, Err(error)) => audit.mismatch(Mismatch::new(file, format!("cannot be read: {error}"))),
        (Err(_), _) => {}
    }
}
