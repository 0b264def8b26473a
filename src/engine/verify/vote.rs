//! A vote on a task: every reply read for its vote again, the votes counted again, the verdict written again.

use std::collections::BTreeMap;

use super::audit::Audit;
use super::difference::difference_of_older;
use super::document;
use super::panel::{End, Panel};
use super::report::Mismatch;
use super::turns::TurnFolder;
use crate::engine::vote::{Told, VotePlan, member_of, repair_of, task_on_record};
use crate::ids::{Sha256Hash, SlotId};
use crate::judging::parse_task;
use crate::session::slot::SlotState;
use crate::session::{Event, Phase, Turn};
use crate::verdict::{TASK_RENDERING, TaskMember, TaskVerdict, count_task, render_task, to_json};

const JSON: &str = "verdict.json";
const TEXT: &str = "verdict.md";

/// The session whose panel voted.
pub(super) struct Voted<'a> {
    pub(super) panel: &'a Panel,
    pub(super) plan: &'a VotePlan,
    /// The replies that are as they were recorded.
    pub(super) replies: &'a BTreeMap<SlotId, Vec<u8>>,
    /// The turn in which members were asked once more.
    pub(super) turns: &'a [TurnFolder],
    pub(super) id: &'a str,
}

/// The event that published the verdict.
struct Published {
    /// Its number in the record, from 0.
    index: usize,
    json: Sha256Hash,
    text: Sha256Hash,
    rendering: Option<u32>,
}

/// Checks the newest verdict against the replies.
pub(super) fn check(audit: &mut Audit, voted: &Voted<'_>) {
    let record = &voted.panel.record;
    let newest = record.records.iter().enumerate().rev().find_map(|(index, record)| match &record.event {
        Event::Verdict { verdict_json, verdict_md, rendering, .. } => {
            Some(Published { index, json: *verdict_json, text: *verdict_md, rendering: *rendering })
        }
        _ => None,
    });
    check_ballots(audit, voted, newest.as_ref());
    let since = newest.as_ref().map_or(0, |published| published.index + 1);
    let begun = |event: &Event| matches!(event, Event::PhaseStarted { phase: Phase::Verdict });
    if voted.panel.end == End::Open && record.records[since..].iter().any(|record| begun(&record.event)) {
        // Its owner was stopped between the files and the event, or is about to record them.
        [JSON, TEXT].iter().for_each(|file| voted.panel.unrecorded(audit, file));
        return;
    }
    let Some(published) = newest else { return };
    let by = format!("`{}`", record.file);
    let json = audit.read_expected(JSON, published.json, &by);
    let text = audit.read_expected(TEXT, published.text, &by);
    let expected = expected(audit, voted, &published);
    if let (Some(json), Some(expected)) = (&json, &expected) {
        audit.checked.verdicts += 1;
        check_count(audit, json, expected);
    }
    if let Some(text) = text {
        check_text(audit, voted, &published, expected.as_ref(), &String::from_utf8_lossy(&text));
    }
}

/// The record says of each reply whether it holds a vote.
fn check_ballots(audit: &mut Audit, voted: &Voted<'_>, published: Option<&Published>) {
    let repair = TurnFolder::find(voted.turns, Turn::Repair);
    let of_turn = repair.map(|turn| (&turn.panel, &turn.replies));
    for (panel, replies) in [(voted.panel, voted.replies)].into_iter().chain(of_turn) {
        let file = &panel.record.file;
        for (member, reply) in replies {
            audit.checked.ballots += 1;
            let cast = u32::from(parse_task(&String::from_utf8_lossy(reply)).vote.is_ok());
            audit.checked.votes += u64::from(cast);
            let Some(index) =
                panel.record.position(|event| matches!(event, Event::Ballot { judge, .. } if judge == member))
            else {
                if published.is_some_and(|published| voted.completed_before(published, *member)) {
                    audit.mismatch(Mismatch::new(file, format!("records no ballot of member {member}")));
                }
                continue;
            };
            let Event::Ballot { response, votes, missing, .. } = &panel.record.records[index].event else { continue };
            if (*response, *votes, *missing) != (Sha256Hash::of(reply), cast, 1 - cast) {
                let told = Mismatch::new(file, format!("is not the ballot of member {member}")).line(index + 1);
                let counts = |votes: u32, missing: u32| format!("{votes} votes, {missing} missing");
                audit.mismatch(told.between(counts(cast, 1 - cast), counts(*votes, *missing)));
            }
        }
    }
}

impl Voted<'_> {
    /// Whether `member` had replied when the verdict was published.
    fn completed_before(&self, published: &Published, member: SlotId) -> bool {
        self.panel.record.records[..published.index].iter().any(|record| {
            matches!(&record.event, Event::SlotEnded { slot, end } if *slot == member && end.state == SlotState::Completed)
        })
    }

    /// The turn in which members were asked once more, if it was over when the verdict was published.
    fn repair_before(&self, published: &Published) -> Option<&TurnFolder> {
        let closed = |event: &Event| matches!(event, Event::TurnClosed { turn: Turn::Repair, .. });
        let before = &self.panel.record.records[..published.index];
        before.iter().any(|record| closed(&record.event)).then(|| TurnFolder::find(self.turns, Turn::Repair))?
    }
}

/// What the votes come to; `None` where a reply is not as it was recorded, which was told.
fn expected(audit: &mut Audit, voted: &Voted<'_>, published: &Published) -> Option<TaskVerdict> {
    let panel = voted.panel;
    if !panel.record.intact {
        return None;
    }
    let status = panel.record.fold(audit, voted.id, published.index)?;
    let repair = voted.repair_before(published);
    let mut members: Vec<TaskMember> = Vec::new();
    for (id, entry) in &status.models {
        let reply = voted.replies.get(id).map(Vec::as_slice);
        if entry.state == SlotState::Completed && reply.is_none() {
            return None;
        }
        let mut member = member_of(*id, entry, reply);
        if let Some((turn, state)) = repair.and_then(|turn| Some((turn, turn.state(*id)?))) {
            let reply = turn.reply(*id);
            if state == SlotState::Completed && reply.is_none() {
                return None;
            }
            let read = |reply: &[u8]| (Sha256Hash::of(reply), parse_task(&String::from_utf8_lossy(reply)));
            member.repair = Some(repair_of(state, reply.map(read)));
        }
        members.push(member);
    }
    let task = task_on_record(&panel.record.records)?;
    Some(count_task(task, voted.plan.threshold, voted.plan.quorum, members))
}

fn check_count(audit: &mut Audit, json: &[u8], expected: &TaskVerdict) {
    let Ok(again) = to_json(expected) else { return };
    if again == json {
        return;
    }
    match (serde_json::from_slice(&again), serde_json::from_slice(json)) {
        (Ok(again), Ok(found)) => match difference_of_older(&again, &found) {
            Some(found) => {
                let told = Mismatch::new(JSON, format!("does not follow from the replies, at `{}`", found.place));
                audit.mismatch(told.between(found.expected, found.found));
            }
            None => audit.note(format!("`{JSON}` holds less than this program computes; what it holds is right")),
        },
        (_, Err(error)) => audit.mismatch(Mismatch::new(JSON, format!("cannot be read: {error}"))),
        (Err(_), _) => {}
    }
}

fn check_text(audit: &mut Audit, voted: &Voted<'_>, published: &Published, expected: Option<&TaskVerdict>, text: &str) {
    let panel = voted.panel;
    let head = panel.record.records[published.index].prev;
    if let Some(head) = head
        && !text.contains(&head.to_string())
    {
        audit.mismatch(Mismatch::new(TEXT, "does not print the head before it").between(head, "another or none"));
        return;
    }
    if published.rendering != Some(TASK_RENDERING) {
        audit.note(format!("`{TEXT}` is in the wording of another version: its hash is checked, its text is not"));
        return;
    }
    let (Some(expected), Some(manifest)) = (expected, &panel.manifest) else { return };
    let Some(status) = panel.record.fold(audit, voted.id, published.index) else { return };
    let records = &panel.record.records[..published.index];
    let told = Told { session: voted.id, panel: manifest, status: &status, records, head };
    let again = render_task(expected, &told.names(), &told.context(Vec::new()));
    if let Some(found) = document::difference(&again, text) {
        let told = Mismatch::new(TEXT, "does not say what the votes and the record come to").line(found.line);
        audit.mismatch(told.between(found.expected, found.found));
    }
}
