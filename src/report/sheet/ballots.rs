//! A published verdict with the votes that it was counted from.

use std::collections::BTreeMap;

use super::model::{Cell, CellKind, Decided, Issue, JudgeRow, Matrix, MatrixRow, RankRow, Seat};
use crate::config::Passes;
use crate::ids::SlotId;
use crate::judging::{JudgeVotes, Outcome, VoteVerdict, Votes};
use crate::secrets::Redactor;
use crate::verdict::{Agreement, Interval, JudgeRecord, LengthEffect, Names, Verdict};

/// The verdict in rows and columns. Without `votes` (their file is gone or changed) the cells hold what the verdict tells.
pub(super) fn decided(verdict: &Verdict, votes: Option<&Votes>, names: &Names, redactor: &Redactor) -> Decided {
    let matrix = Matrix {
        answers: verdict.answers.iter().map(|answer| slot(names, answer.id)).collect(),
        rows: rows(verdict, votes, names, redactor),
    };
    let notes = verdict.judge_notes.iter().flat_map(|judge| {
        judge.notes.iter().map(|note| {
            let about = note.answer.map(|answer| format!(" (answer {answer})")).unwrap_or_default();
            format!("judge {}: {}{about}", judge.judge, note.kind.describe())
        })
    });
    Decided {
        round: verdict.round,
        ranking: ranking(verdict, names),
        two_passes: verdict.passes == Passes::Two,
        by_pairs: verdict.pairs.is_some(),
        matrix,
        judges: judges(verdict, votes, names),
        agreement: agreement(verdict.agreement),
        length: length(verdict.length),
        dissent: dissent(verdict),
        issues: issues(verdict, redactor),
        notes: notes.collect(),
        rules: rules(verdict),
    }
}

fn slot(names: &Names, id: SlotId) -> Seat {
    Seat { id, name: names.slots.get(&id).cloned() }
}

fn judge(names: &Names, id: SlotId) -> Seat {
    Seat { id, name: names.judges.get(&id).cloned() }
}

fn ranking(verdict: &Verdict, names: &Names) -> Vec<RankRow> {
    let shared = |rank: u32| verdict.answers.iter().filter(|answer| answer.rank == Some(rank)).count() > 1;
    let row = |answer: &crate::verdict::AnswerResult| {
        let pair = verdict.pairs.as_ref().and_then(|pairs| pairs.iter().find(|pair| pair.answer == answer.id));
        let (approvals, rejections, abstentions) = match pair {
            Some(pair) => (pair.wins, pair.losses, pair.ties),
            None => (answer.approvals, answer.rejections, answer.abstentions),
        };
        let score = pair.map_or(answer.score, |pair| pair.rate);
        let interval = pair.map_or(answer.interval, |pair| pair.interval);
        RankRow {
            seat: slot(names, answer.id),
            rank: match answer.rank {
                Some(rank) if shared(rank) => format!("{rank} (shared)"),
                Some(rank) => rank.to_string(),
                None => "-".to_owned(),
            },
            approvals,
            rejections,
            abstentions,
            flipped: answer.inconsistent,
            missing: answer.missing,
            score: score.map_or_else(|| "no votes".to_owned(), percent),
            score_mille: score.map(mille),
            interval: interval.map_or_else(
                || "-".to_owned(),
                |Interval { low, high }| format!("{:.0} to {:.0} %", low * 100.0, high * 100.0),
            ),
            interval_mille: interval.map(|Interval { low, high }| (mille(low), mille(high))),
            confidence: answer.confidence.map_or_else(|| "-".to_owned(), |value| format!("{value:.1}")),
            won: verdict.winner == Some(answer.id),
        }
    };
    verdict.answers.iter().map(row).collect()
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

fn mille(share: f64) -> u32 {
    // A share is from 0 to 1.
    (share.clamp(0.0, 1.0) * 1000.0).round() as u32
}

fn rows(verdict: &Verdict, votes: Option<&Votes>, names: &Names, redactor: &Redactor) -> Vec<MatrixRow> {
    panel(verdict)
        .into_keys()
        .map(|id| {
            let cast = votes.and_then(|votes| votes.judges.iter().find(|judge| judge.id == id));
            let cells = verdict.answers.iter().map(|answer| match cast {
                Some(cast) => cell_of_ballot(cast, answer.id),
                None => cell_of_verdict(verdict, id, answer.id),
            });
            let told = |cell: Cell| Cell { reason: cell.reason.map(|reason| redactor.text(&reason)), ..cell };
            MatrixRow { judge: judge(names, id), cells: cells.map(told).collect() }
        })
        .collect()
}

/// Every judge by its id; of those that did not complete the verdict may have no record.
fn panel(verdict: &Verdict) -> BTreeMap<SlotId, Option<&JudgeRecord>> {
    let missing = verdict.missing_judges.iter().map(|seat| (seat.id, None));
    missing.chain(verdict.judges.iter().map(|record| (record.judge, Some(record)))).collect()
}

fn cell(answer: SlotId, kind: CellKind) -> Cell {
    Cell { answer, kind, sign: kind.sign(), words: kind.describe(), confidence: None, places: None, reason: None }
}

pub(super) const fn kind_of(vote: VoteVerdict) -> CellKind {
    match vote {
        VoteVerdict::Approve => CellKind::Approve,
        VoteVerdict::Reject => CellKind::Reject,
        VoteVerdict::Abstain => CellKind::Abstain,
    }
}

fn cell_of_ballot(cast: &JudgeVotes, answer: SlotId) -> Cell {
    let orders = [Some(&cast.order), cast.second_pass.as_ref().map(|second| &second.order)];
    let places = orders.into_iter().flatten().filter_map(|order| order.iter().position(|shown| *shown == answer));
    let places: Vec<String> = places.map(|place| (place + 1).to_string()).collect();
    // What is imported was shown elsewhere, in an order that is not known.
    let places = (!places.is_empty() && cast.nonce.is_some()).then(|| places.join(", "));
    let outcome = cast.outcomes().find(|(of, _)| *of == answer).map(|(_, outcome)| outcome);
    match outcome {
        None => cell(answer, CellKind::Unseen),
        Some(Outcome::Vote { vote, .. }) => Cell {
            confidence: vote.confidence,
            places,
            reason: Some(vote.summary).filter(|text| !text.trim().is_empty()),
            ..cell(answer, kind_of(vote.verdict))
        },
        Some(Outcome::Inconsistent { first, second }) => {
            Cell { places, reason: Some(format!("first {first}, then {second}")), ..cell(answer, CellKind::Flipped) }
        }
        Some(Outcome::Missing(reason)) => {
            Cell { places, reason: Some(reason.describe().to_owned()), ..cell(answer, CellKind::Missing) }
        }
    }
}

fn cell_of_verdict(verdict: &Verdict, judge: SlotId, answer: SlotId) -> Cell {
    let votes = verdict.answers.iter().find(|result| result.id == answer).map_or(&[][..], |result| &result.votes);
    if let Some(vote) = votes.iter().find(|vote| vote.judge == judge) {
        let places = [vote.position, vote.second_position].into_iter().flatten().map(|place| place.to_string());
        let places: Vec<String> = places.collect();
        return Cell {
            confidence: vote.confidence,
            places: (!places.is_empty()).then(|| places.join(", ")),
            reason: Some(vote.summary.clone()).filter(|text| !text.trim().is_empty()),
            ..cell(answer, kind_of(vote.verdict))
        };
    }
    let flipped = verdict.inconsistent_votes.iter().find(|vote| vote.judge == judge && vote.answer == answer);
    if let Some(flipped) = flipped {
        let reason = Some(format!("first {}, then {}", flipped.first, flipped.second));
        return Cell { reason, ..cell(answer, CellKind::Flipped) };
    }
    match verdict.missing_votes.iter().find(|vote| vote.judge == judge && vote.answer == answer) {
        Some(missing) => Cell { reason: Some(missing.reason.describe().to_owned()), ..cell(answer, CellKind::Missing) },
        None => cell(answer, CellKind::Unseen),
    }
}

fn judges(verdict: &Verdict, votes: Option<&Votes>, names: &Names) -> Vec<JudgeRow> {
    let row = |(id, record): (SlotId, Option<&JudgeRecord>)| {
        let cast = votes.and_then(|votes| votes.judges.iter().find(|judge| judge.id == id));
        let missing = verdict.missing_judges.iter().find(|seat| seat.id == id);
        let orders = cast.into_iter().filter(|cast| cast.nonce.is_some()).flat_map(|cast| {
            [Some(&cast.order), cast.second_pass.as_ref().map(|second| &second.order)].into_iter().flatten()
        });
        let lean = record.and_then(|record| record.lean).map_or_else(
            || "-".to_owned(),
            |lean| {
                let p = lean.p.map(|p| format!(", p = {p:.2}")).unwrap_or_default();
                format!("{:+.2} (N = {}{p})", lean.effect, lean.n)
            },
        );
        JudgeRow {
            seat: judge(names, id),
            state: missing.map_or("COMPLETED", |seat| seat.state.as_str()),
            orders: orders.map(|order| ids(order)).collect(),
            approvals: record.map_or(0, |record| record.approvals),
            rejections: record.map_or(0, |record| record.rejections),
            flips: record.and_then(|record| record.flips).map_or_else(|| "-".to_owned(), |flips| flips.to_string()),
            lean,
        }
    };
    panel(verdict).into_iter().map(row).collect()
}

pub(super) fn ids(ids: &[SlotId]) -> String {
    ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn agreement(agreement: Agreement) -> String {
    let Agreement { alpha, votes, answers } = agreement;
    let of = format!("N = {votes} votes on {answers} answers with two or more");
    match alpha {
        Some(alpha) => format!(
            "Krippendorff's alpha {alpha:.2} ({of}); 1 is full agreement, 0 what chance would give, less is more \
             disagreement than that."
        ),
        None => {
            format!("Krippendorff's alpha is undefined ({of}): there are no two votes to compare, or all are the same.")
        }
    }
}

fn length(length: LengthEffect) -> String {
    match length.rho {
        Some(rho) => format!(
            "Spearman's rho of size and score {rho:.2} (N = {} answers); 1 when the longer one always scores higher.",
            length.answers
        ),
        None => format!("Undefined with {} answers of different size and score.", length.answers),
    }
}

fn dissent(verdict: &Verdict) -> Vec<String> {
    let line = |dissent: &crate::verdict::Dissent| {
        let judges = ids(&dissent.judges);
        let noun = if dissent.judges.len() == 1 { "judge" } else { "judges" };
        match dissent.majority {
            Some(VoteVerdict::Reject) => format!("answer {}: most reject it, {noun} {judges} not", dissent.answer),
            Some(_) => format!("answer {}: most approve it, {noun} {judges} not", dissent.answer),
            None => format!("answer {}: votes are equal, of {noun} {judges}", dissent.answer),
        }
    };
    verdict.dissent.iter().map(line).collect()
}

fn issues(verdict: &Verdict, redactor: &Redactor) -> Vec<Issue> {
    let issue = |issue: &crate::verdict::KeyIssue| Issue {
        count: issue.count,
        text: redactor.text(&issue.text),
        answers: ids(&issue.answers),
        judges: ids(&issue.raised_by),
    };
    verdict.key_issues.iter().map(issue).collect()
}

fn rules(verdict: &Verdict) -> Vec<(&'static str, String)> {
    let panel = verdict.panel;
    let ballots = verdict.ballots;
    let mut rules = vec![
        ("Answers", format!("{} of {} complete", panel.completed_slots, panel.slots)),
        ("Judges", format!("{} of {} complete", panel.completed_judges, panel.judges)),
        (
            "Votes",
            format!(
                "{} possible, {} cast, {} abstentions, {} flipped, {} missing; {} needed to win",
                ballots.possible,
                ballots.cast,
                ballots.abstentions,
                ballots.inconsistent,
                ballots.missing,
                verdict.votes_needed
            ),
        ),
    ];
    match &verdict.imported {
        Some(imported) => {
            let files: Vec<&str> = imported.files.iter().map(|file| file.name.as_str()).collect();
            rules.push(("Ballots", format!("imported from {}; nobody was asked here", files.join(", "))));
        }
        None => rules.extend([
            ("Own answers", format!("--self-vote {}", verdict.self_vote.as_str())),
            ("Answers of kin", format!("--recuse {}", verdict.recuse.as_str())),
            ("Authors that name themselves", format!("--leaks {}", verdict.leaks.as_str())),
            ("Passes", u32::from(verdict.passes).to_string()),
        ]),
    }
    rules
}
