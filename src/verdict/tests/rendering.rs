//! The document, as people read it.

use super::passes::two_passes;
use super::{id, round};
use crate::config::{Leaks, Recuse, SelfVote};
use crate::ids::Sha256Hash;
use crate::judging::{LeakCount, Note, NoteKind};
use crate::session::slot::{Reason, SlotState};
use crate::verdict::{Context, FailedSeat, Names, Seat, banner, render, summary, tally};

fn names(count: usize) -> Names {
    let name = |number: usize| (id(number), format!("model-{number}"));
    Names { slots: (1..=count).map(name).collect(), judges: (1..=count).map(name).collect() }
}

fn context() -> Context {
    Context {
        session: "team-stats-20260209-143022-a3f2".to_owned(),
        head: Some(Sha256Hash::of(b"head")),
        failed: Vec::new(),
        isolation: "namespaces (enforced)".to_owned(),
        first: Vec::new(),
        notes: Vec::new(),
        costs: Vec::new(),
    }
}

#[test]
fn a_whole_panel_with_a_winner() {
    let verdict = tally(&round(&[".ar", "a.r", "ar."]));
    insta::assert_snapshot!(render(&verdict, &names(3), &context()), @r#"
    # Verdict

    **Answer 01 wins** (model-1): approved in 2 of 2 votes; next is 02 (model-2) with 50 %. It is in `response-01.md`.

    That answer 01 is better than 02 cannot be concluded: were they equally good, votes would differ as much or more in 100 % of such rounds (Fisher's exact test, N = 2 and 2 votes).

    ## Ranking

    | Rank | Answer | Model | Approve | Reject | Abstain | Missing | Score | 95 % interval | Confidence |
    | ---: | :--- | :--- | ---: | ---: | ---: | ---: | ---: | :--- | ---: |
    | 1 | 01 | model-1 | 2 | 0 | 0 | 0 | 100 % | 34 to 100 % | 7.0 |
    | 2 | 02 | model-2 | 1 | 1 | 0 | 0 | 50 % | 9 to 91 % | 7.0 |
    | 3 | 03 | model-3 | 0 | 2 | 0 | 0 | 0 % | 0 to 66 % | 7.0 |

    ## Who voted how

    The number is the judge's confidence, 1 to 10; a dash is an answer that the judge was not shown.

    | Judge | Model | 01 | 02 | 03 |
    | :--- | :--- | :--- | :--- | :--- |
    | 01 | model-1 | - | approve 7 | **reject** 7 |
    | 02 | model-2 | approve 7 | - | **reject** 7 |
    | 03 | model-3 | approve 7 | **reject** 7 | - |

    ## Agreement

    Krippendorff's alpha 0.44 (N = 6 votes on 3 answers). 1 is full agreement, 0 what chance would give.

    Valid votes: 6 of 6 possible; 0 abstentions and 0 missing. An answer needs 2 valid votes to win.

    Length against rank: Spearman's rho -1.00 (N = 3 answers). 1 when the longer answer always scores higher, -1 when the shorter does.

    ## Judges

    The lean to a place is from -1 to 1: 1 when everything approved stood before everything rejected (rank-biserial correlation of N votes, exact rank-sum test). What stood early may also have been better; `--passes 2` tells the two apart.

    | Judge | Model | Approve | Reject | Lean | N | p |
    | :--- | :--- | ---: | ---: | ---: | ---: | ---: |
    | 01 | model-1 | 1 | 1 | 1.00 | 2 | 1.00 |
    | 02 | model-2 | 1 | 1 | 1.00 | 2 | 1.00 |
    | 03 | model-3 | 1 | 1 | 1.00 | 2 | 1.00 |

    ## Dissent

    - Answer 02 (the votes are equal):
      - judge 01 (model-1) approves: about 02
      - judge 03 (model-3) rejects: about 02

    ## Key issues

    | Named | Issue | Answers | By judges |
    | ---: | :--- | :--- | :--- |
    | 3 | Too slow. | 02 and 03 | 01, 02 and 03 |

    ## How it was made

    - Panel: 3 of 3 answers complete, 3 of 3 judges complete
    - Own answers: no judge saw an answer of its own model (`--self-vote model`)
    - Passes: one, each judge in an order of its own
    - Authors that name themselves: none found (`--leaks mask`)
    - Isolation: namespaces (enforced)

    ## How to verify

    `team verify team-stats-20260209-143022-a3f2` computes all of this again from the folder, and names what differs first. Without `team`, in the session's folder `team-stats-20260209-143022-a3f2`:

    ```sh
    sha256sum judging/votes.json judging/verdict.json judging/verdict.md response-*.md judging/response-*.md
    grep -h -e '"event":"verdict"' -e '"event":"slot_ended"' events.jsonl judging/events.jsonl
    ```

    - The hashes of the first command stand in the lines of the second: `verdict` holds those of the votes and of this verdict, `slot_ended` that of an answer or of a judge's reply.
    - `verdict.json` follows from `judging/votes.json` alone: each ballot as it was counted, with the order and the aliases that the judge saw. What a judge was shown is `judging/prompt-NN.md`, what it replied `judging/response-NN.md`; those of a further turn are in `judging/pass-2/` and `repair/`.
    - Each line of `events.jsonl` holds the SHA-256 of the line before it, so no line changes without all later ones. Before this verdict the chain ended with the hash `9f2e6d33a3717ee826353a404ba4618d1aeeb6879ad7936bce8ed5f46814924d`: the `prev` of the verdict's line.
    "#);
}

#[test]
fn a_partial_panel_without_a_winner() {
    let mut votes = round(&[".a?.", "a.r.", "ar..", "!???."]);
    votes.candidates[3].state = SlotState::Failed;
    votes.self_vote = SelfVote::Slot;
    votes.round = 2;
    votes.judges[0].notes.push(Note {
        kind: NoteKind::UnknownAlias,
        answer: None,
        text: Some("EXAMP1 | `x`".to_owned()),
    });
    let mut context = context();
    context.failed.push(FailedSeat {
        seat: Seat::Slot(id(4)),
        state: SlotState::Failed,
        reason: Some(Reason::RateLimited),
        next_step: Reason::RateLimited.next_step().to_owned(),
        log: Some("errors/04.log".to_owned()),
    });
    context.notes.push("answer 02 was cut in the middle for judges: 12345 bytes left out".to_owned());
    let verdict = tally(&votes);
    insta::assert_snapshot!(render(&verdict, &names(4), &context), @r#"
    # Verdict of a partial panel, round 2

    **Answer 01 wins** (model-1): approved in 2 of 2 votes; next is 02 (model-2) with 50 %. It is in `response-01.md`.

    > **Partial panel: 1 of 4 slots missing (slot 04), 1 of 4 judges missing (judge 04).** What finishes tends to be the faster models, so a partial panel is biased, not only smaller.

    That answer 01 is better than 02 cannot be concluded: were they equally good, votes would differ as much or more in 100 % of such rounds (Fisher's exact test, N = 2 and 2 votes).

    ## Ranking

    | Rank | Answer | Model | Approve | Reject | Abstain | Missing | Score | 95 % interval | Confidence |
    | ---: | :--- | :--- | ---: | ---: | ---: | ---: | ---: | :--- | ---: |
    | 1 | 01 | model-1 | 2 | 0 | 0 | 1 | 100 % | 34 to 100 % | 7.0 |
    | 2 | 02 | model-2 | 1 | 1 | 0 | 1 | 50 % | 9 to 91 % | 7.0 |
    | 3 | 03 | model-3 | 0 | 1 | 0 | 2 | 0 % | 0 to 79 % | 7.0 |

    ## Who voted how

    The number is the judge's confidence, 1 to 10; a dash is an answer that the judge was not shown.

    | Judge | Model | 01 | 02 | 03 |
    | :--- | :--- | :--- | :--- | :--- |
    | 01 | model-1 | - | approve 7 | missing |
    | 02 | model-2 | approve 7 | - | **reject** 7 |
    | 03 | model-3 | approve 7 | **reject** 7 | - |
    | 04 | model-4 | missing | missing | missing |

    ## Agreement

    Krippendorff's alpha 0.00 (N = 4 votes on 2 answers). 1 is full agreement, 0 what chance would give.

    Valid votes: 5 of 9 possible; 0 abstentions and 4 missing. An answer needs 2 valid votes to win.

    Length against rank: Spearman's rho -1.00 (N = 3 answers). 1 when the longer answer always scores higher, -1 when the shorter does.

    ## Judges

    The lean to a place is from -1 to 1: 1 when everything approved stood before everything rejected (rank-biserial correlation of N votes, exact rank-sum test). What stood early may also have been better; `--passes 2` tells the two apart.

    | Judge | Model | Approve | Reject | Lean | N | p |
    | :--- | :--- | ---: | ---: | ---: | ---: | ---: |
    | 01 | model-1 | 1 | 0 | - | - | - |
    | 02 | model-2 | 1 | 1 | 1.00 | 2 | 1.00 |
    | 03 | model-3 | 1 | 1 | 1.00 | 2 | 1.00 |

    ## Dissent

    - Answer 02 (the votes are equal):
      - judge 01 (model-1) approves: about 02
      - judge 03 (model-3) rejects: about 02

    ## Key issues

    | Named | Issue | Answers | By judges |
    | ---: | :--- | :--- | :--- |
    | 2 | Too slow. | 02 and 03 | 02 and 03 |

    ## Missing and noted

    - Slot 04 (model-4) is FAILED, `rate_limited` (log: `errors/04.log`). Next: wait, or lower `--jobs` or the provider's `max_concurrent`
    - Judge 04 (model-4) is FAILED
    - Judge 01 (model-1), answer 03: no vote on this answer
    - Judge 01: a ballot under an unknown name was ignored: EXAMP1 \| \`x\`

    ## How it was made

    - Panel: 3 of 4 answers complete, 3 of 4 judges complete
    - Own answers: each judge saw all answers but that of its own seat (`--self-vote slot`)
    - Passes: one, each judge in an order of its own
    - Authors that name themselves: none found (`--leaks mask`)
    - Isolation: namespaces (enforced)
    - Note: answer 02 was cut in the middle for judges: 12345 bytes left out

    ## How to verify

    `team verify team-stats-20260209-143022-a3f2` computes all of this again from the folder, and names what differs first. Without `team`, in the session's folder `team-stats-20260209-143022-a3f2`:

    ```sh
    sha256sum judging-2/votes.json judging-2/verdict.json judging-2/verdict.md response-*.md judging-2/response-*.md
    grep -h -e '"event":"verdict"' -e '"event":"slot_ended"' events.jsonl judging-2/events.jsonl
    ```

    - The hashes of the first command stand in the lines of the second: `verdict` holds those of the votes and of this verdict, `slot_ended` that of an answer or of a judge's reply.
    - `verdict.json` follows from `judging-2/votes.json` alone: each ballot as it was counted, with the order and the aliases that the judge saw. What a judge was shown is `judging-2/prompt-NN.md`, what it replied `judging-2/response-NN.md`; those of a further turn are in `judging-2/pass-2/` and `repair/`.
    - Each line of `events.jsonl` holds the SHA-256 of the line before it, so no line changes without all later ones. Before this verdict the chain ended with the hash `9f2e6d33a3717ee826353a404ba4618d1aeeb6879ad7936bce8ed5f46814924d`: the `prev` of the verdict's line.
    "#);
    insta::assert_snapshot!(summary(&verdict, &names(4)), @"answer 01 (model-1) wins: approved in 2 of 2 votes; next is 02 (model-2) with 50 % [partial panel: 1 of 4 slots missing (slot 04), 1 of 4 judges missing (judge 04)]");
}

#[test]
fn no_votes_at_all_is_said_as_such() {
    let verdict = tally(&round(&["!??", "??"]));
    let text = render(&verdict, &names(2), &context());
    assert!(text.starts_with("# No decision (partial panel)\n\n**Nobody wins**: there is no valid vote.\n"), "{text}");
    assert!(text.contains("| no votes | - | - |"), "{text}");
    assert!(text.contains("no answer has two valid votes"), "{text}");
}

#[test]
fn the_line_for_a_terminal_names_the_winner() {
    let verdict = tally(&round(&[".ar", "a.r", "ar."]));
    assert_eq!(banner(&verdict), None);
    insta::assert_snapshot!(summary(&verdict, &names(3)), @"answer 01 (model-1) wins: approved in 2 of 2 votes; next is 02 (model-2) with 50 %");
}

#[test]
fn hostile_words_and_names_change_neither_table_nor_terminal() {
    let mut votes = round(&["ar", "ar", "aa"]);
    let hostile =
        "x | y |\n# Verdict\n\n| 1 | 02 |\u{1b}[2J<img src=x onerror=alert(1)>\u{202e}![a](http://b) `c` \u{85}";
    for judge in &mut votes.judges {
        for vote in &mut judge.votes {
            vote.summary = hostile.to_owned();
            vote.key_issues = vec![hostile.to_owned()];
        }
        judge.notes.push(Note { kind: NoteKind::UnknownAlias, answer: Some(id(1)), text: Some(hostile.to_owned()) });
    }
    let mut names = names(3);
    names.slots.insert(id(1), hostile.to_owned());
    names.judges.insert(id(1), hostile.to_owned());
    let mut context = context();
    context.isolation = hostile.to_owned();
    context.notes.push(format!("dropped `{hostile}`"));
    context.session = "x; rm -rf ~".to_owned();
    context.failed.push(FailedSeat {
        seat: Seat::Judge(id(1)),
        state: SlotState::Failed,
        reason: None,
        next_step: hostile.to_owned(),
        log: Some(hostile.to_owned()),
    });
    let verdict = tally(&votes);
    let text = render(&verdict, &names, &context);
    assert!(!text.contains(|c: char| c.is_control() && c != '\n' || c == '\u{202e}'), "{text}");
    assert_eq!(text.lines().filter(|line| line.starts_with("# ")).count(), 1);
    // Outside of code, no markup of theirs is left.
    let plain: String = text.split('`').step_by(2).collect();
    assert!(!plain.replace("\\<", "").contains("<img"), "{plain}");
    assert!(!text.contains("rm -rf"), "{text}");
    // Every row of a table has as many cells as its header.
    let cells = |line: &str| line.replace("\\|", "").matches('|').count();
    for table in text.split("\n\n").filter(|part| part.starts_with("| ")) {
        let mut rows = table.lines();
        let header = cells(rows.next().unwrap());
        assert!(rows.all(|row| cells(row) == header), "{table}");
    }
    let line = summary(&verdict, &names);
    assert!(!line.contains(|c: char| c.is_control() || c == '\u{202e}'), "{line}");
}

#[test]
fn two_passes_leaks_and_a_left_out_answer_are_all_told() {
    let mut votes = two_passes(&[(".ar-a", ".aa-a"), ("a.rra", "a.rra"), ("ar.aa", "rr.a?")]);
    votes.recuse = Recuse::Vendor;
    votes.leaks = Leaks::Fail;
    votes.candidates[4].left_out = true;
    votes.candidates[0].leaks = LeakCount { masked: 0, shown: 0, mentions: 1 };
    let verdict = tally(&votes);
    let text = render(&verdict, &names(5), &context());
    let told = text.split("## Dissent").next().unwrap();
    insta::assert_snapshot!(told, @"
    # Verdict of a partial panel

    **Nobody wins**: answer 01 (model-1) is first with 1 valid vote, and 2 are needed.

    > **Partial panel: answer 05 left out for naming its author.** What finishes tends to be the faster models, so a partial panel is biased, not only smaller.

    That answer 01 is better than 02 cannot be concluded: were they equally good, votes would differ as much or more in 100 % of such rounds (Fisher's exact test, N = 1 and 2 votes).

    ## Ranking

    | Rank | Answer | Model | Approve | Reject | Abstain | Flipped | Missing | Score | 95 % interval | Confidence |
    | ---: | :--- | :--- | ---: | ---: | ---: | ---: | ---: | ---: | :--- | ---: |
    | 1 | 01 | model-1 | 1 | 0 | 0 | 1 | 0 | 100 % | 21 to 100 % | 7.0 |
    | 2 (shared) | 02 | model-2 | 1 | 1 | 0 | 0 | 0 | 50 % | 9 to 91 % | 7.0 |
    | 2 (shared) | 04 | model-4 | 1 | 1 | 1 | 0 | 0 | 50 % | 9 to 91 % | 7.0 |
    | 4 | 03 | model-3 | 0 | 1 | 0 | 1 | 0 | 0 % | 0 to 79 % | 7.0 |

    ## Who voted how

    The number is the judge's confidence, 1 to 10; a dash is an answer that the judge was not shown.

    | Judge | Model | 01 | 02 | 03 | 04 |
    | :--- | :--- | :--- | :--- | :--- | :--- |
    | 01 | model-1 | - | approve 7 | flipped | abstain 7 |
    | 02 | model-2 | approve 7 | - | **reject** 7 | **reject** 7 |
    | 03 | model-3 | flipped | **reject** 7 | - | approve 7 |

    ## Agreement

    Krippendorff's alpha -0.50 (N = 4 votes on 2 answers). 1 is full agreement, 0 what chance would give.

    Valid votes: 6 of 9 possible; 1 abstention, 2 flipped and 0 missing. An answer needs 2 valid votes to win.

    Length against rank: Spearman's rho -0.63 (N = 4 answers). 1 when the longer answer always scores higher, -1 when the shorter does.

    ## Judges

    Each judge was asked twice, the second time in reverse order. A flip is an answer on which the two differ; it is no vote. The lean is from -1 to 1: of the answers approved in one order and rejected in the other (N), 1 when all were approved at their earlier place (sign test).

    | Judge | Model | Approve | Reject | Flips | Lean | N | p |
    | :--- | :--- | ---: | ---: | ---: | ---: | ---: | ---: |
    | 01 | model-1 | 2 | 0 | 1 | -1.00 | 1 | 1.00 |
    | 02 | model-2 | 2 | 2 | 0 | - | - | - |
    | 03 | model-3 | 1 | 1 | 1 | 1.00 | 1 | 1.00 |
    ");
    let made = text.split("## How it was made\n\n").nth(1).unwrap().split("\n\n").next().unwrap();
    insta::assert_snapshot!(made, @"
    - Panel: 5 of 5 answers complete, 3 of 3 judges complete
    - Own answers: no judge saw an answer of its own model (`--self-vote model`); nor one of its own vendor (`--recuse vendor`)
    - Passes: two, the second in reverse order; a vote that flips is none, and of two equal votes the confidence is the mean, halves rounded down (`--passes 2`)
    - Authors that name themselves: answer 01 has 1 name of models or vendors that it does not call its own; answer 05 was left out of the vote (`--leaks fail`)
    - Isolation: namespaces (enforced)
    ");
}
