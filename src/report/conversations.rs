//! How conversations went, in lines.

use std::collections::BTreeMap;

use super::format::without_controls;
use crate::session::slot::{HAS_NO_CONVERSATIONS, TurnEnd, TurnMode};
use crate::session::{Participant, Spoken, TurnNote};

/// A line for each seat, and below it one for each turn that was not taken in the seat's own conversation, with the reason.
/// `name` says who a seat is, where that may be told.
#[must_use]
pub fn conversation_lines(
    spoken: &[Spoken],
    name: impl Fn(Participant) -> Option<String>,
) -> Vec<(String, Vec<String>)> {
    let mut seats: BTreeMap<Participant, Vec<&Spoken>> = BTreeMap::new();
    for one in spoken {
        seats.entry(one.of).or_default().push(one);
    }
    let lines = seats.into_iter().map(|(of, spoken)| {
        let mut answered: Vec<&TurnNote> = spoken.iter().flat_map(|one| &one.answered).collect();
        let of_all = |mode: TurnMode| answered.iter().filter(|turn| mode_of(turn) == Some(mode)).count();
        let alone = answered.iter().filter(|turn| mode_of(turn).is_none()).count();
        let answers = match answered.len() {
            1 => "one answer".to_owned(),
            count => format!("{count} answers"),
        };
        let is_without = |turn: &&TurnNote| why_of(turn) == Some(HAS_NO_CONVERSATIONS);
        let how = match (alone == answered.len(), of_all(TurnMode::Continued)) {
            (true, _) => "each alone".to_owned(),
            (false, 0) if answered.iter().any(is_without) => {
                format!("each with the whole prompt, for {HAS_NO_CONVERSATIONS}")
            }
            (false, continued) => format!("{continued} of them with what was said before"),
        };
        answered.retain(|turn| !is_without(turn));
        let name = name(of).map(|name| format!(" ({name})")).unwrap_or_default();
        (format!("{of}{name}: {answers}, {how}"), answered.iter().filter_map(|turn| strayed(turn)).collect())
    });
    lines.collect()
}

fn why_of(turn: &TurnNote) -> Option<&str> {
    turn.taken.as_ref()?.why.as_deref()
}

fn mode_of(turn: &TurnNote) -> Option<TurnMode> {
    turn.taken.as_ref().map(|taken| taken.mode)
}

/// Where a turn was taken that was not taken where it belongs.
fn strayed(turn: &TurnNote) -> Option<String> {
    let TurnEnd { mode, why, .. } = turn.taken.as_ref()?;
    let what = match mode {
        TurnMode::Begun | TurnMode::Continued => return None,
        TurnMode::Anew => "begun anew, with the whole prompt",
        TurnMode::Replaced => "answered in another conversation",
    };
    let why = why.as_deref().map(|why| format!(": {}", without_controls(why).replace('\n', " "))).unwrap_or_default();
    Some(format!("{}: {what}{why}", turn.folder))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Role;

    #[test]
    fn each_seat_is_told_with_the_turns_that_went_astray_and_why() {
        let seat = |number: usize| crate::ids::SlotId::panel(9).nth(number - 1).unwrap();
        let turn = |number: u32, mode: Option<TurnMode>, why: Option<&str>| TurnNote {
            number,
            folder: format!("reviews/impl-review-{number}"),
            slot: seat(3),
            heard: 0,
            taken: mode.map(|mode| TurnEnd { mode, why: why.map(str::to_owned), kept: None }),
        };
        let of = |role, number| Participant { role, seat: seat(number) };
        let one = |of: Participant, answered| Spoken { of, file: "roles/x.jsonl".to_owned(), answered };
        let anew = turn(2, Some(TurnMode::Anew), Some("not\u{1b}[2J found"));
        let spoken = [
            one(of(Role::Reviewer, 2), vec![turn(1, Some(TurnMode::Begun), None), anew]),
            one(of(Role::Reviewer, 2), vec![turn(3, Some(TurnMode::Continued), None)]),
            one(of(Role::Fixer, 1), vec![turn(1, None, None)]),
            one(
                of(Role::Reviewer, 3),
                vec![turn(1, Some(TurnMode::Begun), None), turn(2, Some(TurnMode::Anew), Some(HAS_NO_CONVERSATIONS))],
            ),
        ];
        let lines = conversation_lines(&spoken, |of| (of.role == Role::Fixer).then(|| "m".to_owned()));
        assert_eq!(lines[0].0, "reviewer 02: 3 answers, 1 of them with what was said before");
        let told = format!("reviewer 03: 2 answers, each with the whole prompt, for {HAS_NO_CONVERSATIONS}");
        assert_eq!(lines[1], (told, Vec::new()));
        assert_eq!(lines[2], ("fixer 01 (m): one answer, each alone".to_owned(), Vec::new()));
        let [strayed] = &lines[0].1[..] else { panic!("{lines:?}") };
        assert!(strayed.starts_with("reviews/impl-review-2: begun anew, with the whole prompt: not"), "{strayed}");
        assert!(!strayed.contains('\u{1b}'));
    }
}
