//! The ballots of a round, read again from the judges' replies.

use std::collections::BTreeMap;

use serde_json::Value;

use super::audit::Audit;
use super::difference::difference_of_older;
use super::panel::Panel;
use super::report::Mismatch;
use crate::config::SelfVote;
use crate::engine::judge::{seated_judges, votes_of};
use crate::engine::rules::{Bench, RoundRules};
use crate::ids::SlotId;
use crate::judging::{Answer, Assignment, Coverage, JudgeVotes, Votes, may_vote, parse};
use crate::session::slot::SlotState;
use crate::session::{Event, Layout, Manifest, Round, Status};

/// What the ballots of a round are read with.
pub(super) struct Recount<'a> {
    pub(super) session: &'a Panel,
    pub(super) panel: &'a Panel,
    /// The session's slots when the round was opened.
    pub(super) slots: Option<&'a Status>,
    /// What stands in the headings of each judge's prompt.
    pub(super) headings: &'a BTreeMap<SlotId, Vec<String>>,
    pub(super) round: Round,
}

/// Reads every reply, and compares what it says with `recorded`: the votes, and their file as it is.
pub(super) fn check(audit: &mut Audit, recount: &Recount<'_>, recorded: Option<(&Votes, &Value)>, published: bool) {
    let panel = recount.panel;
    let file = panel.file("votes.json");
    let mut assignments = BTreeMap::new();
    for judge in recorded.iter().flat_map(|(votes, _)| &votes.judges) {
        match judge.assignment() {
            Ok(Some(assignment)) => {
                assignments.insert(judge.id, assignment);
            }
            Ok(None) => {}
            Err(error) => audit.mismatch(Mismatch::new(&file, format!("judge {}: {error}", judge.id))),
        }
    }
    let ballots = read_again(audit, panel, &assignments);
    let (Some((votes, raw)), Some(status)) = (recorded, &panel.status) else { return };
    if !panel.record.intact || !recount.session.record.intact {
        return;
    }
    let judges: Vec<JudgeVotes> = status
        .models
        .iter()
        .map(|(id, entry)| {
            let again = ballots.get(id).cloned();
            again.unwrap_or_else(|| JudgeVotes::without_votes(*id, entry.state, assignments.get(id)))
        })
        .collect();
    check_names(audit, recount, &assignments);
    check_events(audit, panel, &judges, published);
    let (Some(slots), Some(models), Some(bench)) = (recount.slots, &recount.session.manifest, &panel.manifest) else {
        return;
    };
    let expected = expected_votes(audit, recount, votes, slots, (models, bench), judges);
    if let Ok(expected) = serde_json::to_value(&expected)
        && let Some(found) = difference_of_older(&expected, raw)
    {
        let told =
            Mismatch::new(&file, format!("is not what the replies and the record come to, at `{}`", found.place));
        audit.mismatch(told.between(found.expected, found.found));
    }
}

/// Checks the hash of every reply, and reads those of judges whose `assignment` is known for votes.
fn read_again(
    audit: &mut Audit,
    panel: &Panel,
    assignments: &BTreeMap<SlotId, Assignment>,
) -> BTreeMap<SlotId, JudgeVotes> {
    let by = format!("`{}`", panel.record.file);
    let mut ballots = BTreeMap::new();
    for (judge, hash) in panel.answers(audit) {
        let file = panel.file(&Layout::response_name(judge));
        let Some(assignment) = assignments.get(&judge) else {
            audit.expect(&file, hash, &by);
            continue;
        };
        let Some(reply) = audit.read_expected(&file, hash, &by) else { continue };
        let ballot = parse(&String::from_utf8_lossy(&reply), assignment);
        audit.checked.ballots += 1;
        audit.checked.votes += ballot.votes.len() as u64;
        ballots.insert(judge, JudgeVotes::completed(assignment, hash, ballot));
    }
    ballots
}

/// A judge's names for the answers must be those of its prompt, in its order: they alone say what a vote is on.
fn check_names(audit: &mut Audit, recount: &Recount<'_>, assignments: &BTreeMap<SlotId, Assignment>) {
    for (judge, assignment) in assignments {
        let Some(headings) = recount.headings.get(judge) else { continue };
        let names: Vec<&str> = assignment.shown.iter().map(|(_, alias)| alias.as_str()).collect();
        // A template of the user's own may hold other lines of this form.
        let shown: Vec<&str> = headings.iter().map(String::as_str).filter(|name| names.contains(name)).collect();
        if shown != names {
            let what = format!("does not give judge {judge} the answers as its prompt does");
            let told = Mismatch::new(recount.panel.file("votes.json"), what);
            audit.mismatch(told.between(headings.join(", "), names.join(", ")));
        }
    }
}

/// The record says of each reply how many votes it holds.
fn check_events(audit: &mut Audit, panel: &Panel, judges: &[JudgeVotes], published: bool) {
    let file = &panel.record.file;
    for judge in judges.iter().filter(|judge| judge.response_sha256.is_some()) {
        let found = panel.record.position(|event| matches!(event, Event::Ballot { judge: id, .. } if *id == judge.id));
        let Some(index) = found else {
            if published {
                audit.mismatch(Mismatch::new(file, format!("records no ballot of judge {}", judge.id)));
            }
            continue;
        };
        let Event::Ballot { response, votes, missing, .. } = &panel.record.records[index].event else { continue };
        let (cast, none) = (judge.votes.len() as u32, judge.missing.len() as u32);
        if (Some(*response), *votes, *missing) != (judge.response_sha256, cast, none) {
            let told = Mismatch::new(file, format!("is not the ballot of judge {}", judge.id)).line(index + 1);
            let counts = |votes: u32, missing: u32| format!("{votes} votes, {missing} missing");
            audit.mismatch(told.between(counts(cast, none), counts(*votes, *missing)));
        }
    }
}

/// What `votes.json` must hold. A judge that was shown its own answer against the rule is told.
fn expected_votes(
    audit: &mut Audit,
    recount: &Recount<'_>,
    votes: &Votes,
    slots: &Status,
    (models, bench): (&Manifest, &Manifest),
    judges: Vec<JudgeVotes>,
) -> Votes {
    let complete = slots.models.iter().filter(|(_, entry)| entry.state == SlotState::Completed);
    let answers: Vec<Answer> = complete
        .filter_map(|(id, _)| Some(Answer { id: *id, identity: models.member(*id)?.resolved.identity.clone() }))
        .collect();
    let recorded = match recount.panel.record.created() {
        Some(Event::Created { rules, .. }) => RoundRules::of_map(rules),
        _ => None,
    };
    let with = |self_vote: SelfVote, seats: Bench| {
        let seated = seated_judges(bench, models, seats);
        let eligible = Coverage::allowed(&answers, &seated, self_vote);
        (seated, votes_of(recount.round, self_vote, slots, &eligible, judges.clone()))
    };
    let (seated, expected) = match recorded {
        Some(rules) => with(rules.self_vote, rules.bench),
        None => {
            // An earlier program did not say whether the judges were the panel itself; the counts do.
            let [panel, named] = [Bench::Panel, Bench::Named].map(|seats| with(votes.self_vote, seats));
            if named.1.candidates == votes.candidates { named } else { panel }
        }
    };
    for judge in &votes.judges {
        let Some(seat) = seated.iter().find(|seat| seat.id == judge.id) else { continue };
        let own = answers
            .iter()
            .find(|answer| judge.order.contains(&answer.id) && !may_vote(expected.self_vote, seat, answer));
        if let Some(answer) = own {
            let rule = expected.self_vote;
            let what =
                format!("judge {} was shown answer {}, its own, against `--self-vote {rule}`", judge.id, answer.id);
            audit.mismatch(Mismatch::new(recount.panel.file("votes.json"), what));
        }
    }
    expected
}
