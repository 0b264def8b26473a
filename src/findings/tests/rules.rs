//! The rules against a statement of them in other terms, over every small case.

use super::super::*;
use crate::error::ExitCode;

/// DESIGN 9 sentence by sentence, with shares as fractions of what was cast.
fn stated(panel: usize, raised: usize, votes: &[FindingVote]) -> (Standing, Consensus) {
    let of = |wanted| votes.iter().filter(|vote| **vote == wanted).count();
    let (sustain, reject) = (of(FindingVote::Sustain), of(FindingVote::Reject));
    let raised_by_most = raised > panel - raised;
    let voters = sustain + reject;
    let standing = if (sustain > reject && voters >= 1) || raised_by_most {
        Standing::Sustained
    } else if reject > sustain && voters >= 2 {
        Standing::Rejected
    } else {
        Standing::NeedsPerson
    };
    let behind = if raised_by_most { sustain + raised } else { sustain };
    let (agreeing, all) = match standing {
        Standing::Sustained => (behind, behind + reject),
        Standing::Rejected => (reject, behind + reject),
        Standing::NeedsPerson => return (standing, Consensus::Divergent),
    };
    let consensus = if agreeing == all {
        Consensus::Unanimous
    } else if agreeing as f64 / all as f64 > 0.666 {
        Consensus::Strong
    } else if agreeing as f64 / all as f64 > 0.5 {
        Consensus::Majority
    } else {
        Consensus::Divergent
    };
    (standing, consensus)
}

#[test]
fn every_vote_of_every_panel_up_to_seven_comes_to_what_the_rule_says() {
    let mut seen = 0;
    for panel in 1..=7_usize {
        for raised in 0..=panel {
            // Judges may be others than the panel, so there may be more or fewer than did not raise it.
            for (sustain, reject, ask) in
                (0..=7_usize).flat_map(|s| (0..=7).flat_map(move |r| (0..=2).map(move |a| (s, r, a))))
            {
                let of = |count, vote| std::iter::repeat_n(vote, count);
                let votes: Vec<FindingVote> = of(sustain, FindingVote::Sustain)
                    .chain(of(reject, FindingVote::Reject))
                    .chain(of(ask, FindingVote::Ask))
                    .collect();
                let [panel_, raised_, sustain, reject, ask] = [panel, raised, sustain, reject, ask].map(|n| n as u32);
                let tally = FindingTally { panel: panel_, raised: raised_, sustain, reject, ask };
                assert_eq!((tally.standing(), tally.consensus()), stated(panel, raised, &votes), "{tally:?}");
                seen += 1;
            }
        }
    }
    assert_eq!(seen, 35 * 8 * 8 * 3);
}

#[test]
fn the_boundaries_are_where_they_are_written_to_be() {
    use Consensus::{Divergent, Majority, Strong, Unanimous};
    use Standing::{NeedsPerson, Rejected, Sustained};
    for (panel, raised, sustain, reject, ask, standing, consensus) in [
        // Silence clears nothing.
        (3, 1, 0, 0, 0, NeedsPerson, Divergent),
        (3, 1, 0, 0, 2, NeedsPerson, Divergent),
        // One voter can sustain and not reject.
        (3, 1, 1, 0, 1, Sustained, Unanimous),
        (3, 1, 0, 1, 1, NeedsPerson, Divergent),
        (3, 1, 0, 2, 0, Rejected, Unanimous),
        (3, 1, 1, 1, 0, NeedsPerson, Divergent),
        (4, 1, 2, 1, 0, Sustained, Strong),
        (6, 1, 3, 2, 0, Sustained, Majority),
        (6, 1, 2, 3, 0, Rejected, Majority),
        // Half of the panel is not more than half.
        (2, 1, 0, 0, 0, NeedsPerson, Divergent),
        (4, 2, 0, 2, 0, Rejected, Unanimous),
        // More than half raised it: nobody can vote it away, and they count for it.
        (3, 2, 0, 1, 0, Sustained, Strong),
        (3, 3, 0, 0, 0, Sustained, Unanimous),
        (5, 3, 0, 2, 0, Sustained, Majority),
        (1, 1, 0, 0, 0, Sustained, Unanimous),
        (3, 2, 0, 4, 0, Sustained, Divergent),
        (u32::MAX, u32::MAX, u32::MAX, u32::MAX, 0, Sustained, Strong),
    ] {
        let tally = FindingTally { panel, raised, sustain, reject, ask };
        assert_eq!((tally.standing(), tally.consensus()), (standing, consensus), "{tally:?}");
    }
}

fn judged(severity: Severity, standing: Standing, consensus: Consensus, id: &str) -> Judged {
    Judged { id: id.parse().unwrap(), severity, standing, consensus }
}

const SEATS: Seats = Seats { panel: 3, usable: 3, quorum: 2, missing: MissingSeats::Tolerated };

#[test]
fn a_review_comes_to_the_same_as_its_rule_read_aloud_for_every_pair_of_findings() {
    let standings = [Standing::Sustained, Standing::Rejected, Standing::NeedsPerson];
    let all: Vec<Judged> = Severity::ALL
        .into_iter()
        .flat_map(|severity| standings.into_iter().map(move |standing| (severity, standing)))
        .flat_map(|(severity, standing)| Consensus::ALL.into_iter().map(move |c| judged(severity, standing, c, "F01")))
        .collect();
    for fail_on in Severity::ALL.into_iter().flat_map(|s| Consensus::ALL.into_iter().map(move |c| (s, c))) {
        let bar = FailOn { severity: fail_on.0, consensus: fail_on.1 };
        let blocks = |f: &Judged| {
            f.standing == Standing::Sustained && f.severity >= bar.severity && f.consensus >= bar.consensus
        };
        let open = |f: &Judged| f.standing == Standing::NeedsPerson && f.severity >= bar.severity;
        for (one, two) in all.iter().flat_map(|one| all.iter().map(move |two| (one, two))) {
            let two = Judged { id: "F02".parse().unwrap(), ..*two };
            let expected = match [one, &two] {
                pair if pair.iter().any(|f| blocks(f)) => ReviewDecision::Blocked,
                pair if pair.iter().any(|f| open(f)) => ReviewDecision::NeedsPerson,
                _ => ReviewDecision::Passed,
            };
            let verdict = decide_review(vec![two, *one], bar, SEATS);
            assert_eq!(verdict.decision, expected, "{bar} {one:?} {two:?}");
            assert_eq!(verdict, decide_review(vec![*one, two], bar, SEATS), "the order does not matter");
        }
    }
}

#[test]
fn too_few_reviewers_decide_nothing_whatever_they_found() {
    let found = vec![judged(Severity::Critical, Standing::Sustained, Consensus::Unanimous, "F01")];
    for (usable, quorum, missing, decision, code) in [
        (0, 2, MissingSeats::Tolerated, ReviewDecision::NothingUsable, 4),
        (0, 0, MissingSeats::Tolerated, ReviewDecision::NothingUsable, 4),
        (1, 2, MissingSeats::Tolerated, ReviewDecision::Inconclusive, 3),
        (2, 2, MissingSeats::Tolerated, ReviewDecision::Blocked, 1),
        (2, 2, MissingSeats::Refused, ReviewDecision::NothingUsable, 4),
        (3, 3, MissingSeats::Refused, ReviewDecision::Blocked, 1),
    ] {
        let seats = Seats { panel: 3, usable, quorum, missing };
        for findings in [found.clone(), Vec::new()] {
            let verdict = decide_review(findings.clone(), FailOn::default(), seats);
            let expected = match decision {
                ReviewDecision::Blocked if findings.is_empty() => ReviewDecision::Passed,
                decision => decision,
            };
            assert_eq!(verdict.decision, expected, "{seats:?}");
        }
        assert_eq!(decision.exit_code().code(), code);
    }
    assert_eq!(ReviewDecision::Passed.exit_code(), ExitCode::DONE);
    assert_eq!(ReviewDecision::NeedsPerson.exit_code(), ExitCode::NO_DECISION);
}

#[test]
fn a_verdict_says_in_a_sentence_what_it_follows_from() {
    use Consensus::Strong;
    use Severity::{Critical, Low};
    use Standing::{NeedsPerson, Rejected, Sustained};
    let told = |findings: Vec<Judged>, seats| decide_review(findings, FailOn::default(), seats).sentence;
    assert_eq!(told(Vec::new(), SEATS), "passed: nothing was found; 3 of 3 reviewers gave a review that can be read");
    assert_eq!(
        told(vec![judged(Low, Sustained, Strong, "F02"), judged(Critical, Rejected, Strong, "F01")], SEATS),
        "passed: 1 of 2 findings sustained, none at high:majority or above; 3 of 3 reviewers gave a review that can be read"
    );
    assert_eq!(
        told(vec![judged(Critical, Sustained, Strong, "F07"), judged(Critical, NeedsPerson, Strong, "F01")], SEATS),
        "blocked: 1 finding (F07) is sustained at high:majority or above"
    );
    let open: Vec<Judged> = (1..=12).map(|n| judged(Critical, NeedsPerson, Strong, &format!("F{n:02}"))).collect();
    assert_eq!(
        told(open, SEATS),
        "a person must decide: 12 findings (F01, F02, F03, F04, F05, F06, F07, F08, F09, F10 and 2 more) are at high or \
         above not settled by the votes"
    );
    let few = Seats { usable: 1, ..SEATS };
    assert_eq!(told(Vec::new(), few), "inconclusive: 1 of 3 reviewers gave a review that can be read, 2 are needed");
}
