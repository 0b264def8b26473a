//! How a conversation went so far, from what was said in it.

use crate::session::slot::{TurnEnd, TurnMode};
use crate::session::{Message, Speaker, TurnNote};
use crate::slots::http::Exchange;

/// A conversation so far.
#[derive(Debug, Default)]
pub(super) struct Course {
    /// The turns that were answered.
    pub(super) answered: Vec<TurnNote>,
    /// What somebody who goes on with it knows.
    pub(super) exchanges: Vec<Exchange>,
    /// A prompt that no answer has come to yet.
    pub(super) open: Option<(TurnNote, String)>,
    /// Everything that was added, in order.
    added: Vec<String>,
}

impl Course {
    pub(super) fn of(messages: Vec<Message>) -> Self {
        let mut course = Self::default();
        for Message { from, text, turn, .. } in messages {
            match (from, turn) {
                (Speaker::Team, None) => course.added.push(text),
                (Speaker::Team, Some(turn)) => course.open = Some((turn, text)),
                // Nobody asked for it, so nobody can say what it answers.
                (Speaker::Participant, None) => {}
                (Speaker::Participant, Some(turn)) => course.answer(turn, text),
            }
        }
        course
    }

    fn answer(&mut self, turn: TurnNote, answered: String) {
        let goes_on = matches!(turn.taken, Some(TurnEnd { mode: TurnMode::Continued, .. }));
        if !goes_on {
            self.exchanges.clear();
        }
        if let Some((asked, text)) = self.open.take()
            && asked.is_same_turn(&turn)
        {
            self.exchanges.push(Exchange { asked: text, answered });
        }
        self.answered.push(turn);
    }

    /// The last turn that was answered.
    pub(super) fn last(&self) -> Option<&TurnNote> {
        self.answered.last()
    }

    /// The number of the next turn.
    pub(super) fn next_number(&self) -> u32 {
        self.last().map_or(0, |last| last.number) + 1
    }

    /// How much was added by now.
    pub(super) fn added(&self) -> u32 {
        u32::try_from(self.added.len()).unwrap_or(u32::MAX)
    }

    /// `prompt`, after what was added up to `added` and nobody has heard yet.
    pub(super) fn with_added(&self, added: u32, prompt: &str) -> String {
        let heard = self.last().map_or(0, |last| last.heard) as usize;
        let news = self.added.iter().take(added as usize).skip(heard).map(String::as_str);
        news.chain([prompt]).collect::<Vec<_>>().join("\n\n")
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    fn note(number: u32, heard: u32, mode: Option<TurnMode>) -> TurnNote {
        let taken = mode.map(|mode| TurnEnd { mode, why: None, kept: None });
        TurnNote { number, folder: "reviews/r".to_owned(), slot: "01".parse().unwrap(), heard, taken }
    }

    fn course(said: &[(Speaker, &str, Option<TurnNote>)]) -> Course {
        let message = |(from, text, turn): &(Speaker, &str, Option<TurnNote>)| Message {
            at: Timestamp::UNIX_EPOCH,
            from: *from,
            text: (*text).to_owned(),
            turn: turn.clone(),
        };
        Course::of(said.iter().map(message).collect())
    }

    fn known(course: &Course) -> Vec<(&str, &str)> {
        course.exchanges.iter().map(|exchange| (&*exchange.asked, &*exchange.answered)).collect()
    }

    #[test]
    fn what_is_known_begins_with_the_last_turn_that_was_begun_anew() {
        use Speaker::{Participant, Team};
        let mut said = vec![
            (Team, "one", Some(note(1, 0, None))),
            (Participant, "1", Some(note(1, 0, Some(TurnMode::Begun)))),
            (Team, "two", Some(note(2, 0, None))),
            (Participant, "2", Some(note(2, 0, Some(TurnMode::Continued)))),
        ];
        let before = course(&said);
        assert_eq!(known(&before), [("one", "1"), ("two", "2")]);
        assert_eq!((before.next_number(), before.open.is_some()), (3, false));
        said.push((Team, "three, briefly", Some(note(3, 0, None))));
        said.push((Team, "three, all of it", Some(note(3, 0, None))));
        said.push((Participant, "3", Some(note(3, 0, Some(TurnMode::Anew)))));
        assert_eq!(known(&course(&said)), [("three, all of it", "3")]);
    }

    #[test]
    fn what_is_added_is_heard_once_also_when_it_comes_while_somebody_answers_or_fails_to() {
        use Speaker::{Participant, Team};
        let mut said = vec![(Team, "first", None), (Team, "go", Some(note(1, 1, None))), (Team, "late", None)];
        let failed = course(&said);
        assert_eq!(failed.with_added(failed.added(), "go"), "first\n\nlate\n\ngo", "nothing was answered");
        said.push((Participant, "1", Some(note(1, 1, Some(TurnMode::Begun)))));
        let answered = course(&said);
        assert_eq!(answered.with_added(answered.added(), "more"), "late\n\nmore");
        assert_eq!(answered.with_added(1, "more"), "more");
    }
}
