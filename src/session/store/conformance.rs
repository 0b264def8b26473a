//! One suite for every backend: what the traits promise.

use std::collections::BTreeMap;
use std::path::Path;

use jiff::Timestamp;

use super::memory::MemorySessions;
use super::traits::{Checkpoints, Events, LifeCycle, Messages, Metadata, Sessions, Statistics};
use crate::ids::{Sha256Hash, SlotId};
use crate::session::slot::{Reason, SlotState, Usage};
use crate::session::testing::model;
use crate::session::{
    Catalogue, Event, EventsSeal, Meta, NewSession, Participant, Phase, Question, Role, SessionError, SessionKind,
    SessionMove, SessionState, SlotEnd, SlotError, Speaker, Why, session_transition,
};

/// A place of sessions whose contents can be compared.
trait Place: Sessions {
    fn contents(&self) -> String;
}

impl Place for MemorySessions {
    fn contents(&self) -> String {
        self.contents()
    }
}

impl Place for Catalogue {
    fn contents(&self) -> String {
        fn walk(folder: &Path, found: &mut BTreeMap<String, Sha256Hash>) {
            for entry in fs_err::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    walk(&path, found);
                } else if path.file_name().is_none_or(|name| name != ".lock") {
                    found.insert(path.display().to_string(), Sha256Hash::of(&fs_err::read(&path).unwrap()));
                }
            }
        }
        let mut found = BTreeMap::new();
        walk(self.base(), &mut found);
        format!("{found:?}")
    }
}

/// Runs each of these against every backend.
macro_rules! suite {
    ($($name:ident,)+) => {
        mod in_a_folder {
            $(#[test]
            fn $name() {
                let dir = tempfile::tempdir().unwrap();
                super::$name(&super::Catalogue::new(dir.path()));
            })+
        }

        mod in_memory {
            $(#[test]
            fn $name() {
                super::$name(&super::MemorySessions::default());
            })+
        }
    };
}

suite! {
    only_the_moves_of_the_table_are_made_and_a_forbidden_one_changes_nothing,
    each_line_holds_the_hash_of_the_one_before_and_what_cannot_follow_is_not_appended,
    what_a_session_says_of_itself_is_written_at_the_close_with_the_seal,
    closing_again_changes_nothing_and_what_waits_is_never_closed_as_anything_else,
    each_seat_of_each_role_has_a_conversation_of_its_own_that_outlives_its_owner,
    at_the_close_conversations_are_sealed_and_what_is_resumed_begins_new_ones,
    one_conversation_is_ended_and_begun_again_beside_the_others,
    a_decision_is_waited_for_once_outlives_its_owner_and_is_consumed,
    a_decision_is_none_of_other_choices_and_nothing_is_decided_twice,
    conversations_go_on_after_a_decision,
    the_catalogue_lists_in_order_and_finds_by_id_prefix_and_latest_without_writing,
    statistics_are_folded_from_the_record,
    a_session_has_one_owner_and_is_found_as_it_was_when_that_one_dies,
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn make<S: Sessions>(place: &S, title: &str, second: i64) -> S::Owned {
    let new = NewSession {
        base: Path::new("/nonexistent"),
        kind: SessionKind::Fix,
        title,
        input: b"the task",
        task: None,
        models: vec![model("a"), model("b")],
        isolation: "none".to_owned(),
        prompts: BTreeMap::new(),
        plan: None,
        judges: None,
        pipeline: None,
    };
    place.create(new, at(second), &mut rand::rng()).unwrap()
}

fn slots(events: &impl Events) -> [SlotId; 2] {
    events.status().models.keys().copied().collect::<Vec<_>>().try_into().unwrap()
}

fn with(role: Role, seat: SlotId) -> Participant {
    Participant { role, seat }
}

fn said(session: &impl Messages, of: Participant) -> Vec<(Speaker, String)> {
    session.messages(of).unwrap().into_iter().map(|message| (message.from, message.text)).collect()
}

fn question(choices: &[&str]) -> Question {
    Question {
        text: "which way?".to_owned(),
        choices: choices.iter().map(|choice| (*choice).to_owned()).collect(),
        checkpoint: Some(serde_json::json!({"round": 2})),
    }
}

const ENDS: [SessionState; 3] = [SessionState::Completed, SessionState::Failed, SessionState::Cancelled];

fn only_the_moves_of_the_table_are_made_and_a_forbidden_one_changes_nothing<S: Place>(place: &S) {
    use SessionState::{Closing, InProgress, Interrupted};
    for state in ENDS {
        let mut session = make(place, "x", 1);
        let before = place.contents();
        for forbidden in [InProgress, Closing, Interrupted] {
            assert!(matches!(session.close(forbidden, at(2)), Err(SessionError::Move { .. })), "{forbidden:?}");
        }
        assert!(matches!(session.reopen(at(2)), Err(SessionError::Move { .. })), "it goes on");
        assert_eq!(place.contents(), before);
        assert_eq!(session.close(state, at(2)).unwrap(), state);
        session.reopen(at(3)).unwrap();
        assert_eq!(session.state(), InProgress);
        session.close(state, at(4)).unwrap();
        session.resume(at(5)).unwrap();
        assert_eq!(session.state(), InProgress);
    }
    let mut session = make(place, "x", 1);
    session.await_decision(question(&[]), at(2)).unwrap();
    session.close(SessionState::AwaitingDecision, at(3)).unwrap();
    let before = place.contents();
    assert!(session_transition(session.state(), SessionMove::Reopen(Why::Judge)).is_err());
    assert!(session.reopen(at(4)).is_err(), "what waits is not judged");
    assert_eq!(place.contents(), before);
}

fn each_line_holds_the_hash_of_the_one_before_and_what_cannot_follow_is_not_appended<S: Place>(place: &S) {
    let mut session = make(place, "x", 10);
    let [slot, _] = slots(&session);
    session.record(Event::SlotStarted { slot, attempt: 1 }, at(20)).unwrap();
    // A clock that was set back.
    session.record(Event::Revealed, at(5)).unwrap();
    session.settle().unwrap();
    let records = session.records();
    assert_eq!(records.iter().map(|record| record.seq).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(records.iter().map(|record| record.at).collect::<Vec<_>>(), [at(10), at(20), at(20)]);
    let hashes: Vec<Option<Sha256Hash>> =
        records.iter().map(|record| Some(Sha256Hash::of(&serde_json::to_vec(record).unwrap()))).collect();
    assert_eq!(records.iter().map(|record| record.prev).collect::<Vec<_>>(), [None, hashes[0], hashes[1]]);
    assert_eq!(session.head(), hashes[2]);
    let (before, status) = (place.contents(), session.status().clone());
    assert!(session.record(Event::SlotStarted { slot, attempt: 2 }, at(30)).is_err(), "it runs");
    assert!(session.record(Event::Interrupted, at(30)).is_ok());
    assert!(session.record(Event::Interrupted, at(30)).is_err(), "once");
    assert_eq!(session.records().len(), 4);
    assert_eq!(session.status().models, status.models);
    assert_ne!(place.contents(), before);
}

fn what_a_session_says_of_itself_is_written_at_the_close_with_the_seal<S: Place>(place: &S) {
    let mut session = make(place, "a title", 1);
    let id = session.id().to_owned();
    session.finish_phase(Phase::Run);
    session.finish_phase(Phase::Run);
    session.name_models();
    let read = |place: &S| place.list().unwrap().pop().unwrap();
    assert_eq!(read(place).models_used, None, "nobody is named before the close");
    session.close(SessionState::Completed, at(9)).unwrap();
    let Meta { session_id, target, status, phases_completed, models_used, completed_at, events, .. } = read(place);
    assert_eq!((session_id, target, status), (id, "a title".to_owned(), SessionState::Completed));
    assert_eq!(phases_completed, [Phase::Init, Phase::Run]);
    assert_eq!(models_used, Some(vec!["a".to_owned(), "b".to_owned()]));
    assert_eq!(completed_at, Some(at(9)));
    let count = session.records().len() as u64;
    assert_eq!(events, Some(EventsSeal { count, head: session.head().unwrap() }));
    let Event::Closed { meta, .. } = &session.records().last().unwrap().event else { panic!("it is closed") };
    assert_eq!(*meta, Some(session.meta().digest().unwrap()));
    session.resume(at(10)).unwrap();
    let meta = read(place);
    assert_eq!((meta.status, meta.completed_at, meta.events), (SessionState::InProgress, None, None));
}

fn closing_again_changes_nothing_and_what_waits_is_never_closed_as_anything_else<S: Place>(place: &S) {
    let mut session = make(place, "x", 1);
    session.close(SessionState::Failed, at(2)).unwrap();
    let before = place.contents();
    for state in ENDS {
        assert_eq!(session.close(state, at(3)).unwrap(), SessionState::Failed);
    }
    assert_eq!(place.contents(), before);

    let mut session = make(place, "y", 5);
    session.await_decision(question(&["left"]), at(6)).unwrap();
    for state in ENDS {
        // Also the first time: something went wrong after the question was put.
        assert_eq!(session.close(state, at(7)).unwrap(), SessionState::AwaitingDecision);
    }
    let id = session.id().to_owned();
    drop(session);
    let mut session = place.open(&id).unwrap();
    let before = place.contents();
    assert_eq!(session.close(SessionState::Cancelled, at(8)).unwrap(), SessionState::AwaitingDecision);
    assert_eq!(place.contents(), before);
    drop(session);
    assert!(place.open(&id).unwrap().waiting().is_some());
}

fn each_seat_of_each_role_has_a_conversation_of_its_own_that_outlives_its_owner<S: Place>(place: &S) {
    let mut session = make(place, "x", 1);
    let other = make(place, "other", 2);
    let [first, second] = slots(&session);
    let fixer = with(Role::Fixer, first);
    assert!(session.messages(fixer).unwrap().is_empty(), "nothing was said");
    let text = "two lines\nand \u{2028} a \"quote\" \u{0}";
    session.say(fixer, Speaker::Team, text, at(9)).unwrap();
    session.say(fixer, Speaker::Participant, "done", at(3)).unwrap();
    session.say(with(Role::Reviewer, first), Speaker::Team, "look", at(4)).unwrap();
    let expected = [(Speaker::Team, text.to_owned()), (Speaker::Participant, "done".to_owned())];
    assert_eq!(said(&session, fixer), expected);
    let times: Vec<Timestamp> = session.messages(fixer).unwrap().into_iter().map(|message| message.at).collect();
    assert_eq!(times, [at(9), at(9)], "a clock that was set back does not reorder them");
    for foreign in [with(Role::Fixer, second), with(Role::Judge, first)] {
        assert!(said(&session, foreign).is_empty(), "{foreign}");
    }
    assert!(said(&other, fixer).is_empty(), "another session");
    let id = session.id().to_owned();
    drop(session);
    let mut session = place.open(&id).unwrap();
    session.resume(at(20)).unwrap();
    session.say(fixer, Speaker::Team, "and now?", at(21)).unwrap();
    assert_eq!(said(&session, fixer)[..2], expected);
    assert_eq!(said(&session, fixer).len(), 3);
}

fn at_the_close_conversations_are_sealed_and_what_is_resumed_begins_new_ones<S: Place>(place: &S) {
    let mut session = make(place, "x", 1);
    let fixer = with(Role::Fixer, slots(&session)[0]);
    session.say(fixer, Speaker::Team, "mend it", at(2)).unwrap();
    session.close(SessionState::Cancelled, at(3)).unwrap();
    let sealed = session.records().iter().find_map(|record| match &record.event {
        Event::ConversationSealed { file, lines, .. } => Some((file.clone(), *lines)),
        _ => None,
    });
    assert_eq!(sealed, Some(("roles/fixer-01.jsonl".to_owned(), 2)));
    assert!(matches!(session.messages(fixer), Err(SessionError::Ended { .. })));
    let before = place.contents();
    assert!(matches!(session.say(fixer, Speaker::Team, "more", at(4)), Err(SessionError::Ended { .. })));
    assert!(session.await_decision(question(&[]), at(4)).is_err());
    assert_eq!(place.contents(), before);
    session.resume(at(5)).unwrap();
    assert!(said(&session, fixer).is_empty(), "it is a new one");
    session.say(fixer, Speaker::Team, "from the start", at(6)).unwrap();
    assert_eq!(said(&session, fixer).len(), 1);
    session.close(SessionState::Completed, at(7)).unwrap();
    let files = session.records().iter().filter_map(|record| match &record.event {
        Event::ConversationSealed { file, .. } => Some(file.as_str()),
        _ => None,
    });
    assert_eq!(files.collect::<Vec<_>>(), ["roles/fixer-01.jsonl", "roles/fixer-01-2.jsonl"]);
}

fn one_conversation_is_ended_and_begun_again_beside_the_others<S: Place>(place: &S) {
    let mut session = make(place, "again", 0);
    let [first, _] = slots(&session);
    let (fixer, reviewer) = (with(Role::Fixer, first), with(Role::Reviewer, first));
    session.end_conversation(fixer, at(1)).unwrap();
    session.say(fixer, Speaker::Team, "mend it", at(2)).unwrap();
    session.say(reviewer, Speaker::Team, "look", at(3)).unwrap();
    session.end_conversation(fixer, at(4)).unwrap();
    assert_eq!(said(&session, fixer), []);
    assert_eq!(said(&session, reviewer), [(Speaker::Team, "look".to_owned())]);
    session.say(fixer, Speaker::Team, "from the start", at(5)).unwrap();
    assert_eq!(said(&session, fixer), [(Speaker::Team, "from the start".to_owned())]);
    session.close(SessionState::Completed, at(6)).unwrap();
    assert!(matches!(session.end_conversation(fixer, at(7)), Err(SessionError::Ended { .. })));
}

fn a_decision_is_waited_for_once_outlives_its_owner_and_is_consumed<S: Place>(place: &S) {
    let mut session = make(place, "x", 1);
    assert_eq!(session.waiting(), None);
    assert_eq!(session.await_decision(question(&["left", "right"]), at(2)).unwrap(), 1);
    let twice = session.await_decision(question(&[]), at(3));
    assert!(matches!(twice, Err(SessionError::Waits { decision: 1, .. })));
    let id = session.id().to_owned();
    // Its owner dies before the close.
    drop(session);
    let mut session = place.open(&id).unwrap();
    session.resume(at(4)).unwrap();
    let waits = session.waiting().unwrap();
    assert_eq!((waits.decision, waits.since, waits.question), (1, at(2), question(&["left", "right"])));
    session.close(SessionState::Completed, at(5)).unwrap();
    drop(session);
    let mut session = place.open(&id).unwrap();
    assert_eq!(session.state(), SessionState::AwaitingDecision);
    let decided = session.decide("left", Some("because"), at(6)).unwrap();
    assert_eq!(decided.question.checkpoint, Some(serde_json::json!({"round": 2})));
    assert_eq!((session.state(), session.waiting()), (SessionState::InProgress, None));
    drop(session);
    let mut session = place.open(&id).unwrap();
    assert_eq!((session.state(), session.waiting()), (SessionState::InProgress, None), "it is consumed");
    session.resume(at(7)).unwrap();
    assert_eq!(session.await_decision(question(&[]), at(8)).unwrap(), 2);
    session.decide("any words", None, at(9)).unwrap();
    assert_eq!(session.close(SessionState::Completed, at(10)).unwrap(), SessionState::Completed);
}

fn a_decision_is_none_of_other_choices_and_nothing_is_decided_twice<S: Place>(place: &S) {
    let mut session = make(place, "x", 1);
    let nothing = session.decide("left", None, at(2));
    assert!(matches!(nothing, Err(SessionError::NothingToDecide(_))));
    session.await_decision(question(&["left", "right"]), at(3)).unwrap();
    session.close(SessionState::AwaitingDecision, at(4)).unwrap();
    let before = place.contents();
    for wrong in ["up", "", "LEFT"] {
        let error = session.decide(wrong, None, at(5)).unwrap_err();
        assert!(error.to_string().contains("choose one of `left`, `right`"), "{error}");
    }
    assert_eq!(place.contents(), before);
    session.decide("right", None, at(6)).unwrap();
    let before = place.contents();
    assert!(matches!(session.decide("right", None, at(7)), Err(SessionError::NothingToDecide(_))));
    assert_eq!(place.contents(), before);
}

fn conversations_go_on_after_a_decision<S: Place>(place: &S) {
    let mut session = make(place, "x", 1);
    let fixer = with(Role::Fixer, slots(&session)[0]);
    session.say(fixer, Speaker::Team, "one", at(2)).unwrap();
    session.await_decision(question(&[]), at(3)).unwrap();
    session.close(SessionState::AwaitingDecision, at(4)).unwrap();
    assert_eq!(said(&session, fixer).len(), 1, "it is not sealed");
    assert!(session.say(fixer, Speaker::Team, "too early", at(5)).is_err());
    session.decide("go on", None, at(6)).unwrap();
    session.say(fixer, Speaker::Team, "two", at(7)).unwrap();
    let texts: Vec<String> = said(&session, fixer).into_iter().map(|(_, text)| text).collect();
    assert_eq!(texts, ["one", "two"]);
}

fn the_catalogue_lists_in_order_and_finds_by_id_prefix_and_latest_without_writing<S: Place>(place: &S) {
    assert!(place.list().unwrap().is_empty());
    assert!(matches!(place.find("latest"), Err(SessionError::NotFound { .. })));
    let made: Vec<(i64, String)> = [("new", 30), ("old", 10), ("same", 20), ("same", 20)]
        .into_iter()
        .map(|(title, second)| (second, make(place, title, second).id().to_owned()))
        .collect();
    let mut expected = made.clone();
    expected.sort();
    let before = place.contents();
    let ids: Vec<String> = place.list().unwrap().into_iter().map(|meta| meta.session_id).collect();
    assert_eq!(ids, expected.into_iter().map(|(_, id)| id).collect::<Vec<_>>());
    assert_eq!(place.find("latest").unwrap(), made[0].1);
    assert_eq!(place.find(&made[1].1).unwrap(), made[1].1);
    assert_eq!(place.find("fix-old").unwrap(), made[1].1);
    let error = place.find("fix-same").unwrap_err();
    assert!(matches!(&error, SessionError::Ambiguous { candidates, .. } if candidates.len() == 2), "{error}");
    assert!(matches!(place.find("nope"), Err(SessionError::NotFound { .. })));
    assert!(matches!(place.open("fix-old"), Err(SessionError::NotFound { .. })), "only by its whole name");
    assert_eq!(place.contents(), before, "looking writes nothing and makes nothing");
}

fn statistics_are_folded_from_the_record<S: Place>(place: &S) {
    let mut session = make(place, "x", 1);
    assert_eq!(session.statistics(), crate::session::Statistics::default());
    let [first, second] = slots(&session);
    for slot in [first, second] {
        session.record(Event::SlotStarted { slot, attempt: 1 }, at(10)).unwrap();
    }
    session.record(Event::SlotRetry { slot: first, why: "busy".to_owned() }, at(11)).unwrap();
    let usage = Some(Usage { input_tokens: Some(7), ..Usage::default() });
    let end = SlotEnd { usage, ..SlotEnd::with_answer(1, 5, Sha256Hash::of(b"abcde")) };
    session.record(Event::SlotEnded { slot: first, end: Box::new(end) }, at(14)).unwrap();
    let end = SlotEnd::without_answer(1, SlotError::new(Reason::Auth, "no key"));
    session.record(Event::SlotEnded { slot: second, end: Box::new(end) }, at(12)).unwrap();
    session.say(with(Role::Fixer, first), Speaker::Team, "x", at(15)).unwrap();
    session.await_decision(question(&[]), at(16)).unwrap();
    let found = session.statistics();
    assert_eq!((found.attempts, found.retries, found.answer_bytes), (2, 1, 5));
    assert_eq!(found.ends, BTreeMap::from([(SlotState::Completed, 1), (SlotState::Failed, 1)]));
    assert_eq!(found.reasons, BTreeMap::from([(Reason::Auth, 1)]));
    assert_eq!((found.input_tokens, found.output_tokens), (Some(7), None), "what is unknown is not zero");
    // The record's clock does not run backwards: 4 seconds each.
    assert_eq!(found.busy.as_secs(), 8);
    assert_eq!((found.conversations, found.decisions), (1, (1, 0)));
    let id = session.id().to_owned();
    drop(session);
    assert_eq!(place.open(&id).unwrap().statistics(), found);
}

fn a_session_has_one_owner_and_is_found_as_it_was_when_that_one_dies<S: Place>(place: &S) {
    let mut session = make(place, "x", 1);
    let id = session.id().to_owned();
    assert!(matches!(place.open(&id), Err(SessionError::Owned { .. })));
    let [first, second] = slots(&session);
    session.record(Event::SlotStarted { slot: first, attempt: 1 }, at(2)).unwrap();
    let (records, status) = (session.records().to_vec(), session.status().clone());
    drop(session);
    let mut session = place.open(&id).unwrap();
    assert_eq!((session.records(), session.status()), (&records[..], &status));
    session.resume(at(3)).unwrap();
    let states: Vec<SlotState> = [first, second].iter().map(|slot| session.status().models[slot].state).collect();
    assert_eq!((session.state(), states), (SessionState::InProgress, vec![SlotState::Pending; 2]));
    let interrupted = session.records().iter().filter(|record| matches!(record.event, Event::Interrupted)).count();
    assert_eq!(interrupted, 1);
    let lost = session.records().iter().find_map(|record| match &record.event {
        Event::SlotEnded { slot, end } => Some((*slot, end.state)),
        _ => None,
    });
    assert_eq!(lost, Some((first, SlotState::Lost)), "every start has an end");
    session.record(Event::SlotStarted { slot: first, attempt: 2 }, at(4)).unwrap();
    assert!(matches!(place.open("fix-nope"), Err(SessionError::NotFound { .. })));
}
