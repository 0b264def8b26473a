//! The ballots of a round, read again from the judges' replies.

use std::collections::BTreeMap;

use serde_json::Value;

use super::audit::Audit;
use super::difference::{difference, difference_of_older};
use super::imports::{Imported, Rereading};
use super::panel::Panel;
use super::report::Mismatch;
use super::turns::TurnFolder;
use crate::config::{OwnAnswers, SelfVote, VoteRules};
use crate::engine::judge::{answer_of, seated_judges};
use crate::engine::round::votes_of;
use crate::engine::rules::{Bench, Counted, RoundRules};
use crate::engine::shown::{Shown, leak_scan};
use crate::ids::{Sha256Hash, SlotId};
use crate::judging::{
    Answer, AnswerCopy, Assignment, CopyRules, Coverage, Judge, JudgeVotes, LEAK_SCAN, LeakCount, Missing, RepairTurn,
    Replies, SecondPass, Votes, may_vote,
};
use crate::session::slot::SlotState;
use crate::session::{Event, Layout, Manifest, Round, Status, Turn};

/// What the ballots of a round are read with.
pub(super) struct Recount<'a> {
    pub(super) session: &'a Panel,
    pub(super) panel: &'a Panel,
    /// The session's slots when the round was opened.
    pub(super) slots: Option<&'a Status>,
    /// What stands in the headings of each judge's prompt.
    pub(super) headings: &'a BTreeMap<SlotId, Vec<String>>,
    /// The further turns of the judges.
    pub(super) turns: &'a [TurnFolder],
    /// The files that the ballots were imported from.
    pub(super) imports: &'a [Imported],
    pub(super) round: Round,
}

/// Reads every reply, and compares what it says with `recorded`: the votes, and their file as it is.
pub(super) fn check(audit: &mut Audit, recount: &Recount<'_>, recorded: Option<(&Votes, &Value)>, published: bool) {
    let panel = recount.panel;
    let file = panel.file("votes.json");
    let replies = panel.read_answers(audit);
    let (Some((votes, raw)), Some(status)) = (recorded, &panel.status) else { return };
    if !panel.record.intact || !recount.session.record.intact {
        return;
    }
    let rules = match panel.record.created() {
        Some(Event::Created { rules, .. }) => rules.clone(),
        _ => BTreeMap::new(),
    };
    let (Some(slots), Some(models), Some(bench)) = (recount.slots, &recount.session.manifest, &panel.manifest) else {
        return;
    };
    let recorded_rules = RoundRules::of_map(&rules);
    let expected = if recorded_rules.is_some_and(|rules| rules.bench == Bench::Imported) {
        let rereading = Rereading { panel, round: recount.round, models, bench, slots };
        let Some(expected) = rereading.votes(audit, recount.imports, votes) else { return };
        expected
    } else {
        let judges = asked(audit, recount, votes, status, &replies);
        let sides = Sides { slots, models, bench };
        expected_votes(audit, recount, votes, &sides, (recorded_rules, Counted::of_map(&rules)), judges)
    };
    for judge in &expected.judges {
        let second = judge.second_pass.as_ref();
        let turns = [judge.repair.as_ref(), second.and_then(|second| second.repair.as_ref())];
        let read = judge.response_sha256.iter().chain(second.and_then(|second| second.response_sha256.as_ref()));
        audit.checked.ballots +=
            (read.count() + turns.iter().flatten().filter(|t| t.response_sha256.is_some()).count()) as u64;
        let votes = judge.votes.len() + judge.pairs.len() + second.map_or(0, |second| second.votes.len());
        audit.checked.votes += (votes + turns.iter().flatten().map(|turn| turn.votes.len()).sum::<usize>()) as u64;
    }
    check_events(audit, recount, &expected.judges, published);
    let Ok(value) = serde_json::to_value(&expected) else { return };
    // A round whose rules say how leaks were counted has every field that this program knows.
    let typed = (Counted::of_map(&rules) != Counted::Nothing).then(|| serde_json::to_value(votes).ok()).flatten();
    let found = typed.and_then(|typed| difference(&value, &typed)).or_else(|| difference_of_older(&value, raw));
    if let Some(found) = found {
        let told =
            Mismatch::new(&file, format!("is not what the replies and the record come to, at `{}`", found.place));
        audit.mismatch(told.between(found.expected, found.found));
    }
}

/// The ballots of judges that were asked here. Which turns there were and how they ended the records say; only what a
/// judge was shown, and under which names, is taken from `votes`, and compared with its prompts.
fn asked(
    audit: &mut Audit,
    recount: &Recount<'_>,
    votes: &Votes,
    status: &Status,
    replies: &BTreeMap<SlotId, Vec<u8>>,
) -> Vec<JudgeVotes> {
    let repair = TurnFolder::find(recount.turns, Turn::Repair);
    let second = TurnFolder::find(recount.turns, Turn::SecondPass);
    let second_repair = second.and_then(|second| TurnFolder::find(&second.turns, Turn::Repair));
    let mut judges = Vec::new();
    for (id, entry) in &status.models {
        let recorded = votes.judges.iter().find(|judge| judge.id == *id);
        let mut judge = recorded.cloned().unwrap_or_else(|| JudgeVotes::without_votes(*id, entry.state, None));
        judge.state = entry.state;
        judge.repair = turn_of(repair, *id);
        judge.second_pass = second.and_then(|turn| turn.state(*id)).map(|state| {
            let shown = judge.second_pass.take().unwrap_or_else(|| never_shown(state));
            SecondPass { state, repair: turn_of(second_repair, *id), ..shown }
        });
        let reply = |turn: Option<&'_ TurnFolder>| turn.and_then(|turn| turn.reply(*id)).map(<[u8]>::to_vec);
        let [again, reversed, reversed_again] = [repair, second, second_repair].map(reply);
        // A judge without a prompt has no say; a judge from elsewhere is none of this round.
        let first = judge.nonce.as_ref().and_then(|_| replies.get(id)).map(Vec::as_slice);
        let read = Replies {
            first,
            repair: again.as_deref(),
            second: reversed.as_deref(),
            second_repair: reversed_again.as_deref(),
        };
        match judge.reread(read) {
            Ok(reread) => {
                check_names(audit, recount, &reread, [repair, second, second_repair]);
                judges.push(reread);
            }
            Err(error) => {
                audit.mismatch(Mismatch::new(recount.panel.file("votes.json"), format!("judge {id}: {error}")));
                judges.push(JudgeVotes::without_votes(*id, entry.state, None));
            }
        }
    }
    judges
}

/// That `judge` was asked in `turn`; what came of it is to be read.
fn turn_of(turn: Option<&TurnFolder>, judge: SlotId) -> Option<RepairTurn> {
    let state = turn?.state(judge)?;
    let (asked, votes, missing, notes) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    Some(RepairTurn { state, response_sha256: None, asked, votes, missing, notes })
}

/// A second pass that `votes.json` does not tell of.
fn never_shown(state: SlotState) -> SecondPass {
    SecondPass {
        state,
        response_sha256: None,
        order: Vec::new(),
        aliases: BTreeMap::new(),
        nonce: None,
        votes: Vec::new(),
        missing: Vec::new(),
        notes: Vec::new(),
        repair: None,
    }
}

/// A judge's names for the answers must be those of its prompts, in their order: they alone say what a vote is on.
fn check_names(
    audit: &mut Audit,
    recount: &Recount<'_>,
    judge: &JudgeVotes,
    [repair, second, second_repair]: [Option<&TurnFolder>; 3],
) {
    let headings = |turn: Option<&TurnFolder>| turn.and_then(|turn| turn.headings.get(&judge.id)).cloned();
    let first = judge.assignment().ok().flatten();
    let reversed = judge.second_assignment().ok().flatten();
    let part = |of: &Option<Assignment>, turn: Option<&RepairTurn>| {
        let (mut part, turn) = (of.clone()?, turn?);
        part.shown.retain(|(answer, _)| turn.asked.contains(answer));
        Some(part)
    };
    let rest = part(&first, judge.repair.as_ref());
    let reversed_rest = part(&reversed, judge.second_pass.as_ref().and_then(|second| second.repair.as_ref()));
    let mut order: Vec<SlotId> = judge.order.clone();
    order.reverse();
    let turned = judge.second_pass.as_ref().is_none_or(|second| second.nonce.is_none() || second.order == order);
    if !turned {
        let what = format!("does not give judge {} the answers in reverse order the second time", judge.id);
        audit.mismatch(Mismatch::new(recount.panel.file("votes.json"), what));
    }
    let prompts = [
        (recount.headings.get(&judge.id).cloned(), first),
        (headings(repair), rest),
        (headings(second), reversed),
        (headings(second_repair), reversed_rest),
    ];
    for (headings, assignment) in prompts {
        let (Some(headings), Some(assignment)) = (headings, assignment) else { continue };
        let names: Vec<&str> = assignment.shown.iter().map(|(_, alias)| alias.as_str()).collect();
        // A template of the user's own may hold other lines of this form.
        let shown: Vec<&str> = headings.iter().map(String::as_str).filter(|name| names.contains(name)).collect();
        if shown != names {
            let what = format!("does not give judge {} the answers as its prompt does", judge.id);
            let told = Mismatch::new(recount.panel.file("votes.json"), what);
            audit.mismatch(told.between(headings.join(", "), names.join(", ")));
        }
    }
}

/// What one reply holds.
struct Reading<'a> {
    judge: SlotId,
    response: Option<Sha256Hash>,
    votes: usize,
    missing: &'a [Missing],
}

impl<'a> Reading<'a> {
    fn of_repair(judge: SlotId, turn: &'a RepairTurn) -> Self {
        Self { judge, response: turn.response_sha256, votes: turn.votes.len(), missing: &turn.missing }
    }
}

/// The records say of each reply how many votes it holds.
fn check_events(audit: &mut Audit, recount: &Recount<'_>, judges: &[JudgeVotes], published: bool) {
    let first = judges.iter().map(|judge| Reading {
        judge: judge.id,
        response: judge.response_sha256,
        votes: judge.votes.len() + judge.pairs.len(),
        missing: &judge.missing,
    });
    check_ballots(audit, recount.panel, first, published);
    if let Some(turn) = TurnFolder::find(recount.turns, Turn::Repair) {
        let readings = judges.iter().filter_map(|judge| Some(Reading::of_repair(judge.id, judge.repair.as_ref()?)));
        check_ballots(audit, &turn.panel, readings, published);
    }
    let Some(second) = TurnFolder::find(recount.turns, Turn::SecondPass) else { return };
    let of_second = judges.iter().filter_map(|judge| Some((judge.id, judge.second_pass.as_ref()?)));
    let readings = of_second.clone().map(|(judge, pass)| Reading {
        judge,
        response: pass.response_sha256,
        votes: pass.votes.len(),
        missing: &pass.missing,
    });
    check_ballots(audit, &second.panel, readings, published);
    if let Some(turn) = TurnFolder::find(&second.turns, Turn::Repair) {
        let readings = of_second.filter_map(|(judge, pass)| Some(Reading::of_repair(judge, pass.repair.as_ref()?)));
        check_ballots(audit, &turn.panel, readings, published);
    }
}

fn check_ballots<'a>(audit: &mut Audit, panel: &Panel, readings: impl Iterator<Item = Reading<'a>>, published: bool) {
    let file = &panel.record.file;
    for reading in readings.filter(|reading| reading.response.is_some()) {
        let judge = reading.judge;
        let found = panel.record.position(|event| matches!(event, Event::Ballot { judge: id, .. } if *id == judge));
        let Some(index) = found else {
            if published {
                audit.mismatch(Mismatch::new(file, format!("records no ballot of judge {judge}")));
            }
            continue;
        };
        let Event::Ballot { response, votes, missing, .. } = &panel.record.records[index].event else { continue };
        let (cast, none) = (reading.votes as u32, reading.missing.len() as u32);
        if (Some(*response), *votes, *missing) != (reading.response, cast, none) {
            let told = Mismatch::new(file, format!("is not the ballot of judge {judge}")).line(index + 1);
            let counts = |votes: u32, missing: u32| format!("{votes} votes, {missing} missing");
            audit.mismatch(told.between(counts(cast, none), counts(*votes, *missing)));
        }
    }
}

/// Who answered and who judged.
struct Sides<'a> {
    /// The session's slots when the round was opened.
    slots: &'a Status,
    models: &'a Manifest,
    bench: &'a Manifest,
}

/// What `votes.json` must hold. A judge that was shown an answer against the rules is told.
fn expected_votes(
    audit: &mut Audit,
    recount: &Recount<'_>,
    votes: &Votes,
    sides: &Sides<'_>,
    (recorded, counted): (Option<RoundRules>, Counted),
    judges: Vec<JudgeVotes>,
) -> Votes {
    let rule = recorded.map_or_else(|| votes.rules(), |rules| rules.votes);
    let shown = Shown::of(leaks(audit, recount, votes, sides, rule, counted), rule.leaks);
    let of = |id: SlotId| Some(answer_of(id, &sides.models.member(id)?.resolved));
    let answers: Vec<Answer> = shown.judged().filter_map(of).collect();
    let with = |seats: Bench| {
        let seated = seated_judges(sides.bench, sides.models, seats);
        let eligible = Coverage::allowed(&answers, &seated, rule.own);
        (seated, votes_of(recount.round, rule, sides.slots, &shown, &eligible, judges.clone()))
    };
    let (seated, expected) = match recorded {
        Some(rules) => with(rules.bench),
        None => {
            // An earlier program did not say whether the judges were the panel itself; the counts do.
            let [panel, named] = [Bench::Panel, Bench::Named].map(with);
            let counts =
                |votes: &Votes| votes.candidates.iter().map(|candidate| candidate.eligible_judges).collect::<Vec<_>>();
            if counts(&named.1) == counts(votes) { named } else { panel }
        }
    };
    let file = recount.panel.file("votes.json");
    for judge in &votes.judges {
        let Some(seat) = seated.iter().find(|seat| seat.id == judge.id) else { continue };
        for id in &judge.order {
            let answer = answers.iter().find(|answer| answer.id == *id);
            if let Some(why) = forbidden(seat, answer, rule.own) {
                audit.mismatch(Mismatch::new(&file, format!("judge {} was shown answer {id}, {why}", judge.id)));
            }
        }
    }
    expected
}

/// Why a judge may not be shown an answer; `None` for the answer stands for one that is not judged at all.
fn forbidden(judge: &Judge, answer: Option<&Answer>, rule: OwnAnswers) -> Option<String> {
    let Some(answer) = answer else { return Some("which is not judged".to_owned()) };
    let own = OwnAnswers::from(rule.self_vote);
    if may_vote(rule, judge, answer) {
        None
    } else if rule.self_vote != SelfVote::Include && !may_vote(own, judge, answer) {
        Some(format!("its own, against `--self-vote {}`", rule.self_vote))
    } else {
        Some(format!("of its own maker, against `--recuse {}`", rule.recuse))
    }
}

/// How often each complete answer names its author: counted again, where this program counts as it was counted then.
fn leaks(
    audit: &mut Audit,
    recount: &Recount<'_>,
    votes: &Votes,
    sides: &Sides<'_>,
    rule: VoteRules,
    counted: Counted,
) -> Vec<(SlotId, LeakCount)> {
    let complete = sides
        .slots
        .models
        .iter()
        .filter(|(_, entry)| entry.state == SlotState::Completed)
        .map(|(id, entry)| (*id, entry));
    let on_record = |id: SlotId| {
        let candidate = votes.candidates.iter().find(|candidate| candidate.id == id);
        candidate.map(|candidate| candidate.leaks).unwrap_or_default()
    };
    if counted == Counted::Nothing {
        return complete.map(|(id, _)| (id, LeakCount::default())).collect();
    }
    if counted != Counted::By(LEAK_SCAN) {
        let file = recount.panel.file("votes.json");
        audit.note(format!("`{file}` counts names in answers as another version does: those counts are not checked"));
        return complete.map(|(id, _)| (id, on_record(id))).collect();
    }
    let scan = leak_scan(sides.models.models.values().map(|member| &member.resolved));
    let copies = CopyRules { scan: &scan, leaks: rule.leaks };
    let again = |(id, hash): (SlotId, Option<Sha256Hash>)| {
        // One that was changed is told already.
        let bytes = hash.and_then(|hash| audit.read_again(&Layout::response_name(id), hash));
        (id, bytes.map_or_else(|| on_record(id), |bytes| AnswerCopy::new(id, &bytes, copies).leaks))
    };
    complete.map(|(id, entry)| (id, entry.sha256)).map(again).collect()
}
