//! The slots and their answers.

use std::collections::BTreeMap;

use super::model::{Answer, CellKind, Decided, Matrix, Said, Seat, Voted};
use super::reading::Reader;
use crate::ids::SlotId;
use crate::report::format::bytes;
use crate::session::slot::SlotState;
use crate::session::{Layout, SlotStatus, Status};
use crate::verdict::Names;

/// The most of one answer that a report holds, in bytes.
const LONGEST_ANSWER: u64 = 2 << 20;

/// Every slot, those with a rank first.
pub(super) fn of(
    status: &Status,
    decided: Option<&Decided>,
    voted: Option<&Voted>,
    names: &Names,
    reader: &mut Reader<'_>,
) -> Vec<Answer> {
    let place = |id: SlotId| {
        let rows = decided.map_or(&[][..], |decided| &decided.ranking);
        rows.iter().position(|row| row.seat.id == id).unwrap_or(usize::MAX)
    };
    let mut slots: Vec<(&SlotId, &SlotStatus)> = status.models.iter().collect();
    slots.sort_by_key(|(id, _)| (place(**id), **id));
    let mut answers: Vec<Answer> =
        slots.into_iter().map(|(id, entry)| answer(*id, entry, decided, names, reader)).collect();
    // Who votes on a task is filtered by its own vote.
    for member in voted.map_or(&[][..], |voted| &voted.members) {
        for answer in answers.iter_mut().filter(|answer| answer.seat.id == member.seat.id) {
            answer.votes = [member.kind].into();
            answer.tally = member.words.to_owned();
        }
    }
    answers
}

fn answer(id: SlotId, entry: &SlotStatus, decided: Option<&Decided>, names: &Names, reader: &mut Reader<'_>) -> Answer {
    let row = decided.and_then(|decided| decided.ranking.iter().find(|row| row.seat.id == id));
    let said = decided.map(|decided| said(&decided.matrix, id)).unwrap_or_default();
    let mut votes: BTreeMap<CellKind, u32> = BTreeMap::new();
    for one in &said {
        *votes.entry(one.cell.kind).or_default() += 1;
    }
    let tally: Vec<String> = votes.iter().map(|(kind, count)| format!("{count} {}", kind.as_str())).collect();
    let (text, problem) = match entry.state {
        SlotState::Completed => match reader.head(&Layout::response_name(id), LONGEST_ANSWER) {
            Ok(text) => (Some(text), None),
            Err(error) => (None, Some(error.to_string())),
        },
        _ => (None, None),
    };
    Answer {
        seat: Seat { id, name: names.slots.get(&id).cloned() },
        state: entry.state.as_str(),
        rank: row.map(|row| row.rank.clone()).filter(|rank| rank != "-"),
        won: row.is_some_and(|row| row.won),
        votes: votes.into_keys().collect(),
        tally: tally.join(", "),
        size: entry.output_size.map(bytes),
        text,
        problem,
        said,
    }
}

fn said(matrix: &Matrix, id: SlotId) -> Vec<Said> {
    let Some(column) = matrix.answers.iter().position(|seat| seat.id == id) else { return Vec::new() };
    let cells = matrix.rows.iter().filter_map(|row| Some((&row.judge, row.cells.get(column)?)));
    cells
        .filter(|(_, cell)| cell.kind != CellKind::Unseen)
        .map(|(judge, cell)| Said { judge: judge.clone(), cell: cell.clone() })
        .collect()
}
