//! Findings of a review in each format, with hostile text in every place.

use std::collections::BTreeMap;

use super::tests::{HOSTILE, report, sarif_schema};
use super::*;
use crate::findings::{
    Action, FailOn, Finding, FindingId, FindingTally, Findings, LedgerEntry, Lines, MissingSeats, ReviewDecision,
    Ruling, Seats, Severity, Standing, Witness, decide_review,
};
use crate::ids::SlotId;

fn slot(number: u16) -> SlotId {
    format!("{number:02}").parse().unwrap()
}

/// A ledger with one finding for each severity, `count` times, whose votes come to `standing`.
fn ledger(standing: Standing, count: u32) -> Findings {
    let mut findings = Findings::default();
    for number in 0..count {
        for severity in Severity::ALL {
            let id = findings.next_id();
            let content = Finding {
                severity,
                action: Action::AutoFix,
                file: (severity != Severity::Info).then(|| "src/a b,c:d%\u{e4}.rs".to_owned()),
                lines: (severity != Severity::Info).then(|| Lines::new(number + 3, number + 5).unwrap()),
                title: format!("{severity} {HOSTILE}"),
                description: HOSTILE.to_owned(),
                evidence: HOSTILE.to_owned(),
                suggestion: HOSTILE.to_owned(),
            };
            let by = Witness::Panel { folder: "reviews/impl-review".to_owned(), slots: vec![slot(1)] };
            findings.apply(&LedgerEntry::Raised { finding: id, round: 1, by, content, caused_by: None }).unwrap();
            let (sustain, reject) = match standing {
                Standing::Sustained => (2, 0),
                Standing::Rejected => (0, 2),
                Standing::NeedsPerson => (1, 1),
            };
            let tally = FindingTally { panel: 3, raised: 1, sustain, reject, ask: 0 };
            let by = Witness::Votes { folder: "reviews/impl-review/judging".to_owned(), tally, votes: Vec::new() };
            let ruling = Ruling { finding: id, round: 1, by, consensus: tally.consensus() };
            findings.apply(&LedgerEntry::ruled(ruling, standing)).unwrap();
        }
    }
    findings
}

/// The report of a review whose findings are those of `findings`.
fn reviewed(findings: &Findings) -> GateReport {
    let seats = Seats { panel: 3, usable: 3, quorum: 2, missing: MissingSeats::Tolerated };
    let verdict = decide_review(findings.judged(), FailOn::default(), seats);
    let records: Vec<_> = findings.iter().collect();
    let models = BTreeMap::from([(slot(1), format!("m{HOSTILE}"))]);
    let models = BTreeMap::from([("reviews/impl-review".to_owned(), models)]);
    let found = FindingsReport::new(&verdict, &records, &models);
    GateReport {
        command: ReportCommand::Review,
        kind: crate::config::GateKind::Review,
        findings: Some(found),
        ruling: None,
        ..report(verdict.decision.into())
    }
}

#[test]
fn sarif_has_one_result_for_each_sustained_finding_and_none_for_others() {
    let schema = sarif_schema();
    for (standing, found, general) in
        [(Standing::Sustained, 5, 0), (Standing::Rejected, 0, 0), (Standing::NeedsPerson, 0, 1)]
    {
        let report = reviewed(&ledger(standing, 1));
        let sarif = sarif(&report);
        let wrong: Vec<String> = schema.iter_errors(&sarif).map(|e| format!("{}: {e}", e.instance_path())).collect();
        assert!(wrong.is_empty(), "{standing} {wrong:?}");
        let results = sarif["runs"][0]["results"].as_array().unwrap();
        let of_findings = results.iter().filter(|r| r["ruleId"].as_str().unwrap().starts_with("team-review/")).count();
        assert_eq!((of_findings, results.len() - of_findings), (found, general), "{standing}");
        let rules = sarif["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap();
        for result in results {
            assert_eq!(rules[result["ruleIndex"].as_u64().unwrap() as usize]["id"], result["ruleId"]);
        }
    }
    let sarif = sarif(&reviewed(&ledger(Standing::Sustained, 1)));
    let worst = &sarif["runs"][0]["results"][0];
    assert_eq!((&worst["ruleId"], &worst["level"]), (&"team-review/critical".into(), &"error".into()));
    let place = &worst["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "src/a%20b%2Cc%3Ad%25%C3%A4.rs");
    assert_eq!((&place["region"]["startLine"], &place["region"]["endLine"]), (&3.into(), &5.into()));
}

#[test]
fn what_is_left_out_of_sarif_is_the_mildest_and_told() {
    let report = reviewed(&ledger(Standing::Sustained, 210));
    let sarif = sarif(&report);
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    assert_eq!(results.len(), 1000);
    assert!(results.iter().filter(|result| result["ruleId"] == "team-review/critical").count() == 210);
    let told = &sarif["runs"][0]["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"];
    assert_eq!(told, "50 findings of 1050 are left out, the mildest");
    assert!(sarif.to_string().len() < 10_000_000);
    assert!(markdown(&report).chars().count() < 65_536);
}

#[test]
fn junit_has_a_case_for_the_gate_and_one_for_each_sustained_finding() {
    let xml = junit(&reviewed(&ledger(Standing::Sustained, 1))).unwrap();
    assert_eq!(xml.matches("<testcase ").count(), 6, "{xml}");
    // The gate itself, and the two that are as bad as the bar.
    assert_eq!(xml.matches("<failure ").count(), 3, "{xml}");
    assert!(
        xml.contains("name=\"review of the change\"") && xml.contains("classname=\"team.review.critical\""),
        "{xml}"
    );
    assert!(!xml.contains("<script>") && !xml.contains('\u{1b}') && !xml.contains('\u{fffe}'), "{xml}");
    let xml = junit(&reviewed(&ledger(Standing::Rejected, 1))).unwrap();
    assert_eq!((xml.matches("<testcase ").count(), xml.matches("<failure ").count()), (1, 0), "{xml}");
}

#[test]
fn annotations_are_at_the_lines_of_the_finding_and_command_nothing() {
    let lines = annotations(&reviewed(&ledger(Standing::Sustained, 1)));
    let found: Vec<&String> = lines.iter().filter(|line| line.contains("team review%3A ")).collect();
    let kinds: Vec<&str> = found.iter().map(|line| line[2..].split(' ').next().unwrap()).collect();
    assert_eq!(kinds, ["error", "error", "warning", "notice", "notice"]);
    assert!(
        found[0].starts_with("::error file=src/a b%2Cc%3Ad%25\u{e4}.rs,line=3,endLine=5,title=team review%3A critical")
    );
    for line in found {
        assert!(!line.contains(['\n', '\r', '\u{1b}']), "{line:?}");
        assert!(!line[2..].split_once("::").unwrap().0.contains("::"), "{line}");
    }
}

#[test]
fn gitlab_has_one_issue_for_each_with_a_fingerprint_of_its_own() {
    let found = code_quality(&reviewed(&ledger(Standing::Sustained, 2)));
    let prints: std::collections::BTreeSet<&str> =
        found.as_array().unwrap().iter().map(|issue| issue["fingerprint"].as_str().unwrap()).collect();
    assert_eq!((found.as_array().unwrap().len(), prints.len()), (10, 10));
    assert_eq!(found[0]["severity"], "blocker");
    assert_eq!(found[0]["location"]["lines"]["begin"], 3);
    assert_eq!(code_quality(&reviewed(&ledger(Standing::Rejected, 1))).as_array().unwrap().len(), 0);
}

#[test]
fn a_fingerprint_does_not_go_by_ids_or_lines() {
    let one = ledger(Standing::Sustained, 1);
    let mut moved = Findings::default();
    // Another one first, so that all ids are others.
    let first = one.get(FindingId::FIRST).unwrap();
    let by = || first.raised_by.clone();
    let other = Finding { title: "Another".to_owned(), ..first.finding.clone() };
    let raise = |finding, content| LedgerEntry::Raised { finding, round: 1, by: by(), content, caused_by: None };
    moved.apply(&raise(FindingId::FIRST, other)).unwrap();
    for record in one.iter() {
        let lines = record.finding.lines.map(|lines| Lines::new(lines.start + 40, lines.end + 40).unwrap());
        moved.apply(&raise(moved.next_id(), Finding { lines, ..record.finding.clone() })).unwrap();
    }
    let prints = |findings: &Findings| {
        let report = reviewed(findings);
        let found = report.findings.unwrap().findings.into_iter();
        found.filter(|finding| finding.title != "Another").map(|finding| finding.fingerprint).collect::<Vec<_>>()
    };
    assert_eq!(prints(&one), prints(&moved));
}

#[test]
fn markdown_holds_no_markup_mention_or_link_of_a_finding() {
    for standing in [Standing::Sustained, Standing::NeedsPerson, Standing::Rejected] {
        let text = markdown(&reviewed(&ledger(standing, 1)));
        let bare = text.replace("\\<", "").replace("\\!", "").replace("\\`", "");
        assert!(!bare.contains("<script") && !bare.contains("![i") && !bare.contains("`c`"), "{text}");
        for acting in ["@team", "#12", "://e.", "www.e", "\u{202e}", "\u{1b}", "\r"] {
            assert!(!text.contains(acting), "{acting} in {text}");
        }
        assert_eq!(text.contains("| F05 |"), standing != Standing::Rejected, "{text}");
    }
}

#[test]
fn an_outcome_has_the_exit_code_of_its_decision() {
    for decision in ReviewDecision::ALL {
        let outcome = GateOutcome::from(decision);
        assert_eq!(outcome.passes(), decision.exit_code().code() == 0, "{decision:?}");
    }
}
