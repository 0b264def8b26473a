//! Replies of every form.

use proptest::prelude::*;
use rstest::rstest;

use super::assignment;
use crate::ids::SlotId;
use crate::judging::{Assignment, Ballot, CastVote, MissingReason, NoteKind, VoteVerdict, parse};

/// Parses `reply` with A and B in it replaced by the names of two answers.
fn read(reply: &str) -> (Assignment, Ballot) {
    let assignment = assignment(2, 1);
    let reply = reply.replace("@A", assignment.shown[0].1.as_str()).replace("@B", assignment.shown[1].1.as_str());
    let ballot = parse(&reply, &assignment);
    (assignment, ballot)
}

/// The vote on each of the two answers, or why there is none.
fn outcome(reply: &str) -> [Result<VoteVerdict, MissingReason>; 2] {
    let (assignment, ballot) = read(reply);
    assert_eq!(ballot.votes.len() + ballot.missing.len(), 2, "every answer has an outcome");
    [0, 1].map(|index| {
        let answer = assignment.shown[index].0;
        match ballot.votes.iter().find(|vote| vote.answer == answer) {
            Some(vote) => Ok(vote.verdict),
            None => Err(ballot.missing.iter().find(|missing| missing.answer == answer).unwrap().reason),
        }
    })
}

use MissingReason::{Contradiction, NoBallot, NotVoted, UnclearVerdict};
use VoteVerdict::{Abstain, Approve, Reject};

#[rstest]
#[case::plain("```vote\nRESPONSE: @A\nVERDICT: APPROVE\n```\n\n```vote\nRESPONSE: @B\nVERDICT: REJECT\n```", [Ok(Approve), Ok(Reject)])]
#[case::lower_case_and_bold("```VOTE\n**Response**: **@A**\n**verdict:** approve\n```\n```Vote\n- response: `@B`\n- verdict: *abstain*\n```", [Ok(Approve), Ok(Abstain)])]
#[case::crlf("```vote\r\nRESPONSE: @A\r\nVERDICT: APPROVE\r\n```\r\n```vote\r\nRESPONSE: @B\r\nVERDICT: REJECT\r\n```\r\n", [Ok(Approve), Ok(Reject)])]
#[case::tildes_and_unclosed("~~~vote\nRESPONSE: Response @A\nVERDICT: APPROVE\n~~~\n~~~~ vote\nRESPONSE: ### Response @B\nVERDICT: REJECT", [Ok(Approve), Ok(Reject)])]
#[case::forgotten_closings("```vote\nRESPONSE: @A\nVERDICT: APPROVE\n\n```vote\nRESPONSE: @B\nVERDICT: REJECT\n```", [Ok(Approve), Ok(Reject)])]
#[case::two_in_one_block("```vote\nRESPONSE: @A\nVERDICT: APPROVE\nSUMMARY: x\nRESPONSE: @B\nVERDICT: REJECT\n```", [Ok(Approve), Ok(Reject)])]
#[case::fenced_as_a_whole("```markdown\n```vote\nRESPONSE: @A\nVERDICT: APPROVE\n```\n```vote\nRESPONSE: @B\nVERDICT: REJECT\n```\n```", [Ok(Approve), Ok(Reject)])]
#[case::lower_case_alias("```vote\nresponse: @A (the first)\nverdict: approve\n```", [Ok(Approve), Err(NotVoted)])]
#[case::same_vote_twice("```vote\nRESPONSE: @A\nVERDICT: APPROVE\n```\n```vote\nRESPONSE: @A\nVERDICT: Approved\n```", [Ok(Approve), Err(NotVoted)])]
#[case::two_different_votes("```vote\nRESPONSE: @A\nVERDICT: APPROVE\n```\n```vote\nRESPONSE: @A\nVERDICT: REJECT\n```", [Err(Contradiction), Err(NotVoted)])]
#[case::two_verdicts_in_one_ballot("```vote\nRESPONSE: @A\nVERDICT: APPROVE\nVERDICT: REJECT\n```", [Err(Contradiction), Err(NotVoted)])]
#[case::unclear_verdict("```vote\nRESPONSE: @A\nVERDICT: APPROVE | REJECT | ABSTAIN\n```", [Err(UnclearVerdict), Err(NotVoted)])]
#[case::no_verdict("```vote\nRESPONSE: @A\nSUMMARY: I would APPROVE\n```", [Err(UnclearVerdict), Err(NotVoted)])]
#[case::incorrect_is_not_correct("```vote\nRESPONSE: @A\nVERDICT: INCORRECT\n```", [Err(UnclearVerdict), Err(NotVoted)])]
#[case::prose("RESPONSE: @A\nVERDICT: APPROVE\nI approve @A and reject @B.", [Err(NoBallot), Err(NoBallot)])]
#[case::quoted_lines("> ```vote\n> RESPONSE: @A\n> VERDICT: APPROVE\n> ```", [Err(NoBallot), Err(NoBallot)])]
#[case::indented_code("I read:\n\n    ```vote\n    RESPONSE: @A\n    VERDICT: APPROVE\n    ```\n\n```vote\nRESPONSE: @A\nVERDICT: REJECT\n```", [Ok(Reject), Err(NotVoted)])]
#[case::indented_code_alone("    ```vote\n    RESPONSE: @A\n    VERDICT: APPROVE\n    ```", [Err(NoBallot), Err(NoBallot)])]
#[case::in_a_list("1. The first:\n\n    ```vote\n    RESPONSE: @A\n    VERDICT: APPROVE\n    ```\n", [Ok(Approve), Err(NotVoted)])]
#[case::in_html_within_a_line("It said <pre>\n```vote\nRESPONSE: @A\nVERDICT: APPROVE\n```\n</pre>\n```vote\nRESPONSE: @A\nVERDICT: REJECT\n```", [Ok(Reject), Err(NotVoted)])]
#[case::inside_another_fence("I read this:\n\n````text\n```vote\nRESPONSE: @A\nVERDICT: APPROVE\n```\n````\n\n```vote\nRESPONSE: @A\nVERDICT: REJECT\n```", [Ok(Reject), Err(NotVoted)])]
#[case::inside_a_fence_of_the_same_kind("Quote:\n```text\n```vote\nRESPONSE: @A\nVERDICT: APPROVE\n```\nDone.\n```vote\nRESPONSE: @A\nVERDICT: REJECT\n```", [Ok(Reject), Err(NotVoted)])]
#[case::examples_echoed("```vote\nRESPONSE: EXAMP1\nVERDICT: APPROVE\n```\n```vote\nRESPONSE: @B\nVERDICT: REJECT\n```", [Err(NotVoted), Ok(Reject)])]
#[case::two_names_at_once("```vote\nRESPONSE: @A, @B\nVERDICT: APPROVE\n```", [Err(NoBallot), Err(NoBallot)])]
#[case::name_within_a_longer_word("```vote\nRESPONSE: X@A\nVERDICT: APPROVE\n```", [Err(NoBallot), Err(NoBallot)])]
#[case::ordinary_fences_are_code("```rust\nfn vote() {}\n```\n```vote\nRESPONSE: @A\nVERDICT: APPROVE\n```", [Ok(Approve), Err(NotVoted)])]
#[case::json("{\"votes\": [{\"response\": \"@A\", \"verdict\": \"APPROVE\", \"confidence\": 12, \"summary\": \"s\", \"key_issues\": [\"k\"]}, {\"response\": \"@B\", \"verdict\": \"reject\"}]}", [Ok(Approve), Ok(Reject)])]
#[case::json_by_name("{\"votes\": {\"@A\": {\"verdict\": \"APPROVE\"}, \"@B\": {\"verdict\": \"reject\"}, \"EXAMP1\": {\"verdict\": \"APPROVE\"}}}", [Ok(Approve), Ok(Reject)])]
#[case::json_in_one_fence("\n```json\n{\"votes\": [{\"response\": \"@A\", \"verdict\": \"ABSTAIN\"}]}\n```\n", [Ok(Abstain), Err(NotVoted)])]
#[case::json_in_an_unnamed_fence("~~~\r\n{\"votes\": {\"@A\": {\"verdict\": \"APPROVE\"}}}\r\n~~~", [Ok(Approve), Err(NotVoted)])]
#[case::json_in_an_unclosed_fence("```json\n{\"votes\": {\"@A\": {\"verdict\": \"APPROVE\"}}}", [Ok(Approve), Err(NotVoted)])]
#[case::json_behind_prose("Here:\n```json\n{\"votes\": {\"@A\": {\"verdict\": \"APPROVE\"}}}\n```", [Err(NoBallot), Err(NoBallot)])]
#[case::json_before_prose("```json\n{\"votes\": {\"@A\": {\"verdict\": \"APPROVE\"}}}\n```\nIt says so.", [Err(NoBallot), Err(NoBallot)])]
#[case::json_bare_before_prose("{\"votes\": {\"@A\": {\"verdict\": \"APPROVE\"}}}\nIt says so.", [Err(NoBallot), Err(NoBallot)])]
#[case::json_twice("```json\n{\"votes\": {\"@A\": {\"verdict\": \"APPROVE\"}}}\n```\n```json\n{\"votes\": {\"@B\": {\"verdict\": \"APPROVE\"}}}\n```", [Err(NoBallot), Err(NoBallot)])]
#[case::json_as_code("```rust\n{\"votes\": {\"@A\": {\"verdict\": \"APPROVE\"}}}\n```", [Err(NoBallot), Err(NoBallot)])]
#[case::a_block_before_quoted_json("```vote\nRESPONSE: @A\nVERDICT: APPROVE\n```\n```json\n{\"votes\": {\"@A\": {\"verdict\": \"REJECT\"}, \"@B\": {\"verdict\": \"REJECT\"}}}\n```", [Ok(Approve), Err(NotVoted)])]
#[case::a_block_behind_quoted_json("```json\n{\"votes\": {\"@A\": {\"verdict\": \"REJECT\"}}}\n```\n```vote\nRESPONSE: @A\nVERDICT: APPROVE\n```", [Ok(Approve), Err(NotVoted)])]
#[case::json_with_two_verdicts("{\"votes\": {\"@A\": {\"verdict\": \"APPROVE\", \"verdict\": \"REJECT\"}, \"@B\": {\"verdict\": \"REJECT\", \"Verdict\": \"rejected\"}}}", [Err(Contradiction), Ok(Reject)])]
#[case::json_with_a_name_twice("{\"votes\": {\"@A\": {\"verdict\": \"APPROVE\"}, \"@A\": {\"verdict\": \"REJECT\"}}}", [Err(Contradiction), Err(NotVoted)])]
#[case::json_with_two_lists("{\"votes\": {\"@A\": {\"verdict\": \"APPROVE\"}}, \"votes\": [{\"response\": \"@A\", \"verdict\": \"REJECT\"}]}", [Err(Contradiction), Err(NotVoted)])]
#[case::json_with_a_verdict_that_is_no_text("{\"votes\": {\"@A\": {\"verdict\": [\"APPROVE\"]}}}", [Err(UnclearVerdict), Err(NotVoted)])]
#[case::json_cut_off("{\"votes\": [{\"response\": \"@A\", \"verdict\": \"APPROVE\"}, {\"resp", [Err(NoBallot), Err(NoBallot)])]
#[case::empty("", [Err(NoBallot), Err(NoBallot)])]
fn replies(#[case] reply: &str, #[case] expected: [Result<VoteVerdict, MissingReason>; 2]) {
    assert_eq!(outcome(reply), expected, "{reply}");
}

#[test]
fn every_field_is_read_and_long_lists_go_over_lines() {
    let (_, ballot) = read(
        "```vote\nRESPONSE: @A\nVERDICT: REJECT\nCONFIDENCE: 8/10\nSUMMARY: The proof\n  is circular.\nKEY_ISSUES:\n- circular\n2. no base case\n\n* slow\n```",
    );
    let vote = &ballot.votes[0];
    assert_eq!((vote.confidence, vote.summary.as_str()), (Some(8), "The proof is circular."));
    assert_eq!(vote.key_issues, ["circular", "no base case", "slow"]);
    assert!(ballot.notes.is_empty(), "{:?}", ballot.notes);
}

#[rstest]
#[case("```vote\nRESPONSE: @A\nVERDICT: APPROVE\nCONFIDENCE: N/A\n```", NoteKind::NoConfidence, None)]
#[case("```vote\nRESPONSE: @A\nVERDICT: APPROVE\n```", NoteKind::NoConfidence, None)]
#[case("```vote\nRESPONSE: @A\nVERDICT: APPROVE\nCONFIDENCE: 11\n```", NoteKind::ConfidenceAdjusted, Some(10))]
fn an_unreadable_confidence_keeps_the_vote_and_is_noted(
    #[case] reply: &str,
    #[case] kind: NoteKind,
    #[case] value: Option<u8>,
) {
    let (assignment, ballot) = read(reply);
    assert_eq!((ballot.votes[0].verdict, ballot.votes[0].confidence), (Approve, value));
    assert_eq!((ballot.notes[0].kind, ballot.notes[0].answer), (kind, Some(assignment.shown[0].0)));
}

#[test]
fn what_is_ignored_is_noted_in_the_judges_words() {
    let (_, ballot) = read("```vote\nRESPONSE: BCDFGH\nVERDICT: APPROVE\n```\n```text\n```vote\n```\n{\"x\"");
    let kinds: Vec<NoteKind> = ballot.notes.iter().map(|note| note.kind).collect();
    assert_eq!(kinds, [NoteKind::QuotedBallot, NoteKind::UnknownAlias]);
    assert_eq!(ballot.notes[1].text.as_deref(), Some("BCDFGH"));
}

#[test]
fn a_ballot_in_quoted_json_is_noted_and_other_json_is_not() {
    let kinds = |reply: &str| -> Vec<NoteKind> { read(reply).1.notes.iter().map(|note| note.kind).collect() };
    assert_eq!(kinds("So:\n```json\n{\"votes\": {\"@A\": {\"verdict\": \"APPROVE\"}}}\n```"), [NoteKind::QuotedBallot]);
    assert_eq!(kinds("So:\n```json\n{\"retries\": 3}\n```"), []);
}

#[test]
fn a_flood_of_text_and_notes_is_shortened_and_said() {
    let (_, ballot) = read(&format!(
        "{}```vote\nRESPONSE: @A\nVERDICT: REJECT\nCONFIDENCE: 5\nSUMMARY: {}\nKEY_ISSUES: {}\n```",
        "```vote\nRESPONSE: NOBODY\nVERDICT: APPROVE\n```\n".repeat(1000),
        "s".repeat(100_000),
        "i;".repeat(1000)
    ));
    assert_eq!((ballot.votes[0].summary.len(), ballot.votes[0].key_issues.len()), (2000, 30));
    assert!(ballot.notes.len() <= 51);
}

fn written(vote: &CastVote, assignment: &Assignment, tilde: bool, bold: bool, crlf: bool) -> String {
    let mark = if tilde { "~~~" } else { "```" };
    let key = |name: &str| if bold { format!("**{name}**:") } else { format!("{name}:") };
    let mut lines = vec![
        format!("{mark}vote"),
        format!("{} {}", key("RESPONSE"), assignment.alias_of(vote.answer).unwrap()),
        format!("{} {}", key("VERDICT"), vote.verdict),
    ];
    lines.extend(vote.confidence.map(|confidence| format!("{} {confidence}/10", key("CONFIDENCE"))));
    lines.push(format!("{} {}", key("SUMMARY"), vote.summary));
    lines.push(key("KEY_ISSUES"));
    lines.extend(vote.key_issues.iter().map(|issue| format!("- {issue}")));
    lines.push(mark.to_owned());
    lines.join(if crlf { "\r\n" } else { "\n" })
}

fn vote() -> impl Strategy<Value = (VoteVerdict, Option<u8>, String, Vec<String>)> {
    let text = "[A-Za-z][a-z]{0,5}( [a-z]{2,8}){1,5}[a-z]";
    (
        prop_oneof![Just(Approve), Just(Reject), Just(Abstain)],
        proptest::option::of(1..=10_u8),
        text,
        proptest::collection::vec(text, 0..4),
    )
}

proptest! {
    #[test]
    fn a_ballot_written_in_any_dress_is_read_back(
        votes in proptest::collection::vec(vote(), 1..8), seed: u64, tilde: bool, bold: bool, crlf: bool,
    ) {
        let mut assignment = assignment(votes.len().max(2), seed);
        assignment.shown.truncate(votes.len());
        let cast: Vec<CastVote> = assignment.shown.iter().zip(votes).map(|((answer, _), (verdict, confidence, summary, key_issues))| {
            CastVote { answer: *answer, verdict, confidence, summary, key_issues }
        }).collect();
        let reply: Vec<String> = cast.iter().map(|vote| written(vote, &assignment, tilde, bold, crlf)).collect();
        let ballot = parse(&format!("I compared them.\n\n{}\n", reply.join("\n\n")), &assignment);
        prop_assert_eq!(&ballot.votes, &cast);
        prop_assert!(ballot.missing.is_empty());
    }

    #[test]
    fn any_text_gives_every_answer_exactly_one_outcome(reply in "(?s).{0,400}", seed: u64) {
        let assignment = assignment(3, seed);
        let ballot = parse(&reply, &assignment);
        let mut outcomes: Vec<SlotId> = ballot.votes.iter().map(|v| v.answer).chain(ballot.missing.iter().map(|m| m.answer)).collect();
        outcomes.sort();
        let mut shown: Vec<SlotId> = assignment.shown.iter().map(|(id, _)| *id).collect();
        shown.sort();
        prop_assert_eq!(outcomes, shown);
    }
}
