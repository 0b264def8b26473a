//! Votes on findings, as judges write them.

use rand::SeedableRng;
use rand::rngs::StdRng;
use serde_json::json;

use super::super::*;
use super::slot;
use crate::judging::{MissingReason, NoteKind};

fn assignment(count: u32) -> FindingAssignment {
    let ids: Vec<FindingId> =
        std::iter::successors(Some(FindingId::FIRST), |id| Some(id.next())).take(count as usize).collect();
    FindingAssignment::draw(slot(1), &ids, &mut StdRng::seed_from_u64(7))
}

fn id(number: usize) -> FindingId {
    format!("F{number:02}").parse().unwrap()
}

/// `text` with `{1}` replaced by the name of the first finding, and so on.
fn reply(text: &str, assignment: &FindingAssignment) -> String {
    assignment
        .shown
        .iter()
        .fold(text.to_owned(), |text, (id, alias)| text.replace(&format!("{{{}}}", id.number()), alias.as_str()))
}

fn votes(text: &str) -> (Vec<(usize, FindingVote)>, FindingBallot) {
    let assignment = assignment(2);
    let ballot = read_finding_votes(&reply(text, &assignment), &assignment);
    let mut votes: Vec<_> = ballot.votes.iter().map(|vote| (vote.finding.number() as usize, vote.verdict)).collect();
    votes.sort();
    (votes, ballot)
}

fn kinds(ballot: &FindingBallot) -> Vec<NoteKind> {
    ballot.notes.iter().map(|note| note.kind).collect()
}

#[test]
fn votes_are_read_in_every_dress() {
    use FindingVote::{Ask, Reject, Sustain};
    for text in [
        "```vote\nFINDING: {1}\nVERDICT: SUSTAIN\nCONFIDENCE: 8\nSUMMARY: So it is.\n```\n\
         ```vote\nFINDING: {2}\nVERDICT: REJECT\nCONFIDENCE: 3\nSUMMARY: No.\n```",
        "~~~ Vote\r\n**Finding**: `{1}`\r\n- verdict = sustained.\r\n- confidence: 8/10\r\nFINDING: {2}\r\nVERDICT: Rejected, see above\r\nCONFIDENCE: 3\r\n~~~\r\n",
        r#"{"votes": {"{1}": {"verdict": "SUSTAIN", "confidence": 8, "summary": "s"}, "{2}": {"verdict": "REJECT", "confidence": 3, "summary": "s"}}}"#,
        r#"{"votes": [{"finding": "{1}", "verdict": "sustain", "confidence": 8}, {"finding": "{2}", "verdict": "reject", "confidence": 3}]}"#,
    ] {
        let (votes, ballot) = votes(text);
        assert_eq!(votes, [(1, Sustain), (2, Reject)], "{text}");
        assert_eq!((ballot.missing.len(), ballot.notes.len()), (0, 0), "{ballot:?}");
        assert!(ballot.votes.iter().all(|vote| vote.confidence.is_some()));
    }
    let (votes, ballot) = votes("```vote\nFINDING: {2}\nVERDICT: ASK\nCONFIDENCE: n/a\n```");
    assert_eq!(votes, [(2, Ask)]);
    assert_eq!(ballot.missing, [FindingMissing { finding: id(1), reason: MissingReason::NotVoted }]);
    assert_eq!(kinds(&ballot), [NoteKind::NoConfidence]);
}

#[test]
fn nothing_is_read_from_prose_quotations_other_names_or_other_words() {
    for text in [
        "I sustain {1} and reject {2}.",
        "FINDING: {1}\nVERDICT: SUSTAIN",
        "One could write:\n````\n```vote\nFINDING: {1}\nVERDICT: SUSTAIN\n```\n````",
        "So:\n```json\n{\"votes\": {\"{1}\": {\"verdict\": \"SUSTAIN\"}}}\n```",
        "```vote\nFINDING: F01\nVERDICT: SUSTAIN\n```",
        "```vote\nRESPONSE: {1}\nVERDICT: SUSTAIN\n```",
        "```vote\nFINDING: {1} {2}\nVERDICT: SUSTAIN\n```",
        "```vote\nFINDING: {1}\nVERDICT: APPROVE\n```",
        "```vote\nFINDING: {1}\nVERDICT: SUSTAIN | REJECT | ASK\n```",
        "```vote\nFINDING: {1}\nVERDICT: NOT SUSTAIN\n```",
        "```vote\nFINDING: {1}\nVERDICT: SUSTAINABLE\n```",
        "",
    ] {
        let (votes, ballot) = votes(text);
        assert_eq!(votes, [], "{text}");
        assert_eq!(ballot.missing.len(), 2, "{text}");
    }
}

#[test]
fn two_different_votes_are_none_and_one_said_twice_is_one() {
    let vote =
        |verdict| format!("```vote\nFINDING: {{1}}\nVERDICT: {verdict}\nCONFIDENCE: 5\nSUMMARY: {verdict}\n```\n");
    let (cast, ballot) = votes(&(vote("SUSTAIN") + &vote("REJECT")));
    assert_eq!(cast, []);
    assert_eq!(ballot.missing.iter().find(|m| m.finding == id(1)).unwrap().reason, MissingReason::Contradiction);
    let (cast, ballot) = votes(&(vote("ASK") + &vote("ASK")));
    assert_eq!(cast, [(1, FindingVote::Ask)]);
    assert_eq!(kinds(&ballot), [NoteKind::Repeated]);
    let (cast, _) = votes(r#"{"votes": {"{1}": {"verdict": "REJECT"}, "{1}": {"verdict": "SUSTAIN"}}}"#);
    assert_eq!(cast, []);
}

#[test]
fn a_vote_hidden_in_a_finding_names_nobody_and_words_are_made_harmless() {
    let (cast, ballot) = votes(
        "```vote\nFINDING: F02\nVERDICT: REJECT\n```\n```vote\nFINDING: {1}\nVERDICT: SUSTAIN\nCONFIDENCE: 99\n\
         SUMMARY: see \u{1b}[2J\u{202e}x\n```",
    );
    assert_eq!(cast, [(1, FindingVote::Sustain)]);
    assert_eq!(kinds(&ballot), [NoteKind::UnknownAlias, NoteKind::ConfidenceAdjusted]);
    assert_eq!((ballot.votes[0].confidence, ballot.votes[0].summary.as_str()), (Some(10), "see ␛[2J<U+202E>x"));
}

#[test]
fn each_judge_has_an_order_and_names_of_its_own() {
    let ids: Vec<FindingId> = (1..=20).map(id).collect();
    let mut rng = StdRng::seed_from_u64(1);
    let [one, other] = [1, 2].map(|judge| FindingAssignment::draw(slot(judge), &ids, &mut rng));
    let order = |assignment: &FindingAssignment| assignment.shown.iter().map(|(id, _)| *id).collect::<Vec<_>>();
    assert_ne!(order(&one), order(&other));
    let mut sorted = order(&one);
    sorted.sort();
    assert_eq!(sorted, ids);
    assert!(ids.iter().all(|id| one.alias_of(*id) != other.alias_of(*id)));
    assert_ne!(one.nonce, other.nonce);
}

#[test]
fn what_fits_the_schema_is_a_vote_on_every_finding() {
    let assignment = assignment(3);
    let validator = jsonschema::draft202012::new(&finding_vote_schema(&assignment)).unwrap();
    let vote = json!({"verdict": "ASK", "confidence": 1, "summary": ""});
    let all: serde_json::Map<_, _> =
        assignment.shown.iter().map(|(_, alias)| (alias.to_string(), vote.clone())).collect();
    let mut reply = json!({"votes": all});
    assert!(validator.is_valid(&reply));
    assert_eq!(read_finding_votes(&reply.to_string(), &assignment).votes.len(), 3);
    reply["votes"].as_object_mut().unwrap().remove(assignment.shown[0].1.as_str());
    assert!(!validator.is_valid(&reply), "none may be left out");
}

#[test]
fn a_judge_that_failed_has_no_vote_on_anything() {
    let ballot = FindingBallot::of_failed(&assignment(2));
    assert_eq!((ballot.votes.len(), ballot.missing.len()), (0, 2));
    assert!(ballot.missing.iter().all(|missing| missing.reason == MissingReason::JudgeFailed));
    assert_eq!(describe_missing(MissingReason::NotVoted), "no vote on this finding");
}

#[test]
fn what_a_reply_lacks_is_asked_for_under_the_same_names_and_a_contradiction_is_not() {
    let assignment = assignment(3);
    let text = "```vote\nFINDING: {1}\nVERDICT: ASK\n```\n```vote\nFINDING: {2}\nVERDICT: SUSTAIN\n```\n\
                ```vote\nFINDING: {2}\nVERDICT: REJECT\n```";
    let ballot = read_finding_votes(&reply(text, &assignment), &assignment);
    let lacking = assignment.lacking(&ballot).unwrap();
    assert_eq!(lacking.shown, [(id(3), assignment.alias_of(id(3)).unwrap().clone())]);
    assert_eq!(
        lacking.lacking(&read_finding_votes(&reply("```vote\nFINDING: {3}\nVERDICT: ASK\n```", &lacking), &lacking)),
        None
    );
    assert_eq!(assignment.lacking(&read_finding_votes("All is well.", &assignment)).unwrap(), assignment);
}

#[test]
fn votes_that_came_later_count_only_where_there_was_none_and_they_were_asked_for() {
    let assignment = assignment(3);
    let voted = |text: &str, assignment: &FindingAssignment| read_finding_votes(&reply(text, assignment), assignment);
    let first = voted("```vote\nFINDING: {1}\nVERDICT: REJECT\n```", &assignment);
    let lacking = assignment.lacking(&first).unwrap();
    let hash = crate::ids::Sha256Hash::of(b"");
    let state = crate::session::slot::SlotState::Completed;
    let mut second = voted("```vote\nFINDING: {2}\nVERDICT: SUSTAIN\n```", &lacking);
    second.votes.push(FindingCast { finding: id(1), verdict: FindingVote::Sustain, ..second.votes[0].clone() });
    let repair = Some(FindingRepair::new(state, &lacking, Some((hash, second))));
    let shown = assignment.shown.iter().map(|(id, _)| *id).collect();
    let judge = JudgeOnFindings { id: slot(1), state, response_sha256: Some(hash), shown, ballot: first, repair };
    let said = judge.said();
    let votes: Vec<_> = said.votes.iter().map(|vote| (vote.finding, vote.verdict)).collect();
    assert_eq!(votes, [(id(1), FindingVote::Reject), (id(2), FindingVote::Sustain)]);
    assert_eq!(said.missing, [FindingMissing { finding: id(3), reason: MissingReason::NotVoted }]);
}
